"""Lists of elements that are not whole bytes: the elements follow one another in as few bytes as hold them."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import construct
from construct import Container

from wireloom.runtime.errors import EncodeError, shown
from wireloom.runtime.parsers.binary import Order, Prefix, counted, is_null
from wireloom.runtime.parsers.protocol import Expression
from wireloom.runtime.parsers.scalars import checked_integer

_BYTE = 8


class List(construct.Construct):
    """`count` elements of `bits` bits each, or as many as the region holds; elements of one bit are booleans.

    The first element has the highest bits of the first byte, or the lowest if `order` is little. Unused bits of the
    last byte are ignored.
    """

    def __init__(
        self, bits: int, count: int | Expression | Prefix | None = None, *, signed: bool = False, order: Order = "big"
    ) -> None:
        super().__init__()
        self.bits, self.count, self.signed, self.order = bits, count, signed, order

    def _parse(self, stream: Any, context: Container, path: str) -> list[Any] | None:
        count = self._count(stream, context)
        if count is None:
            return None
        start, size = stream.tell(), self._size(count)
        if size > stream.left:
            raise stream.short(start, size)
        if self.count is None and size < stream.left:  # another element has begun, but is cut off
            raise stream.short(start, self._size(count + 1))
        numbers = self._numbers(bytes(stream.take(size)), self._big(context))
        return [self._element(number) for number in islice(numbers, count)]

    def _count(self, stream: Any, context: Container) -> int | None:
        if self.count is None:
            return int(_BYTE * stream.left // self.bits)
        return self.count if isinstance(self.count, int) else counted(stream, self.count, context)

    def _size(self, count: int) -> int:
        return -(-count * self.bits // _BYTE)

    def _big(self, context: Container) -> bool:
        return (self.order if isinstance(self.order, str) else self.order(context)) == "big"

    def _lows(self, size: int, *, big: bool) -> Iterator[int]:
        """The lowest bit of each element within a number of `size` bytes."""
        for end in range(self.bits, _BYTE * size + 1, self.bits):
            yield _BYTE * size - end if big else end - self.bits

    def _numbers(self, data: bytes, big: bool) -> Iterator[int]:  # noqa: FBT001 - the byte order
        """The bits of each element, and of further ones that fit in the last byte."""
        for first in range(0, len(data), self.bits):  # eight elements end with a byte
            part = data[first : first + self.bits]
            number = int.from_bytes(part, "big" if big else "little")
            for low in self._lows(len(part), big=big):
                yield number >> low & ((1 << self.bits) - 1)

    def _element(self, number: int) -> int | bool:
        if self.bits == 1:
            return bool(number)
        return number - (1 << self.bits) if self.signed and number >> (self.bits - 1) else number

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        null = is_null(obj, self.count)
        if not null:
            self._check(obj)
        if isinstance(self.count, Prefix):
            self.count.write(None if null else len(obj), stream, context)
        if not null:
            stream.write(self._written(list(self._all_numbers(obj)), context))
        return obj

    def _check(self, obj: Any) -> None:
        """Raise EncodeError for anything but a list, and for one that readers would find longer or shorter."""
        if not isinstance(obj, list | tuple):
            raise EncodeError("a list", shown(obj))
        if isinstance(self.count, int) and len(obj) != self.count:
            raise EncodeError(f"a list of {self.count}", shown(obj))
        if self.count is None and _BYTE * self._size(len(obj)) // self.bits > len(obj):
            raise EncodeError("elements that leave no room for another one in the last byte", shown(obj))

    def _number(self, element: Any) -> int:
        """The bits of an element."""
        if self.bits > 1:
            return checked_integer(element, self.bits, signed=self.signed) & ((1 << self.bits) - 1)
        if not isinstance(element, bool):
            raise EncodeError("true or false", shown(element))
        return int(element)

    def _all_numbers(self, elements: Sequence[Any]) -> Iterator[int]:
        for index, element in enumerate(elements):
            try:
                yield self._number(element)
            except EncodeError as error:
                raise error.at(index) from None

    def _written(self, numbers: Sequence[int], context: Container) -> bytes:
        big, parts = self._big(context), []
        for first in range(0, len(numbers), _BYTE):
            part = numbers[first : first + _BYTE]
            size = self._size(len(part))
            lows = self._lows(size, big=big)
            number = sum(each << low for each, low in zip(part, lows, strict=False))
            parts.append(number.to_bytes(size, "big" if big else "little"))
        return b"".join(parts)
