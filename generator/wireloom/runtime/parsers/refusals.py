"""Reasons for an EncodeError: which member of the value no field takes, and why a member has no place.

They are found after a value was refused, from the constructs along the path, so building itself costs no more.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from construct import Container

from wireloom.runtime.errors import EncodeError, UnplacedError
from wireloom.runtime.parsers.fields import Field
from wireloom.runtime.parsers.protocol import Scope, evaluate
from wireloom.runtime.parsers.steps import Computed
from wireloom.runtime.parsers.structure import Struct
from wireloom.runtime.parsers.unions import Deferred

_MOST = 3  # members named in a message


def explained(error: EncodeError, value: Any, subcon: Any) -> EncodeError:
    """The error, with a reason from the value and the structs on its path; `subcon` is the record's."""
    reason = _reason(error, value, [subcon])
    if reason:
        error.actual += f": {reason}"
    return error


def _reason(error: EncodeError, value: Any, subcons: Sequence[Any]) -> str:
    enclosing = list[Any]()  # structs into which the next ones are flattened
    for place, component in enumerate(error.components, 1):
        places = [*enclosing, *_places(subcons)]
        structs = [each for each in places if isinstance(each, Struct)]
        melting = [field for struct in structs for field in struct.fields if field.flatten and _is(field, component)]
        if melting:
            subcons, enclosing = [field.subcon for field in melting], places
            continue
        if isinstance(value, Mapping) and structs:
            known = [member for struct in structs for member in _members(struct) if component in _names(member[0])]
            titles = tuple(dict.fromkeys(title for each in places for title in _titles(each)))
            if place == len(error.components):
                return _at_last(error, str(component), value, known, titles)
            if value.get(component) is None:
                return _foreign(value, titles)
            subcons = [step.subcon for step, _ in known if isinstance(step, Field)]
        else:
            inside = (inner for each in subcons for inner in _within(each))
            subcons = [*{id(each): each for each in inside}.values()]  # once each: values nest in alternatives
        enclosing = []
        try:
            value = value[component]
        except (LookupError, TypeError):
            return ""
    return ""


def _titles(place: Any) -> Sequence[str]:
    """The readers' names of the members of a struct, or of all alternatives."""
    return tuple(place.titles()) if hasattr(place, "titles") else ()


def _at_last(
    error: EncodeError,
    name: str,
    value: Mapping[str, Any],
    known: Sequence[tuple[Field | Computed, str]],
    titles: tuple[str, ...],
) -> str:
    """The reason for the member at the end of the path."""
    if isinstance(error, UnplacedError):
        return _unplaced(name, known, titles)
    derived = _derived(value, known, titles) if error.actual == "null" else ""
    return derived or (_foreign(value, titles) if value.get(name) is None else "")


def _unplaced(name: str, known: Sequence[tuple[Field | Computed, str]], titles: tuple[str, ...]) -> str:
    """Why a given member has no place: it does not exist, it is hidden, or its condition does not hold."""
    if not known:
        return "" if name in titles else f"no field takes `{name}`{_meant(name, titles)}"
    if all(step.hidden and _is(step, name) for step, _ in known):
        return f"`{name}` is hidden; leave it out"
    conditions = {condition for _, condition in known}
    return f"`{name}` is only there when {conditions.pop()}" if len(conditions) == 1 and all(conditions) else ""


def _foreign(value: Mapping[str, Any], titles: tuple[str, ...]) -> str:
    """The members of the value that no field takes."""
    known = frozenset(titles)
    foreign = [str(name) for name, member in value.items() if member is not None and name not in known]
    if not foreign:
        return ""
    named = ", ".join(f"`{name}`{_meant(name, titles)}" for name in foreign[:_MOST])
    return f"the value has {named}{', ...' if len(foreign) > _MOST else ''}, which no field takes"


@lru_cache(maxsize=256)
def _meant(name: str, titles: tuple[str, ...]) -> str:
    """A hint with the most similar name; cached, since all rows of a table have the same members."""
    from difflib import get_close_matches  # which only errors need

    close = get_close_matches(name, titles, 1)
    return f" (did you mean `{close[0]}`?)" if close else ""


class _Given(Scope):
    """The names of a struct with the values given; it notes the missing ones."""

    def __missing__(self, name: str) -> None:
        """Null, as builders have it."""
        if not name.startswith("_"):
            self._lacks.setdefault(name, None)


def _derived(value: Mapping[str, Any], known: Sequence[tuple[Field | Computed, str]], titles: tuple[str, ...]) -> str:
    """The members that a field is derived from and that the value lacks."""
    for step, _ in known:
        if isinstance(step, Field) and step.derive is not None:
            lacks: dict[str, None] = {}
            given = {name: member for name, member in value.items() if member is not None and name != step.name}
            evaluate(step.derive, _Given(given, _lacks=lacks, _params=Container()))
            if named := [f"`{name}`" for name in lacks if name in titles]:
                return f"it is derived from {' and '.join(named)}, which the value lacks"
    return ""


def _members(struct: Struct, condition: str = "") -> Iterator[tuple[Field | Computed, str]]:
    """The fields of a struct and of those flattened into it, and the condition of each."""
    for step in struct.steps:
        if not isinstance(step, Field | Computed):
            continue
        both = " and ".join(filter(None, (condition, step.condition)))
        if isinstance(step, Field) and step.flatten:
            for inner in _places([step.subcon]):
                if isinstance(inner, Struct):
                    yield from _members(inner, both)
        else:
            yield step, both


def _names(step: Field | Computed) -> set[str]:
    """The readers' names of a field and its bits."""
    bits = step.bits if isinstance(step, Field) else ()
    return {each.title or each.name for each in (step, *bits)}


def _is(step: Field | Computed, name: object) -> bool:
    """Whether readers and errors use this name for the field."""
    return name == (step.title or step.name)


def _places(subcons: Sequence[Any]) -> Iterator[Any]:
    """The constructs that take the same value, each once; the structs that it may be are among them."""
    left, seen = deque(subcons), set[int]()
    while left:
        subcon = left.popleft()
        if id(subcon) not in seen:
            seen.add(id(subcon))
            yield subcon
            left.extend(() if isinstance(subcon, Struct) else _inner(subcon))


def _inner(subcon: Any) -> Sequence[Any]:
    """The constructs that a wrapper or a choice stands for."""
    if isinstance(subcon, Deferred):
        return [subcon.target()]
    alternatives = getattr(subcon, "alternatives", None)
    if alternatives is not None:
        return list(alternatives.values())
    inner = getattr(subcon, "subcon", None) or getattr(getattr(subcon, "body", None), "subcon", None)
    return [inner] if inner is not None else list(getattr(subcon, "subcons", ()))


def _within(subcon: Any) -> Sequence[Any]:
    """The elements of a list, or the values of a map, inside any wrappers."""
    elements = getattr(subcon, "elements", None)
    found = getattr(subcon, "value", None) if elements is None else elements.element
    return [found] if found is not None else [each for inner in _inner(subcon) for each in _within(inner)]
