"""The JSON runtime alone: the reader against the standard library's, and each construct in small declarations."""

import io
import json as standard
import math
import time
from collections.abc import Callable

import pytest
from construct import Container
from hypothesis import given, settings
from hypothesis import strategies as st

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.engine import available, module
from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom.runtime.parsers import json
from wireloom.runtime.parsers.json.nodes import Nesting, Node, SourceText, Verbatim
from wireloom.runtime.parsers.json.text import read, write
from wireloom.runtime.parsers.structure import Check, Field, Struct, Version
from wireloom.runtime.parsers.unions import Deferred, Refusal
from wireloom.runtime.validation.documents import regular
from wireloom.runtime.values import Pairs

DEPTH = 64
needs_the_engine = pytest.mark.skipif(not available(), reason="the native engine is not built")

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=8)


def plain(node: Node) -> object:
    """A node as the standard library would have it."""
    match node.kind:
        case "array":
            return [plain(element) for element in node.elements]
        case "object":
            return {key: plain(member) for key, _, member in node.members}
        case _:
            return node.value


def failure(data: bytes, depth: int = DEPTH) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        read(data, depth)
    return caught.value


# --- the reader ----------------------------------------------------------------------------------------------------


@given(VALUES, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_the_reader_agrees_with_the_standard_library(value, ascii_only, indent):
    text = standard.dumps(value, ensure_ascii=ascii_only, indent=indent)
    found = plain(read(text.encode(), DEPTH))
    assert found == standard.loads(text)
    assert repr(found) == repr(standard.loads(text))


@given(VALUES)
def test_what_is_written_is_compact_and_reads_back(value):
    data = write(value)
    assert data == standard.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    assert repr(plain(read(data, DEPTH))) == repr(value)


@settings(deadline=None)  # one reading for each byte
@given(st.lists(VALUES, max_size=4) | st.dictionaries(TEXTS, VALUES, max_size=4), st.booleans())
def test_every_beginning_of_a_container_is_truncated(value, ascii_only):
    data = standard.dumps(value, ensure_ascii=ascii_only).encode()
    for length in range(len(data)):
        error = failure(data[:length])
        assert error.code == "truncated"
        assert error.offset <= length


@pytest.mark.parametrize("data", [b'"ab', b'"ab\xc3', b'"'])
def test_a_string_that_the_text_cuts_is_expected_as_a_string(data: bytes) -> None:
    error = failure(data)
    assert (error.code, error.expected, error.actual) == ("truncated", "a string", "the end of the text")


PIECES = st.sampled_from(
    [
        '"',
        "\\",
        "\\u",
        "d83d",
        "\\ude00",
        "é",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "0",
        "1",
        "-",
        "+",
        ".",
        "e",
        "true",
        "nul",
        "a",
        " ",
    ]
)


@given(st.lists(PIECES).map("".join))
def test_the_reader_accepts_nothing_that_the_standard_library_refuses(text):
    try:
        root = read(text.encode(), DEPTH)
    except DecodeError as error:
        assert 0 <= error.offset <= len(text.encode())
        if error.code in {"json_syntax", "truncated", "trailing_bytes"}:
            with pytest.raises(ValueError, match=":"):
                standard.loads(text)
    else:
        assert plain(root) == standard.loads(text)


@given(st.binary() | st.binary().map(lambda tail: b'["' + tail) | st.binary().map(lambda tail: b"[" + tail))
def test_any_bytes_give_a_node_or_a_decode_error(data):
    try:
        read(data, DEPTH)
    except DecodeError as error:
        assert 0 <= error.offset <= len(data)


def whole(node: Node) -> object:
    """A node and all within it, each with its place."""
    match node.kind:
        case "array":
            value: object = [whole(element) for element in node.elements]
        case "object":
            value = [(key, offset, whole(member)) for key, offset, member in node.members]
        case _:
            value = repr(node.value)
    return node.kind, node.start, node.end, value


def outcome(act: Callable[[], Node]) -> object:
    try:
        return whole(act())
    except DecodeError as error:
        return error.code, error.offset, error.components, error.expected, error.actual


@needs_the_engine
@given(
    st.builds(standard.dumps, VALUES, ensure_ascii=st.booleans()) | st.lists(PIECES).map("".join),
    st.sampled_from([1, 3, DEPTH]),
)
def test_the_nodes_of_the_engine_are_those_of_the_reader(text, depth):
    data = text.encode()
    assert outcome(lambda: regular(data, depth)) == outcome(lambda: read(data, depth))


@needs_the_engine
def test_regular_texts_need_no_reader_but_the_engines():
    text = b' {"a": [1, -2.5, true, null, "\\u00e9\xc3\xa9", 18446744073709551615], "": {}} '
    source = SourceText(text, Nesting(2))
    found = module().document(text, 2, Node, source)
    assert whole(found) == whole(read(text, 2))
    assert found.source is source
    assert module().document(text, 1, Node, source) is None


@given(VALUES)
def test_every_node_knows_where_its_text_stands(value):
    text = standard.dumps(value, ensure_ascii=False, indent=1)

    def check(node):
        assert standard.loads(node.literal) == plain(node)
        for element in node.elements if node.kind == "array" else ():
            check(element)
        for key, offset, member in node.members if node.kind == "object" else ():
            assert standard.JSONDecoder().raw_decode(text.encode()[offset:].decode())[0] == key
            check(member)

    check(read(text.encode(), DEPTH))


@pytest.mark.parametrize(
    ("data", "code", "offset"),
    [
        (b"", "truncated", 0),
        (b" \n", "truncated", 2),
        (b"[", "truncated", 1),
        (b"[1 ", "truncated", 3),
        (b"[1.", "truncated", 1),
        (b"[-", "truncated", 1),
        (b"[1e+", "truncated", 1),
        (b"[fal", "truncated", 1),
        (b'["ab', "truncated", 1),
        (b'["ab\\u00', "truncated", 1),
        (b'["\\ud83d\\ud', "truncated", 1),
        (b'["\xf0\x9f\x98', "truncated", 1),
        (b'{"a" ', "truncated", 5),
        (b"\xef\xbb\xbf[]", "json_syntax", 0),
        (b"[1] // one", "trailing_bytes", 4),
        (b"[/**/1]", "json_syntax", 1),
        (b"[1,]", "json_syntax", 3),
        (b"[,1]", "json_syntax", 1),
        (b'{"a":1,}', "json_syntax", 7),
        (b"{,}", "json_syntax", 1),
        (b"{'a':1}", "json_syntax", 1),
        (b"{a:1}", "json_syntax", 1),
        (b'{"a" 1}', "json_syntax", 5),
        (b"[1 2]", "json_syntax", 3),
        (b"[1}", "json_syntax", 2),
        (b"\0", "json_syntax", 0),
        (b'["a\0"]', "json_syntax", 3),
        (b'["a\n"]', "json_syntax", 3),
        (b'["\\x"]', "json_syntax", 3),
        (b'["\\u12g4"]', "json_syntax", 6),
        (b"[01]", "json_syntax", 2),
        (b"[-01]", "json_syntax", 3),
        (b"01", "json_syntax", 1),
        (b"[1.x]", "json_syntax", 3),
        (b"[1.5.2]", "json_syntax", 4),
        (b"[.5]", "json_syntax", 1),
        (b"[+1]", "json_syntax", 1),
        (b"[-x]", "json_syntax", 2),
        (b"[trux]", "json_syntax", 4),
        (b"[nan]", "json_syntax", 2),
        (b"[True]", "json_syntax", 1),
        ("[é]".encode(), "json_syntax", 1),
        (b"[NaN]", "json_nonfinite", 1),
        (b"[Infinity]", "json_nonfinite", 1),
        (b"[1, -Infinity]", "json_nonfinite", 4),
        (b"[1e999]", "json_nonfinite", 1),
        (b"[-1.0e400]", "json_nonfinite", 1),
        (b'["\xc0\xaf"]', "invalid_utf8", 2),
        (b'["a\xed\xa0\x80"]', "invalid_utf8", 3),
        (b'["\xf4\x90\x80\x80"]', "invalid_utf8", 2),
        (b'["\xc3"]', "invalid_utf8", 2),
        (b'["\\ud83d"]', "invalid_utf8", 2),
        (b'["\\ud83d\\u0041"]', "invalid_utf8", 2),
        (b'["a\\ude00"]', "invalid_utf8", 3),
        (b"\xff\xfe[\0]\0", "invalid_utf8", 0),
        ("[12]".encode("utf-16-le"), "invalid_utf8", 0),
        ("[12]".encode("utf-32-be"), "invalid_utf8", 0),
        (b"\x93\x01", "invalid_utf8", 0),
        (b'{"a":1, "a":2}', "duplicate_key", 8),
        (b'{"a":1,"\\u0061":2}', "duplicate_key", 7),
        (b'{"a":1,"a" x', "duplicate_key", 7),
        (b"{} {}", "trailing_bytes", 3),
        (b"1x", "trailing_bytes", 1),
        (b"[]\0", "trailing_bytes", 2),
    ],
)
def test_a_bad_text_is_reported_with_its_code_and_offset(data, code, offset):
    error = failure(data)
    assert (error.code, error.offset) == (code, offset)


def test_the_first_fault_in_the_text_is_the_one_reported():
    assert failure(b'["\xff\n').code == "invalid_utf8"
    assert failure(b'["\n\xff').code == "json_syntax"
    assert failure(b"[[[1e999, NaN").offset == 3
    assert failure(b'{"a":1,"a":[[[', depth=2).code == "duplicate_key"


def test_surrogate_pairs_join():
    assert read(b'"\\ud83d\\uDE00\\u00e9\\/"', 0).value == "\N{GRINNING FACE}é/"


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b'{"a":[1,{"b":1,"b":2}]}', "a[1].b"),
        (b'{"a":[1,[[]]]}', "a[1][0]"),
        (b'{"a":[1,{"c":nope}]}', "a[1].c"),
        (b'{"a":[1 2]}', "a"),
        (b'{"a":[],"b":tru', "b"),
        (b'{"a":1} x', ""),
    ],
)
def test_errors_of_the_text_say_where_they_stand(data, path):
    assert failure(data, depth=3).path == path


def test_depth_is_refused_at_the_bracket_that_exceeds_it():
    assert plain(read(b"[[[]]]", 3)) == [[[]]]
    assert (failure(b"[[[]]]", 2).code, failure(b"[[[]]]", 2).offset) == ("depth_limit", 2)
    assert failure(b'{"a":{"b":{}}}', 2).offset == 10
    assert read(b"1", 0).value == 1


@pytest.mark.parametrize("piece", [b"[", b'{"a":', b'[{"a":'])
def test_a_hundred_thousand_brackets_are_refused_before_the_stack_is(piece):
    start = time.process_time()
    assert failure(piece * 100_000).code == "depth_limit"
    assert time.process_time() - start < 1


def test_a_hundred_thousand_brackets_are_read_where_the_limit_says_so():
    read(b"[" * 100_000 + b"]" * 100_000, 100_000)


@pytest.mark.parametrize(
    "data", [b"1" * 10**6, b"-" + b"1" * 10**6, b"0." + b"1" * 10**6, b'"' + b"\\n" * 10**5 + b'"']
)
def test_long_literals_take_linear_time(data):
    start = time.process_time()
    read(data, 0)
    assert time.process_time() - start < 1


def test_integers_are_exact_and_very_long_ones_stay_out_of_any_range():
    assert read(b"9" * 400, 0).value == 10**400 - 1
    assert read(b"9" * 5000, 0).value >= 10**400
    assert read(b"-" + b"9" * 5000, 0).value <= -(10**400)


def test_reading_may_begin_within_a_record():
    assert read(b"xx [1]", 1, 2).start == 3
    with pytest.raises(DecodeError) as caught:
        read(b"xx [nul]", 1, 2)
    assert caught.value.offset == 7


def test_verbatim_text_is_written_as_it_is():
    assert write({"a": [Verbatim('{ "b": 1e2 }')], "c": 1.5e300}) == b'{"a":[{ "b": 1e2 }],"c":1.5e+300}'


# --- constructs ----------------------------------------------------------------------------------------------------


def context(**parameters):
    made = Container(parameters)
    made._params = made
    return made


def parse(subcon, text, *, depth=DEPTH, structural_depth=8, **parameters):
    data = text if isinstance(text, bytes) else text.encode()
    return json.Document(subcon, depth, structural_depth)._parse(Cursor(data), context(**parameters), "")


def build(subcon, value, *, depth=DEPTH, **parameters):
    stream = io.BytesIO()
    json.Document(subcon, depth, 8)._build(value, stream, context(**parameters), "")
    return stream.getvalue().decode()


def refused(subcon, text, **options):
    with pytest.raises(DecodeError) as caught:
        parse(subcon, text, **options)
    return caught.value.code, caught.value.path, caught.value.offset


def unbuildable(subcon, value, **options):
    with pytest.raises(EncodeError) as caught:
        build(subcon, value, **options)
    return caught.value


LONG = json.Integer(64, signed=True)
BYTE = json.Integer(8, signed=False)


@pytest.mark.parametrize("literal", ["1.0", "1e3", '"1"', "true", "null", "[1]"])
def test_only_an_integer_literal_is_an_integer(literal):
    assert refused(LONG, f" {literal}") == ("type_mismatch", "", 1)


def test_integers_outside_their_range_are_refused_in_both_directions():
    assert parse(LONG, str(2**63 - 1)) == 2**63 - 1
    assert refused(LONG, str(2**63)) == ("int_range", "", 0)
    assert refused(LONG, "9" * 100_000) == ("int_range", "", 0)
    assert refused(BYTE, "-1") == ("int_range", "", 0)
    assert build(BYTE, 255) == "255"
    unbuildable(BYTE, 256)
    unbuildable(BYTE, True)  # noqa: FBT003 - the point: a boolean is no integer
    unbuildable(BYTE, 1.0)


def test_a_float_may_be_written_as_an_integer():
    assert repr(parse(json.Float(), "3")) == "3.0"
    assert repr(parse(json.Float(), "-0")) == "-0.0"
    assert parse(json.Float(), "1.5E+3") == 1500.0
    assert refused(json.Float(), '"NaN"') == ("type_mismatch", "", 0)
    assert refused(json.Float(), "1" * 400) == ("json_nonfinite", "", 0)
    assert build(json.Float(), 3) == "3.0"
    for value in (math.nan, math.inf, 10**400, True, "1"):
        unbuildable(json.Float(), value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_survive_a_round_trip(value):
    assert repr(parse(json.Float(), build(json.Float(), value))) == repr(value)


def test_the_other_scalars_take_their_own_kind_only():
    for subcon, text, value in (
        (json.Boolean(), "true", True),
        (json.Null(), "null", None),
        (json.Text(), '"a\\n"', "a\n"),
    ):
        assert parse(subcon, text) == value
        assert build(subcon, value) == text
        assert refused(subcon, "0") == ("type_mismatch", "", 0)
        unbuildable(subcon, 0)
    unbuildable(json.Text(), "\ud800")


@pytest.mark.parametrize(
    "text", ["Q", "QQ", "QQ=", "QR==", "QUI", "QUJ=", "QQ==QQ==", "QUJD\\n", " QUJD", "QUJD ", "-_-_", "é===", "="]
)
def test_base64_that_is_not_canonical_is_refused(text):
    assert refused(json.Base64(), f'["{text}"]'[1:-1])[0] == "bad_base64"


@given(st.binary(max_size=300), st.booleans())
def test_bytes_survive_a_round_trip_through_base64(data, line_feeds):
    subcon = json.Base64(line_feeds=line_feeds)
    assert parse(subcon, build(subcon, data)) == data
    assert parse(json.Base64(line_feeds=True), build(json.Base64(), data)) == data


def test_base64_lines_end_where_the_original_writer_ends_them():
    subcon = json.Base64(line_feeds=True)
    full = "QUJD" * 19
    assert build(subcon, b"ABC" * 19) == f'"{full}\\n"'
    assert build(subcon, b"ABC" * 19 + b"A") == f'"{full}\\nQQ=="'
    assert build(subcon, b"ABC" * 18 + b"A") == '"' + "QUJD" * 18 + 'QQ=="'
    assert parse(subcon, f'"{full}"') == parse(subcon, f'"{full}\\n"') == b"ABC" * 19
    assert parse(json.Base64(), f'"{full}QUJD"') == b"ABC" * 20
    for text in (f"{full[4:]}\\nQUJD", f"{full}\\n\\n", "QUJD\\n", f"{full}\\r\\nQUJD", f"{full}QUJD\\n{full}"):
        assert refused(subcon, f'"{text}"') == ("bad_base64", "", 0)


def test_the_size_of_bytes_is_checked_and_may_be_computed():
    assert refused(json.Base64(2, "bad_digest_length"), '"QQ=="') == ("bad_digest_length", "", 0)
    assert refused(json.Base64(lambda ctx: ctx._params.size), '"QQ=="', size=3) == ("bad_size", "", 0)
    unbuildable(json.Base64(2), b"A")
    unbuildable(json.Base64(), "QQ==")


def test_json_text_is_kept_as_written():
    subcon = json.JsonText("object")
    assert parse(json.Array(subcon), '[ { "a" : 1e2 } ]') == ['{ "a" : 1e2 }']
    assert build(json.Array(subcon), ['{ "a" : 1e2 }', " {}\n"]) == '[{ "a" : 1e2 },{}]'
    assert parse(json.JsonText(), " 1.50 ") == "1.50"
    assert refused(subcon, "[]") == ("type_mismatch", "", 0)
    for text in ("[]", "{", "{} {}", "\ud800", b"{}"):
        unbuildable(subcon, text)


def test_array_elements_are_named_by_index_and_kept_unique():
    entry = Struct("Entry", Field("name", json.Text()), form=json.Object())
    subcon = json.Array(entry, unique="name", unique_code="duplicate_bin")
    assert parse(subcon, '[{"name":"a"},{"name":"b"}]') == [{"name": "a"}, {"name": "b"}]
    assert refused(subcon, '[{"name":"a"},{"name":1}]') == ("type_mismatch", "[1].name", 22)
    assert refused(subcon, '[{"name":"a"},{"name":"a"}]') == ("duplicate_bin", "[1]", 14)
    assert refused(subcon, "{}") == ("type_mismatch", "", 0)
    assert unbuildable(subcon, [{"name": "a"}, {"name": 1}]).path == "[1].name"
    unbuildable(subcon, Pairs())


def test_maps_keep_the_order_of_the_text():
    subcon = json.Map(LONG)
    assert parse(subcon, '{"b":1,"a":2}') == Pairs([("b", 1), ("a", 2)])
    assert refused(subcon, '{"b":1,"a":"x"}') == ("type_mismatch", "[1]", 11)
    assert refused(subcon, "[]") == ("type_mismatch", "", 0)
    assert build(subcon, Pairs([("b", 1), ("a", 2)])) == '{"b":1,"a":2}'
    assert build(subcon, {"b": 1}) == '{"b":1}'
    assert unbuildable(subcon, Pairs([("b", 1), ("b", 2)])).path == "[1]"
    assert unbuildable(subcon, Pairs([(1, 1)])).path == "[0]"
    unbuildable(subcon, [("b", 1)])


def test_null_and_the_type_are_told_apart():
    subcon = json.Nullable(LONG)
    assert (parse(subcon, "null"), parse(subcon, "1")) == (None, 1)
    assert (build(subcon, None), build(subcon, 1)) == ("null", "1")
    assert refused(subcon, "true") == ("type_mismatch", "", 0)


OPEN = json.OneOf(
    {
        "nil": json.Null(),
        "bool": json.Boolean(),
        "int": LONG,
        "float": json.Float(),
        "str": json.Text(),
        "list": json.Array(Deferred(lambda: OPEN), open=True),
        "map": json.Map(Deferred(lambda: OPEN), open=True),
    }
)
OPEN_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner) | st.lists(st.tuples(TEXTS, inner), unique_by=lambda pair: pair[0]).map(Pairs),
    max_leaves=8,
)


@given(OPEN_VALUES)
def test_open_values_survive_a_round_trip(value):
    assert repr(parse(OPEN, build(OPEN, value))) == repr(value)


def test_alternatives_are_told_apart_by_kind():
    subcon = json.OneOf({"float": json.Float(), "bytes": json.Base64(), "record": EVENT}, code="bad_value")
    assert repr(parse(subcon, "3")) == "3.0"
    assert parse(subcon, '"QQ=="') == b"A"
    assert refused(subcon, "true") == ("bad_value", "", 0)
    assert refused(OPEN, str(2**63)) == ("int_range", "", 0)
    for value in ("x", True, object()):
        unbuildable(subcon, value)


def test_nesting_of_open_values_is_limited_in_both_directions():
    wrapped = json.Array(OPEN)
    assert parse(wrapped, "[[[1]]]", depth=2) == [[[1]]]
    assert refused(wrapped, '[[{"a":[]}]]', depth=2) == ("depth_limit", "[0][0][0]", 7)
    assert parse(wrapped, "[[[1]], [[1]]]", depth=2)
    assert build(wrapped, [[[1]], [[1]]], depth=2) == "[[[1]],[[1]]]"
    assert unbuildable(wrapped, [[[[]]]], depth=2).path == "[0][0][0]"
    assert refused(wrapped, "[" * 100_000, depth=2) == ("depth_limit", "[0]" * 10, 10)


def test_a_limit_beyond_the_stack_still_ends_in_an_error():
    assert refused(OPEN, "[" * 50_000 + "]" * 50_000, depth=100_000)[0] == "depth_limit"
    value = []
    for _ in range(50_000):
        value = [value]
    unbuildable(OPEN, value, depth=100_000)


# --- structs -------------------------------------------------------------------------------------------------------

TOLERANT = json.Object(lambda ctx: ctx._params.get("unknownMembers", "error"))
EVENT = Struct(
    "Event",
    Field("kind", json.Text()),
    Field("sequence", LONG, member="seq"),
    Field("note", json.Text(), optional=True),
    Field("number", LONG, member="value", when=lambda ctx: ctx.kind == "n"),
    Field("text", json.Text(), member="value", when=lambda ctx: ctx.kind == "t"),
    Check(lambda ctx: ctx.sequence >= 0, "bad_sequence", "sequence"),
    Check(lambda ctx: ctx.note != "", "bad_note"),
    form=TOLERANT,
)


def test_members_are_found_by_name_whatever_their_order():
    assert parse(EVENT, '{"value":"x","seq":1,"kind":"t"}') == {
        "kind": "t",
        "sequence": 1,
        "note": None,
        "number": None,
        "text": "x",
    }
    assert build(EVENT, {"kind": "n", "sequence": 1, "number": 2}) == '{"kind":"n","seq":1,"value":2}'


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[]", ("type_mismatch", "", 0)),
        (' {"kind":"x"}', ("missing_key", "seq", 1)),
        ('{"kind":"x","seq":1,"more":0}', ("unexpected_property", "more", 20)),
        ('{"kind":"x","seq":1,"value":0}', ("unexpected_property", "value", 20)),
        ('{"more":0,"kind":"x","seq":1.5}', ("type_mismatch", "seq", 27)),
        ('{"more":0,"kind":"x","seq":-1}', ("bad_sequence", "sequence", 27)),
        (' {"kind":"x","seq":1,"note":""}', ("bad_note", "", 1)),
        ('{"kind":"x","seq":1,"note":null}', ("type_mismatch", "note", 27)),
    ],
)
def test_objects_are_checked_in_the_order_of_the_declaration(text, error):
    assert refused(EVENT, text) == error


def test_unknown_members_are_ignored_on_request():
    text = '{"kind":"x","seq":1,"more":0,"value":0}'
    assert parse(EVENT, text, unknownMembers="ignore")["kind"] == "x"
    assert refused(EVENT, '{"seq":1,"seq":2}', unknownMembers="ignore")[0] == "duplicate_key"


def part(name):
    return Struct(
        name,
        Field("length", LONG, member=f"{name}Length"),
        Field("value", json.Text(), member=f"{name}Value"),
        Check(lambda ctx: ctx.length == len(ctx.value), "bad_length"),
        form=TOLERANT,
    )


ENVELOPE = Struct(
    "Envelope",
    Field("hasBody", json.Boolean(), hidden=True, derive=lambda ctx: ctx.body is not None),
    Field("head", part("head"), inline=True),
    Field("body", part("body"), inline=True, when=lambda ctx: ctx.hasBody),
    Field("end", json.Null()),
    form=TOLERANT,
)


def test_an_inline_struct_shares_the_object_around_it():
    text = '{"hasBody":true,"headLength":1,"headValue":"h","bodyLength":1,"bodyValue":"b","end":null}'
    value = {"head": {"length": 1, "value": "h"}, "body": {"length": 1, "value": "b"}, "end": None}
    assert parse(ENVELOPE, text) == value
    assert build(ENVELOPE, value) == text


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"hasBody":false,"headLength":1,"headValue":"h","end":null,"x":1}', ("unexpected_property", "x", 59)),
        (
            '{"hasBody":false,"headLength":1,"headValue":"h","bodyValue":"b","end":null}',
            ("unexpected_property", "bodyValue", 48),
        ),
        (' {"hasBody":true,"headLength":1,"headValue":"h","end":null}', ("missing_key", "bodyLength", 1)),
        (' {"hasBody":false,"headLength":1,"headValue":0}', ("type_mismatch", "headValue", 45)),
        (' {"hasBody":false,"headLength":1,"headValue":""}', ("bad_length", "", 1)),
    ],
)
def test_errors_of_an_inline_struct_are_those_of_the_object_around_it(text, error):
    assert refused(ENVELOPE, text) == error


def test_a_member_cannot_be_built_twice():
    clashing = Struct("Clash", Field("a", LONG), Field("b", LONG, member="a"), form=json.Object())
    unbuildable(clashing, {"a": 1, "b": 2})


KEY = Struct("Key", Field("name", json.Text()), Field("set", json.Nullable(json.Text())), form=json.Positions())


def test_a_struct_may_be_an_array():
    assert parse(KEY, '["a",null]') == {"name": "a", "set": None}
    assert build(KEY, {"name": "a", "set": None}) == '["a",null]'
    assert refused(KEY, "{}") == ("type_mismatch", "", 0)
    assert refused(KEY, '["a",1]') == ("type_mismatch", "set", 5)
    assert refused(json.Array(KEY), '[["a",null],["a"]]') == ("bad_arity", "[1]", 12)
    assert refused(KEY, '["a",null,1]') == ("bad_arity", "", 0)


def test_the_arity_of_an_array_may_tell_its_version():
    versions = (Version("old", 1), Version("new", 2))
    struct = Struct(
        "Point",
        Field("x", LONG),
        Field("y", LONG, when=lambda ctx: ctx._version >= 1),
        form=json.Positions(),
        versions=versions,
    )
    assert parse(struct, "[1]") == {"x": 1, "y": None}
    assert parse(struct, "[1,2]") == {"x": 1, "y": 2}
    assert refused(struct, "[]") == ("bad_arity", "", 0)
    assert build(struct, {"x": 1, "y": 2}) == "[1,2]"


def case(name, *fields):
    return Struct(name, Field("kind", json.Text(), const=name, code="bad_constant"), *fields, form=TOLERANT)


SHAPE = json.SelectMember(
    "kind",
    {"dot": case("dot"), "line": case("line", Field("length", LONG)), "area": Refusal("no_area")},
    "unknown_shape",
)


def test_a_member_selects_the_struct():
    assert parse(SHAPE, '{"length":3,"kind":"line"}') == {"kind": "line", "length": 3}
    assert build(SHAPE, {"kind": "line", "length": 3}) == '{"kind":"line","length":3}'
    assert build(SHAPE, {"length": 3}) == '{"kind":"line","length":3}'
    assert build(SHAPE, {"kind": "dot"}) == '{"kind":"dot"}'
    unbuildable(SHAPE, {"kind": "ring"})
    unbuildable(SHAPE, 1)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[]", ("type_mismatch", "", 0)),
        (' {"length":3}', ("missing_key", "kind", 1)),
        ('{"kind":1}', ("type_mismatch", "kind", 8)),
        ('{"kind":null}', ("type_mismatch", "kind", 8)),
        ('{"kind":"LINE"}', ("unknown_shape", "kind", 8)),
        ('{"kind":"area"}', ("no_area", "kind", 8)),
        ('{"kind":"dot","length":3}', ("unexpected_property", "length", 14)),
    ],
)
def test_a_member_that_selects_nothing_is_an_error_there(text, error):
    assert refused(SHAPE, text) == error


OLD = Struct("Old", Field("done", json.Boolean(), optional=True, default=False), Field("a", LONG), form=TOLERANT)
DONE = Struct("Done", Field("done", json.Boolean(), const=True, code="bad_constant"), form=TOLERANT)
NEW = Struct("New", Field("version", LONG, const=2, code="bad_version"), form=TOLERANT)
LINE = json.SelectMember(
    "version",
    {True: NEW, False: json.SelectMember("done", {True: DONE, False: OLD}, default=False, required=False)},
    presence=True,
)


def test_presence_and_defaults_select_too():
    assert parse(LINE, '{"version":2}') == {"version": 2}
    assert parse(LINE, '{"done":true}') == {"done": True}
    assert parse(LINE, '{"a":1}') == parse(LINE, '{"done":false,"a":1}') == {"done": False, "a": 1}
    assert refused(LINE, '{"done":1}') == ("type_mismatch", "done", 8)
    assert refused(LINE, '{"version":3}') == ("bad_version", "version", 11)
    for value, text in (({"version": 2}, '{"version":2}'), ({"done": True}, '{"done":true}'), ({"a": 1}, '{"a":1}')):
        assert build(LINE, value) == text


# --- the document --------------------------------------------------------------------------------------------------


def test_a_document_reads_the_rest_of_its_region_with_offsets_of_the_record():
    cursor = Cursor(b"\x01\x02[1] ??")
    cursor.take(2)
    cursor.limit = 6
    document = json.Document(json.Array(LONG), structural_depth=1)
    assert document._parse(cursor, context(), "") == [1]
    assert cursor.tell() == cursor.limit
    cursor.seek(1)
    with pytest.raises(DecodeError) as caught:
        document._parse(cursor, context(), "")
    assert (caught.value.code, caught.value.offset) == ("json_syntax", 1)


def test_a_document_works_through_the_interface_of_construct():
    document = json.Document(OPEN, lambda ctx: ctx._params.max_depth)
    assert document.parse(b'{"a":[1]}', max_depth=2) == Pairs([("a", [1])])
    assert document.build(Pairs([("a", [1, 0.5])]), max_depth=2) == b'{"a":[1,0.5]}'
    with pytest.raises(DecodeError):
        document.parse(b'{"a":[1]}', max_depth=1)
