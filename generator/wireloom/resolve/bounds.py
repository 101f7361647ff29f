"""Ranges of numbers as specs write them: `0 .. 100`, `0 ..`, `.. 100`, and `100` for one number."""

from wireloom.model.types import Float, Integer, Text, Type, not_null
from wireloom.numbers import integer, respelled_ends
from wireloom.resolve.types import UNKNOWN, Surroundings
from wireloom.spec.documents import Place


def bounds_of(
    around: Surroundings, place: Place, written: str | int | None, type: Type
) -> tuple[int | None, int | None]:
    """The smallest and the greatest value that a range allows; None where it is open."""
    if written is None or type is UNKNOWN:
        return None, None
    minimum, maximum = ends_of(around, place, written)
    plain = not_null(type)
    if not isinstance(plain, Integer | Float):
        hint = "say `length` of a text" if isinstance(plain, Text) else "drop `range`"
        around.reports(place, "wrong-shape", "only numbers, and lists of them, have a range", hint)
    elif isinstance(plain, Integer):
        beyond = next((end for end in (minimum, maximum) if end is not None and not _can_be(plain, end)), None)
        if beyond is not None:
            hint = f"it holds {plain.minimum} to {plain.maximum}"
            around.reports(place, "bad-range", f"{beyond} is beyond the field's type", hint)
    return minimum, maximum


def ends_of(around: Surroundings, place: Place, written: str | int | None) -> tuple[int | None, int | None]:
    """The two ends of a range; None where it is open."""
    if written is None:
        return None, None
    low, dots, high = (part.strip() for part in str(written).partition(".."))
    minimum, maximum = integer(low), integer(high)
    if not dots and minimum is not None:
        return minimum, minimum
    if not dots or not (low or high) or bool(low) != (minimum is not None) or bool(high) != (maximum is not None):
        hint = respelled_ends(str(written)) or "write `0 .. 100`, `0 ..`, `.. 100` or `100`"
        around.reports(place, "bad-range", f"{written} is no range", hint)
        return None, None
    if minimum is not None and maximum is not None and minimum > maximum:
        around.reports(place, "bad-range", f"{written} is empty", "the smaller end stands first")
    return minimum, maximum


def _can_be(whole: Integer, value: int) -> bool:
    return whole.minimum <= value <= whole.maximum
