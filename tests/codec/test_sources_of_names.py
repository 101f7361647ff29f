"""Builders find the value of each name, whatever uses it: other structs, chains, cycles, offsets."""

import copy
import cProfile
import pstats
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from proof.modules import documents, generated, resolved
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.values import sourceless

Fields = list[dict[str, Any]]


@contextmanager
def made(fields: Fields, types: Mapping[str, Any] | None = None, **keys: Any) -> Iterator[ModuleType]:
    """The module of a format from the fields of its root `R`, its other types, and other keys of the format."""
    head = {"wireloom": 1, "format": "made", "title": "made", "encoding": "binary", "byteOrder": "big", "root": "R"}
    known = {"R": {"fields": fields}} | dict(types or {})
    spec = {"made.yaml": head | keys | {"types": {name: known[name] for name in used(known)}}}
    with generated(resolved(documents(spec))) as found:
        yield found.module


def used(types: Mapping[str, Any]) -> list[str]:
    """The types that the root leads to, the others of a table of them left out."""
    found = ["R"]
    for name in found:
        words = re.findall(r"\w+", repr(types[name]))
        found += [each for each in types if each in words and each not in found]
    return found


def plain(value: Any) -> Any:
    """A copy that remembers nothing of what was parsed."""
    match value:
        case dict():
            return {name: plain(member) for name, member in value.items()}
        case list():
            return [plain(element) for element in value]
        case _:
            return value


def keeps(module: ModuleType, data: bytes) -> Any:
    """The value of a record; checks that builders, with and without the record's bytes, and `encode` reproduce it."""
    value = module.parse(data)
    assert module.build(plain(value)) == data
    assert module.build(value) == data
    assert module.build(sourceless(copy.deepcopy(value))) == data
    assert module.CODEC.encode(module.CODEC.decode(pa.array([data])).records).to_pylist() == [data]
    return value


# --- a struct that says something of another -----------------------------------------------------------------------


def flags(body: str, head: str) -> tuple[Fields, Fields, list[str]]:
    """A flag of a header, about a field of the body."""
    told = [{"has": {"type": "bool", "derive": f"present({body}a)", "hidden": True}}]
    return told, [{"a": {"type": "uint8", "when": f"{head}has"}}], ["0141", "00"]


def kinds(body: str, head: str) -> tuple[Fields, Fields, list[str]]:
    """A number in a header that selects the members of the body."""
    told = [{"kind": {"type": "uint8", "derive": f"present({body}a) ? 1 : present({body}c) ? 2 : 0"}}]
    has = [{"a": {"type": "uint8", "when": f"{head}kind == 1"}}, {"c": {"type": "uint16", "when": f"{head}kind == 2"}}]
    return told, has, ["0141", "020005", "00"]


def lengths(body: str, head: str) -> tuple[Fields, Fields, list[str]]:
    """A length in the header, of a text in the body."""
    told = [{"n": {"type": "uint8", "derive": f"len({body}t)", "hidden": True}}]
    return told, [{"t": f"str({head}n)"}], ["03616263", "00"]


def bits(body: str, head: str) -> tuple[Fields, Fields, list[str]]:
    """Bits of a header, about two fields of the body."""
    each = {f"has{name}": {"at": at, "derive": f"present({body}{name})"} for at, name in enumerate(("a", "c"))}
    told = [{"flags": {"type": "uint8", "bits": each, "hidden": True}}]
    has = [{name: {"type": "uint8", "when": f"{head}has{name}"}} for name in ("a", "c")]
    return told, has, ["0141", "0205", "034105", "00"]


NESTED = list(product((flags, kinds, lengths, bits), ((1, 1), (2, 1), (1, 2)), (False, True), (False, True)))


LISTED = [(said, (1, 1), melts, melts) for said in (flags, kinds, lengths, bits) for melts in (False, True)]


@pytest.mark.parametrize(
    ("said", "depths", "melts", "body_melts", "around"),
    [*((*each, "alone") for each in NESTED), *((*each, "listed") for each in LISTED)],
)
def test_a_header_speaks_of_a_body(
    said: Callable[[str, str], tuple[Fields, Fields, list[str]]],
    depths: tuple[int, int],
    melts: bool,
    body_melts: bool,
    around: str,
) -> None:
    paths = [name for name, depth, flat in (("head", depths[0], melts), ("body", depths[1], body_melts)) if not flat]
    inner = {
        name: f"{name}.sub." if depth > 1 else f"{name}." for name, depth in zip(("head", "body"), depths, strict=True)
    }
    inner |= {name: "sub." if depths[name == "body"] > 1 else "" for name in ("head", "body") if name not in paths}
    told, has, records = said(inner["body"], inner["head"])
    types: dict[str, Any] = {"Told": {"fields": told}, "Has": {"fields": has}}
    types["Head"] = {"fields": [{"sub": "Told"}]} if depths[0] > 1 else types["Told"]
    types["Body"] = {"fields": [{"sub": "Has"}]} if depths[1] > 1 else types["Has"]
    fields = [
        {"head": {"type": "Head"} | ({"flatten": True} if melts else {})},
        {"body": {"type": "Body"} | ({"flatten": True} if body_melts else {})},
    ]
    if around == "alone":
        with made(fields, types) as module:
            for record in records:
                keeps(module, bytes.fromhex(record))
        return
    listed = [{"count": {"type": "uint8", "derive": "count(items)", "hidden": True}}]
    with made(
        [*listed, {"items": {"type": "list(One)", "count": "count"}}], types | {"One": {"fields": fields}}
    ) as module:
        keeps(module, bytes([len(records)]) + bytes.fromhex("".join(records)))


@pytest.mark.parametrize("around", ["select", "attempt", "region", "varint"])
def test_a_header_speaks_of_a_body_within(around: str) -> None:
    """In a case, an alternative, a region, and one whose length is of any width."""
    told, has, records = flags("body.", "head.")
    types: dict[str, Any] = {
        "Head": {"fields": told},
        "Body": {"fields": has},
        "Rec": {"fields": [{"head": "Head"}, {"body": "Body"}]},
        "Other": {"fields": [{"w": "uint16"}, {"v": "uint16"}]},
        "Tried": {
            "attempt": [
                {"name": "one", "type": "Rec", "fallback": [{"codes": ["unknown_value"]}]},
                {"name": "other", "type": "Other"},
            ]
        },
    }
    length = [{"n": {"type": "uint16" if around == "region" else "varint32", "hidden": True, "derive": "e - s"}}]
    sized = [*length, {"mark": "s"}, {"rec": {"type": "Rec", "size": "n"}}, {"mark": "e"}]
    fields, before = {
        "select": ([{"k": "uint8"}, {"rec": {"type": {"select": "k", "cases": {1: "Rec", 2: "Other"}}}}], "01"),
        "attempt": ([{"rec": "Tried"}], ""),
        "region": (sized, "00"),
        "varint": ([*sized, {"last": {"type": "uint8", "when": "size > here"}}], ""),
    }[around]
    with made(fields, types) as module:
        for record in records:
            size = f"{len(record) // 2:02x}" if around in ("region", "varint") else ""
            for last in ("", "07") if around == "varint" else ("",):
                keeps(module, bytes.fromhex(before + size + record + last))


# --- chains and circles --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hops", [1, 16, 17, 40])
def test_a_chain_of_names_is_as_long_as_it_is(hops: int) -> None:
    computed = [
        {
            f"p{hop}": {
                "type": "uint8",
                "compute": "a",
                "hidden": True,
                "derive": f"p{hop + 1}" if hop + 1 < hops else "len(x)",
            }
        }
        for hop in range(hops)
    ]
    with made([{"a": {"type": "uint8", "hidden": True, "derive": "p0"}}, *computed, {"x": "str(a)"}]) as module:
        keeps(module, bytes.fromhex("03616263"))
    derived = [
        {f"d{hop}": {"type": "uint8", "derive": f"d{hop + 1}" if hop + 1 < hops else "len(x)"}} for hop in range(hops)
    ]
    with made([*derived, {"x": "str(d0)"}]) as module:
        keeps(module, bytes([3] * hops) + b"abc")
        assert module.build({"x": "ab"}) == bytes([2] * hops) + b"ab"


def test_what_follows_from_itself_is_there_where_the_value_has_it() -> None:
    """Flags that hang on one another: of each pair the second is asked for where the first is there."""
    fields: Fields = [
        {"kind": {"type": "uint8", "hidden": True, "derive": "present(a) ? (present(b) ? 3 : 1) : 0"}},
        {"a": {"type": "uint8", "when": "kind != 0"}},
        {"b": {"type": "uint8", "when": "kind == 3 and present(a)"}},
        {"c": {"type": "bool", "compute": "present(b)"}},
    ]
    with made(fields) as module:
        for record, c in (("030102", True), ("0101", False), ("00", False)):
            assert keeps(module, bytes.fromhex(record))["c"] is c


# --- places --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 126, 127, 128, 16383, 16384])
@pytest.mark.parametrize("last", [None, 7])
def test_a_length_of_any_width_moves_what_stands_behind_it(size: int, last: int | None) -> None:
    fields: Fields = [
        {"length": {"type": "varint32", "hidden": True, "derive": "end - start"}},
        {"mark": "start"},
        {"value": {"type": "V", "size": "length"}},
        {"mark": "end"},
        {"last": {"type": "uint8", "when": "size > here"}},
    ]
    with made(fields, {"V": {"fields": [{"text": "str"}]}}) as module:
        value = {"value": {"text": "a" * size}, "last": last}
        assert module.parse(module.build(value)) == value
        keeps(module, module.build(value))


def test_as_many_lengths_of_any_width_as_there_are_settle() -> None:
    """Each offset is of two bytes once one before it is, so that they grow one after the other."""
    sizes = [112, *[1] * 8]
    offsets: Fields = [{f"o{at}": {"type": "varint32", "hidden": True, "derive": f"m{at}"}} for at in range(9)]
    data: Fields = [
        part for at, size in enumerate(sizes) for part in ({"mark": f"m{at}"}, {f"d{at}": f"bytes({size})"})
    ]
    with made([*offsets, *data]) as module:
        value = {f"d{at}": b"x" * size for at, size in enumerate(sizes)}
        record = module.build(value)
        assert module.parse(record) == value
        assert record.endswith(b"x" * 120)
        assert len(record) > 120 + 9 + 4


def test_an_optional_terminator_is_left_out_in_front_of_nothing() -> None:
    fields: Fields = [
        {"items": {"type": "list(str(uint8))", "terminator": "ff?"}},
        {"payload": {"type": "bytes", "when": "size > here"}},
    ]
    with made(fields) as module:
        assert module.build({"items": ["a"], "payload": None}) == b"\1a"
        keeps(module, b"\1a")
        assert module.build({"items": ["a"], "payload": b"x"}) == b"\1a\xffx"


REST: Fields = [{"x": "uint8"}, {"rest": {"type": "bytes", "hidden": True}}]
SAID: Fields = [{"x": "uint8"}, {"rest": {"type": "bytes(size - here)", "hidden": True}}]
ALTERNATIVES = [{"name": "one", "type": "One", "fallback": [{"codes": ["truncated"]}]}, {"name": "two", "type": "Two"}]
BODIES = {
    "a struct": {"fields": REST},
    "a computed size": {"fields": SAID},
    "an alternative": {"attempt": ALTERNATIVES},
    "a case": {"select": "k", "cases": {1: "One", 2: "Two"}},
}


@pytest.mark.parametrize("size", [3, "n"])
@pytest.mark.parametrize("body", BODIES)
def test_the_hidden_rest_of_a_region_of_known_size_is_filled(body: str, size: int | str) -> None:
    fields: Fields = [{"n": "uint8"}, {"k": "uint8"}, {"body": {"type": "Body", "size": size}}, {"z": "uint8"}]
    types = {"Body": BODIES[body], "One": {"fields": REST}, "Two": {"fields": [{"y": "uint16"}]}}
    with made(fields, types) as module:
        value = module.parse(bytes.fromhex("030101aabbff"))
        assert module.build(plain(value)) == bytes.fromhex("0301010000ff")
        keeps(module, bytes.fromhex("0301010000ff"))


@pytest.mark.parametrize("flag", [{}, {"hidden": True}])
def test_a_list_at_the_last_level_that_may_be_null_is_no_empty_list(flag: dict[str, bool]) -> None:
    fields: Fields = [
        {"n": {"type": "int8", "derive": "present(children) ? count(children) : -1"} | flag},
        {"children": {"type": "list(R)", "count": "n", "when": "n >= 0"}},
    ]
    with made([], {"R": {"depth": 2, "fields": fields}}) as module:
        for record in ("ff", "01ff"):
            keeps(module, bytes.fromhex(record))
        with pytest.raises(DecodeError) as caught:
            module.parse(bytes.fromhex("0100"))
        assert caught.value.code == "depth_limit"


# --- effort --------------------------------------------------------------------------------------------------------


def calls(work: Callable[[], object]) -> int:
    profile = cProfile.Profile()
    profile.runcall(work)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


MIDI = {
    "Event": {
        "fields": [
            {"delta": "varint32"},
            {
                "message": {
                    "type": {
                        "select": {"peek": "uint8"},
                        "cases": {
                            **dict.fromkeys(range(0x80, 0x90), "Off"),
                            **dict.fromkeys(range(0x90, 0xA0), "On"),
                            255: "Meta",
                        },
                    }
                }
            },
        ]
    },
    "Off": {
        "fields": [
            {"type": {"type": "uint4", "const": 8}},
            {"channel": "uint4"},
            {"key": "uint8"},
            {"velocity": "uint8"},
        ]
    },
    "On": {
        "fields": [
            {"type": {"type": "uint4", "const": 9}},
            {"channel": "uint4"},
            {"key": "uint8"},
            {"velocity": "uint8"},
        ]
    },
    "Meta": {
        "fields": [
            {"status": {"type": "uint8", "const": 255, "hidden": True}},
            {"kind": "uint8"},
            {"length": {"type": "varint32", "hidden": True, "derive": "len(data)"}},
            {"data": "bytes(length)"},
        ]
    },
}


def midi(events: int) -> tuple[Fields, dict[str, Any], bytes]:
    """MIDI-like events: a time, and a note or a text, selected by the first byte."""
    fields: Fields = [
        {"length": {"type": "uint32", "hidden": True, "derive": "end - start"}},
        {"mark": "start"},
        {"events": {"type": "list(Event)", "size": "length"}},
        {"mark": "end"},
    ]
    each = [bytes([at % 128, 0x90 + at % 16, 60, at % 128]) if at % 3 else b"\0\xff\1\3abc" for at in range(events)]
    return fields, MIDI, len(b"".join(each)).to_bytes(4, "big") + b"".join(each)


def bitmap(_: int) -> tuple[Fields, dict[str, Any], bytes]:
    """A message with a bit for each of 64 fields, as of ISO 8583."""
    each = {f"has{at}": {"at": 64 - at, "derive": f"present(f{at})", "hidden": True} for at in range(1, 65)}
    fields: Fields = [{"bitmap": {"type": "uint64", "hidden": True, "bits": each}}]
    fields += [{f"f{at}": {"type": "uint16" if at % 3 else "str(uint8)", "when": f"has{at}"}} for at in range(1, 65)]
    return fields, {}, bytes([0x55] * 8) + b"".join(b"\0\1" if at % 3 else b"\3abc" for at in range(2, 65, 2))


@pytest.mark.parametrize(("format", "times"), [(midi, 5), (bitmap, 5)])
def test_building_is_a_few_times_the_work_of_parsing(
    format: Callable[[int], tuple[Fields, dict[str, Any], bytes]], times: int
) -> None:
    """Calls are counted: of what was parsed, of a copy of it, and of twice as much, which is twice the work."""
    fields, types, data = format(40)
    with made(fields, types) as module:
        value = keeps(module, data)
        parse = calls(lambda: module.parse(data))
        assert calls(lambda: module.build(value)) <= times * parse
        assert calls(lambda: module.build(plain(value))) <= times * parse
        _, _, more = format(80)
        assert calls(lambda: module.build(plain(module.parse(more)))) <= 2.2 * (times + 1) * parse
