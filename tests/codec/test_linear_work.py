"""The work of reading is proportional to the size of any input; tests count calls and bytes, not time."""

import importlib
import itertools
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

import pyarrow as pa
import pytest

from wireloom import pipeline
from wireloom.pipeline import Project
from wireloom.runtime import engine as engines
from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.msgpack.identity import identity_of

PACKAGE = "linear_work"
SPECS = {
    "packed": """
encoding: msgpack
types:
  Value: {oneOf: {nil: nil, int: int, str: str, list: list(Value), map: 'map(Value, Value)'}}
  R: {fields: [{v: Value}]}
""",
    "nested": """
encoding: msgpack
limits: {depth: 2}
types:
  R: {attempt: [{name: numbers, type: Numbers, fallback: [{codes: [type_mismatch]}]}, {name: texts, type: Texts}]}
  Number: {oneOf: {int: int, list: list(Number)}}
  Text: {oneOf: {str: str, list: list(Text)}}
  Numbers: {fields: [{n: Number}]}
  Texts: {fields: [{v: Text}]}
""",
    "text": """
encoding: json
types:
  Value: {oneOf: {nil: nil, int: int, float: float, str: str, list: list(Value), map: 'map(str, Value)'}}
  R: {fields: [{v: Value}, {raw: {type: json, optional: true}}]}
""",
    "message": """
encoding: protobuf
types:
  Part: {fields: [{a: {type: list(uint32), tag: 1}}, {s: {type: str, tag: 2, optional: true}}]}
  R:
    fields:
      - part: {type: Part, tag: 1}
      - parts: {type: list(Part), tag: 2}
      - group: {type: Part, tag: 4, wire: group, optional: true}
      - groups: {type: list(Part), tag: 5, wire: group}
""",
    "pointers": """
encoding: binary
types:
  R: {fields: [{mark: start}, {first: First}, {rest: {type: bytes, hidden: true}}]}
  First: {fields: [{list: {type: list(ToSecond), count: uint8}}]}
  ToSecond: {fields: [{place: uint8}, {second: {type: Second, at: place, from: start}}]}
  Second: {fields: [{list: {type: list(ToThird), count: uint8}}]}
  ToThird: {fields: [{place: uint8}, {third: {type: Third, at: place, from: start}}]}
  Third: {fields: [{list: {type: list(ToLast), count: uint8}}]}
  ToLast: {fields: [{place: uint8}, {last: {type: uint32, at: place, from: start}}]}
""",
    "chains": """
encoding: binary
types:
  Name: {fields: [{n: {type: list(str(uint8)), terminator: 00, jump: {type: uint16, range: 0xC000 .., start: 0xC000}}}]}
  R: {fields: [{first: Name}, {n: uint16}, {gap: uint8}, {names: {type: list(Name), count: n}}]}
""",
    "ways": """
encoding: binary
errors: {other: Another alternative.}
types:
  R: {fields: [{n: uint32}, {items: {type: list(Way), count: n}}, {rest: bytes}]}
  Way: {attempt: [{name: long, type: Long, fallback: [{codes: [other]}]}, {name: short, type: Short}]}
  Long: {fields: [{n: uint16}, {xs: {type: list(uint8), count: n}}, {last: {type: uint8, const: 7, else: other}}]}
  Short: {fields: [{n: uint16}]}
""",
    "totals": """
encoding: binary
types:
  R: {fields: [{n: uint32}, {sizes: {type: list(uint8), count: n}}, {items: {type: list(Item)}}]}
  Item: {fields: [{x: uint8}, {all: {compute: sum(sizes), type: int64}}]}
""",
    "joins": """
encoding: binary
types:
  R: {fields: [{n: uint32}, {names: {type: list(str(1)), count: n}}, {text: str(n)}, {items: {type: list(Item)}}]}
  Item:
    fields:
      - x: uint8
      - all: {compute: "len(join(names, '.'))", type: int64}
      - first: {compute: "slice(text, 0, 4)", type: str}
""",
    "sums": """
encoding: binary
checksums: {c: {width: 32, poly: 0x04C11DB7, reflected: true, init: 0xFFFFFFFF, xorout: 0xFFFFFFFF, check: 0xCBF43926}}
types:
  R: {fields: [{n: uint32}, {items: {type: list(Item), count: n}}, {rest: bytes}]}
  Item:
    fields:
      - behind: uint16
      - sum: {type: uint32, checksum: c, over: 6 .. behind, hidden: true}
      - verify: {field: sum}
""",
    "around": """
encoding: binary
types:
  R: {fields: [{n: uint32}, {text: str(n)}, {items: list(Item)}]}
  Item:
    fields:
      - x: uint8
      - digest: {compute: md5(text) == 3, type: bool}
      - length: {compute: len(text) + x, type: int64}
      - number: {compute: 'decimal(text, 64)', type: uint64}
""",
    "levels": """
encoding: binary
types:
  R: {depth: 40, fields: [{name: uint8}, {child: {type: R, when: size > here}}]}
""",
    "lengths": """
encoding: binary
types:
  R:
    depth: 40
    fields:
      - length: {type: varint32, derive: after - before, hidden: true}
      - name: uint8
      - mark: before
      - child: {type: R, size: length, when: length > 0}
      - mark: after
""",
}


@pytest.fixture(scope="module")
def formats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], ModuleType]]:
    """The module of each of the specs, by its name."""
    folder = tmp_path_factory.mktemp("linear")
    for name, rest in SPECS.items():
        path = folder / "specs" / name / f"{name}.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(f"wireloom: 1\nformat: {name}\ntitle: t\nroot: R\n{rest}", encoding="utf-8")
    pipeline.generate(Project(folder / "specs", folder / "generated", PACKAGE))
    sys.path.insert(0, str(folder / "generated"))
    yield lambda name: importlib.import_module(f"{PACKAGE}.{name}")
    sys.path.remove(str(folder / "generated"))


class Meter:
    """Calls of functions, and bytes that cursors give out, while it is open."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.work = 0
        read = Cursor.read

        def metered(cursor: Cursor, size: int | None = -1) -> bytes:
            data = read(cursor, size)
            self.work += len(data)
            return data

        monkeypatch.setattr(Cursor, "read", metered)

    def of(self, act: Callable[[], object]) -> int:
        """The work that it takes."""
        self.work = 0
        sys.setprofile(self._count)
        try:
            act()
        except DecodeError as error:
            assert error.code == "size_limit"
        finally:
            sys.setprofile(None)
        return self.work

    def _count(self, _frame: object, event: str, _argument: object) -> None:
        self.work += event in ("call", "c_call")


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch) -> Meter:
    """The meter of this test."""
    return Meter(monkeypatch)


def sized(count: int) -> bytes:
    return count.to_bytes(4, "big")


def keys_within_keys(count: int) -> bytes:
    """A list that is the key of a map that is the key of a map, and so on."""
    levels = 40
    return b"\x91" + b"\x81" * levels + b"\xdd" + sized(count) + b"\x01" * count + b"\x01" * levels


def wide_keys_within_keys(count: int) -> bytes:
    """Each level has its share of the bytes, beside the key that holds the levels below."""
    levels = 20
    one = b"\x82\xdd" + sized(count // levels) + b"\x01" * (count // levels) + b"\x01"
    return b"\x91" + one * levels + b"\x05" + b"\x01" * levels


def sums_over_what_follows(count: int) -> bytes:
    """Items whose checksums cover all later items."""
    data = b"x" * 8
    for _ in range(count):
        data = (6 + len(data)).to_bytes(2, "big") + zlib.crc32(data).to_bytes(4, "big") + data
    return sized(count) + data


def pointers_to_pointers(fan: int) -> bytes:
    """Three levels of lists, in which all pointers lead to the one list of the next level."""
    levels = (bytes([fan]) + bytes([(fan + 1) * level]) * fan for level in (1, 2, 3))
    return b"".join(levels) + b"abcd"


def pointers_in_a_chain(count: int) -> bytes:
    """Lists that each are a pointer to the one before."""
    places = (0, *range(6, 4 + 2 * count, 2))
    pointers = b"".join((0xC000 + place).to_bytes(2, "big") for place in places)
    return b"\x01a\x00" + count.to_bytes(2, "big") + b"\x00" + pointers


AGAIN = {
    "alternatives": ("ways", lambda n: sized(n) + (n // 2).to_bytes(2, "big") * 2 * n, 3000),
    "checksums": ("sums", sums_over_what_follows, 3000),
    "pointers": ("pointers", pointers_to_pointers, 60),
    "chains": ("chains", pointers_in_a_chain, 3000),
}
"""Records that go over their bytes again: of three parts a few times, of so many without end."""


SHAPES: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "keys within keys": ("packed", keys_within_keys),
    "wide keys within keys": ("packed", wide_keys_within_keys),
    "many small keys": ("packed", lambda n: b"\x91\xdd" + sized(n) + b"\x81\x81\x81\x01\x01\x01\x01" * n),
    "nested arrays": ("text", lambda n: b'{"v":' + b"[" * 60 + b",".join([b"[]"] * n) + b"]" * 60 + b"}"),
    "kept arrays": ("text", lambda n: b'{"v":1,"raw":' + b"[" * 60 + b",".join([b"[]"] * n) + b"]" * 60 + b"}"),
    "escapes": ("text", lambda n: b'{"v":"' + b"\\u00e9x" * n + b'"}'),
    "long numbers": ("text", lambda n: b'{"v":0.' + b"1" * n + b"}"),
    "keys of an object": ("text", lambda n: b'{"v":{' + b",".join(b'"k\\n%d":1' % i for i in range(n)) + b"}}"),
    "pieces of a message": ("message", lambda n: b"\x0a\x02\x08\x01" * n),
    "messages": ("message", lambda n: b"\x0a\x02\x08\x01" + b"\x12\x02\x08\x01" * n),
    "groups that are passed over": ("message", lambda n: b"\x0a\x02\x08\x01" + b"\x1b\x1c" * n),
    "groups": ("message", lambda n: b"\x0a\x02\x08\x01" + b"\x2b\x08\x01\x2c" * n),
    "pieces of a group": ("message", lambda n: b"\x0a\x02\x08\x01" + b"\x23\x08\x01\x24" * n),
    **{name: each[:2] for name, each in AGAIN.items() if each[2] > 255},
    "sums over a list of a struct around": ("totals", lambda n: sized(n) + b"\x07" * n + b"\x01" * n),
    "texts of a list of a struct around": (
        "joins",
        lambda n: sized(n) + b"a" * n + b"\xc3\xa9" * (n // 2) + b"\x01" * n,
    ),
    "texts of a struct around": ("around", lambda n: sized(n) + b"\xc3\xa9" * (n // 2) + b"a" * n),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_four_times_the_bytes_take_four_times_the_work(
    formats: Callable[[str], ModuleType], meter: Meter, shape: str
) -> None:
    name, made = SHAPES[shape]
    parse = formats(name).parse
    few, many = (meter.of(partial(parse, made(count))) for count in (400, 1600))
    assert many < 5 * few, (few, many)


@pytest.mark.parametrize("name", ["levels", "lengths"])
def test_building_four_times_the_levels_takes_no_more_than_each_over_again(
    formats: Callable[[str], ModuleType], meter: Meter, name: str
) -> None:
    """Each level needs its end offset, and is laid out again for it."""
    module = formats(name)

    def value(levels: int) -> dict[str, object]:
        return {"name": levels} | ({"child": value(levels - 1)} if levels > 1 else {})

    few, many = (meter.of(partial(module.build, value(levels))) for levels in (9, 36))
    assert many < 4 * 4 * few, (few, many)


def test_a_layout_within_many_others_is_left_to_builders(formats: Callable[[str], ModuleType]) -> None:
    """The engine would go over the innermost twice for each level."""
    path = formats("lengths").CODEC.encode_path()
    assert path.native is False
    assert path.reason == "offsets that depend on each other in more than four nested structs"


def test_keys_that_python_hashes_alike_are_told_apart_at_once() -> None:
    """-1 and -2 have one hash in Python, and so have all lists of them."""
    cursor = Cursor(b"")
    keys = [list(key) for key in itertools.product((-1, -2), repeat=10)]
    assert len({hash(identity_of(key, cursor)) for key in keys}) == len(keys)


@pytest.mark.parametrize("shape", AGAIN)
def test_what_goes_over_its_bytes_too_often_is_refused_by_parser_and_engine_alike(
    formats: Callable[[str], ModuleType], shape: str
) -> None:
    if not engines.available():
        pytest.skip("the native engine is not built")
    name, made, many = AGAIN[shape]
    module = formats(name)
    for count in (3, many):
        data = made(count)
        try:
            module.parse(data)
            code, place = None, [(None, None)]
        except DecodeError as error:
            code, place = error.code, [(error.path, error.offset)]
        assert code == (None if count == 3 else "size_limit")
        (found,) = module.decode(pa.array([data], pa.binary())).errors.to_pylist()
        assert (found and found["code"]) == code
        assert [(found and found["path"], found and found["offset"])] == place


def test_an_alternative_that_failed_leaves_no_depth_behind(formats: Callable[[str], ModuleType]) -> None:
    parsed = formats("nested").parse(b"\x91\x91\x91\xa1x")
    assert (parsed["kind"], parsed["v"]) == ("texts", [["x"]])
