"""What each version of a format adds and removes."""

from collections.abc import Iterator
from dataclasses import dataclass

from wireloom.model.format import Format
from wireloom.model.types import Struct


@dataclass(frozen=True, slots=True)
class Revision:
    """A version: its value in records, the fields that it adds, and those that it drops (`Type.field`)."""

    name: str
    told: str
    new: tuple[str, ...]
    gone: tuple[str, ...]


def revisions(format: Format) -> Iterator[Revision]:
    """The versions of a format, the oldest first."""
    versions = format.named_versions
    if versions is None:
        return
    structs = [type for _, type in format.types if isinstance(type, Struct) and not type.versions]
    fields = [(struct.name, field) for struct in structs for field in struct.fields]
    copied = versions.names if versions.record else ()
    copies = {versions.copy_name(versions.record, name): versions.record for name in copied}
    for number, name in enumerate(versions.names):
        before = versions.names[number - 1] if number else ""
        new = (f"{copies.get(struct, struct)}.{each.wire_name}" for struct, each in fields if each.since == name)
        gone = (f"{copies.get(struct, struct)}.{each.wire_name}" for struct, each in fields if each.until == before)
        told = "what fits" if versions.record else f"{versions.told} {versions.values[number]}"
        yield Revision(name, told, tuple(dict.fromkeys(new)), tuple(dict.fromkeys(gone)) if before else ())
