"""The meanings of wire values for readers, and back: the one definition for Python values and their texts.

Parsers, expressions and the engine know only the wire value. Its meaning is applied on the way to readers, and undone
before anything is built, so each meaning has an inverse.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, localcontext
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Any, assert_never
from uuid import UUID

from wireloom.runtime.columns.logical import (
    Alternatives,
    Encoded,
    Float,
    Integer,
    List,
    LogicalType,
    Map,
    Meant,
    Measured,
    Named,
    Record,
    Said,
    Scaled,
    Written,
    kind_name,
)
from wireloom.runtime.errors import EncodeError, shown
from wireloom.runtime.patterns import FINE_MOMENT, MOMENT, NAMED, automaton, decimals, integers, worded
from wireloom.runtime.values import Pairs, Parsed, Value, float32, kind_of

Change = Callable[[Any], Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = date(1970, 1, 1).toordinal()
_MICROSECOND = timedelta(microseconds=1)
_SECOND = 1_000_000
_DIGITS = 80  # the precision of decimal arithmetic
_SHOWN = 48  # the most characters of a number in an error message
_MAC = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}").fullmatch
_DURATION = re.compile(r"(-?)PT(0|[1-9][0-9]*)(?:\.([0-9]{1,6}))?S").fullmatch
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").fullmatch
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?").fullmatch


# --- one value -----------------------------------------------------------------------------------------------------


def meaning(value: Any, type: Meant) -> Any:
    """The readers' value of a wire value."""
    if value is None or (type.null is not None and value == type.null):
        return None
    match type.shown:
        case None:
            return value
        case Scaled():
            return _quantity(value * type.shown.multiplier + type.shown.offset, type.shown)
        case Measured(scale, offset):
            return value * scale + offset
        case Written():
            return address_text(value, type.shown)
        case Said():
            found = _parsed_text(value, type.shown)
            return None if says(type.null, type.shown) and found == _parsed_text(type.null, type.shown) else found
        case Encoded(charset):
            return bytes(value).decode(charset)
        case Named():
            return type.shown.name_of.get(bytes(value) if isinstance(value, bytearray | memoryview) else value)
        case _:
            assert_never(type.shown)


def wire_value(given: Any, type: Meant) -> Any:
    """The wire value of a readers' value; raises EncodeError if there is none."""
    match type.shown:
        case None:
            wire = given
        case Scaled():
            wire = _unscaled(_count(given, type.shown), given, type)
        case Measured():
            wire = _held(_nearest(given, type.shown), given, type)
        case Written():
            wire = address_bytes(given, type.shown)
        case Said():
            wire = _written_text(given, type.shown, type.wire)
        case Encoded(charset):
            wire = _encoded(given, charset)
        case Named():
            wire = _named_value(given, type.shown)
        case _:
            assert_never(type.shown)
    if type.null is not None and _is_sentinel(wire, type):
        raise EncodeError(f"another value than {shown(type.null)}, which means null", shown(given))
    return wire


def _is_sentinel(wire: object, type: Meant) -> bool:
    if isinstance(wire, bool) or not isinstance(wire, int | float | str | bytes | bytearray | memoryview):
        return False  # builders refuse it
    if isinstance(wire, int | float) and isinstance(type.wire, Float) and type.wire.bits == 32:
        wire = float32(float(wire))
    return wire == sentinel(type)


def sentinel(type: Meant) -> int | float | str | bytes | None:
    """The value that means null, in the form that builders write."""
    if isinstance(type.shown, Said) and says(type.null, type.shown):
        return _written_text(_parsed_text(type.null, type.shown), type.shown, type.wire)
    return type.null


def _quantity(count: int, scaled: Scaled) -> Any:
    """A number of units as the readers' value."""
    match scaled.kind:
        case "timestamp":
            return _EPOCH + count * _MICROSECOND
        case "date":
            return date.fromordinal(_FIRST_DAY + count)
        case "duration":
            return count * _MICROSECOND
        case "decimal":
            return Decimal((count < 0, tuple(map(int, str(abs(count)))), -scaled.digits))
        case "integer":
            return count
        case _:
            assert_never(scaled.kind)


def _count(given: Any, scaled: Scaled) -> int:
    """A readers' value as a number of units; raises EncodeError."""
    match scaled.kind, given:
        case "timestamp", datetime() if given.utcoffset() is not None:
            return (given - _EPOCH) // _MICROSECOND
        case "timestamp", _:
            raise EncodeError("a datetime with a time zone", shown(given))
        case "date", date() if not isinstance(given, datetime):
            return given.toordinal() - _FIRST_DAY
        case "date", _:
            raise EncodeError("a date", shown(given))
        case "duration", timedelta():
            return given // _MICROSECOND
        case "duration", _:
            raise EncodeError("a timedelta", shown(given))
        case "integer", int() if not isinstance(given, bool):
            return given
        case "integer", _:
            raise EncodeError("an integer", shown(given))
        case "decimal", _:
            return _last_digits(given, scaled.digits)
        case _:
            assert_never(scaled.kind)


def _last_digits(given: object, digits: int) -> int:
    """A decimal, an integer, or a float (by its decimal text), counted in units of the last digit."""
    number = Decimal(repr(float(given))) if isinstance(given, float) else given
    if isinstance(number, bool) or not isinstance(number, Decimal | int):
        raise EncodeError("a Decimal", shown(given))
    with localcontext(prec=_DIGITS), suppress(ArithmeticError):
        count = Decimal(number).scaleb(digits)
        if count.adjusted() < _DIGITS and count == count.to_integral_value():
            return int(count)
    actual = str(given)[:_SHOWN] if isinstance(given, Decimal) else shown(given)
    raise EncodeError(f"a Decimal of at most {digits} digits after the point", actual)


def _unscaled(count: int, given: object, type: Meant) -> int:
    assert isinstance(type.shown, Scaled)
    whole, rest = divmod(count - type.shown.offset, type.shown.multiplier)
    if rest:
        raise EncodeError("a whole number of the units on the wire", shown(given))
    return _held(whole, given, type)


def _held(wire: int, given: object, type: Meant) -> int:
    lowest, highest = bounds(type)
    if not lowest <= wire <= highest:
        raise EncodeError(f"a value that is {lowest} to {highest} on the wire", shown(given))
    return wire


def bounds(type: Meant) -> tuple[int, int]:
    """The smallest and the largest wire integer."""
    wire = type.wire
    assert isinstance(wire, Integer)
    return wire.minimum, wire.maximum


def _nearest(given: object, measured: Measured) -> int:
    if isinstance(given, int | float) and not isinstance(given, bool):
        with suppress(OverflowError):  # an integer larger than every float
            if math.isfinite(given):
                return round((given - measured.offset) / measured.scale)
    raise EncodeError("a finite number", shown(given))


# --- texts -----------------------------------------------------------------------------------------------------------


def spelling_of_said(said: Said, *, fine: bool) -> str:
    """The pattern of the texts; `fine` allows any number of fractional digits in a timestamp."""
    match said.counted:
        case Integer() as integer:
            return integers(integer.minimum, integer.maximum)
        case Scaled("decimal", precision=precision, digits=digits):
            return decimals(precision, digits)
        case Scaled("timestamp"):
            return FINE_MOMENT if fine else MOMENT
        case Scaled():
            return NAMED["date"]
        case _:
            assert_never(said.counted)


def says(null: object, said: Said) -> bool:
    """Whether the text or float that means null is itself a valid time or number."""
    if said.microseconds:
        return null is not None
    return isinstance(null, str) and automaton(spelling_of_said(said, fine=True)).accepts(null)


def _parsed_text(text: Any, said: Said) -> Any:
    """The value in a text or float; a finer timestamp (RFC 3339) is cut to microseconds."""
    match said.counted:
        case Scaled() if said.microseconds:
            return _quantity(_nearest_count(text, said) + said.epoch, said.counted)
        case Integer():
            return int(text)
        case Scaled("decimal", digits=digits):
            whole, _, fraction = text.partition(".")
            return _quantity(int(whole + fraction.ljust(digits, "0")), said.counted)
        case Scaled("timestamp"):
            return datetime.fromisoformat(text).astimezone(UTC)
        case Scaled():
            return date.fromisoformat(text)
        case _:
            assert_never(said.counted)


def _nearest_count(value: float, said: Said) -> int:
    """The microsecond nearest to a float, from its epoch; of two, the even one."""
    whole = math.floor(value)
    return whole * said.microseconds + round((value - whole) * said.microseconds)


def _written_text(given: object, said: Said, wire: object) -> str | float:
    """The text or float that builders write."""
    match said.counted:
        case Scaled() if said.microseconds:
            return _written_float(given, said, wire)
        case Integer(minimum=lowest, maximum=highest):
            if isinstance(given, bool) or not isinstance(given, int):
                raise EncodeError("an integer", shown(given))
            if not lowest <= given <= highest:
                raise EncodeError(f"an integer of {lowest} to {highest}", shown(given))
            return str(given)
        case Scaled("decimal", precision=precision) as decimal:
            written = Scaled("decimal", digits=digits_said(decimal))
            count = _count(given, written)
            if abs(count) >= 10**precision:
                raise EncodeError(f"a Decimal of at most {precision} digits", shown(given))
            return str(rendered(_quantity(count, written), written))
        case Scaled() as time:
            return str(rendered(_quantity(_count(given, time), time), time))
        case _:
            assert_never(said.counted)


def _written_float(given: object, said: Said, wire: object) -> float:
    """The float nearest to a timestamp; raises EncodeError if it reads back as another microsecond."""
    assert isinstance(wire, Float)
    assert isinstance(said.counted, Scaled)
    count = _count(given, said.counted) - said.epoch
    found = count / said.microseconds
    found = float32(found) if wire.bits == 32 else found
    if _nearest_count(found, said) != count:
        raise EncodeError(f"a time that a float of {wire.bits} bits can hold", shown(given))
    return found


def digits_said(decimal: Scaled) -> int:
    """The most digits after the point in texts; readers may see more."""
    return decimal.digits - len(str(decimal.multiplier)) + 1


def _encoded(given: object, charset: str) -> bytes:
    if not isinstance(given, str):
        raise EncodeError("a text", shown(given))
    try:
        return given.encode(charset)
    except UnicodeEncodeError as error:
        lacking = given[error.start : error.start + 1]
        raise EncodeError(
            f"a text of characters that {charset} has", f"{shown(given)}, with {shown(lacking)}"
        ) from None


# --- names -----------------------------------------------------------------------------------------------------------


def _named_value(given: object, named: Named) -> int | str | bytes:
    found = named.value_of.get(given) if isinstance(given, str) else None
    if found is None:
        raise EncodeError(f"one of {', '.join(dict.fromkeys(name for _, name in named.names))}", shown(given))
    return found


# --- addresses -----------------------------------------------------------------------------------------------------


def address_text(value: bytes, written: Written) -> str:
    """The usual text of an address."""
    match written.kind:
        case "uuid":
            return str(UUID(bytes=bytes(value)))
        case "ipv4":
            return ".".join(map(str, bytes(value)))
        case "ipv6":
            return _ipv6_text(bytes(value))
        case "mac":
            return bytes(value).hex(":")
        case _:
            assert_never(written.kind)


def _ipv6_text(value: bytes) -> str:
    """RFC 5952: the first longest run of two or more zero groups is `::`; all groups are hexadecimal."""
    groups = [f"{value[place] << 8 | value[place + 1]:x}" for place in range(0, 16, 2)]
    start, length = 0, 1
    for first in range(8):
        run = next((n for n, group in enumerate(groups[first:]) if group != "0"), 8 - first)
        if run > length:
            start, length = first, run
    if length < 2:
        return ":".join(groups)
    return f"{':'.join(groups[:start])}::{':'.join(groups[start + length :])}"


def address_bytes(given: object, written: Written) -> bytes:
    """The bytes of an address in its usual text; raises EncodeError for any other text."""
    names = {"uuid": "a UUID", "ipv4": "an IPv4 address", "ipv6": "an IPv6 address", "mac": "a MAC address"}
    try:
        found = _address(str(given) if isinstance(given, UUID | IPv4Address | IPv6Address) else given, written)
    except (ValueError, AddressValueError):
        found = None
    if found is None or (isinstance(given, str) and address_text(found, written) != given):
        raise EncodeError(f"{names[written.kind]} in its usual form", shown(given))
    return found


def _address(text: object, written: Written) -> bytes | None:
    if not isinstance(text, str):
        return None
    match written.kind:
        case "uuid":
            return UUID(text).bytes
        case "ipv4":
            return IPv4Address(text).packed
        case "ipv6":
            return None if "%" in text else IPv6Address(text).packed
        case "mac":
            return bytes.fromhex(text.replace(":", "")) if _MAC(text) else None
        case _:
            assert_never(written.kind)


# --- renderings ----------------------------------------------------------------------------------------------------


def rendered(value: Any, scaled: Scaled) -> object:
    """The canonical JSON rendering of a readers' value."""
    match scaled.kind:
        case "timestamp":
            moment = value.astimezone(UTC).replace(tzinfo=None)
            return f"{moment.isoformat()}Z"
        case "date":
            return value.isoformat()
        case "duration":
            return duration_text(value // _MICROSECOND)
        case "decimal":
            return f"{value:.{scaled.digits}f}"
        case "integer":
            return value
        case _:
            assert_never(scaled.kind)


def duration_text(count: int) -> str:
    """Microseconds as a duration: `PT1.500000S`."""
    seconds, rest = divmod(abs(count), _SECOND)
    fraction = f".{rest:06}" if rest else ""
    return f"{'-' if count < 0 else ''}PT{seconds}{fraction}S"


def read(rendering: object, scaled: Scaled) -> Any:
    """The readers' value of a rendering; raises ValueError with the expected form."""
    if scaled.kind == "integer":
        if isinstance(rendering, bool) or not isinstance(rendering, int):
            raise ValueError("expected an integer")
        return rendering
    expected = EXPECTED[scaled.kind]
    try:
        found = _read(rendering, scaled) if isinstance(rendering, str) else None
    except (ValueError, OverflowError):
        found = None
    if found is None:
        raise ValueError(f"expected {expected}")
    return found


EXPECTED = {
    "timestamp": worded("date-time", MOMENT),
    "date": worded("date", ""),
    "duration": "a duration in seconds such as PT1.5S",
    "decimal": "decimal text",
}
"""The forms of the renderings, in words."""


def _read(text: str, scaled: Scaled) -> Any:
    match scaled.kind:
        case "timestamp":
            return datetime.fromisoformat(text) if _MOMENT.fullmatch(text) else None
        case "date":
            return date.fromisoformat(text) if _DAY(text) else None
        case "duration":
            found = _DURATION(text)
            if found is None:
                return None
            count = int(found[2]) * _SECOND + int((found[3] or "").ljust(6, "0"))
            return (-count if found[1] else count) * _MICROSECOND
        case _:
            return Decimal(text) if _PLAIN(text) else None


# --- values of records ---------------------------------------------------------------------------------------------


def wiring(type: LogicalType) -> Change | None:
    """A function from readers' values to wire values, which raises EncodeError; None if they are the same."""
    match type:
        case Meant():
            return lambda given: wire_value(given, type)
        case List(element):
            return _of_elements(element)
        case Map(key, value):
            return _of_entries(key, value)
        case Record():
            return _of_members(type)
        case Alternatives(options):
            return _of_options({kind_name(option): change for option in options if (change := wiring(option))})
        case _:
            return None


def _of_options(changes: Mapping[str, Change]) -> Change | None:
    if not changes:
        return None
    return lambda given: changes[kind](given) if (kind := kind_of(given)) in changes else given


def _of_elements(element: LogicalType) -> Change | None:
    change = wiring(element)
    if change is None:
        return None
    null = element.null if isinstance(element, Meant) else None
    return lambda given: _changed_elements(given, change, null) if isinstance(given, list | tuple) else given


def _changed_elements(given: Sequence[Any], change: Change, null: object) -> list[Any]:
    found: list[Any] = []
    for place, each in enumerate(given):
        try:
            found.append(null if each is None else change(each))
        except EncodeError as error:
            raise error.at(place) from None
    return found


def _of_entries(key: LogicalType, value: LogicalType) -> Change | None:
    keys, values = wiring(key), wiring(value)
    if keys is None and values is None:
        return None

    def entries(given: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
        for first, second in given:
            yield (
                first if keys is None or first is None else keys(first),
                second if values is None or second is None else values(second),
            )

    def changed(given: Any) -> Any:
        if isinstance(given, Mapping):
            return dict(entries(given.items()))
        return Pairs(entries(given)) if isinstance(given, Pairs) else given  # builders refuse it

    return changed


def _of_members(record: Record) -> Change | None:
    changes = {member.name: change for member in record.fields if (change := wiring(member.type)) is not None}
    if not changes:
        return None
    raws = {member.name: member.type for member in record.fields if isinstance(member.type, Meant) and member.type.raw}

    def changed(given: Any) -> Any:
        if not isinstance(given, Mapping) or isinstance(given, Value):  # constructs already return wire values
            return given
        found = dict(given)
        for name, change in changes.items():
            if found.get(name) is not None:
                try:
                    found[name] = change(found[name])
                except EncodeError as error:
                    raise error.at(name) from None
        for name, type in raws.items():
            _agree(given, found, name, type)
        return Parsed(found, given.hidden) if isinstance(given, Parsed) else found

    return changed


def _agree(given: Mapping[str, Any], found: dict[str, Any], name: str, type: Meant) -> None:
    """Reconcile a meaning and a wire value: a missing wire value follows from the meaning; a given one is kept.

    Raises EncodeError if a given name is not that of the value; a wire timestamp may be finer than its meaning.
    """
    value = found.get(type.raw)
    if value is None:
        found[type.raw] = found.get(name)
    elif found.get(name) is not None:
        if _means(value, type, given.get(name)):
            found[name] = value
        elif isinstance(type.shown, Named):
            raise EncodeError(f"the name of {shown(value)}, or none", shown(given.get(name))).at(name)


def _means(value: Any, type: Meant, given: Any) -> bool:
    """Whether a value, which may not even be one of the format, has the given meaning."""
    try:
        return bool(meaning(value, type) == given)
    except (TypeError, ValueError, OverflowError):  # builders refuse it
        return False
