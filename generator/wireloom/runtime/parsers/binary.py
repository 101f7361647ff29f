"""Binary values: integers of fixed width and byte order, other number forms, floats, texts, bytes, lists.

Each construct reads from a `Cursor`, which checks every read against the end of the innermost region before allocating
anything. A size or count is a number, an expression, a length prefix, or "to the end". `_build` writes the same form,
and refuses a value that the form cannot hold.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Any, Literal

import construct
from construct import Container

from wireloom.runtime.cursor import HOP, Cursor
from wireloom.runtime.errors import DecodeError, EncodeError, amount, shown
from wireloom.runtime.expressions import PositionPendingError
from wireloom.runtime.parsers.elements import Elements, Salvage
from wireloom.runtime.parsers.entries import OfEntries
from wireloom.runtime.parsers.protocol import Expression, evaluate, guess, holds
from wireloom.runtime.parsers.scalars import checked_integer, encoded_text, in_charset, integer_range, text_of
from wireloom.runtime.parsers.steps import scope_of
from wireloom.runtime.primitives import numerals
from wireloom.runtime.primitives.delimiters import Ending, quoted
from wireloom.runtime.values import FILLED, FLOATS

Order = Literal["big", "little"] | Callable[[Container], str]


def parameter_order(parameter: str) -> Order:
    """The byte order that a parameter selects."""
    return lambda context: str(context._params[parameter])


class Integer(construct.Construct):
    """An integer of `bits` bits (a multiple of 8) in `order`."""

    placeholder = 0

    def __init__(self, bits: int, *, signed: bool, order: Order = "big") -> None:
        super().__init__()
        self.bits, self.signed, self.order = bits, signed, order
        self.high = integer_range(bits, signed=signed)[1]

    def _order(self, context: Container) -> Any:
        return self.order if isinstance(self.order, str) else self.order(context)

    def _parse(self, stream: Any, context: Container, path: str) -> int:
        return int.from_bytes(stream.take(self.bits // 8), self._order(context), signed=self.signed)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        value = checked_integer(obj, self.bits, signed=self.signed)
        stream.write(value.to_bytes(self.bits // 8, self._order(context), signed=self.signed))
        return obj


class Numeral(construct.Construct):
    """An integer in another form than two's complement: of variable length, or in decimal digits.

    A number beyond `bits` bits or `digits` digits, and bytes that are no number of the form, are `int_range`.
    """

    placeholder = 0
    digits = 0  # 0: the length depends on the value

    def __init__(self, form: str, bits: int, *, signed: bool, digits: int = 0) -> None:
        super().__init__()
        self.bits, self.signed, self.digits = bits, signed, digits
        self.numeral = numerals.of(form, digits, signed=signed)
        self.longest = self.numeral.longest(bits)
        self.low, self.high = integer_range(bits, signed=signed)
        if digits:
            beyond = numerals.base_of(form) ** digits
            self.low, self.high = (1 - beyond) * signed, beyond - 1

    def _parse(self, stream: Any, context: Container, path: str) -> int:
        start, left = stream.tell(), stream.left
        data = bytes(stream.read(min(self.longest, left)))
        try:
            found = self._numeral(context).read(data)
        except ValueError as error:
            raise self._beyond(start, str(error), self._numeral(context).looks) from None
        if found is None and len(data) < self.longest:
            raise DecodeError(stream.overrun, offset=start, expected="the end of the number", actual=f"{left} left")
        if found is None or not self.low <= found[0] <= self.high:
            raise self._beyond(start, f"more than {self.longest} bytes" if found is None else shown(found[0]))
        stream.seek(start + found[1])
        return found[0]

    def _beyond(self, start: int, actual: str, expected: str = "") -> DecodeError:
        expected = expected or f"{self.low} .. {self.high}"
        return DecodeError("int_range", offset=start, expected=expected, actual=actual)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        value = checked_integer(obj, self.bits, signed=self.signed)
        if not self.low <= value <= self.high:
            raise EncodeError(f"an integer from {self.low} to {self.high}", shown(obj))
        stream.write(self._numeral(context).write(value))
        return obj

    def _numeral(self, context: Container) -> numerals.Numeral:
        return self.numeral


class Extended(Numeral):
    """An unsigned integer in one byte, or after a marker byte, which is `first` or higher.

    The marker `first + i` announces a number of `widths[i]` bytes. A width of 0, and a byte after the last marker, is
    `int_range`.
    """

    def __init__(self, first: int, widths: tuple[int, ...], *, order: Order) -> None:
        construct.Construct.__init__(self)
        self.bits, self.signed, self.order = 8 * max(widths), False, order
        self.low, self.high = integer_range(self.bits, signed=False)
        self.longest = 1 + max(widths)
        self.numerals = {each: numerals.extended(first, widths, each) for each in ("big", "little")}

    def _numeral(self, context: Container) -> numerals.Numeral:
        return self.numerals[self.order if isinstance(self.order, str) else self.order(context)]


class Digits(Numeral):
    """A 64-bit integer in as many ASCII digits as needed, delimited by `ending`."""

    def __init__(self, form: str, ending: bytes, *, signed: bool) -> None:
        construct.Construct.__init__(self)
        self.bits, self.signed = 64, signed
        self.low, self.high = integer_range(self.bits, signed=signed)
        self.numeral = numerals.ended(form, ending, signed=signed)
        self.longest = self.numeral.longest(self.bits)


class Float(construct.Construct):
    """An IEEE 754 number of 16, 32 or 64 bits in `order`."""

    placeholder = 0.0

    def __init__(self, bits: int, order: Order = "big") -> None:
        super().__init__()
        self.bits, self.order = bits, order

    def _format(self, context: Container) -> str:
        order = self.order if isinstance(self.order, str) else self.order(context)
        return (">" if order == "big" else "<") + FLOATS[self.bits]

    def _parse(self, stream: Any, context: Container, path: str) -> float:
        number: float = struct.unpack(self._format(context), stream.take(self.bits // 8))[0]
        return number

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if not isinstance(obj, int | float) or isinstance(obj, bool):
            raise EncodeError("a number", shown(obj))
        try:
            stream.write(struct.pack(self._format(context), float(obj)))
        except OverflowError:
            raise EncodeError(f"a number that {self.bits} bits can hold", shown(obj)) from None
        return obj


class Boolean(construct.Construct):
    """One byte, 0 or 1; anything else is `unknown_value`."""

    placeholder = False

    def _parse(self, stream: Any, context: Container, path: str) -> bool:
        offset = stream.tell()
        byte = stream.take(1)[0]
        if byte > 1:
            raise DecodeError("unknown_value", offset=offset, expected="0 or 1", actual=shown(byte))
        return bool(byte)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if not isinstance(obj, bool):
            raise EncodeError("true or false", shown(obj))
        stream.write(b"\x01" if obj else b"\x00")
        return obj


class Prefix:
    """A number right before the bytes or elements that it counts; with `null`, -1 means null."""

    def __init__(self, number: Any, *, null: bool = False) -> None:
        self.number, self.null = number, null

    def read(self, stream: Any, context: Container, code: str = "bad_size") -> int | None:
        """The number of bytes or elements, or None for null. Another negative number is a DecodeError with `code`."""
        start = stream.tell()
        count: int = self.number._parse(stream, context, "")
        if self.null and count == _NOTHING:
            return None
        if count < 0:
            least = _NOTHING if self.null else 0
            raise DecodeError(code, offset=start, expected=f"a size of at least {least}", actual=shown(count))
        return count

    def write(self, count: int | None, stream: Any, context: Container) -> None:
        """Write the number of bytes or elements, or None for null. Raises EncodeError if it does not fit."""
        try:
            self.number._build(_NOTHING if count is None else count, stream, context, "")
        except EncodeError:
            raise EncodeError(f"a size of at most {self.number.high}", shown(count)) from None

    def takes(self, value: object) -> bool:
        """Whether the value is null and the prefix can say so."""
        return self.null and value is None


class Blocks:
    """Blocks of bytes or elements, each after its count, until a count is 0.

    With `size`, a count may be negative: -n means n elements, and the size of the block in bytes follows it.
    """

    def __init__(self, number: Any, *, size: Any = None) -> None:
        self.number, self.size = number, size

    def read(self, stream: Any, context: Container) -> list[tuple[int, bytes]]:
        """The bytes of each block, and the offset where they begin."""
        return [(stream.tell(), bytes(stream.take(count))) for count in self._counts(stream, context)]

    def streams(self, stream: Any, context: Container) -> Iterator[Any]:
        """Yield the stream once per element."""
        for count in self._counts(stream, context):
            if count > stream.left:
                raise stream.short(stream.tell(), count)
            yield from (stream for _ in range(count))

    def _counts(self, stream: Any, context: Container) -> Iterator[int]:
        """The count of each block, with the stream after it; a wrong size of elements in bytes is `bad_size`."""
        start = stream.tell()
        while count := self.number._parse(stream, context, ""):
            if count > 0:
                yield count
            elif self.size is None:
                raise DecodeError("bad_size", offset=start, expected="a size of at least 0", actual=shown(count))
            else:
                yield from self._of_size(-count, self.size, stream, context)
            start = stream.tell()

    def _of_size(self, count: int, number: Any, stream: Any, context: Container) -> Iterator[int]:
        """The number of elements of a block that has a size in bytes before them."""
        start = stream.tell()
        size: int = Prefix(number).read(stream, context) or 0
        first = stream.tell()
        if size > stream.left:
            raise stream.short(first, size)
        yield count
        if stream.tell() - first != size:
            found = amount(stream.tell() - first)
            raise DecodeError("bad_size", offset=start, expected=f"a size of {found}", actual=shown(size))

    def place(self, stream: Any, context: Container, start: int, offset: int) -> int:
        """The offset of a byte of the value that was just read from `start`, with all counts before it."""
        stream.seek(start)
        left = offset - start
        for first, data in self.read(stream, context):
            if left < len(data):
                return first + left
            left -= len(data)
        return int(stream.tell())

    def written(self, total: int, stream: Any, context: Container) -> Iterator[tuple[int, int]]:
        """Write the count of each block, and yield the range of `total` that belongs in it; at the end write 0."""
        for first in range(0, total, self.number.high):
            end = min(first + self.number.high, total)
            self.number._build(end - first, stream, context, "")
            yield first, end
        self.number._build(0, stream, context, "")

    def write(self, data: bytes, stream: Any, context: Container) -> None:
        """Write the bytes in as few blocks as possible."""
        for first, end in self.written(len(data), stream, context):
            stream.write(data[first:end])

    def build(self, elements: list[Any] | tuple[Any, ...], of: Elements, stream: Any, context: Container) -> None:
        """Write the elements in as few blocks as possible."""
        blocks = self.written(len(elements), stream, context)
        of.build(elements, (stream for first, end in blocks for _ in range(first, end)), context)
        next(blocks, None)


class Delimiter:
    """Bytes that end a value where they first occur; if they are missing, `code`, or else the region's error."""

    def __init__(
        self,
        *delimiters: bytes,
        code: str = "",
        unit: int = 1,
        escape: int | None = None,
        escaped: tuple[tuple[int, int], ...] = (),
        kept: bool = False,
    ) -> None:
        self.code = code
        self.ending = Ending(delimiters, unit, escape, escaped, kept)
        self.text = " or ".join(quoted(each) for each in delimiters)

    def read(self, stream: Any) -> bytes:
        """The value; the stream continues after the delimiter, which is part of the value if it is kept."""
        start = stream.tell()
        found = stream.ending(self.ending)
        if found is None:
            expected = f"{self.text} after it"
            error = DecodeError(
                self.code or stream.overrun, offset=start, expected=expected, actual=f"{stream.left} left"
            )
            error.cut_off = stream.overrun == "truncated"  # whatever the code is, the delimiter may be in later bytes
            raise error
        end, after = found
        value = bytes(stream.take(end - start))
        delimiter = bytes(stream.take(after - end))
        return value + delimiter if self.ending.kept else self.ending.plain(value)

    def write(self, value: bytes, stream: Any) -> None:
        """Write the value and the delimiter; EncodeError if readers would find the delimiter elsewhere."""
        written = self.ending.written(value)
        if written is None:
            where = "that contains only at its end" if self.ending.kept else "without"
            raise EncodeError(f"a value {where} {self.text}, which ends it", shown(value))
        stream.write(written)

    def place(self, stream: Any, start: int, offset: int) -> int:
        """The offset of a byte of the value that was just read from `start`, with all escapes before it."""
        return start + self.ending.place(stream.getvalue()[start : stream.tell()], offset - start)


class Padded:
    """A fixed size in bytes; trailing bytes equal to `fill` are not part of the value."""

    def __init__(self, size: int, fill: bytes) -> None:
        self.size, self.fill = size, fill

    def read(self, stream: Any) -> bytes:
        """The value without its padding."""
        data = bytes(stream.take(self.size))
        while data.endswith(self.fill):
            data = data[: -len(self.fill)]
        return data

    def write(self, value: bytes, stream: Any) -> None:
        """Write the value and its padding; EncodeError if it is too long, or itself ends like padding."""
        if len(value) > self.size:
            raise EncodeError(f"at most {amount(self.size)}", amount(len(value)))
        if value.endswith(self.fill):
            raise EncodeError(f"a value that does not end in {self.fill.hex()}, the padding", shown(value))
        count, rest = divmod(self.size - len(value), len(self.fill))
        if rest:
            raise EncodeError(f"a value that whole characters can pad to {amount(self.size)}", amount(len(value)))
        stream.write(value + self.fill * count)


class Last:
    """The list ends with the first element for which `holds` is true."""

    def __init__(self, holds: Expression, text: str) -> None:
        self.holds, self.text = holds, text

    def streams(self, stream: Any, elements: list[Any], context: Container) -> Iterator[Any]:
        """Yield the stream once per element; `elements` are those read so far."""
        yield stream
        while not holds(self.holds, scope_of(elements[-1], context)):
            yield stream


class Jump:
    """Pointers in place of an element: the list continues at their offset, counted from the record's start.

    `most` is the limit on the list's size in bytes, with its terminator and without pointers.
    """

    def __init__(self, number: Integer, minimum: int, maximum: int, start: int, most: int | None = None) -> None:
        self.number, self.minimum, self.maximum, self.start = number, minimum, maximum, start
        self.most = most

    def target(self, stream: Any, context: Container) -> int | None:
        """The offset that a pointer here leads to, with the stream after it; None if there is no pointer here."""
        start = stream.tell()
        if stream.left < self.number.bits // 8:
            return None
        number = self.number._parse(stream, context, "")
        if self.minimum <= number <= self.maximum:
            return int(stream.origin + number - self.start)
        stream.seek(start)
        return None

    def taken(self, written: bytes, context: Container) -> bool:
        """Whether readers take bytes that begin like this for a pointer."""
        head = Cursor(written)
        return self.target(head, context) is not None


class Terminator:
    """Bytes in place of an element that end the list; before them the list may `jump`.

    With `behind`, the end of the region ends the list too; builders write the terminator if `behind` holds.
    """

    def __init__(self, data: bytes, *, jump: Jump | None = None, behind: Expression | None = None) -> None:
        self.data, self.jump, self.behind = data, jump, behind

    def streams(self, stream: Any, context: Container) -> Iterator[Any]:
        """Yield the stream once per element; it continues after the terminator, or after the first pointer."""
        lowest = start = stream.tell()
        resume, elsewhere, size = None, 0, 0
        while not stream.starts_with(self.data):
            place = stream.tell()
            if stream.left == 0 and self.behind is not None:
                return
            if stream.left == 0:
                raise stream.short(place, len(self.data))
            target = None if self.jump is None else self.jump.target(stream, context)
            if target is None:
                yield stream
                continue
            if not stream.origin <= target < lowest:
                expected = f"an offset before {lowest - stream.origin}, the lowest one of the list so far"
                raise DecodeError("bad_pointer", offset=place, expected=expected, actual=shown(target - stream.origin))
            if resume is None:
                resume = stream.tell()
                stream.retried += 1
            else:
                elsewhere += place - lowest + HOP
            size += place - lowest
            lowest = target
            stream.seek(target)
        stream.take(len(self.data))
        size += stream.tell() - lowest
        if self.jump is not None and self.jump.most is not None and size > self.jump.most:
            raise DecodeError("bad_size", offset=start, expected=f"at most {self.jump.most} bytes", actual=shown(size))
        if resume is not None:
            elsewhere += stream.tell() - lowest
            stream.retried -= 1
            stream.seek(resume)
            stream.go_over_again(start, resume, elsewhere)

    def written(self, stream: Any, places: list[int]) -> Iterator[Any]:
        """Yield the stream once per built element; `places` collects where each begins."""
        while True:
            places.append(stream.tell())
            yield stream

    def write(self, stream: Any, places: list[int], context: Container) -> None:
        """Write the terminator; EncodeError if an element begins like the terminator or a pointer."""
        end = stream.tell()
        if self.behind is None or holds(self.behind, context):
            stream.write(self.data)
        written = stream.getbuffer()
        for index, place in enumerate(places):
            if place < end and written[place : place + len(self.data)] == self.data:
                expected = f"an element that does not begin with {self.data.hex(' ')}, which ends the list"
                raise EncodeError(expected, shown(bytes(written[place:end]))).at(index)
            if place < end and self.jump is not None and self.jump.taken(bytes(written[place : place + 8]), context):
                expected = "an element that does not begin like a pointer, which readers would follow"
                raise EncodeError(expected, shown(bytes(written[place:end]))).at(index)


Amount = int | Expression | Prefix | Blocks | Delimiter | Padded | Last | Terminator
_NOTHING = -1  # the size that means null


def sized(stream: Any, size: Amount | None, context: Container) -> bytes | None:
    """The next `size` bytes, or the rest of the region; None for a null size. A negative size is `bad_size`."""
    if size is None:
        return bytes(stream.take(stream.left))
    if isinstance(size, Prefix):
        found = size.read(stream, context)
        return None if found is None else bytes(stream.take(found))
    if isinstance(size, Blocks):
        return b"".join(data for _, data in size.read(stream, context))
    if isinstance(size, Delimiter | Padded):
        return size.read(stream)
    assert not isinstance(size, Last | Terminator), "of lists"
    count = size if isinstance(size, int) else evaluate(size, context)
    if not isinstance(count, int) or count < 0:
        raise DecodeError("bad_size", offset=stream.tell(), expected="a size of at least 0", actual=shown(count))
    return bytes(stream.take(count))


def write_sized(data: bytes | None, stream: Any, size: Amount | None, context: Container) -> None:
    """While building: write the bytes, after their prefix if there is one; EncodeError if a fixed size differs."""
    if isinstance(size, int) and data is not None and len(data) != size:
        raise EncodeError(amount(size), amount(len(data)))
    if isinstance(size, Delimiter | Padded):
        size.write(data or b"", stream)
        return
    if isinstance(size, Blocks):
        size.write(data or b"", stream, context)
        return
    if isinstance(size, Prefix):
        size.write(None if data is None else len(data), stream, context)
    stream.write(data or b"")


def _located(error: DecodeError, stream: Any, size: Amount | None, start: int, context: Container) -> DecodeError:
    """The error of a text that begins at `start`, with the offset of its byte in the record."""
    if isinstance(size, Blocks):
        error.offset = size.place(stream, context, start, error.offset)
    if isinstance(size, Delimiter):
        error.offset = size.place(stream, start, error.offset)
    return error


def is_null(value: object, amount: Amount | None) -> bool:
    """While building: whether the value is null and its prefix can say so."""
    return isinstance(amount, Prefix) and amount.takes(value)


class Text(construct.Construct):
    """UTF-8 text of `size` bytes, or to the end of the region."""

    def __init__(self, size: Amount | None = None, *, invalid: Expression | None = None) -> None:
        super().__init__()
        self.size, self.invalid = size, invalid

    @property
    def placeholder(self) -> str:
        """A text of the fixed size."""
        return "0" * self.size if isinstance(self.size, int) else ""

    def _parse(self, stream: Any, context: Container, path: str) -> str | None:
        start = stream.tell()
        data = sized(stream, self.size, context)
        if data is not None and isinstance(self.size, Prefix):
            start = stream.tell() - len(data)
        try:
            return None if data is None else text_of(data, start, self.invalid, context)
        except DecodeError as error:
            raise _located(error, stream, self.size, start, context) from None

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        data = None if is_null(obj, self.size) else encoded_text(obj)
        write_sized(data, stream, self.size, context)
        return obj


class Bytes(construct.Construct):
    """`size` bytes, or to the end of the region; with a `charset`, they must be text in it."""

    def __init__(self, size: Amount | None = None, *, charset: str = "") -> None:
        super().__init__()
        self.size, self.charset = size, charset

    @property
    def takes_rest(self) -> bool:
        """Whether it takes the rest of the region."""
        return self.size is None

    @property
    def placeholder(self) -> bytes:
        """Zero bytes of the fixed size."""
        return bytes(self.size) if isinstance(self.size, int) else b""

    def _parse(self, stream: Any, context: Container, path: str) -> bytes | None:
        start = stream.tell()
        data = sized(stream, self.size, context)
        if data is None or not self.charset:
            return data
        start = stream.tell() - len(data) if isinstance(self.size, Prefix) else start
        try:
            return in_charset(data, start, self.charset)
        except DecodeError as error:
            raise _located(error, stream, self.size, start, context) from None

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        null = is_null(obj, self.size)
        if not null and not isinstance(obj, bytes | bytearray | memoryview):
            raise EncodeError("bytes", shown(obj))
        write_sized(None if null else bytes(obj), stream, self.size, context)
        return obj


class Filler(Bytes):
    """Bytes of a computed size without meaning: builders write zeros, or the parsed bytes if the size is unchanged."""

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        count = self._count(context)
        stream.write(obj if obj and len(obj) == count else bytes(count))
        return obj

    def _count(self, context: Container) -> int:
        """The number of bytes; 0 in a first pass if it depends on offsets that are not known yet."""
        assert callable(self.size), "a filler of fixed size has a default"
        try:
            count = evaluate(self.size, context)
        except PositionPendingError:
            guess(context)
            return 0
        if not isinstance(count, int) or not 0 <= count <= FILLED:
            raise EncodeError(f"from 0 to {FILLED} zero bytes", shown(count))
        return count


def counted(stream: Any, amount: Expression | Prefix, context: Container) -> int | None:
    """The number of elements; None for a null list. A negative number is `bad_size`."""
    if isinstance(amount, Prefix):
        return amount.read(stream, context)
    count = evaluate(amount, context)
    if not isinstance(count, int) or count < 0:
        raise DecodeError("bad_size", offset=stream.tell(), expected="a count of at least 0", actual=shown(count))
    return count


class Array(construct.Construct):
    """`count` elements, or as many as the region holds.

    A computed count beyond the bytes left is `truncated` before anything is read: every element takes at least one.
    """

    def __init__(
        self,
        element: Any,
        count: Amount | None = None,
        *,
        unique: str = "",
        unique_code: str = "duplicate_element",
        salvage: Salvage | None = None,
    ) -> None:
        super().__init__()
        self.count = count
        self.elements = Elements(element, unique, unique_code, salvage)

    def _parse(self, stream: Any, context: Container, path: str) -> list[Any] | None:
        if self.count is None:
            return self.elements.parse_at(stream, _until_end(stream), context)
        if isinstance(self.count, int):
            return self.elements.parse_at(stream, (stream for _ in range(self.count)), context, self.count)
        if isinstance(self.count, Last):
            elements: list[Any] = []
            streams = _with_bytes(self.count.streams(stream, elements, context))
            return self.elements.parse_whole(stream, streams, context, elements)
        if isinstance(self.count, Blocks | Terminator):
            streams = _with_bytes(self.count.streams(stream, context))
            if isinstance(self.count, Terminator) and self.count.jump is None:
                return self.elements.parse_at(stream, streams, context)
            return self.elements.parse_whole(stream, streams, context, [])
        assert not isinstance(self.count, Delimiter | Padded), "of texts and bytes"
        count = counted(stream, self.count, context)
        if count is None:
            return None
        if count > stream.left:
            error = stream.short(stream.tell(), count)
            error.expected = f"{count} elements, each of at least a byte"
            error.actual = f"{amount(stream.left)} left"
            raise error
        return self.elements.parse_at(stream, (stream for _ in range(count)), context, count)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if isinstance(self.count, int) and isinstance(obj, list) and len(obj) != self.count:
            raise EncodeError(f"a list of {self.count}", shown(obj))
        if isinstance(self.count, Prefix):
            if is_null(obj, self.count):
                self.count.write(None, stream, context)
                return obj
            if not isinstance(obj, list | tuple):
                raise EncodeError("a list", shown(obj))
            self.count.write(len(obj), stream, context)
        if isinstance(self.count, Last) and not obj:
            raise EncodeError(f"a last element for which {self.count.text}", shown(obj))
        if isinstance(self.count, Terminator):
            places: list[int] = []
            self.elements.build(obj, self.count.written(stream, places), context)
            self.count.write(stream, places, context)
        elif isinstance(self.count, Blocks) and isinstance(obj, list | tuple):
            self.count.build(obj, self.elements, stream, context)
        else:
            self.elements.build(obj, iter(lambda: stream, None), context)
        return obj


class Entries(OfEntries, Array):
    """An array of records that are the entries of a map."""


def _until_end(stream: Any) -> Iterator[Any]:
    def streams() -> Iterator[Any]:
        while stream.left > 0:
            yield stream

    return _with_bytes(streams())


def _with_bytes(streams: Iterator[Any]) -> Iterator[Any]:
    """The streams of elements; an element without bytes is `bad_region`, as the list would never end."""
    for stream in streams:
        position = stream.tell()
        yield stream
        if stream.tell() == position:
            raise DecodeError(
                "bad_region", offset=position, expected="an element of at least one byte", actual="an empty element"
            )
