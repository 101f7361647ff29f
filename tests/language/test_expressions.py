"""The expression language: the meaning of texts, and refused ones."""

import pytest

from wireloom.expr import types
from wireloom.expr.ast import Binary, Call, Conditional, FieldRef, Kind, Literal, Membership, Name, Position, Unary
from wireloom.expr.functions import FUNCTIONS
from wireloom.expr.parse import ExpressionError, parse, parse_range
from wireloom.expr.text import text_of
from wireloom.expr.types import KindError, kind
from wireloom.runtime import expressions as fn

NUMBER = FieldRef(0, "number", kind=Kind.INTEGER)
TEXT = FieldRef(0, "text", kind=Kind.TEXT)
BYTES = FieldRef(0, "bytes", kind=Kind.BYTES)
LIST = FieldRef(0, "list", kind=Kind.LIST)
FLAG = FieldRef(0, "flag", kind=Kind.BOOLEAN)


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("1 + 2 * 3", "1 + (2 * 3)"),
        ("a - b - c", "(a - b) - c"),
        ("a + b // c % d", "a + ((b // c) % d)"),
        ("a & 3 == 3", "(a & 3) == 3"),
        ("a | b ^ c & d << 1 + 2", "a | (b ^ (c & (d << (1 + 2))))"),
        ("not a == b", "not (a == b)"),
        ("not a and b or c", "((not a) and b) or c"),
        ("a or b and c", "a or (b and c)"),
        ("-a + ~b", "(-a) + (~b)"),
        ("a ? b : c ? d : e", "a ? b : (c ? d : e)"),
        ("a == 1 ? b : c", "(a == 1) ? b : c"),
        ("a not in [1]", "not (a in [1])"),
        ("x.start <= y.end", "(x.start) <= (y.end)"),
    ],
)
def test_operators_bind_as_the_grammar_says(text, grouped):
    def bare(expression):
        match expression:
            case Name(parts):
                return parts
            case Unary(operator, operand):
                return (operator, bare(operand))
            case Binary(operator, left, right):
                return (operator, bare(left), bare(right))
            case Conditional(condition, then, otherwise):
                return ("?", bare(condition), bare(then), bare(otherwise))
            case Membership(operand, options):
                return ("in", bare(operand), options)
            case _:
                return expression

    assert bare(parse(text)) == bare(parse(grouped))


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("0xFF", Literal(255)),
        ("'it is'", Literal("it is")),
        ("true", Literal(value=True)),
        ("null", Literal(None)),
        ("a.b.c", Name(("a", "b", "c"), 0)),
        ("present( key )", Call("present", (Name(("key",), 9),))),
        ("x in [-1, 'a', null]", Membership(Name(("x",), 0), (-1, "a", None))),
    ],
)
def test_literals_names_and_calls(text, expression):
    assert parse(text) == expression


def test_a_range_is_two_expressions():
    assert parse_range("5 .. end - 1") == (Literal(5), Binary("-", Name(("end",), 5), Literal(1)))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 0, "the end in place of a value"),
        ("a +", 3, "the end in place of a value"),
        ("a = 1", 2, "= is not allowed in an expression"),
        ("a / 2", 2, "/ is not allowed in an expression"),
        ("a 1", 2, "1 after the end of the expression"),
        ("(a", 2, "the end in place of )"),
        ("a < b < c", 6, "a comparison of three values"),
        ("a in [b]", 6, "a list may have only literals"),
        ("lenn(a)", 0, "there is no function lenn"),
        ("a ? b", 5, "the end in place of :"),
        ("'open", 0, "' is not allowed in an expression"),
        ("a..b", 1, ".. after the end of the expression"),
        ("and", 0, "and in place of a value"),
        ("(" * 100 + "1", 24, "too deeply nested"),
        ("-" * 500 + "1", 400, "too long"),
        ("a.1", 2, "1 in place of a member's name"),
    ],
)
def test_what_is_no_expression_is_refused_where_it_goes_wrong(text, column, message):
    with pytest.raises(ExpressionError) as raised:
        parse(text)
    assert (raised.value.column, raised.value.message) == (column, message)


def test_an_unknown_function_gets_a_near_name():
    with pytest.raises(ExpressionError) as raised:
        parse("lenn(a)")
    assert raised.value.hint == "did you mean len?"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (Binary("+", NUMBER, Literal(1)), Kind.INTEGER),
        (Binary("==", TEXT, Literal("x")), Kind.BOOLEAN),
        (Binary("==", NUMBER, Literal(None)), Kind.BOOLEAN),
        (Binary("and", FLAG, Binary("<", NUMBER, Position("size"))), Kind.BOOLEAN),
        (Conditional(FLAG, Literal(None), TEXT), Kind.TEXT),
        (Call("len", (BYTES,)), Kind.INTEGER),
        (Call("max", (NUMBER, Literal(1), Literal(2))), Kind.INTEGER),
        (Call("rangeName", (NUMBER, Literal("Classes"))), Kind.TEXT),
        (Call("sum", (LIST,)), Kind.INTEGER),
        (Call("sum", (LIST, Literal("length"))), Kind.INTEGER),
        (Call("slice", (TEXT, NUMBER)), Kind.TEXT),
        (Call("slice", (BYTES, NUMBER, Literal(-1))), Kind.BYTES),
        (Call("slice", (Literal(None), NUMBER)), Kind.ANY),
        (Call("concat", (TEXT, Literal("x"), TEXT)), Kind.TEXT),
        (Call("concat", (BYTES, Literal(b"x"))), Kind.BYTES),
        (Call("join", (LIST, Literal("."))), Kind.TEXT),
        (Call("join", (LIST, Literal(b""), Literal("name"))), Kind.BYTES),
    ],
)
def test_every_expression_has_a_kind(expression, expected):
    assert kind(expression) is expected


@pytest.mark.parametrize(
    "expression",
    [
        Binary("+", TEXT, Literal(1)),
        Binary("==", TEXT, Literal(1)),
        Binary("<", TEXT, TEXT),
        Binary("and", NUMBER, FLAG),
        Unary("not", NUMBER),
        Unary("-", FLAG),
        Conditional(FLAG, NUMBER, TEXT),
        Conditional(NUMBER, NUMBER, NUMBER),
        Membership(NUMBER, (1, "a")),
        Call("len", (NUMBER,)),
        Call("len", (TEXT, TEXT)),
        Call("decimal", (TEXT, NUMBER)),
        Call("int", (TEXT, Literal("big"))),
        Call("int", (BYTES, TEXT)),
        Call("int", (BYTES, Literal("middle"))),
        Call("min", (NUMBER,)),
        Call("sum", (NUMBER,)),
        Call("sum", (LIST, NUMBER)),
        Call("sum", (LIST, Literal("length"), Literal("length"))),
        Call("slice", (TEXT,)),
        Call("slice", (NUMBER, NUMBER)),
        Call("slice", (TEXT, TEXT)),
        Call("concat", (TEXT,)),
        Call("concat", (TEXT, BYTES)),
        Call("concat", (TEXT, NUMBER)),
        Call("join", (LIST, TEXT)),
        Call("join", (TEXT, Literal("."))),
    ],
)
def test_parts_that_do_not_fit_are_refused(expression):
    with pytest.raises(KindError):
        kind(expression)


NESTED = {
    "a sum": " + ".join("1" for _ in range(60)),
    "a product on the right": "2 * (" * 20 + "1" + ")" * 20,
    "calls": "min(1, " * 20 + "1" + ")" * 20,
    "parts of parts": "slice(" * 18 + "'a'" + ", 0, 1)" * 18,
    "comparisons": "(" * 20 + "true" + ") == false" * 20,
    "choices": "(" * 12 + "1" + " in [1, 2] ? 1 : 2)" * 12,
}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_each_part_is_asked_once_for_its_kind(text, monkeypatch):
    """Otherwise the work would double at each level, to a million times at twenty."""
    asked = []
    monkeypatch.setattr(types, "kind", lambda part: (asked.append(part), kind(part))[1])
    types.kind(parse(text))
    assert 12 <= len(asked) <= len(text)


def test_text_is_parsed_back_to_the_same_tree():
    for text in ("a & 3 == 3 and not (b or c)", "x in [1, 'a', null] ? -y : ~(z + 1)", "len(a) - 2 * (b - c)"):
        again = text_of(parse(text))
        assert text_of(parse(again)) == again


def test_a_sum_over_a_member_is_written_as_its_author_wrote_it():
    assert text_of(Call("sum", (LIST, Literal("length")))) == "sum(list.length)"
    assert text_of(Call("sum", (LIST,))) == "sum(list)"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (None, 0),
        ([], 0),
        ((), 0),
        ([1, None, -3], -2),
        ([(1 << 128) - 1], (1 << 128) - 1),
        ([(1 << 128) - 1, 1], None),
        ([(1 << 128) - 1, 1, -1], (1 << 128) - 1),
        ([-(1 << 127), -1], None),
        ([True], None),
        ([1, "2"], None),
        ([1.0], None),
        ({1: 2}, None),
        ("12", None),
        (7, None),
    ],
)
def test_a_sum_is_exact_and_total_whatever_it_is_of(values, expected):
    assert fn.total(values) == expected
    if isinstance(values, list):
        assert fn.total([{"x": value} for value in values] + [{}, None], "x") == expected


def test_what_is_joined_is_written_as_its_author_wrote_it():
    assert text_of(Call("join", (LIST, Literal("."), Literal("name")))) == "join(list.name, '.')"
    assert text_of(Call("join", (LIST, Literal(b"\0\xff")))) == "join(list, '00ff')"


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ((0, 2), "h\u00e9"),
        ((1, 1), ""),
        ((2, 1), ""),
        ((-2,), "\U0001f600o"),
        ((-9, 2), "h\u00e9"),
        ((1 << 100,), ""),
        ((-(1 << 100), 1 << 100), "h\u00e9\U0001f600o"),
        ((None,), None),
        ((0, None), None),
        ((True,), None),
        ((0, 1.0), None),
    ],
)
def test_a_part_is_of_characters_and_total(places, expected):
    assert fn.part("h\u00e9\U0001f600o", *places) == expected
    data = bytes(range(4))
    assert fn.part(data, *places) == (None if expected is None else data[slice(*places, *[None] * (2 - len(places)))])
    assert [fn.part(value, *places) for value in (None, 7, ["x"], {"x": 1})] == [None] * 4


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("a", "", "b"), "ab"),
        ((b"a", bytearray(b"b")), b"ab"),
        (("a", None), None),
        ((None, "a"), None),
        (("a", b"b"), None),
        ((b"a", "b"), None),
        (("a", 7), None),
        (("\u00e9" * 32767, "a"), "\u00e9" * 32767 + "a"),
        (("\u00e9" * 32767, "ab"), None),
        (("a" * 65535, ""), "a" * 65535),
        (("a" * 65535, "a"), None),
    ],
)
def test_what_is_put_together_is_bounded_and_total(values, expected):
    assert fn.concatenated(*values) == expected


@pytest.mark.parametrize(
    ("values", "separator", "expected"),
    [
        (["a", None, "b"], ".", "a.b"),
        ([], ".", ""),
        ((), b".", b""),
        ([None], ".", ""),
        (["", ""], ".", "."),
        ([b"a", b"b"], b"\0", b"a\0b"),
        (["a", b"b"], ".", None),
        ([7], ".", None),
        (None, ".", None),
        ("ab", ".", None),
        ({"a": 1}, ".", None),
        (["a"] * 32768, ".", "a" + ".a" * 32767),
        (["a"] * 32769, ".", None),
    ],
)
def test_what_is_joined_is_bounded_and_total(values, separator, expected):
    assert fn.joined(values, separator) == expected
    if isinstance(values, list):
        assert fn.joined([{"x": value} for value in values] + [{}, None], separator, "x") == expected


def test_every_function_is_documented():
    assert all(function.doc.endswith(".") for function in FUNCTIONS.values())
