"""Cases that never come: values that a tag never is, what stands beside all that it may be, and what has no room."""

from collections.abc import Iterator

from wireloom.expr.ast import Binary, Literal
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.model import types
from wireloom.model.traversal import parts
from wireloom.model.types import Case, Field, Refusal, Select
from wireloom.resolve.bind import constants
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.wording import byte_count
from wireloom.resolve.facts.comparisons import never, values_of
from wireloom.resolve.facts.exclusion import exclusive
from wireloom.resolve.facts.sites import Site, Types
from wireloom.resolve.facts.sizes import type_size
from wireloom.resolve.facts.values import Facts
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode


def check_cases(draft: Draft, site: Site, known: Facts) -> None:
    """Report the cases of a tag that never come: of integers, of the text or the bytes of a field, or of a flag."""
    above = Place(site.place.document, site.place.path[:-1])
    cases, tag = above / "cases", site.expression
    if not isinstance(cases.node, MappingNode):
        return
    for key, _ in cases.node.entries:
        for word in map(str.strip, key.text.split(",")) if "," in key.text else [key.text]:
            value = constants.value(word, kind(tag), known.charset(tag))
            hint = never(tag, value, known)
            if hint is None and value is not constants.NONE:
                hint = _excluded(site, value)
            if hint is not None:
                draft.reports_entry(cases / key.text, "bad-case", f"the tag is never {word}", hint)
    select = _select(site, known.view.names.named)
    if select is not None:
        _check_others(draft, above, site, select, known)
        _check_room(draft, above, site, select, known.view.names.named)


def _excluded(site: Site, value: object) -> str | None:
    """Why a tag is no such value where its union is there; None where it may be one."""
    when = None if site.field is None else site.field.when
    if when is None or not isinstance(value, int | str | bytes):
        return None
    is_tag = Binary("==", site.expression, Literal(value))
    return f"its field is there where {text_of(when)}" if exclusive(when, is_tag) else None


def _select(site: Site, named: Types) -> Select | None:
    """The union that is chosen by the expression; None where that is something else."""
    if site.field is None:
        return None
    return next((each for each in _selects(site.field.type, named, frozenset()) if _has_tag(each, site)), None)


def _has_tag(select: Select, site: Site) -> bool:
    return isinstance(select.tag, types.FieldTag) and select.tag.expression is site.expression


def _selects(type: types.Type, named: Types, seen: frozenset[str]) -> Iterator[Select]:
    """The unions that a type is made of, structs apart."""
    match type:
        case types.Reference(name):
            if name not in seen and not isinstance(named[name], types.Struct):
                yield from _selects(named[name], named, seen | {name})
        case _:
            if isinstance(type, Select):
                yield type
            for part in parts(type):
                yield from _selects(part, named, seen)


# --- what stands beside all cases ----------------------------------------------------------------------------------


def _check_others(draft: Draft, above: Place, site: Site, select: Select, known: Facts) -> None:
    """Report what is for values of no case where there are none."""
    selected = {(type(value), value) for case in select.cases for value in case.values}
    found = values_of(site.struct, site.expression, known)
    left = None if found is None else [value for value in found if (type(value), value) not in selected]
    if left is None or any(_excluded(site, value) is None for value in left):
        return
    stated = isinstance(above.node, MappingNode) and above.node.entry("otherwise") is not None
    if any(not case.values for case in select.cases[: len(select.cases) - stated]):
        return  # of which that is said
    if stated:
        hint = "drop `otherwise`; its cases are all that it may be"
        draft.reports_entry(above / "otherwise", "bad-case", "the tag is never another value", hint)
    elif isinstance(above.node, MappingNode) and above.node.entry("else") is not None:
        message = "every value of the tag has a case"
        draft.reports(above / "else", "useless-else", message, "drop `else`, or a case that is an error")


# --- room ----------------------------------------------------------------------------------------------------------


def _check_room(draft: Draft, above: Place, site: Site, select: Select, named: Types) -> None:
    """Report cases of another size than their region has."""
    field = site.field
    if field is None or field.packing is not None or select is not field.type:
        return
    size = field.size.value if isinstance(field.size, Literal) else None
    cases = above / "cases"
    keys = [key.text for key, _ in cases.node.entries] if isinstance(cases.node, MappingNode) else []
    for place, case in enumerate(select.cases):
        found = _size(case, named)
        if found is not None and isinstance(size, int) and found != size:
            where = cases / keys[place] if place < len(keys) else above / "otherwise"
            message, hint = f"a case of {byte_count(found)} in a region of {size}", _hint(field)
            draft.reports_entry(where, "bad-case", message, hint)


def _size(case: Case, named: Types) -> int | None:
    """The bytes of a case, where they are always as many."""
    return None if isinstance(case.type, Refusal) else type_size(case.type, named, frozenset())


def _hint(field: Field) -> str:
    return f"`size` of {field.wire_name} is that of each case; drop it, or state what all have"
