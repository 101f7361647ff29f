"""`import ksy`: for each rule of Kaitai Struct, the imported spec reads the bytes that the description describes."""

import tempfile
from pathlib import Path
from textwrap import dedent

import pytest
from typer.testing import CliRunner

from wireloom import pipeline
from wireloom.cli.app import app
from wireloom.cli.commands.specs.import_ import settled_ksy
from wireloom.examples.memory import opened
from wireloom.importing.findings import ImportRefusedError
from wireloom.importing.ksy import draft, read
from wireloom.problems import Problem

META = "meta: {id: sample, endian: le, encoding: UTF-8}\n"


def settled(text, folder, folders=(), **others):
    """The spec of a description, beside other files."""
    for name, other in others.items():
        (folder / f"{name}.ksy").write_text(dedent(other), encoding="utf-8")
    file = folder / "sample.ksy"
    file.write_text(dedent(text), encoding="utf-8")
    return settled_ksy(file, folders)


def parsed(made, data):
    """The value that a spec reads from bytes."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "spec.yaml").write_text(made.text, encoding="utf-8")
        modules = pipeline.read(Path(folder)).modules
    with opened(modules) as found:
        return found[made.format].parse(bytes.fromhex(data))


CARRIED = {
    "numbers in order, bytes after the end": (
        "seq: [{id: a, type: u1}, {id: b, type: u2}, {id: c, type: s2be}, {id: d, type: f4}]",
        "01 0200 ffff 0000803f 99",
        {"a": 1, "b": 2, "c": -1, "d": 1.0},
    ),
    "texts by size, by terminator and to the end": (
        "seq: [{id: a, type: str, size: 2}, {id: b, type: strz}, {id: c, size: 1}, {id: d, size-eos: true}]",
        "6162 63 00 64 6566",
        {"a": "ab", "b": "c", "c": b"d", "d": b"ef"},
    ),
    "a terminator that stays to be read": (
        "seq: [{id: a, terminator: 0x7c, consume: false}, {id: b, terminator: 0x7c, include: true}, {id: c, type: u1}]",
        "41 7c 05",
        {"a": b"A", "b": b"|", "c": 5},
    ),
    "a text that ends within its size, or fills it": (
        "seq: [{id: a, type: strz, size: 4}, {id: b, type: strz, size: 2}]",
        "61 00 7878 6263",
        {"a": "a", "b": "bc"},
    ),
    "filled up": ("seq: [{id: a, type: str, size: 4, pad-right: 0x20}]", "61 202020", {"a": "a"}),
    "contents": ("seq: [{id: magic, contents: [0x4d, Z]}]", "4d5a", {"magic": b"MZ"}),
    "types within types, sized": (
        """
        seq: [{id: len, type: u1}, {id: body, type: pair, size: len}, {id: after, type: u1}]
        types: {pair: {seq: [{id: x, type: u1}, {id: y, type: leaf}], types: {leaf: {seq: [{id: z, type: u1}]}}}}
        """,
        "04 0102ffff 07",
        {"len": 4, "body": {"x": 1, "y": {"z": 2}}, "after": 7},
    ),
    "repeated a number of times, until, and to the end": (
        """
        seq:
          - {id: n, type: u1}
          - {id: a, type: u1, repeat: expr, repeat-expr: n + 1}
          - {id: b, type: item, repeat: until, repeat-until: _.v == 0 or _.v == n}
          - {id: c, type: u2, repeat: eos}
        types: {item: {seq: [{id: v, type: u1}]}}
        """,
        "01 0908 0501 0100 0200",
        {"n": 1, "a": [9, 8], "b": [{"v": 5}, {"v": 1}], "c": [1, 2]},
    ),
    "conditions": (
        "seq: [{id: f, type: u1}, {id: a, type: u1, if: f & 1 != 0}, {id: b, type: u1, if: f == 0 and true}]",
        "01 05",
        {"f": 1, "a": 5, "b": None},
    ),
    "a choice, and what no case lists": (
        """
        seq:
          - {id: tag, type: u1}
          - {id: body, size: 2, type: {switch-on: tag, cases: {1: one, 0x02: two}}}
          - {id: more, type: {switch-on: tag, cases: {1: one, 2: two}}}
        types: {one: {seq: [{id: x, type: u1}]}, two: {seq: [{id: y, type: u2}]}}
        """,
        "09 aabb",
        {"tag": 9, "body": b"\xaa\xbb", "more": None},
    ),
    "words, known and unknown": (
        """
        seq: [{id: a, type: u1, enum: pet}, {id: b, type: u1, enum: pet}, {id: c, type: u1, if: "a == pet::dog"}]
        enums: {pet: {1: cat, 2: {id: dog, doc: It barks}}}
        instances: {n: {value: b.to_i + 1}, w: {value: pet::cat}}
        """,
        "02 07 05",
        {"a": "dog", "a_number": 2, "b": None, "b_number": 7, "c": 5, "n": 8, "w": "cat", "w_number": 1},
    ),
    "computed values": (
        """
        seq: [{id: a, type: u1}, {id: s, type: strz}]
        instances:
          half: {value: a / 2}
          rest: {value: "-7 % a"}
          both: {value: "s + '!'"}
          which: {value: "half > 2 ? 'big' : 'small'"}
          first: {value: "s.substring(0, 1)"}
          number: {value: "'12'.to_i + 1"}
        """,
        "05 6f6b 00",
        {"a": 5, "s": "ok", "half": 2, "rest": 3, "both": "ok!", "which": "small", "first": "o", "number": 13},
    ),
    "places": (
        """
        seq: [{id: at, type: u1}]
        instances:
          far: {pos: at, type: u1}
          list: {pos: 1, type: u1, repeat: expr, repeat-expr: 2}
          tail: {pos: at, size-eos: true}
        """,
        "02 0a 0b 0c",
        {"at": 2, "far": 11, "list": [10, 11], "tail": b"\x0b\x0c"},
    ),
    "a type from a place to the end": (
        """
        seq: [{id: at, type: u1}, {id: in, type: box}]
        types:
          box: {instances: {tail: {pos: 2, type: pair, size-eos: true}}}
          pair: {seq: [{id: x, type: u1}]}
        instances: {far: {pos: at + 1, type: pair, size-eos: true}}
        """,
        "02 0a 0b 0c",
        {"at": 2, "in": {"tail": {"x": 11}}, "far": {"x": 12}},
    ),
    "places in the region of another field": (
        """
        seq: [{id: head, type: u1}, {id: body, type: slot, size: 3}, {id: at, type: u1}]
        types: {slot: {}}
        instances: {word: {io: body._io, pos: at, type: u1}, own: {io: _root._io, pos: at, type: u1}}
        """,
        "99 0a0b0c 01",
        {"head": 0x99, "body": {}, "at": 1, "word": 11, "own": 10},
    ),
    "what is around, and hidden by a name": (
        """
        seq: [{id: v, type: u1}, {id: inner, type: box}]
        types:
          box:
            seq: [{id: v, type: u1}, {id: leaf, type: leaf}]
          leaf:
            seq: [{id: v, type: u1, if: _root.v == 1 and _parent.v == 2}]
            instances: {all: {value: _root.v + _parent.v + v}}
        """,
        "01 02 04",
        {"v": 1, "inner": {"v": 2, "leaf": {"v": 4, "all": 7}}},
    ),
    "parameters": (
        """
        seq:
          - {id: n, type: u1}
          - {id: a, type: 'block(n * 2, true)'}
          - {id: list, type: 'item(_index)', repeat: expr, repeat-expr: 2}
        types:
          block: {params: [{id: len, type: u1}, {id: more, type: bool}], seq: [{id: data, size: len, if: more}]}
          item: {params: [{id: i, type: s4}], seq: [{id: x, type: u1}]}
        """,
        "01 aabb 0506",
        {
            "n": 1,
            "a": {"len": 2, "more": True, "data": b"\xaa\xbb"},
            "list": [{"i": 0, "x": 5}, {"i": 1, "x": 6}],
        },
    ),
    "bits, the highest first": (
        "seq: [{id: a, type: b1}, {id: b, type: b3}, {id: c, type: b12}, {id: d, type: u1}]",
        "9abc 07",
        {"a": True, "b": 1, "c": 0xABC, "d": 7},
    ),
    "bits, the lowest first, up to whole bytes": (
        "seq: [{id: a, type: b4le}, {id: b, type: b8le}, {id: c, type: u1}]",
        "21 f3 07",
        {"a": 1, "b": 0x32, "c": 7},
    ),
    "an element by its place": (
        """
        seq:
          - {id: sizes, type: s2, repeat: expr, repeat-expr: 2}
          - {id: parts, type: 'part(_index)', repeat: expr, repeat-expr: 2}
        types: {part: {params: [{id: i, type: u1}], seq: [{id: data, size: '_root.sizes[i]'}]}}
        instances: {last: {value: sizes.last}}
        """,
        "0100 0200 aa bbcc",
        {
            "sizes": [1, 2],
            "sizes_octets": b"\x01\x00\x02\x00",
            "parts": [{"i": 0, "data": b"\xaa"}, {"i": 1, "data": b"\xbb\xcc"}],
            "last": 2,
        },
    ),
    "a byte order that the record says": (
        """
        seq: [{id: order, type: u1}, {id: body, type: body}]
        types:
          body:
            meta: {endian: {switch-on: _root.order, cases: {1: le, _: be}}}
            seq: [{id: x, type: u2}]
        """,
        "02 0102",
        {"order": 2, "body": {"x": 0x102}},
    ),
    "compressed": (
        """
        seq: [{id: n, type: u1}, {id: body, size: n, process: zlib, type: pair}]
        types: {pair: {seq: [{id: x, type: u1}, {id: y, type: u1}]}}
        """,
        "0a 789c63640200000600 04",
        {"n": 10, "body": {"x": 1, "y": 2}},
    ),
    "what is left of the region": (
        "seq: [{id: a, type: u1}, {id: b, size: _io.size - _io.pos - 1}, {id: c, type: u1, if: not _io.eof}]",
        "01 0203 04",
        {"a": 1, "b": b"\x02\x03", "c": 4},
    ),
    "names that mean something else here": (
        "seq: [{id: size, type: u1}, {id: check, type: u1}, {id: data, size: size}]",
        "01 02 03",
        {"size": 1, "check": 2, "data": b"\x03"},
    ),
    "a type that holds itself": (
        """
        seq: [{id: tree, type: node}]
        types: {node: {seq: [{id: n, type: u1}, {id: kids, type: node, repeat: expr, repeat-expr: n}]}}
        """,
        "01 00",
        {"tree": {"n": 1, "kids": [{"n": 0, "kids": []}]}},
    ),
}


@pytest.mark.parametrize("name", CARRIED)
def test_what_is_carried_over_reads_as_described(name, tmp_path):
    text, data, value = CARRIED[name]
    made = settled(META + dedent(text), tmp_path)
    assert not made.findings
    assert parsed(made, data) == value


VALID = {
    "a value": ("1", "01", "02"),
    "a range": ("{min: 2, max: 4}", "04", "05"),
    "one of several": ("{any-of: [1, 3]}", "03", "02"),
    "a condition": ("{expr: _ % 2 == 0}", "02", "03"),
}


@pytest.mark.parametrize("name", VALID)
def test_valid_is_checked(name, tmp_path):
    valid, good, bad = VALID[name]
    made = settled(f"{META}seq: [{{id: a, type: u1, valid: {valid}}}]", tmp_path)
    assert not made.findings
    assert parsed(made, good) == {"a": good[1] and int(good, 16)}
    with pytest.raises(Exception, match="not_valid"):
        parsed(made, bad)


def test_words_alone_are_valid_where_that_is_said(tmp_path):
    made = settled(
        f"{META}seq: [{{id: a, type: u1, enum: e, valid: {{in-enum: true}}}}]\nenums: {{e: {{1: one}}}}", tmp_path
    )
    assert parsed(made, "01") == {"a": "one"}
    with pytest.raises(Exception, match="unknown_value"):
        parsed(made, "02")


LACKING = {  # what has no words in a spec: its place, its kind, and what is read all the same
    "process": (
        "seq:\n  - {id: a, size: 1, process: xor(1)}\n  - {id: b, type: u1}",
        3,
        "process",
        {"a": b"\1", "b": 2},
    ),
    "fraction": ("seq: [{id: a, type: u1}]\ninstances:\n  f: {value: a * 1.5}", 4, "fraction", {"a": 1}),
    "text": ("seq: [{id: a, type: u1}]\ninstances:\n  f: {value: a.to_s}", 4, "text-function", {"a": 1}),
    "name": ("seq: [{id: a, type: u1}]\ninstances:\n  f: {value: b}", 4, "name", {"a": 1}),
    "syntax": ("seq: [{id: a, type: u1}]\ninstances:\n  f: {value: a +}", 4, "expression-syntax", {"a": 1}),
    "type": ("seq:\n  - {id: a, type: u1}\n  - {id: b, type: nowhere}\n  - {id: c, type: u1}", 4, "type", {"a": 1}),
    "charset": ("seq:\n  - {id: a, type: str, size: 1, encoding: SJIS}", 3, "charset", {"a": b"\1"}),
    "list": ("seq: [{id: a, type: u1}]\ninstances:\n  f: {value: '[a, 2]'}", 4, "list", {"a": 1}),
    "key": ("seq:\n  - {id: a, type: u1, colour: red}", 3, "unknown-key", {"a": 1}),
    "circular": ("seq: [{id: a, type: u1}]\ninstances:\n  f: {value: g}\n  g: {value: f}", 5, "circular", {"a": 1}),
}


@pytest.mark.parametrize("name", LACKING)
def test_what_is_not_carried_over_is_said_with_its_place_and_the_rest_is_read(name, tmp_path):
    text, line, kind, value = LACKING[name]
    made = settled(META + text, tmp_path)
    assert (line, kind) in {(each.location.line, each.kind) for each in made.findings}
    assert all(each.hint for each in made.findings)
    assert parsed(made, "0102") == value


def test_what_is_refused_again_is_left_out_with_all_that_follows(tmp_path):
    file = tmp_path / "sample.ksy"
    file.write_text(f"{META}seq: [{{id: a, size: 1, type: str}}, {{id: b, type: u1}}]")
    description = read(file)
    place = description.definition.seq[0].location
    problem = Problem("wrong-shape", "it does not fit", "mend it", place, "types.Sample.fields[0].a.type")
    once = draft(description, {}).blamed([problem], {})
    as_bytes = draft(description, once)
    assert "- a: bytes(1)\n" in as_bytes.text
    assert "- b: uint8\n" in as_bytes.text
    twice = as_bytes.blamed([problem], once)
    without = draft(description, twice)
    assert "- b:" not in without.text
    assert [each.kind for each in without.findings] == ["cut", "refused"]


def test_elements_that_are_no_structs_are_ones_where_a_condition_ends_their_list(tmp_path):
    made = settled(f"{META}seq: [{{id: a, type: u1, repeat: until, repeat-until: _ == 0}}]", tmp_path)
    assert [each.kind for each in made.findings] == ["repeat-until"]
    assert parsed(made, "0100") == {"a": [{"value": 1}, {"value": 0}]}


def test_imports_stay_within_their_folders(tmp_path):
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir(), other.mkdir()
    (other / "far.ksy").write_text("meta: {id: far}\nseq: [{id: x, type: u1}]")
    text = "meta: {{id: sample, imports: [near, {}]}}\nseq: [{{id: a, type: near}}, {{id: b, type: far}}]"
    near = "meta: {id: near, imports: [sample]}\nseq: [{id: y, type: u1}]"
    outside = settled(text.format("../other/far"), home, near=near)
    assert any("is outside of" in each.message for each in outside.findings)
    assert parsed(outside, "0102") == {"a": {"y": 1}}
    inside = settled(text.format("/far"), home, [other], near=near)
    assert not inside.findings
    assert parsed(inside, "0102") == {"a": {"y": 1}, "b": {"x": 2}}


REFUSED = {
    "no mapping": "- 1",
    "empty": "",
    "no YAML": "seq: [",
    "an alias": "meta: {id: a}\nseq: &x []\ntypes: *x",
    "deep": f"meta: {'[' * 200}{']' * 200}",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_description_is_refused_with_its_place(name, tmp_path):
    with pytest.raises(ImportRefusedError) as refused:
        settled(REFUSED[name], tmp_path)
    assert all(each.location.line for each in refused.value.findings)


HOSTILE = {
    "large": f"{META}doc: {'x' * (1 << 20)}",
    "parentheses": f"{META}seq: [{{id: a, type: u1}}]\ninstances: {{f: {{value: '{'(' * 500}1{')' * 500}'}}}}",
    "a long sum": f"{META}seq: [{{id: a, type: u1}}]\ninstances: {{f: {{value: '{'+'.join('a' * 900)}'}}}}",
    "digits": f"{META}seq: [{{id: a, size: '{'9' * 5000}'}}]",
    "doubling": META
    + "seq: [{id: a, type: t0}]\ntypes:\n"
    + "".join(f"  t{n}: {{seq: [{{id: x, type: t{n + 1}}}, {{id: y, type: t{n + 1}}}]}}\n" for n in range(60)),
    "names": "meta: {id: ../../x}\nseq: [{id: a, type: u1}]",
    "null": "meta: {id: null}\nseq: [null, 1, {id: [a]}, {id: a, type: [u1]}]\ntypes: {1: 2}\nenums: {e: 1}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_file_is_too_much(name, tmp_path):
    file = tmp_path / "sample.ksy"
    file.write_text(HOSTILE[name])
    result = CliRunner().invoke(app, ["import", "ksy", str(file), "--specs", str(tmp_path / "specs")])
    assert result.exit_code in (0, 1)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    written = [path.name for path in tmp_path.rglob("*.yaml")]
    assert all(path.parent == tmp_path / "specs" for path in tmp_path.rglob("*.yaml")), written


def test_the_command_writes_a_spec_and_says_what_it_lacks(tmp_path):
    file, specs = tmp_path / "sample.ksy", tmp_path / "specs"
    file.write_text(f"{META}doc: Of a test.\nseq:\n  - {{id: a, size: 1, process: rol(3), doc: The value.}}\n")
    command = ["import", "ksy", str(file), "--specs", str(specs)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert f"{file}:4:5: process: rol(3) of a; " in result.output
    assert "1 thing differs from the description: process 1" in result.output
    text = (specs / "sample.yaml").read_text()
    assert text.splitlines()[2:4] == ["wireloom: 1", "format: sample"]
    assert "- a: {type: bytes(1), doc: The value.}" in text
    assert CliRunner().invoke(app, command).exit_code == 2  # it is there
    assert CliRunner().invoke(app, [*command, "--replace"]).exit_code == 1
    assert CliRunner().invoke(app, ["import", "ksy", str(tmp_path / "no.ksy")]).exit_code == 2
