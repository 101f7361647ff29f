"""Finds the record that readers see for each struct, so that column documentation also describes the wire."""

from collections.abc import Mapping
from dataclasses import dataclass

from wireloom.model import types
from wireloom.model.format import Format
from wireloom.model.traversal import parts
from wireloom.model.types import Struct, Type
from wireloom.runtime.columns.logical import Alternatives, List, LogicalType, Map, Record


def shown_records(format: Format) -> Mapping[str, Record]:
    """For each struct, the record whose columns are its fields; the first if there are several."""
    found: dict[str, Record] = {}
    for root in format.roots:
        _Walk(format, found, set()).go(root.type, root.logical)
    return found


@dataclass(frozen=True, slots=True)
class _Walk:
    format: Format
    found: dict[str, Record]
    seen: set[str]

    def go(self, type: Type, shown: LogicalType) -> None:
        """Record the structs of a type that readers see as `shown`."""
        match type:
            case types.Reference(name=name):
                if name not in self.seen:
                    self.seen.add(name)
                    self.go(self.format.type(name), shown)
            case Struct(name=name):
                record = _record(shown)
                if record is not None:
                    self.found.setdefault(name, record)
                    self._fields(type, record)
            case _:
                for part in parts(type):
                    self.go(part, shown)

    def _fields(self, struct: Struct, record: Record) -> None:
        inner = {member.name: member.type for member in record.fields}
        for field in struct.fields:
            melts = field.flatten or (field.inline and field.name not in inner)
            below = record if melts else inner.get(field.name)
            if below is not None:
                self.go(field.type, below)


def _record(type: LogicalType) -> Record | None:
    """The record of a value or of its elements."""
    match type:
        case Record():
            return type
        case List(element=inner) | Map(value=inner):
            return _record(inner)
        case Alternatives(options=options):
            return next((found for each in options if (found := _record(each)) is not None), None)
        case _:
            return None
