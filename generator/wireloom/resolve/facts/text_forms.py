"""Texts that state times or numbers, and floats that state times.

The same time or decimal has several spellings, and readers see only its meaning. Builders write one spelling: in UTC,
with all digits, or the float nearest to the microsecond. So nothing may depend on the original spelling: unless `raw`
shows it to readers, expressions can only test such a field for presence, and derived lengths count the bytes that
builders write.
"""

import re
from collections.abc import Iterator

from wireloom.expr.ast import Call, FieldRef
from wireloom.model.types import Field, Float, not_null
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.sites import Names, Role, Site, Types, every_site, names_told_by, structs, values_asked
from wireloom.runtime.columns.logical import Integer, Said, Scaled
from wireloom.spec.documents import Place
from wireloom.spec.language import DECIMAL

_HINT = "add `raw: NAME`, which keeps the {}, so builders can write it again"
_INTEGER = re.compile("(u?)int(8|16|32|64)").fullmatch
LONGEST = 38
"""The most digits of decimals in columns."""


def said(word: object) -> Said | None:
    """What texts mean with this `logical`; None if the word is not for texts, or the decimal is not possible."""
    match word:
        case "timestamp" | "date":
            return Said(Scaled(word))
        case str():
            return _number(word)
        case _:
            return None


def _number(word: str) -> Said | None:
    if found := _INTEGER(word):
        return Said(Integer(int(found[2]), signed=not found[1]))
    precision, digits = decimal_of(word) or (0, 0)
    if not 0 < precision <= LONGEST or digits > precision:
        return None
    return Said(Scaled("decimal", precision=precision, digits=digits))


def decimal_of(word: str) -> tuple[int, int] | None:
    """The total digits and the digits after the point of a decimal; None for other words."""
    if re.fullmatch(DECIMAL, word) is None:
        return None
    precision, digits = map(int, re.findall("[0-9]+", word))
    return precision, digits


def no_such_decimal(precision: object, digits: object) -> tuple[str, str]:
    """The message and the hint for decimals that columns do not have."""
    message = f"there are no decimals of {precision} digits, {digits} of them after the point"
    return (
        message,
        f"write decimal(DIGITS, FRACTION), such as decimal(10, 2): at most {LONGEST} digits, FRACTION at most DIGITS",
    )


def check_said(draft: Draft, named: Types, names: Names) -> None:
    """Report uses of values that have several spellings, of which builders know only the meaning."""
    lossy = {field.wire_name: _word(field) for each in structs(named) for field in each.fields if _is_lossy(field)}
    if not lossy:
        return
    for site in every_site(draft.place, named):
        for reference in _read(site):
            found = [_word(origin.field) for origin in names.origins(site.struct, reference) if _is_lossy(origin.field)]
            kept = (reference.name, *reference.members) if site.role is Role.KEEP else ()
            if words := [*found, *(lossy[name] for name in kept if name in lossy)]:
                _report(draft, site.place, reference.name, words[0])
    for name, type in named.items():
        for used in lossy.keys() & names_told_by(type):
            _report(draft, draft.place / "types" / name, used, lossy[used])


def _report(draft: Draft, place: Place, name: str, word: str) -> None:
    message = f"the {word} of {name} can be written in several ways"
    draft.reports(place, "lossy-meaning", message, _HINT.format(word))


def _word(field: Field) -> str:
    """The word for the wire value in messages."""
    return "float" if isinstance(not_null(field.type), Float) else "text"


def _is_lossy(field: Field) -> bool:
    meaning = field.meaning
    return meaning is not None and not meaning.raw and has_several_writings(meaning.shown)


def has_several_writings(shown: object) -> bool:
    """Whether texts with this meaning have several spellings: timestamps, and decimals with a fraction."""
    match shown:
        case Said(Scaled("decimal", digits=digits)):
            return digits > 0
        case Said(Scaled("timestamp")):
            return True
        case _:
            return False


def _read(site: Site) -> Iterator[FieldRef]:
    """The fields whose values an expression uses."""
    match site.role, site.expression:
        case Role.DERIVE, Call("len", (FieldRef(),)):
            return
        case _:
            yield from values_asked(site.expression)
