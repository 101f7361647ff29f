"""The framing of a format: a name, or a mapping whose keys say what tells records apart."""

from typing import assert_never

from wireloom.model.format import ByteOrder
from wireloom.model.framing import LARGEST_SIZE, LONGEST, NAMED, Framing, Prefixed, Sized, is_number
from wireloom.resolve.draft import Draft
from wireloom.spec.language.framings import PrefixFraming, SizeFraming


def framing_of(draft: Draft, order: ByteOrder) -> Framing:
    """How records follow one another."""
    written = draft.content.framing
    match written:
        case str():
            return NAMED[written]
        case PrefixFraming():
            return _prefixed(draft, written, order)
        case SizeFraming():
            return _sized(draft, written)
        case _:
            assert_never(written)


def _prefixed(draft: Draft, written: PrefixFraming, order: ByteOrder) -> Prefixed:
    """The order of its bytes is that of the format, where it is stated."""
    place, number = draft.place / "framing", written.prefix
    if not is_number(number):
        hint = "write uint8, uint16, ... int64, varint32, varint64, zigzag32 or zigzag64"
        draft.reports(place / "prefix", "unknown-type", f"no number of type {number} stands before records", hint)
        return Prefixed()
    if number in LONGEST and written.byte_order is not None:
        message, hint = f"{number} has an order of its own", "leave `byteOrder` out"
        draft.reports_entry(place / "byteOrder", "wrong-shape", message, hint)
    if abs(written.plus) > LARGEST_SIZE:
        message = f"no record is {written.plus} bytes larger than its prefix says"
        draft.reports(place / "plus", "bad-range", message, f"records have at most {LARGEST_SIZE} bytes")
    little = (written.byte_order or order.fixed) == "little" and number not in (*LONGEST, "int8", "uint8")
    return Prefixed(number, little, written.counts == "itself", written.plus)


def _sized(draft: Draft, written: SizeFraming) -> Sized:
    if not 0 < written.size <= LARGEST_SIZE:
        message = f"no record has {written.size} bytes"
        draft.reports(draft.place / "framing" / "size", "bad-range", message, f"write 1 to {LARGEST_SIZE}")
    return Sized(written.size)
