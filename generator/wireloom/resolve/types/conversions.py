"""The meanings of values: null sentinels, times, dates, addresses and scales. Every accepted meaning can be reversed.

Expressions, and everything that depends on them, use the wire value. A field with `raw` becomes two: the wire value
under that name, and a computed field with the meaning.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from wireloom import names
from wireloom.expr.ast import Binary, Conditional, Expression, FieldRef, Kind, Literal
from wireloom.model import types
from wireloom.model.traversal import NamedTypes, with_structs
from wireloom.model.types import Array, Field, Integer, Meaning, Text, Type
from wireloom.numbers import integer, respelled
from wireloom.resolve.bind import builtins
from wireloom.resolve.bind.outline import is_closed, is_open
from wireloom.resolve.bind.scopes import Scope
from wireloom.resolve.facts.text_forms import LONGEST, decimal_of, no_such_decimal, said
from wireloom.resolve.types.notations import UNKNOWN, Surroundings
from wireloom.resolve.types.value_limits import stated_value
from wireloom.resolve.types.value_tables import check_null, mappings_of
from wireloom.runtime.columns.logical import Measured, Named, Said, Scaled, Written
from wireloom.spec.documents import Place
from wireloom.spec.language import FieldDocument
from wireloom.spec.language.fields import Logical

_KEYS = ("null", "logical", "epoch", "scale", "offset", "raw")
_NUMERIC = ("scale", "offset", "epoch")
_SIZES = {"uuid": 16, "ipv4": 4, "ipv6": 16, "mac": 6}
_UNIT = re.compile(r"([1-9][0-9]{0,8})?(ns|us|ms|s|min|h|d)").fullmatch
_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
_MICROSECOND = 1_000  # in nanoseconds
_ZERO = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400_000_000
_FIRST = -719_162  # 0001-01-01, in days since 1970
_LAST = 2_932_896  # 9999-12-31
_LIMITS = {
    "timestamp": (_FIRST * _DAY, (_LAST + 1) * _DAY - 1),
    "date": (_FIRST, _LAST),
    "duration": (-106_751_991 * _DAY, 106_751_991 * _DAY),  # the whole days whose microseconds fit 64 bits
    "integer": (-(1 << 63), (1 << 63) - 1),
}
_OF_FLOATS = (1_000_000, 1_000)  # microseconds in the units that floats may count
_HALF = 16  # bits
_EXACT = 53  # bits of integers that 64-bit floats hold exactly
_MOST_DIGITS = 40
_ONLY_TIMESTAMP = "drop `logical`; a number with a fraction can only be a timestamp"
_OF_DIGITS = "give `logical` to an integer that is computed by `decimal(x, 64)`"
_SAID = {"timestamp": "2001-01-01T00:00:00Z", "date": "2001-01-01"}


def meaning_of(
    around: Surroundings, place: Place, document: FieldDocument, type: Type, held: types.Held
) -> Meaning | None:
    """The meaning of a field's value; None if readers see the wire value."""
    keys = document.given - ({"null"} if is_closed(document) else set())  # closed `values` have `null` as another entry
    if type is UNKNOWN or keys.isdisjoint(_KEYS):
        return None
    return _Reading(around, place, document, type, held).meaning()


def null_of(around: Surroundings, place: Place, document: FieldDocument, type: Type, held: types.Held) -> types.Scalar:
    """The wire value that means null beside `values`; None if there is none."""
    return None if type is UNKNOWN else _Reading(around, place, document, type, held).null()


def named_values(scope: Scope, place: Place, entries: Sequence[types.Mapping]) -> Named | None:
    """The names of some values; None if a meaning is not a text, which is reported."""
    found: list[tuple[int | str | bytes, str]] = []
    for each in entries:
        match each.value, each.wire:
            case Literal(str(name)), int() | str() | bytes():
                found.append((each.wire, name))
            case _:
                hint = "write texts, and leave out numbers without a name"
                scope.draft.reports_entry(place, "mixed-values", "with `raw`, every meaning must be a text", hint)
                return None
    return Named(tuple(found))


def _element(type: Type) -> Type:
    match type:
        case Array(element):
            return _element(element)
        case types.Nullable(inner):
            return inner
        case _:
            return type


class _Reading:
    """Reads the keys of one field, and reports their mistakes."""

    def __init__(
        self, around: Surroundings, place: Place, document: FieldDocument, type: Type, held: types.Held
    ) -> None:
        self.around, self.place, self.document, self.held = around, place, document, held
        self.stated, self.type = type, _element(type)

    def refuse(self, key: str, id: str, message: str, hint: str) -> None:
        self.around.refuses(self.place / key, id, message, hint)

    def _refuse_beside(self, keys: Sequence[str], other: str, hint: str = "") -> None:
        for key in keys:
            if key in self.document.given:
                self.refuse(key, "conflicting-keys", f"`{key}` beside {other}", hint or f"drop `{key}`")

    def meaning(self) -> Meaning | None:
        null = self.null()
        match self.document.logical:
            case _ if is_open(self.document):
                found = self._named(null)
            case word if word is not None and (charset := types.charset_of(self.type)):
                if self.document.charset is None:  # else the two keys are reported
                    hint = "give the field `charset: utf-8` if it is ASCII, or drop `logical`"
                    self.refuse("logical", "wrong-shape", f"a text in {charset} cannot be a time or number", hint)
                return None
            case Logical() as time:
                found = self._time(time)
            case str() as word if (saying := said(word)) is not None and isinstance(self.type, Text):
                found = self._text_meaning(word, saying, self.type)
            case "timestamp":
                hint = "write `{timestamp: ms}`, with the unit of the integer, or give the field the type `str`"
                hint = hint if isinstance(self.type, Integer) else self._uncounted("timestamp")
                self.refuse("logical", "wrong-shape", "a timestamp without a unit is a text on the wire", hint)
                return None
            case "date":
                found = self._counted("date", Fraction(1), Fraction(self._epoch(), _DAY))
            case "uuid" | "ipv4" | "ipv6" | "mac" as kind:
                found = self._written(Written(kind))
            case str() as word if word != "float":
                self._refuse_number(word)
                return None
            case _:
                found = self._scaled()
        if found is None:
            return None
        self._check_raw(found)
        return replace(found, null=null, raw=self.document.raw or "")

    # --- null ------------------------------------------------------------------------------------------------------

    def null(self) -> types.Scalar:
        """The wire value that means null; None if there is none."""
        written = self.document.null
        if written is None:
            return None
        stated = self.stated.element if isinstance(self.stated, Array) else self.stated
        if not isinstance(stated, Integer | types.Float | Text | types.Bytes):
            hint = "only integers, floats, texts and bytes, and lists of them, can have `null`"
            self.refuse("null", "wrong-shape", "no value of this type can mean null", hint)
            return None
        return stated_value(self.around, self.place / "null", self.document, written, self.type, self.held)

    # --- times -----------------------------------------------------------------------------------------------------

    def _time(self, time: Logical) -> Meaning | None:
        if (time.timestamp is None) == (time.duration is None):
            message, hint = "a time is either a timestamp or a duration", "write `{timestamp: ms}` or `{duration: ms}`"
            self.refuse("logical", "conflicting-keys", message, hint)
            return None
        if time.timestamp is not None:
            unit = self._unit("timestamp", time.timestamp)
            if isinstance(self.type, types.Float):
                return None if unit is None else self._float_meaning(time.timestamp, unit, self.type)
            return None if unit is None else self._counted("timestamp", unit, Fraction(self._epoch()))
        unit = self._unit("duration", time.duration or "")
        if self.document.epoch is not None:
            self.refuse("epoch", "conflicting-keys", "a duration has no epoch", "drop `epoch`")
        return None if unit is None else self._counted("duration", unit, Fraction(0))

    def _unit(self, key: str, written: str) -> Fraction | None:
        """A unit in microseconds."""
        found = _UNIT(written)
        if found is None:
            message = f"{written} is not a unit of time"
            hint = "write d, h, min, s, ms, us or ns, or a multiple: 100ns"
            self.around.reports(self.place / "logical" / key, "bad-meaning", message, hint)
            return None
        return Fraction(int(found[1] or 1) * _NANOSECONDS[found[2]], _MICROSECOND)

    def _epoch(self) -> int:
        """Microseconds from 1970 to the epoch."""
        written = self.document.epoch
        if written is None:
            return 0
        moment = _moment(written)
        if moment is None:
            hint = "write a day such as 1900-01-01, or 2001-01-01T00:00:00Z"
            self.around.reports(self.place / "epoch", "bad-meaning", f"{written} is not a day", hint)
            return 0
        count = (moment - _ZERO) // timedelta(microseconds=1)
        if self.document.logical == "date" and count % _DAY:
            hint = "drop the time"
            self.around.reports(self.place / "epoch", "bad-meaning", "a date counts from a day, not from a time", hint)
        return count

    def _counted(self, kind: str, unit: Fraction, offset: Fraction) -> Meaning | None:
        """The meaning of integers that count units of time."""
        if not isinstance(self.type, Integer):
            self.refuse("logical", "wrong-shape", f"a {kind} is an integer on the wire", self._uncounted(kind))
            return None
        self._refuse_beside(("scale", "offset"), "`logical`", "drop `scale`: the unit is the scale")
        if unit.denominator != 1 and not self.document.raw:
            message = "columns hold microseconds, so this unit would lose digits"
            hint = "add `raw: NAME`, a column with the number itself"
            self.refuse("logical", "lossy-meaning", message, hint)
            return None
        lowest, highest = _LIMITS[kind]
        scaled = Scaled(kind, unit.numerator, int(offset))  # type: ignore[arg-type]
        low = -((int(offset) - lowest) * unit.denominator // unit.numerator)
        high = ((highest - int(offset) + 1) * unit.denominator - 1) // unit.numerator
        beyond = self.type.minimum < low or self.type.maximum > high
        if beyond and isinstance(self.stated, Array):
            hint = "use elements with a smaller type, or structs with such a field"
            self.refuse("logical", "wrong-shape", f"elements may be too large for a {kind}", hint)
            return None
        bounds = (max(low, self.type.minimum), min(high, self.type.maximum)) if beyond else (None, None)
        return Meaning(scaled, divisor=unit.denominator, minimum=bounds[0], maximum=bounds[1])

    def _float_meaning(self, unit: str, microseconds: Fraction, type: types.Float) -> Meaning | None:
        """The meaning of floats that count seconds or milliseconds, with a fraction."""
        message, hint = "", ""
        if microseconds not in _OF_FLOATS:
            message, hint = f"a float cannot be a timestamp in {unit}", "write `{timestamp: s}` or `{timestamp: ms}`"
        elif type.bits == _HALF:
            message, hint = "a float of 16 bits cannot be a timestamp", "use float64, or drop `logical`"
        elif isinstance(self.stated, Array):
            message, hint = "elements of a list cannot be floats with a time", "use a list of structs with such a field"
        elif self.document.compute is not None:
            message, hint = "a computed float cannot be a timestamp", "compute an integer, or drop `logical`"
        if message:
            self.refuse("logical", "wrong-shape", message, hint)
            return None
        self._refuse_beside(("scale", "offset"), "`logical`", "drop `scale`: the unit is the scale")
        count, epoch = int(microseconds), self._epoch()
        first, last = (end - epoch for end in _LIMITS["timestamp"])
        low, high = -(-first // count), last // count
        null = self.null()
        if isinstance(null, float) and not low <= null <= high:
            hint = f"write a number of {low} to {high}"
            self.refuse("null", "bad-const", f"{self.document.null} cannot mean null for a time", hint)
        return Meaning(Said(Scaled("timestamp"), microseconds=count, epoch=epoch), minimum=low, maximum=high)

    def _uncounted(self, kind: str) -> str:
        """A hint for a type that cannot count units of time."""
        match self.type:
            case types.Float() if kind == "timestamp":
                return "write `{timestamp: s}` or `{timestamp: ms}`, with the unit of the float"
            case types.JsonText() if kind == "timestamp":
                return "for a number with a fraction, write `type: float` and `logical: {timestamp: s}`"
            case types.Float() | types.JsonText():
                return _ONLY_TIMESTAMP
            case Text() if kind in ("timestamp", "date"):
                return f"for a text such as {_SAID[kind]}, write `logical: {kind}`; for digits, {_OF_DIGITS}"
            case Text():
                return f"for digits, {_OF_DIGITS}"
            case _:
                return "give the field the type of an integer"

    def _refuse_number(self, word: str) -> None:
        """Report a number that no text can state: the type is not a text, or columns have no such decimals."""
        digits = decimal_of(word)
        if isinstance(self.type, Text) and digits is not None:
            self.refuse("logical", "bad-meaning", *no_such_decimal(*digits))
            return
        match self.type:
            case Integer() if digits and digits[1]:
                hint = f"for an integer, write `scale: {Decimal(1).scaleb(-digits[1]):f}`"
            case types.Bytes():
                hint = "write `type: str`"
            case types.Float() | types.JsonText() if digits:
                hint = _ONLY_TIMESTAMP
            case _:
                hint = "drop `logical`"
        self.refuse("logical", "wrong-shape", f"`logical: {word}` is only for texts in UTF-8", hint)

    def _text_meaning(self, word: str, saying: Said, type: Text) -> Meaning | None:
        """The meaning of texts that state a time or a number."""
        what = "time" if word in ("timestamp", "date") else "number"
        if isinstance(self.stated, Array):
            hint = "use a list of structs with such a field"
            self.refuse("logical", "wrong-shape", "elements of a list cannot be texts with a meaning", hint)
            return None
        if self.document.compute is not None:
            hint = "compute a number, with `logical: {timestamp: s}`, or drop `logical`"
            hint = hint if what == "time" else "use it at the text on the wire, or drop `logical`"
            message = f"a computed text cannot be a {what}, since nothing checks it"
            self.refuse("logical", "wrong-shape", message, hint)
            return None
        self._refuse_beside(_NUMERIC, f"a text that says a {what}")
        self._check_text_size(word, saying, type)
        return Meaning(saying)

    def _check_text_size(self, word: str, saying: Said, type: Text) -> None:
        """A text of a fixed size must have room for every text that builders write."""
        least, most = _text_sizes(saying)
        match type.size:
            case types.Padded(size):
                fits = size >= most
            case Literal(int(size)):
                fits = least <= size and (size == most if least == most else self.document.raw is not None)
            case _:
                return
        if not fits:
            message = f"builders write each {word} in {least if least == most else f'{least} to {most}'} bytes"
            hint = f"write str({most}) with `pad`, or add `raw: NAME`, which builders write"
            self.refuse("logical", "wrong-shape", message, hint)

    # --- addresses -------------------------------------------------------------------------------------------------

    def _written(self, written: Written) -> Meaning | None:
        if self.document.compute is not None:
            message = f"computed bytes cannot have `logical: {written.kind}`, since nothing checks them"
            self.refuse("logical", "wrong-shape", message, "use it at the bytes on the wire, or drop `logical`")
            return None
        size = _SIZES[written.kind]
        if not (isinstance(self.type, types.Bytes) and self.type.size == Literal(size)):
            is_bytes = isinstance(self.type, types.Bytes) or self.around.encoding.laid_out
            hint = f"write bytes({size})" if is_bytes else "drop `logical`"
            self.refuse("logical", "wrong-shape", f"{written.kind} has {size} bytes on the wire", hint)
            return None
        self._refuse_beside(_NUMERIC, f"`logical: {written.kind}`")
        return Meaning(written)

    # --- names -----------------------------------------------------------------------------------------------------

    def _named(self, null: types.Scalar) -> Meaning | None:
        """The names of values, where other values are allowed too."""
        if not isinstance(self.type, Integer | types.Boolean | Text | types.Bytes) or isinstance(self.stated, Array):
            hint = "only integers, booleans, texts and bytes have `raw`; drop it"
            self.refuse("raw", "wrong-shape", "`raw` cannot keep a value of this type", hint)
            return None
        place = self.place / "values"
        entries = mappings_of(self.around.scope, place, self.document.values or {}, self.type)
        if null is not None:
            check_null(self.around.scope, self.place / "null", null, entries)
        found = named_values(self.around.scope, place, entries)
        return None if found is None else Meaning(found)

    # --- scales ----------------------------------------------------------------------------------------------------

    def _scaled(self) -> Meaning | None:
        scale, offset = self._number("scale", 1), self._number("offset", 0)
        if "epoch" in self.document.given and self.document.logical is not None:
            self.refuse("epoch", "conflicting-keys", "a number has no epoch", "drop `epoch`")
        is_float = self.document.logical == "float"
        if scale is None or offset is None:
            return None
        if not is_float and not {"scale", "offset"} & self.document.given:
            return Meaning()
        if not isinstance(self.type, Integer):
            key = next(key for key in ("scale", "offset", "logical") if key in self.document.given)
            is_text = isinstance(self.type, Text) and key == "scale"
            hint = "for a text, write `logical: 'decimal(10, 2)'`" if is_text else f"drop `{key}`"
            self.refuse(key, "wrong-shape", "only integers have a scale", hint)
            return None
        if not scale:
            message, hint = "a scale of 0 has no inverse", "write another number"
            self.refuse("scale", "bad-meaning", message, hint)
            return None
        exact = None if is_float else _exact(scale, offset, self.type)
        return Meaning(exact) if exact is not None else self._measured(scale, offset, self.type)

    def _number(self, key: str, default: int) -> Fraction | None:
        if key not in self.document.given:
            return Fraction(default)
        text = (self.place / key).text
        try:
            found = _fraction(text) if text.isascii() and "_" not in text and not respelled(text) else None
        except (ValueError, ZeroDivisionError, InvalidOperation, OverflowError):
            found = None
        if found is None or max(abs(found.numerator), found.denominator) >= 10**_MOST_DIGITS:
            hint = respelled(text) or "write a decimal such as 0.01, or a fraction such as 1/256"
            self.around.reports(self.place / key, "bad-meaning", f"{text} is not a number", hint)
            return None
        return found

    def _measured(self, scale: Fraction, offset: Fraction, type: Integer) -> Meaning | None:
        """The meaning as floats, if different integers stay different."""
        measured = Measured(float(scale), float(offset))
        largest = max(abs(bound * measured.scale + measured.offset) for bound in (type.minimum, type.maximum))
        if type.bits > _EXACT or not largest < abs(measured.scale) * 2**51 or not measured.scale:
            key = "scale" if "scale" in self.document.given else "logical"
            message = "as a float, different integers would become equal"
            self.refuse(
                key,
                "lossy-meaning",
                message,
                "use a scale or offset with fewer digits or a smaller integer type, or drop it",
            )
            return None
        return Meaning(measured)

    # --- raw -------------------------------------------------------------------------------------------------------

    def _check_raw(self, meaning: Meaning) -> None:
        raw = self.document.raw
        if raw is None:
            return
        if flaw := names.logical_name_flaw(raw):
            self.around.reports(self.place / "raw", "bad-name", f"{raw} cannot be the name of a column", flaw)
        if isinstance(meaning.shown, Named):
            return
        is_time = isinstance(meaning.shown, Scaled) and meaning.shown.kind != "decimal"
        if not (is_time or isinstance(meaning.shown, Said)) or isinstance(self.stated, Array):
            hint = "other meanings lose nothing; to see both, add a `compute` field"
            message = "only single times, dates, texts with numbers, and `values` have `raw`"
            self.refuse("raw", "wrong-shape", message, hint)


def _text_sizes(saying: Said) -> tuple[int, int]:
    """The fewest and the most bytes of a text with this meaning."""
    match saying.counted:
        case Scaled("decimal", precision=precision, digits=digits):
            point = digits + 1 if digits else 0
            return 1 + point, 1 + max(precision - digits, 1) + point
        case Scaled("timestamp"):
            return 20, 27
        case Scaled():
            return 10, 10
        case whole:
            return 1, max(len(str(whole.minimum)), len(str(whole.maximum)))


def _fraction(text: str) -> Fraction | None:
    """The number that a text states; None if it has more digits than any scale."""
    above, slash, below = text.partition("/")
    if slash:
        parts = integer(above), integer(below)
        return None if parts[0] is None or parts[1] is None else Fraction(parts[0], parts[1])
    number = Decimal(text)
    return Fraction(number) if number.is_finite() and abs(number.adjusted()) <= _MOST_DIGITS else None


def _exact(scale: Fraction, offset: Fraction, type: Integer) -> Scaled | None:
    """The scale as integers in units of the last digit; None if decimals of 38 digits cannot hold the values."""
    digits = 0
    while (scale * 10**digits).denominator != 1 or (offset * 10**digits).denominator != 1:
        digits += 1
        if digits > LONGEST:
            return None
    multiplier, added = int(scale * 10**digits), int(offset * 10**digits)
    ends = (type.minimum * multiplier + added, type.maximum * multiplier + added)
    if not digits and all(-(1 << 63) <= end < 1 << 63 for end in ends):
        return Scaled("integer", multiplier, added)
    width = len(str(max(abs(type.minimum), type.maximum))) + len(str(abs(multiplier))) + 2
    if max(width, len(str(abs(added))) + 1) > LONGEST:
        return None
    return Scaled("decimal", multiplier, added, max(*(len(str(abs(end))) for end in ends), digits), digits)


def _moment(written: str) -> datetime | None:
    try:
        if len(written) == len("1970-01-01"):
            day = date.fromisoformat(written)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        found = datetime.fromisoformat(written)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


# --- lowering ------------------------------------------------------------------------------------------------------


def with_meanings(named: NamedTypes) -> NamedTypes:
    """The types, where values are checked against the limits of their meaning, and `raw` makes a second field."""
    return with_structs(named, _lowered)


def _lowered(struct: types.Struct) -> types.Struct:
    return replace(struct, steps=tuple(each for step in struct.steps for each in _lowered_step(step)))


def _lowered_step(step: types.Step) -> Iterator[types.Step]:
    if isinstance(step, Field) and step.meaning is not None:
        yield from _fields(step, step.meaning)
    elif isinstance(step, Field) and step.bits:
        yield replace(step, bits=tuple(_raw_bit(bit) for bit in step.bits))
        for bit in step.bits:
            if bit.meaning is not None and isinstance(bit.meaning.shown, Named):
                yield _meaning_field_of_bits(step, bit, bit.meaning.shown)
    else:
        yield step


def _fields(step: Field, meaning: Meaning) -> Iterator[types.Step]:
    field = step if not meaning.raw else replace(step, name=meaning.raw, meaning=replace(meaning, shown=None))
    limited = meaning.minimum is not None
    null_is_within = isinstance(meaning.null, float)  # of floats, it is a time
    in_place = limited and field.compute is None and (meaning.null is None or null_is_within)
    if in_place and meaning.minimum is not None and meaning.maximum is not None:
        low = meaning.minimum if field.minimum is None else max(meaning.minimum, field.minimum)
        high = meaning.maximum if field.maximum is None else min(meaning.maximum, field.maximum)
        yield replace(field, minimum=low, maximum=high)
    else:
        yield field
    if limited and not in_place:
        yield types.Check(_within(field, meaning), field.code, field.wire_name, field.when)
    if meaning.raw and isinstance(meaning.shown, Scaled):
        yield _scaled_field(step, meaning, meaning.shown)
    elif isinstance(meaning.shown, Named):
        yield _meaning_field(step, Meaning(replace(meaning.shown, raw=meaning.raw)))
    elif meaning.raw and isinstance(meaning.shown, Said):
        shown_field = _meaning_field(step, Meaning(replace(meaning.shown, raw=meaning.raw), null=meaning.null))
        yield replace(shown_field, agrees=True)


def _raw_bit(bit: types.Bit) -> types.Bit:
    return bit if bit.meaning is None else replace(bit, meaning=replace(bit.meaning, shown=None))


def _meaning_field_of_bits(field: Field, bit: types.Bit, named: Named) -> Field:
    """A field with the name of some bits for readers."""
    type: Type = types.Boolean() if bit.flag else Integer(bit.width, bit.signed)
    whole = replace(field, name=bit.name, wire_name=bit.name, type=type, doc=bit.doc)
    return _meaning_field(whole, Meaning(replace(named, raw=bit.title)))


def _reference(field: Field) -> FieldRef:
    return FieldRef(0, field.wire_name, kind=Kind.INTEGER)


def _within(field: Field, meaning: Meaning) -> Expression:
    """Whether the value can be shown to readers, or means null."""
    value = _reference(field)
    low, high = Binary(">=", value, Literal(meaning.minimum)), Binary("<=", value, Literal(meaning.maximum))
    within: Expression = Binary("and", low, high)
    if meaning.null is not None:
        within = Binary("or", _is_null(field, meaning), within)
    return within if field.compute is None else Binary("or", Binary("==", value, Literal(None)), within)


def _is_null(field: Field, meaning: Meaning) -> Expression:
    return Binary("==", _reference(field), Literal(meaning.null if isinstance(meaning.null, int) else None))


def _meaning_field(field: Field, meaning: Meaning) -> Field:
    """A field with the meaning of another field, which readers see as well."""
    plain = _element(field.type)
    match plain:
        case Integer(bits=bits, signed=signed):
            type: Type = Integer(bits, signed)
        case types.Float(bits=bits):
            type = types.Float(bits)
        case types.Boolean():
            type = types.Boolean()
        case Text():
            type = Text()
        case _:
            type = types.Bytes()
    value = FieldRef(0, field.wire_name, kind=builtins.kind(plain))
    return _to_readers(field, type, value, meaning)


def _to_readers(field: Field, type: Type, value: Expression, meaning: Meaning) -> Field:
    """A field for readers, computed from another field."""
    return Field(
        name=field.name,
        wire_name=f"{field.wire_name} to readers",
        type=type,
        doc=field.doc,
        when=field.when,
        compute=value,
        meaning=meaning,
        since=field.since,
        until=field.until,
    )


def _scaled_field(field: Field, meaning: Meaning, shown: Scaled) -> Field:
    """A field with the scaled value of a field, whose wire value readers see as well."""
    value: Expression = _reference(field)
    if shown.multiplier != 1:
        value = Binary("*", value, Literal(shown.multiplier))
    if meaning.divisor != 1:
        value = Binary("//", value, Literal(meaning.divisor))
    if meaning.null is not None:
        value = Conditional(_is_null(field, meaning), Literal(None), value)
    shown_field = _to_readers(field, Integer(64, signed=True), value, Meaning(replace(shown, multiplier=1)))
    return replace(shown_field, agrees=True)
