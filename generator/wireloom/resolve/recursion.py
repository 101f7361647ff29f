"""Types that hold themselves, types that nothing uses, and types that hold too much."""

import re
from collections.abc import Mapping

from wireloom.resolve.draft import Draft
from wireloom.resolve.outline import Outlines, direct_names
from wireloom.spec.language import OneOfType, StructType

_DEPTH = 64  # of types in types
_FIELDS = 20_000  # that a record may come to, counted where types are used


def fits(draft: Draft) -> bool:
    """Whether the types are of a size that can be worked with; reported where they are not."""
    mentions = {name: [each for each, _ in direct_names(draft, form)] for name, form in draft.content.types.items()}
    depths: dict[str, int] = {}
    fields: dict[str, int] = {}
    for name in _innermost_first(mentions):
        inner = [each for each in mentions[name] if each in depths]  # the others hold this one
        depths[name] = 1 + max((depths[each] for each in inner), default=0)
        form = draft.content.types[name]
        own = len(form.fields) if isinstance(form, StructType) else 1
        fields[name] = own + sum(fields[each] for each in inner)
        place = draft.place / "types" / name
        if depths[name] > _DEPTH:
            message = f"types stand in one another more than {_DEPTH} deep"
            draft.reports_entry(place, "too-large", message, "put some of their fields into one struct")
            return False
        if fields[name] > _FIELDS:
            message = f"{name} comes to more than {_FIELDS} fields"
            draft.reports_entry(place, "too-large", message, "use its types in fewer places")
            return False
    return True


def _innermost_first(mentions: Mapping[str, list[str]]) -> list[str]:
    """The types, each behind those that it mentions, but for those that mention it as well."""
    ordered: dict[str, None] = {}
    entered = set[str]()
    for start in mentions:
        waiting = [(start, False)]
        while waiting:
            name, left = waiting.pop()
            if left:
                ordered[name] = None
            elif name not in entered:
                entered.add(name)
                waiting.append((name, True))
                waiting.extend((each, False) for each in mentions[name])
    return list(ordered)


def check_recursion(draft: Draft, outlines: Outlines) -> None:
    """Recursion is for unions by kind (`oneOf`), whose columns are open; anything else that holds itself has none."""
    for name in (each for each in draft.content.types if each in outlines.recursive):
        form = draft.content.types[name]
        place = draft.place / "types" / name
        if not isinstance(form, OneOfType):
            hint = "its columns would never end; recursion goes through a `oneOf` of scalars, lists and maps"
            draft.reports_entry(place, "recursive-type", f"{name} holds itself", hint)
            continue
        for inner, _ in direct_names(draft, form):
            if isinstance(draft.content.types[inner], StructType) and inner not in outlines.recursive:
                draft.reports_entry(
                    place / "oneOf",
                    "recursive-type",
                    f"the open union {name} holds the struct {inner}",
                    "an open value has lists and maps, no structs",
                )


def check_use(draft: Draft, outlines: Outlines) -> None:
    """Every type is reached from a root."""
    reached = set[str]()
    waiting = list(outlines.roots)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(each for each, _ in direct_names(draft, draft.content.types[name]))
    said = {problem.path for problem in draft.problems.found if problem.id == "bad-name"}
    wrong = [problem for problem in draft.problems.found if problem.id in ("unknown-type", "type-syntax")]
    meant = {word for problem in wrong for word in re.findall(r"\w+", problem.text)}
    for name in draft.content.types if outlines.roots else ():
        if name not in reached and name not in meant and f"types.{name}" not in said:
            draft.reports_entry(
                draft.place / "types" / name, "unreachable-type", f"no root leads to {name}", "use it, or drop it"
            )
