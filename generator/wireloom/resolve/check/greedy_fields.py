"""Fields, elements and cases that take all bytes left, where others follow; elements that have no bytes."""

from wireloom.expr.ast import Literal
from wireloom.model import types
from wireloom.model.ends import looks_at_end
from wireloom.model.traversal import parts as parts_of
from wireloom.model.types import Encoding, Field, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.exclusion import never_in_one_version
from wireloom.resolve.facts.sites import Types, placed, structs
from wireloom.resolve.facts.sizes import asks_for_end, counts_from_end, is_greedy, type_size
from wireloom.spec.documents import Place


def check_greed(draft: Draft, named: Types) -> None:
    """Report what takes all bytes left although others follow, and elements without bytes."""
    for struct in structs(named):
        if struct.encoding is Encoding.BINARY:
            place = draft.place / "types" / struct.name / "fields"
            _check_greed(draft, place, struct, named)
            _check_used_up(draft, place, struct)
            _check_elements(draft, place, struct, named)


def _check_greed(draft: Draft, place: Place, struct: Struct, named: Types) -> None:
    """A field that takes all bytes left is the last, but for fields at offsets before it."""
    on_wire = [(where, field) for where, field in placed(struct, place) if field.in_struct]
    for index, (where, field) in enumerate(on_wire):
        alone = field.when is None and field.size is None and field.at is None
        greedy = alone and is_greedy(field.type, named, frozenset())
        asking = looks_at_end(field.type, named) if field.size is None else ""
        case = _greedy_case(field.type, named, frozenset()) if alone else ""
        if not (greedy or asking or case):
            continue
        beside = (later for _, later in on_wire[index + 1 :] if not never_in_one_version(struct, field, later))
        followers = [later for later in beside if later.at is None or counts_from_end(later)]
        if greedy and followers:
            message = f"{field.wire_name} takes all bytes left, and {followers[0].wire_name} follows"
            hint = _where_else_to_ask(field.type, named) or "give it a size: `bytes(n)`, `str(n)`, `count`, `size`"
            draft.reports_entry(where, "greedy-field", message, hint)
        elif asking and followers:
            behind = f"{followers[0].wire_name} follows {field.wire_name}"
            message = f"{asking} is there or not by where the bytes end, and {behind}"
            hint = f"give {field.wire_name} a `size`, or let a flag say whether {asking} is there"
            draft.reports_entry(where, "greedy-field", message, hint)
        always = [later for later in followers if later.when is None]
        if case and always:
            message = f"{field.wire_name} takes all bytes left where it is {case}, and {always[0].wire_name} follows"
            draft.reports_entry(where, "greedy-field", message, f"say in {case} how many bytes it has")
    for where, field in placed(struct, place):
        _check_ends_within(draft, where, field, named)
        element = _greedy_element(field.type, named)
        if element:
            message = f"the first element of {field.wire_name} takes all bytes left"
            asks = isinstance(field.type, types.Array) and _where_else_to_ask(field.type.element, named)
            hint = asks or f"say in {element} how many bytes an element has"
            draft.reports_entry(where, "greedy-field", message, hint)


def _check_ends_within(draft: Draft, where: Place, field: Field, named: Types) -> None:
    """Where bytes end, elements of lists do not know."""
    listed = field.type if isinstance(field.type, types.Array) and field.type.count != Literal(1) else None
    if listed is not None and (flaw := end_of_element(listed.element, named)):
        draft.reports_entry(where, "greedy-field", *flaw)


def end_of_element(element: Type, named: Types) -> tuple[str, str] | None:
    """What is wrong with an element that asks where the bytes end, and what would be right; None where none does."""
    asking = looks_at_end(element, named)
    message = f"{asking} is there or not by where the bytes end, and other elements stand there"
    return (message, f"let a flag say whether {asking} is there") if asking else None


def _check_used_up(draft: Draft, place: Place, struct: Struct) -> None:
    """Nothing stands behind the step that asks for the end, but fields at offsets before it."""
    asked = next((position for position, step in enumerate(struct.steps) if isinstance(step, types.End)), None)
    for position, step in enumerate(struct.steps):
        if asked is not None and position > asked and isinstance(step, Field) and step.on_wire and step.at is None:
            message = f"{step.wire_name} stands behind `end`, where no byte is left"
            where, hint = place / position / step.wire_name, "let `end` be the last step"
            draft.reports_entry(where, "greedy-field", message, hint)
            return


def _check_elements(draft: Draft, place: Place, struct: Struct, named: Types) -> None:
    """An element that never has a byte leaves no way to tell how many there are."""
    for where, field in placed(struct, place):
        match field.type:
            case types.Array(packed=0, element=element) if type_size(element, named, frozenset()) == 0:
                message = f"an element of {field.wire_name} has no bytes"
                hint = "count it in a field of its own: bytes cannot tell how many there are"
                draft.reports_entry(where, "wrong-shape", message, hint)
            case types.Array(is_open=True, element=element) if _is_conditional(element, named):
                message = f"an element of {field.wire_name} has no bytes where its condition does not hold"
                hint = f"say `when` of {field.wire_name}, or how many there are with `count`"
                draft.reports_entry(where, "wrong-shape", message, hint)
            case _:
                pass


def _is_conditional(type: Type, named: Types) -> bool:
    """Whether a struct is there as a whole or not at all: all of its bytes stand under one condition."""
    struct = named[type.name] if isinstance(type, types.Reference) else type
    if not isinstance(struct, Struct):
        return False
    on_wire = [field for field in struct.fields if field.in_struct]
    conditions = {field.when for field in on_wire}
    return bool(on_wire) and len(conditions) == 1 and None not in conditions


def _greedy_element(type: Type, named: Types) -> str:
    """What an element without an end of its own is called; empty where elements have one, or there is one element."""
    match type:
        case types.Array(count=Literal(1)):
            return ""
        case types.Array(element=element) if is_greedy(element, named, frozenset()):
            return element.name if isinstance(element, types.Reference) else "its type"
        case types.Select():
            return next((found for each in parts_of(type) if (found := _greedy_element(each, named))), "")
        case _:
            return ""


def _greedy_case(type: Type, named: Types, seen: frozenset[str]) -> str:
    """What the case of a union that has no end of its own is called; empty where each has one."""
    match type:
        case types.Reference(name=name) if name not in seen:
            return _greedy_case(named[name], named, seen | {name})
        case types.Select() | types.Attempt():
            pass
        case _:
            return ""
    for each in parts_of(type):
        if is_greedy(each, named, frozenset()):
            return each.name if isinstance(each, types.Reference) else "one of its cases"
        if found := _greedy_case(each, named, seen):
            return found
    return ""


def _where_else_to_ask(type: Type, named: Types) -> str:
    """What to do about a struct that asks for the end of its region; empty for other types."""
    struct = named[type.name] if isinstance(type, types.Reference) else type
    if not isinstance(struct, Struct) or not asks_for_end(struct):
        return ""
    return f"ask for the `end` around {struct.name}, or give that a `size`"
