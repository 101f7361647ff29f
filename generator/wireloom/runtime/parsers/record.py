"""A whole record: the outermost construct of a format.

It supplies parameters, finds the byte order where the caller says `auto`, and refuses bytes behind the record.
Everything within is pure structure.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import Any

import construct
from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, EncodeError, amount, shown
from wireloom.runtime.expressions import PositionPendingError
from wireloom.runtime.packing import ALWAYS, UNBOUNDED
from wireloom.runtime.parameters import Parameter, accept_all, limit_of
from wireloom.runtime.parsers.agreement import Likeness, require_agreement
from wireloom.runtime.values import Extension, Parsed

_ORDERS = ("big", "little")


@dataclass(frozen=True, slots=True)
class ByteOrder:
    """The parameter that names the byte order, and the codes that mean: the other order, then."""

    parameter: str
    wrong_when: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sources:
    """Where builders have from what follows from other members: from these, else from what the value says.

    `kept`: what readers do not see is what was parsed.
    """

    anew: bool
    kept: bool = False


_ANEW, _GIVEN, _PARSED = Sources(anew=True), Sources(anew=False), Sources(anew=False, kept=True)


@dataclass(slots=True)
class Expansion:
    """Bytes that entries of tables, and computed texts, made of a record so far, and the most that they may."""

    limit: int | None
    ratio: int | None
    spent: int = 0
    packed: int = 0  # bytes of the record that were unpacked
    unpacked: int = 0  # and what they became, with all that was unpacked in it

    def spend(self, entry: Any, offset: int) -> None:
        """One more entry or text; raises DecodeError where that is too much."""
        self.spent += _bytes_in(entry)
        if self.limit is not None and self.spent > self.limit:
            expected = f"table entries and computed texts of at most {self.limit} bytes in all"
            raise DecodeError("size_limit", offset=offset, expected=expected, actual=f"{self.spent} bytes")

    def allowed(self, size: int, *, nested: bool) -> tuple[int, str]:
        """The most bytes that a region of so many may unpack to, and the limit that says so.

        `nested`: the region stands in one that was unpacked; its bytes are none of the record's own.
        """
        self.packed += 0 if nested else size
        left = max(UNBOUNDED if self.limit is None else self.limit - self.spent, 0)
        most = UNBOUNDED if self.ratio is None else ALWAYS + self.ratio * self.packed
        ratio = max(most - self.unpacked, 0)
        return min((left, "expansion"), (ratio, "ratio"))

    def unpack(self, size: int) -> None:
        """So many bytes more came of a region."""
        self.spent += size
        self.unpacked += size


class Record(construct.Construct):
    """One record of a format. Keywords of `parse` and `build` are the format's parameters.

    `size` is the most bytes that a record may have (else `size_limit`): a number, or the parameter that says it.
    `expansion` is the same of the entries of tables that its fields refer to, of texts that are computed and of regions
    that are unpacked, together; `ratio` says how many times their own bytes those regions may become.
    """

    def __init__(  # noqa: PLR0913 - what a record is read by, and its limits
        self,
        subcon: Any,
        parameters: Sequence[Parameter] = (),
        order: ByteOrder | None = None,
        size: int | str | None = None,
        expansion: int | str | None = None,
        ratio: int | str | None = None,
    ) -> None:
        super().__init__()
        self.expansion, self.ratio = expansion, ratio
        self.subcon, self.parameters, self.order, self.size = subcon, tuple(parameters), order, size

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        parameters = accept_all(self.parameters, _keywords(context, self.parameters))
        if not _is_inner(context):
            return self.read_all(Cursor(stream.read()), parameters)
        start = stream.tell()
        cursor = Cursor(stream.read())
        value = self.read(cursor, parameters)
        stream.seek(start + cursor.tell())
        return value

    def read_all(self, cursor: Cursor, parameters: Mapping[str, Any]) -> Any:
        """The record that is all that is left. Parameters must be complete and checked."""
        self._check_size(cursor.tell(), cursor.limit, parameters)
        value = self._read(cursor, parameters)
        if cursor.left:
            raise DecodeError(
                "trailing_bytes",
                offset=cursor.tell(),
                expected="the end of the record",
                actual=f"{amount(cursor.left)} more",
            )
        return value

    def read(self, cursor: Cursor, parameters: Mapping[str, Any]) -> Any:
        """The record at the cursor, which is left behind it. Parameters must be complete and checked.

        One that is too large costs itself alone, as soon as it is known where it ends.
        """
        start = cursor.tell()
        try:
            value = self._read(cursor, parameters)
        except DecodeError as error:
            if error.frame_end is not None:
                self._check_size(start, error.frame_end, parameters)
            raise
        self._check_size(start, cursor.tell(), parameters)
        return value

    def _check_size(self, start: int, end: int, parameters: Mapping[str, Any]) -> None:
        limit, size = limit_of(self.size, parameters), end - start
        if limit is not None and size > limit:
            error = DecodeError("size_limit", offset=start, expected=f"at most {limit} bytes", actual=f"{size} bytes")
            error.frame_end = end
            raise error from None

    def _read(self, cursor: Cursor, parameters: Mapping[str, Any]) -> Any:
        if self.order is None or self.undecided(parameters) is None:
            return self._read_once(cursor, parameters)
        return self._read_in_either_order(cursor, parameters, self.order)

    def undecided(self, parameters: Mapping[str, Any]) -> str | None:
        """The parameter that leaves the byte order to each record; None where there is no such."""
        return self.order.parameter if self.order and parameters[self.order.parameter] == "auto" else None

    def _read_in_either_order(self, cursor: Cursor, parameters: Mapping[str, Any], order: ByteOrder) -> Any:
        """The first order in which the record reads; where it reads in neither, the error of the likelier order."""
        start, errors = cursor.tell(), list[DecodeError]()
        for name in _ORDERS:
            cursor.seek(start)
            try:
                return self._read_once(cursor, self._in_order(name, parameters))
            except DecodeError as error:
                if cursor.goes_on and error.cut_off and error.frame_end is None:
                    raise
                errors.append(error)
        first, second = errors
        chosen = second if _likelier(second, first, order) else first
        chosen.cut_off |= chosen.frame_end is None and (first.cut_off or second.cut_off)
        raise chosen

    def _in_order(self, name: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """The parameters with a byte order in place of `auto`, or as they are where there is no name."""
        return {**parameters, self.order.parameter: name} if self.order is not None and name else parameters

    def _read_once(self, cursor: Cursor, parameters: Mapping[str, Any]) -> Any:
        cursor.begin()
        context = Container(parameters)
        context._params = context
        context._expansion = Expansion(limit_of(self.expansion, parameters), limit_of(self.ratio, parameters))
        context._keeps_open = cursor.keeps_open
        context._checkpoints = next(cursor.checkpoints, None)
        try:
            return self.subcon._parse(cursor, context, "")
        except DecodeError as error:
            error.frame_end, error.frame_proof = cursor.frame_end, cursor.frame_proof
            raise
        except RecursionError:  # a limit on depth beyond what the interpreter's stack can hold
            raise DecodeError(
                "depth_limit", offset=cursor.tell(), expected="containers that the stack can hold", actual="more"
            ) from None

    def written(
        self,
        value: Any,
        parameters: Mapping[str, Any],
        is_same: Callable[[Any], bool],
        source: bytes | None = None,
    ) -> bytes:
        """The bytes of a value, which was read back and compared; raises EncodeError. Parameters must be complete.

        What follows from other members is worked out. Where the value says something else of it, and reads back so,
        that is written: a length, say, that nobody holds to its text. What readers do not see is written as it was
        parsed where what follows from the members does not read back. What does not read back is what followed before
        the value was changed, and makes way. Under `auto` the first byte order counts in which it reads back.

        Of what was parsed the bytes count first of which exactly that is read, which `is_same` decides by what readers
        see: those that builders write, else those that it was parsed of, the `source`, since not all that decides what
        is read is in the value.
        """
        orders = self._orders(parameters)
        if _was_parsed(value):
            for data in chain(self._candidates(value, orders, parameters), () if source is None else (source,)):
                with suppress(DecodeError):
                    if is_same(self.read_all(Cursor(data), parameters)):
                        return data
        anew: dict[str, _Draft | EncodeError] = {}
        for sources in (_ANEW, _GIVEN, _PARSED) if _holds_parsed(value) else (_ANEW, _GIVEN):
            for order in orders:
                draft = self._draft(value, order, parameters, sources)
                anew.setdefault(order, draft)
                with suppress(EncodeError):
                    return _agreeing(value, draft, Likeness.GIVEN)
        refusals: dict[str, EncodeError] = {}
        for order in orders:
            try:
                return _agreeing(value, anew[order], Likeness.INDEPENDENT)
            except EncodeError as error:
                refusals[order] = error
        right = (refusals[order] for order in orders if not self._is_wrong(order, value, parameters))
        raise next(right, refusals[orders[0]])

    def _candidates(self, value: Any, orders: Sequence[str], parameters: Mapping[str, Any]) -> Iterator[bytes]:
        """What a value may be written as."""
        for sources in (_ANEW, _GIVEN, _PARSED):
            for order in orders:
                with suppress(DecodeError, EncodeError):
                    yield self._built(value, order, parameters, sources)[0]

    def _is_wrong(self, order: str, value: Any, parameters: Mapping[str, Any]) -> bool:
        """Whether what a value comes to in a byte order says, by its code, that it is the other one."""
        if self.order is None or not order:
            return False
        try:
            data, _ = self._built(value, order, parameters, _ANEW)
            self._read_once(Cursor(data), self._in_order(order, parameters))
        except DecodeError as error:
            return error.code in self.order.wrong_when
        except EncodeError:
            pass
        return False

    def _orders(self, parameters: Mapping[str, Any]) -> Sequence[str]:
        """The byte orders to try, whether or not callers may ask for them; empty: the one that the parameters say."""
        return ("",) if self.undecided(parameters) is None else _ORDERS

    def _draft(self, value: Any, order: str, parameters: Mapping[str, Any], sources: Sources) -> "_Draft | EncodeError":
        """What a value is written as, and what is read of that; or why it is not."""
        try:
            data, overwritten = self._built(value, order, parameters, sources)
            return _Draft(data, self.read_all(Cursor(data), parameters), rounds=not overwritten)
        except DecodeError as error:
            refusal = EncodeError(error.expected or error.code, f"{error.actual or shown(value)} ({error.code})")
            refusal.path_from(error)
            refusal.__cause__ = error
            return refusal
        except EncodeError as error:
            return error

    def _built(
        self, value: Any, order: str, parameters: Mapping[str, Any], sources: Sources
    ) -> tuple[bytes, Sequence[Any]]:
        """The bytes, and the structs of which fields were written over others.

        Parameters are no keywords here, since they may be called as those of `build` are.
        """
        stream, context, overwritten = BytesIO(), Container(parameters), list[Any]()
        context.update({"_anew": sources.anew, "_kept": sources.kept, "_order": order, "_overwritten": overwritten})
        self._build(value, stream, context, "")
        return stream.getvalue(), overwritten

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        given = accept_all(self.parameters, _keywords(context, self.parameters))
        undecided = self.undecided(given)
        if undecided is not None:
            given[undecided] = context.get("_order") or _ORDERS[0]
        inner = Container(given)
        inner._params = inner
        inner._anew, inner._kept = context.get("_anew", False), context.get("_kept", False)
        inner._overwritten = context.get("_overwritten", [])
        try:
            self.subcon._build(obj, stream, inner, "")
        except PositionPendingError:
            raise EncodeError("a value whose fields find their places", "one that depends on where it stands") from None
        return obj


@dataclass(frozen=True, slots=True)
class _Draft:
    """What a value was written as, and what is read of that; whether floats are those of their widths."""

    data: bytes
    read: Any
    rounds: bool


def _agreeing(value: Any, draft: _Draft | EncodeError, likeness: Likeness) -> bytes:
    """The bytes of a draft that reads back as the value; raises EncodeError."""
    if isinstance(draft, EncodeError):
        raise draft
    require_agreement(value, draft.read, likeness, rounds=draft.rounds)
    return draft.data


def _holds_parsed(value: Any) -> bool:
    """Whether a parser gave the value, or something within it, and so what readers do not see."""
    if isinstance(value, str | int | bytes | float | None):
        return False
    match value:
        case Mapping():
            return hasattr(value, "hidden") or any(map(_holds_parsed, value.values()))
        case list() | tuple():
            return any(map(_holds_parsed, value))
        case Extension(value=content):
            return _holds_parsed(content)
        case _:
            return False


def _was_parsed(value: Any) -> bool:
    """Whether a parser gave the value, or elements of it."""
    return isinstance(value, Parsed) or (isinstance(value, list) and any(isinstance(each, Parsed) for each in value))


def _bytes_in(entry: Any) -> int:
    """The bytes of all texts and bytes of an entry."""
    match entry:
        case str():
            return len(entry) if entry.isascii() else len(entry.encode("utf-8", "surrogatepass"))
        case bytes():
            return len(entry)
        case Mapping():
            return sum(map(_bytes_in, entry.values()))
        case list():
            return sum(map(_bytes_in, entry))
        case _:
            return 0


def _likelier(second: DecodeError, first: DecodeError, order: ByteOrder) -> bool:
    """Whether the second order is the right one: only it reached the frame, or only the first met a telling code."""
    if (second.frame_end is None) != (first.frame_end is None):
        return second.frame_end is not None
    return first.code in order.wrong_when and second.code not in order.wrong_when


def _is_inner(context: Container) -> bool:
    """Whether the record stands beside others, in a construct of the caller's: it is read then up to its own end."""
    return "_" in context or context.get("_index") is not None


def _keywords(context: Container, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """The keywords that the caller gave; construct adds its own, which begin with an underscore.

    Within a construct of the caller's they stand outermost, and may be meant for others too.
    """
    if "_" not in context:
        return {name: value for name, value in context.items() if not name.startswith("_")}
    known, outermost = {parameter.name for parameter in parameters}, context.get("_params") or {}
    return {name: value for name, value in outermost.items() if name in known}
