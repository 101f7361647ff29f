"""Types that hold themselves, and types that nothing uses."""

from wireloom.resolve.draft import Draft
from wireloom.resolve.outline import Outlines, direct_names
from wireloom.spec.language import OneOfType, StructType


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
    for name in draft.content.types if outlines.roots else ():
        if name not in reached:
            draft.reports_entry(
                draft.place / "types" / name, "unreachable-type", f"no root leads to {name}", "use it, or drop it"
            )
