"""Texts in the pictures of types."""

from wireloom.explain.write_plan import type_name
from wireloom.expr.ast import Literal
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.types import Bit, Field
from wireloom.pages.rules import literal


def title(each: Field) -> str:
    """The name in a field's box."""
    return "(bits)" if each.shared else each.wire_name


def form(each: Field) -> str:
    """The second line of a field's box."""
    if each.const is not None:
        return f"= {literal(each.const, each.notation)}"
    plain = types.not_null(each.type)
    size = each.size if each.size is not None else getattr(plain, "size", None) or getattr(plain, "count", None)
    if size is not None and (stated := types.stated(size)) is not None and not isinstance(stated, Literal):
        return f"{type_name(each.type)} [{text_of(stated)}]"
    return type_name(each.type)


def bit_label(bit: Bit) -> str:
    """The name beside bits."""
    return bit.name if bit.width == 1 else f"{bit.name} ({bit.low}-{bit.low + bit.width - 1})"


def condition(each: Field) -> str:
    """When a field is present."""
    said = [text_of(each.when)] if each.when is not None else []
    said += [f"since {each.since}"] if each.since else []
    said += [f"until {each.until}"] if each.until else []
    return ", ".join(said)
