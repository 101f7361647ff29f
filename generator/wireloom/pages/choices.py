"""Describes choices between types: which tag value, kind or attempt leads to which type."""

from collections.abc import Sequence
from typing import assert_never

from wireloom.encodings import Encoding
from wireloom.escapes import code_span
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.traversal import parts
from wireloom.model.types import Field, Struct, Type
from wireloom.pages.forms import type_form
from wireloom.pages.markdown import blocks, table
from wireloom.pages.rules import literal


def choice(type: Type, encoding: Encoding) -> str:
    """The description of a named type that is not a struct."""
    plain = types.not_null(type)
    null = "" if plain is type else " It may be null."
    match plain:
        case types.Select(cases=cases) as select:
            head = (_tag(select.tag), "is")
            rows = [(_values(case.values, select.notation), _case(case.type, encoding)) for case in cases]
            known = {value for case in cases for value in case.values}
            rows += (
                [] if select.otherwise or known == {True, False} else [("any other", f"error {code_span(select.code)}")]
            )
            return blocks(f"One of several types.{null}", table(head, rows))
        case types.OneOf(alternatives=alternatives) as union:
            rows = [(code_span(each.name), type_form(each.type, encoding)) for each in alternatives]
            other = f"Any other value is error {code_span(union.code)}."
            return blocks(f"A value of one of these kinds.{null} {other}", table(("kind", "on the wire"), rows))
        case types.Attempt(trials=trials) as attempt:
            tried = (_trial(each, encoding) for each in trials)
            return blocks(_attempted(attempt) + null, table(("tried", "is", "the next is tried after"), tried))
        case _:
            return f"{type_form(type, encoding)[:1].upper()}{type_form(type, encoding)[1:]}."


def field_choice(struct: Struct, field: Field) -> str:
    """The cases of a field or of its elements, if it is a choice."""
    plain = types.not_null(field.type)
    if isinstance(plain, types.Select | types.Attempt):
        return blocks(f"{code_span(field.wire_name)} is:", choice(plain, struct.encoding))
    inner = next((each for each in parts(plain) if isinstance(each, types.Select | types.Attempt)), None)
    if inner is None:
        return ""
    return blocks(f"An element of {code_span(field.wire_name)} is:", choice(inner, struct.encoding))


def _tag(tag: types.FieldTag | types.PeekTag | types.MemberTag) -> str:
    match tag:
        case types.FieldTag(expression=expression):
            return code_span(text_of(expression))
        case types.PeekTag(type=number, octets=octets):
            return "first bytes" if octets else f"first {(number.width or 0) * 8} bits"
        case types.MemberTag(member=member, presence=True):
            return f"has member {code_span(member)}"
        case types.MemberTag(member=member):
            return f"member {code_span(member)}"
        case _:
            assert_never(tag)


def _values(values: Sequence[types.Scalar], notation: str) -> str:
    return ", ".join(code_span(literal(value, notation)) for value in values) or "any other"


def _case(type: Type | types.Refusal, encoding: Encoding) -> str:
    return f"error {code_span(type.code)}" if isinstance(type, types.Refusal) else type_form(type, encoding)


def _attempted(attempt: types.Attempt) -> str:
    seen = f" Readers see which it was as {code_span(attempt.kind_field)}." if attempt.kind_field else ""
    return f"The first of these that the bytes are.{seen}"


def _trial(trial: types.Trial, encoding: Encoding) -> Sequence[str]:
    others = (
        f"{', '.join(map(code_span, each.codes))}{f' if {code_span(text_of(each.when))}' if each.when else ''}"
        for each in trial.fallbacks
    )
    written = f"; written if {code_span(text_of(trial.build_when))}" if trial.build_when else ""
    return code_span(trial.name), f"{type_form(trial.type, encoding)}{written}", "; ".join(others)
