"""Describes the checks between the fields of a struct, and its versions."""

from typing import assert_never

from wireloom.encodings import Form
from wireloom.escapes import code_span
from wireloom.expr.ast import Expression
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.types import Field, Struct
from wireloom.pages.markdown import blocks, table, text


def versions(struct: Struct) -> str:
    """The versions of a struct, and what selects them."""
    if not struct.versions:
        return ""
    rows = [
        (code_span(each.name), f"{each.arity} elements" if each.when is None else code_span(text_of(each.when)))
        for each in struct.versions
    ]
    return blocks(
        "Versions, the oldest first:", table(("version", "if it has" if struct.form is Form.ARRAY else "if"), rows)
    )


def checks(struct: Struct) -> str:
    """The checks between fields, in the order in which decoders make them."""
    rows, after = [], "the start"
    for step in struct.steps:
        if isinstance(step, Field):
            after = code_span(step.wire_name) if step.on_wire else after
            continue
        said = _rule(step)
        if said is not None:
            rows.append((after, *said))
    head = ("checked after", "rule", "if", "else")
    return blocks("Rules, in the order in which decoders check them:", table(head, rows)) if rows else ""


def _rule(step: types.Step) -> tuple[str, str, str] | None:
    """A check, its condition, and its error."""
    match step:
        case types.Check(that=that, code=code, when=when, doc=doc):
            note = f" ({text(doc)})" if doc else ""
            return f"{code_span(text_of(that))}{note}", _condition(when), _at(code, step.field)
        case types.Verify(field=field, when=when):
            return f"the checksum in {code_span(field)} matches", _condition(when), ""
        case types.Need(bytes=amount, field=field):
            return f"the record has at least {_amount(amount)}", "", _at("truncated", field)
        case types.Frame(bytes=amount, field=field):
            return f"the record is {_amount(amount)} long", "", _at("truncated", field)
        case types.End(code=code):
            return "the region ends here", "", code_span(code)
        case types.Discard(field=field, keep=keep, when=when):
            rule = f"readers empty {code_span(field)} unless each element has {code_span(text_of(keep))}"
            return rule, _condition(when), ""
        case types.Mark() | Field():
            return None
        case _:
            assert_never(step)


def _at(code: str, field: str) -> str:
    return f"{code_span(code)}{f' at {code_span(field)}' if field else ''}"


def _condition(when: Expression | None) -> str:
    return "" if when is None else code_span(text_of(when))


def _amount(amount: Expression) -> str:
    return f"{code_span(text_of(amount))} bytes"
