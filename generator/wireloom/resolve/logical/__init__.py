"""Derive what readers see: logical types, shared schemas, and the roots of a format."""
