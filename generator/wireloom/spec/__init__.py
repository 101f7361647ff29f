"""Read spec files: YAML with positions, checked against the definition of the language."""

from wireloom.spec.documents import Document, Documents, Place
from wireloom.spec.load import load
from wireloom.spec.schema import language_schema

__all__ = ["Document", "Documents", "Place", "language_schema", "load"]
