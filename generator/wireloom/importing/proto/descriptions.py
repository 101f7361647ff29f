"""Loads descriptors into a pool, with the locations and comments of all parts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.importing.naming import one_line
from wireloom.problems import Location

_FILE = descriptor_pb2.FileDescriptorProto
_MESSAGE = descriptor_pb2.DescriptorProto
_Numbers = tuple[int, ...]
"""The path of a part in its file: the field numbers that lead to it in the descriptor."""


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension field, declared outside of its message."""

    name: str
    of: str
    location: Location


@dataclass(slots=True)
class Origins:
    """Locations and comments of messages, fields, enums and their values, by full name."""

    file: str
    places: dict[str, Location] = field(default_factory=dict)
    docs: dict[str, str] = field(default_factory=dict)
    messages: set[str] = field(default_factory=set)
    extensions: list[Extension] = field(default_factory=list)
    last: list[str] = field(default_factory=list)
    """The files that no other file imports."""

    def place(self, name: str) -> Location:
        """The location of a part; its file if the descriptors lack locations."""
        return self.places.get(name) or Location(f"{self.file} ({name})", 1, 1)

    def doc(self, name: str) -> str:
        """The comment of a part."""
        return self.docs.get(name, "")


def loaded(data: bytes, shown: Mapping[str, str], file: str) -> tuple[DescriptorPool, Origins]:
    """Load a descriptor set into a pool; raises ImportRefusedError if the data are not one."""
    start = Location(file, 1, 1)
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(data).file
    except (DecodeError, RecursionError) as error:
        message = "this is not a descriptor set as protoc writes it, or its messages are nested too deep"
        hint = "give a .proto file, or a file that `protoc --include_imports --descriptor_set_out=FILE` wrote"
        raise ImportRefusedError(Finding(start, "file", message, hint)) from error
    pool, origins = DescriptorPool(), Origins(file)
    for each in files:
        try:
            pool.AddSerializedFile(each.SerializeToString())
        except (TypeError, ValueError, RecursionError) as error:
            missing = set(each.dependency) - {other.name for other in files}
            hint = "make the set with `--include_imports`" if missing else ""
            message = f"the descriptors of {each.name} are inconsistent: {one_line(str(error))}"
            raise ImportRefusedError(Finding(start, "file", message, hint)) from error
        _note(each, origins, shown)
    if not files:
        raise ImportRefusedError(Finding(start, "file", "the descriptor set is empty", ""))
    imported = {name for each in files for name in each.dependency}
    origins.last = [each.name for each in files if each.name not in imported]
    return pool, origins


def _note(file: _FILE, origins: Origins, shown: Mapping[str, str]) -> None:
    """Record the locations and comments of a file."""
    known = {tuple(each.path): each for each in file.source_code_info.location}
    path = shown.get(file.name, file.name)
    package = f"{file.package}." if file.package else ""
    messages = list(_messages(file, package))
    origins.messages |= {name for _, name, _ in messages}
    for numbers, name in _parts(file, package, messages):
        found = known.get(numbers)
        if found is None or len(found.span) < 3:
            continue
        origins.places[name] = Location(path, found.span[0] + 1, found.span[1] + 1)
        if doc := _first_paragraph(found.leading_comments or found.trailing_comments):
            origins.docs[name] = doc
    extensions = [(package, each) for each in file.extension]
    extensions += [(f"{name}.", each) for _, name, message in messages for each in message.extension]
    for prefix, each in extensions:
        name = f"{prefix}{each.name}"
        origins.extensions.append(Extension(name, each.extendee.lstrip("."), origins.place(name)))


def _first_paragraph(comment: str | bytes) -> str:
    """The first paragraph of a comment. It may be bytes: protoc accepts comments that are not UTF-8."""
    comment = comment.decode("utf-8", "replace") if isinstance(comment, bytes) else comment
    return one_line(re.split(r"\n\s*\n", comment.strip())[0])


def _messages(file: _FILE, package: str) -> Iterator[tuple[_Numbers, str, _MESSAGE]]:
    """The messages of a file, including nested ones: path, full name and descriptor."""
    ahead: list[tuple[_Numbers, str, _MESSAGE]]
    ahead = [((4, number), f"{package}{each.name}", each) for number, each in enumerate(file.message_type)]
    while ahead:
        path, name, message = ahead.pop()
        yield path, name, message
        ahead += [((*path, 3, n), f"{name}.{each.name}", each) for n, each in enumerate(message.nested_type)]


def _parts(file: _FILE, package: str, messages: list[tuple[_Numbers, str, _MESSAGE]]) -> Iterator[tuple[_Numbers, str]]:
    """All named parts of a file: path and full name. The values of an enum are named below the enum."""
    enums: list[tuple[_Numbers, str, descriptor_pb2.EnumDescriptorProto]]
    enums = [((5, number), f"{package}{each.name}", each) for number, each in enumerate(file.enum_type)]
    yield from (((7, number), f"{package}{each.name}") for number, each in enumerate(file.extension))
    for path, name, message in messages:
        yield path, name
        yield from (((*path, 2, number), f"{name}.{each.name}") for number, each in enumerate(message.field))
        yield from (((*path, 6, number), f"{name}.{each.name}") for number, each in enumerate(message.extension))
        enums += [((*path, 4, number), f"{name}.{each.name}", each) for number, each in enumerate(message.enum_type)]
    for path, name, enum in enums:
        yield path, name
        yield from (((*path, 2, number), f"{name}.{each.name}") for number, each in enumerate(enum.value))
