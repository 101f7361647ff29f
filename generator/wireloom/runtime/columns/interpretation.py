"""Columns of wire values to columns of their meanings, and back: whole columns at a time.

The engine reads and writes wire values. If every value of a column has a meaning, only this module is needed. If one
has none (`MeaninglessError`), the construct path finds it and reports it.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any, assert_never

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.runtime.columns.arrow import arrow_type, moment_texts
from wireloom.runtime.columns.logical import (
    Alternatives,
    BigInteger,
    Binary,
    Boolean,
    Encoded,
    Float,
    Integer,
    List,
    LogicalType,
    Map,
    Meant,
    Measured,
    Named,
    Open,
    Record,
    Said,
    Scaled,
    Text,
    Written,
    alternatives,
)
from wireloom.runtime.columns.meanings import bounds, digits_said, says, sentinel, spelling_of_said
from wireloom.runtime.primitives import charsets

_INT64 = 1 << 63
_INT64_DIGITS = 19
_DOUBLES = 1 << 53  # a double holds all integers up to here
_LONGEST = 38  # digits of decimals of 128 bits
_CALENDAR = {"timestamp": (-62_135_596_800_000_000, 253_402_300_799_999_999), "date": (-719_162, 2_932_896)}
"""The counts of the first and the last timestamp and date in the years 1 to 9999."""


class MeaninglessError(ValueError):
    """A column has a value that no wire value means."""


@lru_cache(maxsize=1024)
def on_wire(type: LogicalType) -> LogicalType:
    """The type with wire values in place of meanings."""
    match type:
        case Meant(wire=wire):
            return wire
        case List(element, nullable):
            return List(on_wire(element), nullable)
        case Map(key, value, nullable):
            return Map(on_wire(key), on_wire(value), nullable)
        case Record(fields):
            return Record(tuple(replace(member, type=on_wire(member.type)) for member in fields))
        case Alternatives(options, without):
            return Alternatives(tuple(on_wire(option) for option in options), without)
        case Boolean() | Integer() | BigInteger() | Float() | Text() | Binary() | Open():
            return type
        case _:
            assert_never(type)


# --- from the wire to readers --------------------------------------------------------------------------------------


def shown(array: pa.Array, type: LogicalType, native: Any) -> pa.Array:
    """The meanings of a column from the engine; the column itself if its type has no meanings."""
    match type:
        case _ if on_wire(type) == type:
            return array
        case Meant():
            return _meaning(array, type, native)
        case Record(fields):
            children = [shown(array.field(place), member.type, native) for place, member in enumerate(fields)]
            return _struct(array, children)
        case Alternatives():
            named = dict(alternatives(type))
            children = [shown(array.field(name), option, native) for name, option in named.items()]
            return _struct(array, children)
        case List(element):
            return _listed(array, [shown(array.values, element, native)])
        case Map(key, value):
            entries = [shown(array.keys, key, native), shown(array.items, value, native)]
            return _listed(array, entries)
        case _:
            raise AssertionError(f"{type} has no meaning")


def _struct(array: pa.StructArray, children: list[pa.Array]) -> pa.StructArray:
    fields = [field.with_type(child.type) for field, child in zip(array.type, children, strict=True)]
    return pa.Array.from_buffers(pa.struct(fields), len(array), array.buffers()[:1], children=children)


def _listed(array: pa.Array, below: list[pa.Array]) -> pa.Array:
    """A list or a map with other values; the engine's arrays are never slices."""
    if pa.types.is_map(array.type):
        fields = [
            field.with_type(child.type)
            for field, child in zip((array.type.key_field, array.type.item_field), below, strict=True)
        ]
        type, values = pa.map_(*fields), pa.StructArray.from_arrays(below, fields=fields)
    else:
        type, values = pa.list_(array.type.value_field.with_type(below[0].type)), below[0]
    return pa.Array.from_buffers(type, len(array), array.buffers()[:2], children=[values])


def _meaning(array: pa.Array, type: Meant, native: Any) -> pa.Array:
    if type.null is not None:
        array = _without_sentinels(array, type)
    match type.shown:
        case None:
            return array
        case Scaled():
            return _as_quantity(_scaled(array, type, type.shown), type)
        case Measured(scale, offset):
            return pc.add(pc.multiply(_numbers(array).cast(pa.float64()), scale), offset)
        case Written():
            return _texts(array, type.shown, native)
        case Said():
            return _parsed(array, type, type.shown)
        case Encoded(charset):
            return _decoded(array, charset, native)
        case Named():
            return _names(array, type.shown)
        case _:
            assert_never(type.shown)


def _without_sentinels(array: pa.Array, type: Meant) -> pa.Array:
    sentinel = pa.scalar(type.null, array.type)
    return pc.if_else(pc.equal(array, sentinel), pa.scalar(None, array.type), array)


def _numbers(array: pa.Array) -> pa.Array:
    """Integers as int64; uint64 stays a decimal."""
    return array if pa.types.is_decimal(array.type) else array.cast(pa.int64())


def _scaled(array: pa.Array, type: Meant, scaled: Scaled) -> pa.Array:
    """The number of units of each value: as int64 if all values fit, else as a decimal."""
    if _fits(type, scaled):
        found = array.cast(pa.int64())
        found = found if scaled.multiplier == 1 else pc.multiply(found, scaled.multiplier)
        return found if not scaled.offset else pc.add(found, scaled.offset)
    wide = array if pa.types.is_decimal(array.type) else array.cast(pa.int64()).cast(pa.decimal128(_INT64_DIGITS, 0))
    digits = len(str(max(map(abs, bounds(type)))))
    room = digits + len(str(scaled.multiplier)) + 1  # Arrow's rule for the digits of a product
    room = max(room, len(str(scaled.offset))) + 1 if scaled.offset else room
    found = wide.cast(pa.decimal128(digits, 0) if room <= _LONGEST else pa.decimal256(digits, 0))
    found = found if scaled.multiplier == 1 else pc.multiply(found, _constant(scaled.multiplier))
    found = found if not scaled.offset else pc.add(found, _constant(scaled.offset))
    return found if room <= _LONGEST else found.cast(pa.decimal128(_LONGEST, 0))


def _constant(number: int) -> pa.Scalar:
    return pa.scalar(Decimal(number), pa.decimal128(len(str(abs(number))), 0))


def _fits(type: Meant, scaled: Scaled) -> bool:
    """Whether int64 holds all wire values and all meanings; times were range-checked when reading."""
    if scaled.kind not in ("decimal", "integer"):
        return True
    units = [bound * scaled.multiplier for bound in bounds(type)]
    found = (*bounds(type), *units, *(each + scaled.offset for each in units))
    return all(-_INT64 <= each < _INT64 for each in found)


def _as_quantity(units: pa.Array, type: Meant) -> pa.Array:
    """Numbers of units as a column of the quantity, which has the same buffers."""
    target = arrow_type(type)
    if pa.types.is_decimal(target):
        whole = units.cast(pa.decimal128(_LONGEST, 0)) if not pa.types.is_decimal(units.type) else units
        return _viewed(whole, target)
    if pa.types.is_decimal(units.type):  # wire values beyond int64
        return units.cast(target)
    return _viewed(units.cast(pa.int32()) if pa.types.is_date(target) else units, target)


def _viewed(array: pa.Array, target: pa.DataType) -> pa.Array:
    return pa.Array.from_buffers(target, len(array), array.buffers(), offset=array.offset)


def _texts(array: pa.Array, written: Written, native: Any) -> pa.Array:
    """The texts of addresses; bytes of another size belong to bad records."""
    _, offsets, data = array.buffers()
    return _masked(array, pa.string(), native.address_texts(written.kind, offsets, data, array.offset, len(array)))


def _masked(array: pa.Array, target: pa.DataType, buffers: Sequence[Any]) -> pa.Array:
    """A column of these buffers, null where the array is null."""
    return pa.Array.from_buffers(target, len(array), [_valid(array), *map(pa.py_buffer, buffers)])


def _valid(array: pa.Array) -> pa.Buffer | None:
    """The validity bitmap from the first value on; None if no value is null."""
    return pc.is_valid(array).buffers()[1] if array.null_count else None


def _parsed(array: pa.Array, type: Meant, said: Said) -> pa.Array:
    """The values in texts and floats, which were already checked; those of bad records may be invalid."""
    target = arrow_type(type)
    try:
        found = _moments(array, said) if said.microseconds else array.cast(target)
    except pa.ArrowInvalid:
        if pa.types.is_timestamp(target):  # cut off digits below a microsecond
            array = pc.replace_substring_regex(array, r"(\.[0-9]{6})[0-9]+", r"\1")
        spelled = pc.match_substring_regex(array, f"^(?:{spelling_of_said(said, fine=False)})$")
        found = pc.if_else(spelled, array, pa.scalar(None, array.type)).cast(target)
    if not says(type.null, said):
        return found
    (null,) = _parsed(pa.array([type.null], array.type), replace(type, null=None), said)
    return pc.if_else(pc.equal(found, null), pa.scalar(None, found.type), found)


def _moments(array: pa.Array, said: Said) -> pa.Array:
    """The timestamps of floats."""
    counts = _nearest_counts(array, said)
    return _viewed(pc.add(counts, said.epoch) if said.epoch else counts, pa.timestamp("us", "UTC"))


def _nearest_counts(array: pa.Array, said: Said) -> pa.Array:
    """The microseconds nearest to floats, from their epoch; floats of bad records give any number."""
    values = array.cast(pa.float64())
    whole = pc.floor(values)
    part = pc.round(pc.multiply(pc.subtract(values, whole), float(said.microseconds)), round_mode="half_to_even")
    counts = [each.cast(pa.int64(), safe=False) for each in (whole, part)]
    return pc.add(pc.multiply(counts[0], said.microseconds), counts[1])


def _decoded(array: pa.Array, charset: str, native: Any) -> pa.Array:
    """The texts of bytes in a character set; the bytes were already checked."""
    _, offsets, data = array.buffers()
    table = charsets.utf8_table(charset)
    return _masked(array, pa.string(), native.decoded_texts(table, offsets, data, array.offset, len(array)))


def _names(array: pa.Array, named: Named) -> pa.Array:
    """The names of values; null for a value without a name."""
    values = pa.array([value for value, _ in named.names], array.type)
    return pa.array([name for _, name in named.names], pa.string()).take(pc.index_in(array, values, skip_nulls=True))


# --- from readers to the wire --------------------------------------------------------------------------------------


def wire_array(array: pa.Array, type: Meant, native: Any) -> pa.Array:
    """The wire values of a column of meanings, in the type of the wire column.

    Raises MeaninglessError, or an error of Arrow, if a value has no wire value.
    """
    target = arrow_type(type.wire)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), target)
    if type.shown is not None and not _casts_exactly(array.type, arrow_type(type)):
        raise MeaninglessError(f"{array.type} for {arrow_type(type)}")
    match type.shown:
        case None:
            found = array
        case Scaled():
            found = _unscaled(_units(array, type, type.shown), type.shown).cast(target)
        case Measured(scale, offset):
            found = pc.round(pc.divide(pc.subtract(array.cast(pa.float64()), offset), scale))
            found = found.cast(pa.int64()).cast(target)
        case Written():
            found = _bytes(array, type.shown, native)
        case Said():
            found = _written(array, type, type.shown)
        case Encoded(charset):
            found = _encoded(array, charset, native)
        case Named():
            found = _values(array, type.shown, target)
        case _:
            assert_never(type.shown)
    return without_sentinels(found, type)


def _casts_exactly(given: pa.DataType, shown: pa.DataType) -> bool:
    """Whether a cast keeps every value or fails; for casts that round or parse, builders decide."""
    kinds = pa.types
    if kinds.is_decimal(shown) or kinds.is_integer(shown):
        return bool(kinds.is_decimal(given) or kinds.is_integer(given))
    if kinds.is_floating(shown):
        return bool(kinds.is_floating(given) or kinds.is_integer(given))
    if kinds.is_string(shown):
        return bool(kinds.is_string(given) or kinds.is_large_string(given) or kinds.is_string_view(given))
    return given == shown or bool(
        (kinds.is_timestamp(shown) and kinds.is_timestamp(given))
        or (kinds.is_duration(shown) and kinds.is_duration(given))
    )


def without_sentinels(array: pa.Array, type: Meant) -> pa.Array:
    """The array; raises MeaninglessError if a given value is the one that means null."""
    if type.null is not None and pc.any(pc.equal(array, pa.scalar(sentinel(type), array.type))).as_py():
        raise MeaninglessError("a value that means null on the wire")
    return array


def with_sentinels(array: pa.Array, type: Meant) -> pa.Array:
    """The array, with nulls replaced by the wire value that means null."""
    if type.null is None or not array.null_count:
        return array
    return pc.fill_null(array, pa.scalar(type.null, array.type))


def _units(array: pa.Array, type: Meant, scaled: Scaled) -> pa.Array:
    """The number of units of each value, as int64, or as a decimal if int64 is too small."""
    target = arrow_type(type)
    if pa.types.is_decimal(target):
        whole = _viewed(array.cast(pa.decimal128(_LONGEST, scaled.digits)), pa.decimal128(_LONGEST, 0))
        return whole.cast(pa.int64()) if _fits(type, scaled) else whole
    if pa.types.is_timestamp(target) and getattr(array.type, "tz", None) is None:
        raise MeaninglessError("times without a time zone")
    if scaled.kind == "integer" and not pa.types.is_integer(array.type):
        raise MeaninglessError(f"{array.type} for an integer")
    found = array.cast(target)
    return _viewed(found, pa.int32()).cast(pa.int64()) if pa.types.is_date(target) else _viewed(found, pa.int64())


def _unscaled(units: pa.Array, scaled: Scaled) -> pa.Array:
    if pa.types.is_decimal(units.type):
        return _unscaled_each(units, scaled)
    found = pc.subtract_checked(units, scaled.offset) if scaled.offset else units
    if scaled.multiplier == 1:
        return found
    whole = pc.divide(found, scaled.multiplier)
    if pc.any(pc.not_equal(pc.multiply(whole, scaled.multiplier), found)).as_py():
        raise MeaninglessError("a value between two on the wire")
    return whole


def _unscaled_each(units: pa.Array, scaled: Scaled) -> pa.Array:
    """Numbers beyond 64 bits, divided one at a time, as Arrow has no exact division for them."""
    if scaled.multiplier == 1 and not scaled.offset:
        return units
    found: list[int | None] = []
    for each in units.to_pylist():
        whole, rest = (None, 0) if each is None else divmod(int(each) - scaled.offset, scaled.multiplier)
        if rest:
            raise MeaninglessError("a value between two on the wire")
        found.append(whole)
    return pa.array(found, pa.decimal128(20, 0))


def _bytes(array: pa.Array, written: Written, native: Any) -> pa.Array:
    found = array.cast(pa.string())
    _, offsets, data = found.buffers()
    read = native.address_values(written.kind, offsets, data, _valid(found), found.offset, len(found))
    if read is None:
        raise MeaninglessError(f"a text that is no {written.kind} in its usual form")
    return _masked(found, pa.binary(), read)


def _written(array: pa.Array, type: Meant, said: Said) -> pa.Array:
    """The texts or floats of values, as builders write them."""
    match said.counted:
        case Scaled() if said.microseconds:
            return _floats(_units(array, type, said.counted), type, said)
        case Scaled("timestamp" | "date" as kind):
            return _dated(array.cast(arrow_type(type)), _units(array, type, said.counted), kind)
        case _ if not (pa.types.is_integer(array.type) or pa.types.is_decimal(array.type)):
            raise MeaninglessError(f"{array.type} for a number")
        case Scaled() as decimal:
            return _decimal_texts(array, digits_said(decimal))
        case Integer():
            return array.cast(arrow_type(type)).cast(pa.string())
        case _:
            assert_never(said.counted)


def _floats(units: pa.Array, type: Meant, said: Said) -> pa.Array:
    """The floats nearest to timestamps; raises MeaninglessError if one reads back as another microsecond."""
    counts, unit = pc.subtract_checked(units, said.epoch), said.microseconds
    whole = pc.divide(counts, unit)
    part = pc.divide(pc.subtract(counts, pc.multiply(whole, unit)).cast(pa.float64()), float(unit))
    beyond = pc.add(whole.cast(pa.float64(), safe=False), part)  # a double does not hold these counts themselves
    held = pc.divide(counts.cast(pa.float64(), safe=False), float(unit))
    found = pc.if_else(pc.less_equal(pc.abs(counts), _DOUBLES), held, beyond).cast(arrow_type(type.wire))
    if pc.any(pc.not_equal(_nearest_counts(found, said), counts)).as_py():
        raise MeaninglessError("a time that no float holds")
    return found


def _decimal_texts(array: pa.Array, digits: int) -> pa.Array:
    """The texts of decimals, with `digits` digits after the point."""
    count = _viewed(array.cast(pa.decimal128(_LONGEST, digits)), pa.decimal128(_LONGEST, 0))
    if not digits:
        return count.cast(pa.string())
    texts = pc.utf8_lpad(pc.abs(count).cast(pa.string()), digits + 1, "0")
    whole, fraction = pc.utf8_slice_codeunits(texts, 0, -digits), pc.utf8_slice_codeunits(texts, -digits)
    sign = pc.if_else(pc.less(count, _constant(0)), "-", "")
    return pc.binary_join_element_wise(sign, whole, pa.scalar("."), fraction, "")


def _dated(times: pa.Array, counts: pa.Array, kind: str) -> pa.Array:
    """The texts of timestamps in UTC, or of dates."""
    first, last = _CALENDAR[kind]
    if pc.any(pc.or_(pc.less(counts, first), pc.greater(counts, last))).as_py():
        raise MeaninglessError(f"a {kind} beyond the years 1 to 9999")
    return moment_texts(times, pa.string()) if kind == "timestamp" else times.cast(pa.string())


def _encoded(array: pa.Array, charset: str, native: Any) -> pa.Array:
    found = array.cast(pa.string())
    _, offsets, data = found.buffers()
    table = charsets.byte_table(charset)
    read = native.encoded_texts(table, offsets, data, _valid(found), found.offset, len(found))
    if read is None:
        raise MeaninglessError(f"a text that {charset} does not have")
    return _masked(found, pa.binary(), read)


def _values(array: pa.Array, named: Named, target: pa.DataType) -> pa.Array:
    """The wire values of names, the first one for each name."""
    texts = array.cast(pa.string())
    found = pa.array([value for value, _ in named.names], target).take(
        pc.index_in(texts, pa.array([name for _, name in named.names], pa.string()), skip_nulls=True)
    )
    if found.null_count > texts.null_count:
        raise MeaninglessError("a text that names nothing")
    return found


def agreed(values: pa.Array, raw: pa.Array, type: Meant, native: Any) -> tuple[pa.Array, pa.Array]:
    """The meanings and the wire values: given wire values win if they have the given meaning; nulls fill each other."""
    meanings = (_meaning(each, type, native) for each in (raw, values))
    same = pc.fill_null(pc.equal(*meanings), pa.scalar(value=False))
    return pc.if_else(same, raw, values), pc.coalesce(raw, values)
