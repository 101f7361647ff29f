"""Filter out the warnings that a spec allows."""

from collections.abc import Iterable, Iterator

from wireloom.problems import ADVICE, WARNINGS, Problem, nearest
from wireloom.spec.documents import Document
from wireloom.spec.language import Allowance, FormatDocument


def not_allowed(
    warnings: Iterable[Problem], document: Document, content: FormatDocument, *, advised: bool
) -> Iterator[Problem]:
    """The warnings that `lint` does not allow, and a warning for each unused allowance; advice only if `advised`."""
    unused = {number: each for number, each in enumerate(content.lint.allow) if advised or each.id not in ADVICE}
    for warning in warnings:
        allowing = [number for number, each in enumerate(content.lint.allow) if _allows(each, warning)]
        if not allowing:
            yield warning
        for number in allowing:
            unused.pop(number, None)
    known = (*WARNINGS, *ADVICE)
    for number, each in unused.items():
        hint = "drop it" if each.id in known else nearest(each.id, known) or "see the warnings in the reference"
        place = document.place / "lint" / "allow" / number
        where = f" at {each.at}" if each.at else ""
        yield place.problem("unused-allowance", f"there is no warning {each.id}{where}", hint)


def _allows(allowance: Allowance, warning: Problem) -> bool:
    at = allowance.at
    is_there = not at or warning.path == at or warning.path.startswith((f"{at}.", f"{at}["))
    return allowance.id == warning.id and is_there
