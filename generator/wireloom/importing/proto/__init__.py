"""Converts Protocol Buffers (.proto, or a descriptor set) to a spec: compile, describe, write.

protoc parses the file, in all editions of the language; its descriptors tell how each field is encoded. A message
becomes a struct, and a field becomes a field with the same name and number. Parts that are left out of the spec are
unknown fields to its readers, which skip them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import Descriptor

from wireloom.importing import writing
from wireloom.importing.files import bounded
from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.importing.naming import format_name
from wireloom.importing.proto.compiling import LARGEST, SOURCE, compiled
from wireloom.importing.proto.descriptions import Origins, loaded
from wireloom.importing.proto.messages import Messages
from wireloom.importing.settling import Draft, Refusals
from wireloom.names import format_name_flaw
from wireloom.problems import Location

__all__ = ["Description", "NoSuchMessageError", "draft", "read"]


class NoSuchMessageError(Exception):
    """A requested message that the file does not have."""


@dataclass(frozen=True, slots=True)
class Description:
    """A compiled file: the messages that are records, and the locations of all parts."""

    file: Path
    roots: tuple[Descriptor, ...]
    is_asked: bool
    """Whether the user named the roots."""
    origins: Origins


def read(file: Path, folders: Sequence[Path] = (), messages: Sequence[str] = ()) -> Description:
    """Read a description; raises ImportRefusedError if the file has none, and NoSuchMessageError."""
    if file.suffix == SOURCE:
        source = compiled(file, folders)
        pool, origins = loaded(source.descriptors, source.shown, str(file))
        main = [source.name]
    else:
        pool, origins = loaded(bounded(file, file, LARGEST), {}, str(file))
        main = origins.last
    own = [message for name in main for message in pool.FindFileByName(name).message_types_by_name.values()]
    if not own:
        raise ImportRefusedError(Finding(Location(str(file), 1, 1), "file", "the file has no messages", ""))
    roots = [_named(name, own, origins, pool.FindMessageTypeByName) for name in messages] or _outermost(own)
    return Description(file, tuple(dict.fromkeys(roots)), bool(messages), origins)


def draft(description: Description, refused: Refusals, *, name: str = "", depth: int | None = None) -> Draft:
    """The spec of the messages, without the refused parts."""
    messages = Messages(description.origins, refused, depth)
    roots = description.roots if description.is_asked else messages.fitting(description.roots)
    types = messages.types(roots)
    format = name or format_name(description.file.stem)
    head = _head(format, roots, messages)
    text = writing.document(head, types, f"From {description.file.name}, by `wireloom import proto`.")
    findings = tuple(sorted({*messages.findings, *_renamed_format(format, name, description)}))
    return Draft(format, text, findings, messages.fields, messages.places, {}, messages.depth)


def _renamed_format(format: str, name: str, description: Description) -> list[Finding]:
    stem = description.file.stem
    flaw = format_name_flaw(stem)
    if name or not flaw or stem.lower() == format:
        return []
    message = f"the format is called {format}, not {stem}: {flaw}"
    return [Finding(Location(str(description.file), 1, 1), "name", message, "choose another name by --name")]


def _head(format: str, roots: Sequence[Descriptor], messages: Messages) -> dict[str, Any]:
    first, *others = roots
    title = f"{first.full_name} and {len(others)} more messages" if others else first.full_name
    head: dict[str, Any] = {"wireloom": 1, "format": format, "title": title}
    head["encoding"] = "protobuf"
    return head | ({"roots": _roots(roots, messages)} if others else {"root": messages.name(first)})


def _roots(roots: Sequence[Descriptor], messages: Messages) -> dict[str, Any]:
    """The roots of the spec, with unique names."""
    found: dict[str, Any] = {}
    for root in roots:
        base, number = format_name(_snake(root.name)), 2
        name = base
        while name in found:
            name, number = f"{base}_{number}", number + 1
        found[name] = {"type": messages.name(root)}
    return found


def _snake(name: str) -> str:
    """`TraceData` as trace_data."""
    before = [*name[1:], ""]
    words = zip(name, before, strict=True)
    joined = "".join(f"{each}_" if not each.isupper() and after.isupper() else each for each, after in words)
    return joined.lower()


def _named(name: str, own: Sequence[Descriptor], origins: Origins, find: Any) -> Descriptor:  # noqa: ANN401 - of protobuf
    """Find a message by its full name or the end of it, first in the file itself."""
    asked = name.lstrip(".")
    known: Mapping[str, None] = dict.fromkeys(_and_inner(own))
    fitting = [each for each in known if each == asked or each.endswith(f".{asked}")]
    if len(fitting) != 1 and asked in origins.messages:
        fitting = [asked]
    if len(fitting) == 1:
        found: Descriptor = find(fitting[0])
        return found
    if fitting:
        raise NoSuchMessageError(f"{name} may be {' or '.join(sorted(fitting))}; give the full name")
    listed = ", ".join(list(known)[:10])
    raise NoSuchMessageError(f"there is no message {name}; there are {listed}{', ...' if len(known) > 10 else ''}")


def _and_inner(messages: Sequence[Descriptor]) -> list[str]:
    """The full names of messages and of their nested messages, without map entries."""
    found: list[str] = []
    ahead = list(messages)
    while ahead:
        each = ahead.pop(0)
        if not each.GetOptions().map_entry:
            found.append(each.full_name)
            ahead += each.nested_types
    return found


def _outermost(own: Sequence[Descriptor]) -> list[Descriptor]:
    """The messages of a file that no other one contains; all of them if each is contained."""
    held = set[str]()
    for top in own:
        ahead = [top]
        while ahead:
            message = ahead.pop()
            ahead += message.nested_types
            held |= {
                field.message_type.full_name
                for field in message.fields
                if field.message_type is not None and field.message_type.full_name != top.full_name
            }
    return [each for each in own if each.full_name not in held] or list(own)
