"""The canonical JSON rendering of values: lossless, readable, the same for every encoding of an event.

record                object; members that are null are left out
bytes                 base64 text (standard alphabet, padded)
integer               integer; beyond 64 bits decimal text
float                 number, or the text "NaN", "Infinity", "-Infinity"
timestamp             RFC 3339 text in UTC; date: its first ten characters; duration: seconds as ISO 8601, "PT1.5S"
decimal               text with all its digits; UUIDs and addresses: their usual text
list                  array
map                   array of [key, value], in wire order
one of alternatives   {"<kind>": rendering}; kinds: bool int float str bytes list map record variant
open value            tagged, recursively: null, {"bool": ...} {"int": ...} {"float": ...} {"str": ...}
                      {"bytes": base64} {"list": [...]} {"map": [[key, value], ...]}, and {"<name>": text or base64}
                      for an extension
"""

import json
import math
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from wireloom.runtime.columns import meanings
from wireloom.runtime.columns.logical import (
    Alternatives,
    BigInteger,
    Binary,
    Boolean,
    ExtensionType,
    Float,
    Integer,
    List,
    LogicalType,
    Map,
    Meant,
    Open,
    Record,
    Scaled,
    Text,
    kind_name,
)
from wireloom.runtime.columns.projection import unknown_name
from wireloom.runtime.columns.shape import chosen
from wireloom.runtime.errors import shown
from wireloom.runtime.primitives.packing import BASE64, said_in_base64
from wireloom.runtime.values import Extension, Pairs

_DECIMAL = re.compile(r"0|-?[1-9][0-9]{0,38}").fullmatch  # 39 digits are 128 bits
_TOO_LARGE = "expected a number that a float can have, got a larger integer"
_LONGEST = 400  # digits of integers: beyond any range that a spec can state
_NUMBER_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def dumps(rendering: object) -> str:
    """A rendering as one line of compact JSON text."""
    return json.dumps(rendering, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def loads(text: str | bytes) -> object:
    """The rendering in a JSON text (RFC 8259); raises ValueError if it is not JSON, or not a single value."""
    return json.loads(
        text, object_pairs_hook=_once, parse_int=_digits, parse_float=_within_doubles, parse_constant=_no_number
    )


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the member {shown(name)} appears twice in one object")
        found[name] = value
    return found


def _digits(text: str) -> int:
    """An integer; one with more digits than Python accepts is cut to a number that is out of every range anyway."""
    return int(text) if len(text) <= _LONGEST else int(text[:_LONGEST])


def _within_doubles(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{shown(text)} is beyond what a float can have")
    return number


def _no_number(word: str) -> object:
    raise ValueError(f'{word} is not a JSON number; write it as a text, "{word}"')


# --- value to rendering --------------------------------------------------------------------------------------------


def to_canonical(value: object, type: LogicalType) -> object:
    """The rendering of a value of a logical type, as a tree for `json`."""
    if value is None:
        return None
    match type:
        case Boolean() | Integer() | Text():
            return value
        case BigInteger():
            return str(value)
        case Float():
            return _rendered_float(value)
        case Binary():
            return _rendered_bytes(value)
        case Open():
            return to_tagged(value)
        case Meant(seen=seen):
            return meanings.rendered(value, seen) if isinstance(seen, Scaled) else to_canonical(value, seen)
        case Alternatives():
            return _rendered_alternative(value, type)
        case Record():
            return _rendered_record(value, type)
        case List(element):
            return [to_canonical(each, element) for each in _list(value, "")]
        case Map(key, entry):
            return [[to_canonical(k, key), to_canonical(v, entry)] for k, v in _pairs(value)]
        case _:
            assert_never(type)


def _rendered_record(value: object, record: Record) -> dict[str, object]:
    members = _members(value, "")
    rendered = {
        member.name: to_canonical(members[member.name], member.type)
        for member in record.fields
        if members.get(member.name) is not None
    }
    if len(rendered) < sum(each is not None for each in members.values()):
        unknown = next(name for name, each in members.items() if each is not None and name not in rendered)
        raise ValueError(unknown_name("member", unknown, [member.name for member in record.fields]))
    return rendered


def _rendered_alternative(value: object, type: Alternatives) -> dict[str, object]:
    option = chosen(type, value)
    if option is None:
        raise TypeError(f"{value!r} is none of {', '.join(kind_name(option) for option in type.options)}")
    plain = value.value if isinstance(value, Extension) and not isinstance(option, Open) else value
    return {kind_name(option): to_canonical(plain, option)}


def _rendered_float(value: object) -> float | str:
    if not isinstance(value, (int, float)):
        raise TypeError(f"expected a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(_TOO_LARGE) from None
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _rendered_bytes(value: object) -> str:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"expected bytes, got {value!r}")
    return b64encode(value).decode()


def to_tagged(value: object) -> object:
    """The tagged rendering of an open value."""
    match value:
        case None:
            return None
        case bool():
            return {"bool": value}
        case int():
            return {"int": value}
        case float():
            return {"float": _rendered_float(value)}
        case str():
            return {"str": value}
        case bytes() | bytearray() | memoryview():
            return {"bytes": _rendered_bytes(value)}
        case Extension(name=name, value=content):
            return {name or f"ext{value.code}": content if isinstance(content, str) else _rendered_bytes(content)}
        case Pairs():
            return {"map": [[to_tagged(k), to_tagged(v)] for k, v in value]}
        case list() | tuple():
            return {"list": [to_tagged(each) for each in value]}
        case _:
            raise TypeError(f"a {type(value).__name__} is not an open value")


# --- rendering to value --------------------------------------------------------------------------------------------


def from_canonical(
    rendering: object, type: LogicalType, extensions: Sequence[ExtensionType] = (), path: str = ""
) -> object:
    """The value of a rendering, with all members of its records; the inverse of `to_canonical`.

    `extensions` are the extension types that open values of the format may have. Raises ValueError whose message begins
    with the path of the value that does not fit.
    """
    if rendering is None:
        return None
    match type:
        case Boolean() | Integer() | BigInteger() | Float() | Text() | Binary():
            return _READERS[type.__class__](rendering, path)
        case Open():
            return from_tagged(rendering, extensions, path)
        case Meant(seen=seen):
            return (
                _quantity(rendering, seen, path)
                if isinstance(seen, Scaled)
                else from_canonical(rendering, seen, (), path)
            )
        case Alternatives():
            return _alternative(rendering, type, extensions, path)
        case Record():
            return _record(rendering, type, extensions, path)
        case List(element):
            items = enumerate(_list(rendering, path))
            return [from_canonical(each, element, extensions, f"{path}[{i}]") for i, each in items]
        case Map(key, value):
            return Pairs(
                (
                    from_canonical(k, key, extensions, f"{path}[{i}]"),
                    from_canonical(v, value, extensions, f"{path}[{i}]"),
                )
                for i, (k, v) in enumerate(_entries(rendering, path))
            )
        case _:
            assert_never(type)


def _quantity(rendering: object, scaled: Scaled, path: str) -> object:
    try:
        return meanings.read(rendering, scaled)
    except ValueError as problem:
        raise _misfit(path, f"{problem}, got {rendering!r}") from problem


def _record(rendering: object, record: Record, extensions: Sequence[ExtensionType], path: str) -> dict[str, object]:
    members = _members(rendering, path)
    names = [member.name for member in record.fields]
    for name in members:
        if name not in names:
            raise _misfit(path, unknown_name("member", name, names))
    found = dict[str, object].fromkeys(names)
    for member in record.fields:
        value = members.get(member.name)
        if value is not None:
            found[member.name] = from_canonical(value, member.type, extensions, _join(path, member.name))
    return found


def _alternative(rendering: object, type: Alternatives, extensions: Sequence[ExtensionType], path: str) -> object:
    tag, content = _tagged_member(rendering, path)
    options = {kind_name(option): option for option in type.options}
    if tag not in options:
        raise _misfit(path, unknown_name("alternative", tag, list(options)))
    return from_canonical(content, options[tag], extensions, path)


def from_tagged(rendering: object, extensions: Sequence[ExtensionType] = (), path: str = "") -> object:
    """The open value of a tagged rendering; the inverse of `to_tagged`."""
    if rendering is None:
        return None
    tag, content = _tagged_member(rendering, path)
    if tag == "list":
        items = enumerate(_list(content, path))
        return [from_tagged(each, extensions, f"{path}[{i}]") for i, each in items]
    if tag == "map":
        entries = enumerate(_entries(content, path))
        return Pairs(
            (from_tagged(k, extensions, f"{path}[{i}]"), from_tagged(v, extensions, f"{path}[{i}]"))
            for i, (k, v) in entries
        )
    scalar = _TAGGED_SCALARS.get(tag)
    return _extension(tag, content, extensions, path) if scalar is None else scalar(content, path)


def _extension(tag: str, content: object, extensions: Sequence[ExtensionType], path: str) -> Extension:
    found = next((extension for extension in extensions if extension.name == tag), None)
    if found is None:
        names = [*_TAGGED_SCALARS, "list", "map", *(extension.name for extension in extensions)]
        raise _misfit(path, unknown_name("tag", tag, names))
    return Extension(found.code, found.name, _text(content, path) if found.text else _bytes(content, path))


def _integer(rendering: object, path: str) -> int:
    if isinstance(rendering, bool) or not isinstance(rendering, int):
        raise _misfit(path, f"expected an integer, got {rendering!r}")
    return rendering


def _decimal(rendering: object, path: str) -> int:
    if not isinstance(rendering, str) or not _DECIMAL(rendering):
        raise _misfit(path, f"expected decimal text, got {rendering!r}")
    return int(rendering)


def _float(rendering: object, path: str) -> float:
    if isinstance(rendering, (int, float)) and not isinstance(rendering, bool):
        try:
            return float(rendering)
        except OverflowError:
            raise _misfit(path, _TOO_LARGE) from None
    if isinstance(rendering, str) and rendering in _NUMBER_WORDS:
        return _NUMBER_WORDS[rendering]
    raise _misfit(path, f"expected a number, NaN, Infinity or -Infinity, got {rendering!r}")


def _bytes(rendering: object, path: str) -> bytes:
    text = _text(rendering, path)
    try:
        return said_in_base64(text)
    except ValueError as problem:
        raise _misfit(path, f"expected {BASE64}, got {rendering!r}") from problem


def _text(rendering: object, path: str) -> str:
    return str(_scalar(rendering, str, "text", path))


def _boolean(rendering: object, path: str) -> bool:
    return bool(_scalar(rendering, bool, "a boolean", path))


_READERS: Mapping[type, Callable[[object, str], object]] = {
    Boolean: _boolean,
    Integer: _integer,
    BigInteger: _decimal,
    Float: _float,
    Text: _text,
    Binary: _bytes,
}
_TAGGED_SCALARS: Mapping[str, Callable[[object, str], object]] = {
    "bool": _boolean,
    "int": _integer,
    "float": _float,
    "str": _text,
    "bytes": _bytes,
}


def _scalar(rendering: object, wanted: type, what: str, path: str) -> object:
    if not isinstance(rendering, wanted):
        raise _misfit(path, f"expected {what}, got {rendering!r}")
    return rendering


def _members(rendering: object, path: str) -> Mapping[str, object]:
    if not isinstance(rendering, Mapping):
        raise _misfit(path, f"expected a record, got {rendering!r}")
    return rendering


def _list(rendering: object, path: str) -> Sequence[object]:
    if not isinstance(rendering, (list, tuple)):
        raise _misfit(path, f"expected a list, got {rendering!r}")
    return rendering


def _entries(rendering: object, path: str) -> list[tuple[object, object]]:
    entries = _list(rendering, path)
    if not all(isinstance(entry, (list, tuple)) and len(entry) == 2 for entry in entries):
        raise _misfit(path, "expected a list of [key, value]")
    return [(entry[0], entry[1]) for entry in entries if isinstance(entry, (list, tuple))]


def _pairs(value: object) -> Pairs:
    if not isinstance(value, Pairs):
        raise TypeError(f"expected Pairs, got {value!r}")
    return value


def _tagged_member(rendering: object, path: str) -> tuple[str, object]:
    match rendering:
        case dict() if len(rendering) == 1:
            return next(iter(rendering.items()))
        case _:
            raise _misfit(path, f"expected an object of one tag, got {rendering!r}")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _misfit(path: str, message: str) -> ValueError:
    return ValueError(f"{path}: {message}" if path else message)
