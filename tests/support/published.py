"""Decoded columns of the examples of formats, for tests that publish them in Avro or protobuf messages."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.message import Message

from conftest import ROOT, specs_below
from wireloom.examples.memory import opened
from wireloom.model.format import Example, Format, Root

FOLDERS = [
    ("specs", False),
    ("specs", True),
    pytest.param("tests/cases", False, marks=pytest.mark.thorough),  # 400 formats, each of which is compiled
]
"""Folders of specs, and whether to explode records."""


@dataclass(frozen=True)
class Rows:
    """The rows of a root's good examples, for one format."""

    format: Format
    root: Root
    rows: list[dict[str, Any]]


def rows_of(format: Format, module: ModuleType, *, explode: bool = False) -> Iterator[Rows]:
    """The rows of each root."""
    for root in format.roots:
        examples = [each for each in format.examples if each.stated and each.error is None and each.root == root.name]
        found = [row for each in examples for row in _rows(module, each, explode=explode)]
        yield Rows(format, root, found)


def _rows(module: ModuleType, example: Example, *, explode: bool) -> list[dict[str, Any]]:
    decoded = module.decode(
        pa.array([example.data], pa.binary()),
        root=example.root,
        open_values="json",
        on_error="raise",
        explode=explode,
        **dict(example.parameters),
    )
    return [row for row in decoded.records.to_pylist() if row is not None]


def formats_with_rows(folder: str, *, explode: bool = False) -> Iterator[Rows]:
    """The rows of every format of a folder of specs."""
    read = specs_below(ROOT / folder)
    if folder == "specs":
        for format in read.formats:
            yield from rows_of(format, import_module(f"wireloom_formats.{format.name}"), explode=explode)
        return
    with opened(read.modules) as modules:
        for format in read.formats:
            yield from rows_of(format, modules[format.name], explode=explode)


def fill(message: Message, row: dict[str, Any]) -> None:
    """Set the fields of a message to the columns of a row."""
    for field in message.DESCRIPTOR.fields:
        value = row[field.name]
        if value is None:
            continue
        if field.is_repeated:
            for each in value:
                _add(message, field, each)
        elif field.message_type is None:
            setattr(message, field.name, scalar(field, value))
        else:
            _fill(getattr(message, field.name), value)


def _add(message: Any, field: Any, value: Any) -> None:
    repeated = getattr(message, field.name)
    if not is_map(field):
        _fill(repeated.add(), value) if field.message_type else repeated.append(scalar(field, value))
        return
    key, inner = (field.message_type.fields_by_name[name] for name in ("key", "value"))
    if inner.message_type:
        _fill(repeated[scalar(key, value[0])], value[1])
    else:
        repeated[scalar(key, value[0])] = scalar(inner, value[1])


def _fill(message: Any, value: Any) -> None:
    message.SetInParent()
    if _is(message, "Timestamp"):
        message.FromDatetime(value)
    elif _is(message, "Duration"):
        message.FromTimedelta(value)
    else:
        fill(message, members_of(message, value))


def _is(message: Message, name: str) -> bool:
    return message.DESCRIPTOR.full_name == f"google.protobuf.{name}"


def members_of(message: Message, value: Any) -> dict[str, Any]:
    """The members of a message: those of a record, of a map entry, or the single value."""
    names = [each.name for each in message.DESCRIPTOR.fields]
    if isinstance(value, dict) and list(value) == names:
        return value
    return dict(zip(names, value if names == ["key", "value"] else (value,), strict=True))


def differing(message: Any, value: Any, path: str = "") -> Iterator[str]:
    """Where a message differs from a row; null lists and maps are empty there."""
    if _is(message, "Timestamp") or _is(message, "Duration"):
        found = message.ToTimedelta() if _is(message, "Duration") else message.ToDatetime(value.tzinfo)
        yield from [] if found == value else [f"{path}: {found!r}, not {value!r}"]
        return
    row = members_of(message, value)
    for field in message.DESCRIPTOR.fields:
        found, each, place = getattr(message, field.name), row[field.name], f"{path}.{field.name}"
        if is_map(field):
            key = field.message_type.fields_by_name["key"]
            pairs = {scalar(key, name): inner for name, inner in each or ()}
            yield from [] if set(found) == set(pairs) else [f"{place}: the keys are {list(found)}"]
            for key, inner in pairs.items():
                yield from _differing(found[key], inner, f"{place}[{key}]")
        elif field.is_repeated:
            yield from [] if len(found) == len(each or ()) else [f"{place}: {len(found)} elements"]
            for number, inner in enumerate(each or ()):
                yield from _differing(found[number], inner, f"{place}[{number}]")
        elif field.has_presence and not message.HasField(field.name):
            yield from [] if each is None else [f"{place}: null, not {each!r}"]
        else:
            yield from _differing(found, each, place)


def _differing(found: Any, value: Any, path: str) -> Iterator[str]:
    if isinstance(found, Message):
        yield from differing(found, value, path)
    elif repr(found) != repr(value if isinstance(value, str | bytes | bool | int | float) else type(found)(value)):
        yield f"{path}: {found!r}, not {value!r}"


def is_map(field: Any) -> bool:
    """Whether a field is a map of protobuf."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def scalar(field: Any, value: Any) -> Any:
    """A column's value for a field: converts decimals to unsigned integers, and other types to text."""
    if isinstance(value, str | bytes | bool | int | float):
        return value
    return str(value) if field.type == field.TYPE_STRING else int(value)
