"""Draws a type: a ruler of bytes for binary structs, a list of boxes for others, branches for choices."""

from dataclasses import dataclass

from wireloom.encodings import Form
from wireloom.explain.write_plan import type_name
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.format import Format
from wireloom.model.types import Field, Struct, Type
from wireloom.pages.pictures.labels import condition, title
from wireloom.pages.pictures.rulers import HEIGHT, LEFT, RIGHT, Ruler
from wireloom.pages.pictures.svg import Drawing, cut, width_of
from wireloom.pages.rules import literal

_ROW = 26
_MOST_CASES = 40


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a type, and its description in words."""

    svg: str
    words: str


def picture(name: str, type: Type, format: Format) -> Picture | None:
    """The picture of a named type; None if it has no parts."""
    drawing = Drawing()
    match types.not_null(type):
        case Struct() as struct if not _has_parts(struct):
            return None
        case Struct(form=Form.SEQUENCE) as struct:
            words = Ruler(struct, format, drawing).drawn()
        case Struct() as struct:
            words = _listed(struct, drawing)
        case types.Select(cases=cases, tag=tag) as select if len(cases) > 1:
            words = _branches(
                name, _tag(tag), [(_values(each, select.notation), _leads(each)) for each in cases], drawing
            )
        case types.OneOf(alternatives=each) if len(each) > 1:
            words = _branches(name, "kind", [(one.name, type_name(one.type)) for one in each], drawing)
        case types.Attempt(trials=trials):
            words = _branches(name, "first that fits", [(one.name, type_name(one.type)) for one in trials], drawing)
        case _:
            return None
    heading = f"Layout of {name}"
    return Picture(drawing.svg(format, heading, words), f"{heading}: {words}")


def _has_parts(struct: Struct) -> bool:
    """Whether there is more to show than one field, which the table shows as well."""
    return sum(each.on_wire for each in struct.fields) > 1 or any(each.bits for each in struct.fields)


# --- lists of boxes --------------------------------------------------------------------------------------------------


def _listed(struct: Struct, drawing: Drawing) -> str:
    """The fields of a message, object or array: tag, member or index; type; name."""
    fields = [each for each in struct.fields if each.on_wire]
    head = {Form.MESSAGE: "tag", Form.OBJECT: "member", Form.ARRAY: "place"}.get(struct.form, "")
    keys = [_key(each, place, struct.form) for place, each in enumerate(fields)]
    wide = min(max(max(width_of(key) for key in keys) + 20, 60), 220)
    drawing.text(LEFT, 16, head, "small")
    y = 24.0
    for key, each in zip(keys, fields, strict=True):
        maybe = " maybe" if _may_be_absent(each) else ""
        kind = "constant" if each.const is not None else "derived" if each.derive is not None else "plain"
        if isinstance(types.not_null(each.type), types.Array):
            drawing.box(LEFT + wide + 3, y + 3, RIGHT - LEFT - wide, _ROW - 6, f"{kind}{maybe}")
        drawing.box(LEFT, y, wide, _ROW - 6, f"{kind}{maybe}", key)
        drawing.box(LEFT + wide, y, RIGHT - LEFT - wide, _ROW - 6, f"{kind}{maybe}", title(each))
        drawing.text(LEFT + wide / 2, y + 14, cut(key, wide - 8), "name", "middle")
        said = f"{type_name(each.type)}" if key == title(each) else f"{title(each)}: {type_name(each.type)}"
        when = f"; if {condition(each)}" if each.is_conditional else ""
        drawing.text(LEFT + wide + 8, y + 14, cut(said + when, RIGHT - LEFT - wide - 14))
        y += _ROW
    notes = [
        *(["dashed: may be absent"] if any(map(_may_be_absent, fields)) else []),
        *(["doubled: a list"] if any(isinstance(types.not_null(each.type), types.Array) for each in fields) else []),
    ]
    drawing.text(LEFT, y + 10, "; ".join(notes), "small")
    return ", ".join(
        f"{key} {title(each)}" if key != title(each) else key for key, each in zip(keys, fields, strict=True)
    )


def _may_be_absent(each: Field) -> bool:
    return each.is_conditional or each.presence is types.Presence.OPTIONAL


def _key(each: Field, place: int, form: Form) -> str:
    match form:
        case Form.MESSAGE:
            return str(each.tag)
        case Form.OBJECT:
            return "…" if each.inline else each.key
        case _:
            return str(place)


# --- choices ---------------------------------------------------------------------------------------------------------


def _branches(name: str, tag: str, cases: list[tuple[str, str]], drawing: Drawing) -> str:
    """A box for the choice, and a line to each case."""
    shown = cases[:_MOST_CASES]
    height = _ROW * len(shown)
    middle = 20 + height / 2 - 3
    drawing.box(LEFT - 60, middle - 18, 200, HEIGHT, "derived", tag)
    drawing.text(LEFT + 40, middle - 3, cut(name, 190), "name", "middle")
    drawing.text(LEFT + 40, middle + 11, cut(f"by {tag}", 190, "small"), "small", "middle")
    x = LEFT + 200
    for place, (value, leads) in enumerate(shown):
        y = 20 + _ROW * place
        drawing.path(f"M{LEFT + 140} {middle:g} H{LEFT + 165} V{y + 10:g} H{x}")
        drawing.box(x, y, 200, _ROW - 6, "constant", value)
        drawing.text(x + 8, y + 14, cut(value, 186))
        drawing.box(x + 200, y, RIGHT - x - 200, _ROW - 6, "plain", leads)
        drawing.text(x + 208, y + 14, cut(leads, RIGHT - x - 214))
    return ", ".join(f"{value} is {leads}" for value, leads in cases)


def _tag(tag: types.FieldTag | types.PeekTag | types.MemberTag) -> str:
    match tag:
        case types.FieldTag(expression=expression):
            return text_of(expression)
        case types.PeekTag():
            return "the first bytes"
        case types.MemberTag(member=member):
            return f"member {member}"


def _values(case: types.Case, notation: str) -> str:
    return ", ".join(literal(value, notation) for value in case.values) or "any other"


def _leads(case: types.Case) -> str:
    return f"error {case.type.code}" if isinstance(case.type, types.Refusal) else type_name(case.type)
