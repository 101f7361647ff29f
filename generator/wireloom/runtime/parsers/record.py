"""A whole record: the outermost construct of a format.

`Record` supplies the parameters, tries both byte orders if the caller says `auto`, limits the record's expansion, and
refuses bytes after the record. `written` builds a value, reads the bytes back, and compares (`agreement.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import construct
from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, EncodeError, amount, shown
from wireloom.runtime.expressions import PositionPendingError
from wireloom.runtime.parameters import Parameter, accept_all, limit_of
from wireloom.runtime.parsers.agreement import Likeness, require_agreement
from wireloom.runtime.parsers.refusals import explained
from wireloom.runtime.primitives.packing import ALWAYS, UNBOUNDED

_ORDERS = ("big", "little")


@dataclass(frozen=True, slots=True)
class ByteOrder:
    """The parameter that selects the byte order, and the error codes that make `auto` try the other one.

    `told` is the member, if any, that shows the parameter to readers: when building with `auto`, it selects the order.
    """

    parameter: str
    wrong_when: tuple[str, ...] = ()
    told: str = ""


@dataclass(slots=True)
class Expansion:
    """The bytes that table entries, computed texts and unpacked regions added to a record so far, and their limits."""

    limit: int | None
    ratio: int | None
    spent: int = 0
    packed: int = 0  # bytes of the record that were unpacked
    unpacked: int = 0  # and their unpacked size, nested regions included

    def spend(self, entry: Any, offset: int) -> None:
        """Count another entry or text; raises DecodeError above the limit."""
        self.spent += _bytes_in(entry)
        if self.limit is not None and self.spent > self.limit:
            expected = f"table entries and computed texts of at most {self.limit} bytes in all"
            raise DecodeError("size_limit", offset=offset, expected=expected, actual=f"{self.spent} bytes")

    def allowed(self, size: int, *, nested: bool) -> tuple[int, str]:
        """The most bytes that a region of `size` bytes may unpack to, and the name of the limit.

        `nested`: the region is inside an unpacked one, so its bytes do not count as the record's own.
        """
        self.packed += 0 if nested else size
        left = max(UNBOUNDED if self.limit is None else self.limit - self.spent, 0)
        most = UNBOUNDED if self.ratio is None else ALWAYS + self.ratio * self.packed
        ratio = max(most - self.unpacked, 0)
        return min((left, "expansion"), (ratio, "ratio"))

    def unpack(self, size: int) -> None:
        """Count the unpacked bytes of a region."""
        self.spent += size
        self.unpacked += size


class Record(construct.Construct):
    """One record of a format. Keywords of `parse` and `build` are the format's parameters.

    `size` limits the bytes of a record (else `size_limit`): a number, or the name of a parameter. `expansion` limits
    the bytes that table entries, computed texts and unpacked regions add together; `ratio` limits the unpacked bytes
    per packed byte.
    """

    def __init__(  # noqa: PLR0913 - the construct, its parameters and the limits
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
        """The record in all remaining bytes. Parameters must be complete and checked."""
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
        """The record at the cursor, which continues after it. Parameters must be complete and checked.

        A record above the size limit costs only itself, if its end is known.
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
        """The parameter that leaves the byte order to each record; None if the order is known."""
        return self.order.parameter if self.order and parameters[self.order.parameter] == "auto" else None

    def _read_in_either_order(self, cursor: Cursor, parameters: Mapping[str, Any], order: ByteOrder) -> Any:
        """The record in the first byte order that parses; else the error of the likelier order."""
        start, errors = cursor.tell(), list[DecodeError]()
        for name in _ORDERS:
            cursor.seek(start)
            try:
                return self._read_once(cursor, {**parameters, order.parameter: name})
            except DecodeError as error:
                if cursor.goes_on and error.cut_off and error.frame_end is None:
                    raise
                errors.append(error)
        first, second = errors
        chosen = second if _likelier(second, first, order) else first
        chosen.cut_off |= chosen.frame_end is None and (first.cut_off or second.cut_off)
        raise chosen

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
                "depth_limit", offset=cursor.tell(), expected="nesting that the stack can hold", actual="more"
            ) from None

    def written(
        self,
        value: Any,
        parameters: Mapping[str, Any],
        is_same: Callable[[Any], bool],
        source: bytes | None = None,
    ) -> bytes:
        """The bytes of a value, after reading them back; raises EncodeError. Parameters must be complete.

        A parsed value is written as its original bytes, the `source`, if the built bytes would not parse to exactly
        that value (`is_same`). Given values of derived members are kept if the record then reads back; else the members
        are derived again, for example after a text was changed.
        """
        draft, refusal = self._draft(value, parameters, anew=True)
        if source is not None and (draft is None or not is_same(draft.read)):
            with suppress(DecodeError):
                if is_same(self.read_all(Cursor(source), parameters)):
                    return source
        if draft is not None and draft.refusal(value, Likeness.GIVEN) is None:
            return draft.data
        stated, _ = self._draft(value, parameters, anew=False)
        if stated is not None and stated.refusal(value, Likeness.GIVEN) is None:
            return stated.data
        if draft is not None and (refusal := draft.refusal(value, Likeness.INDEPENDENT)) is None:
            return draft.data
        assert refusal is not None
        raise explained(refusal, value, self.subcon)

    def _draft(
        self, value: Any, parameters: Mapping[str, Any], *, anew: bool
    ) -> "tuple[_Draft, None] | tuple[None, EncodeError]":
        """The bytes of a value and what they parse to, or the error; `anew` derives members even if they are given."""
        stream, context, overwritten = BytesIO(), Container(parameters), list[Any]()
        context.update({"_anew": anew, "_order": self._order_of(value, parameters), "_overwritten": overwritten})
        try:
            self._build(value, stream, context, "")  # not `build`: its arguments may share names with parameters
            data = stream.getvalue()
            return _Draft(data, self.read_all(Cursor(data), parameters), rounds=not overwritten), None
        except EncodeError as error:
            return None, error
        except DecodeError as error:
            refusal = EncodeError(error.expected or error.code, f"{error.actual or shown(value)} ({error.code})")
            refusal.path_from(error)
            refusal.__cause__ = error
            return None, refusal

    def _order_of(self, value: Any, parameters: Mapping[str, Any]) -> str:
        """The byte order of a value if the parameters leave it open: from a member, else the first."""
        if self.order is None or self.undecided(parameters) is None:
            return ""
        order = value.get(self.order.told) if isinstance(value, Mapping) else None
        return order if isinstance(order, str) and order in _ORDERS else _ORDERS[0]

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        given = accept_all(self.parameters, _keywords(context, self.parameters))
        undecided = self.undecided(given)
        if undecided is not None:
            given[undecided] = context.get("_order") or _ORDERS[0]
        inner = Container(given)
        inner._params = inner
        inner._anew = context.get("_anew", False)
        inner._overwritten = context.get("_overwritten", [])
        try:
            self.subcon._build(obj, stream, inner, "")
        except PositionPendingError:
            raise EncodeError("fields whose offsets can be computed", "one that depends on its own offset") from None
        return obj


@dataclass(frozen=True, slots=True)
class _Draft:
    """Built bytes, what they parse to, and whether floats may have been rounded."""

    data: bytes
    read: Any
    rounds: bool

    def refusal(self, value: Any, likeness: Likeness) -> EncodeError | None:
        """Why the parsed draft is not the value; None if it is."""
        try:
            require_agreement(value, self.read, likeness, rounds=self.rounds)
        except EncodeError as error:
            return error
        return None


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
    """Whether the second byte order is likelier: only it reached the frame, or only the first met a telling code."""
    if (second.frame_end is None) != (first.frame_end is None):
        return second.frame_end is not None
    return first.code in order.wrong_when and second.code not in order.wrong_when


def _is_inner(context: Container) -> bool:
    """Whether the record is part of a larger construct of the caller, so that it is read only up to its own end."""
    return "_" in context or context.get("_index") is not None


def _keywords(context: Container, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """The keywords that the caller gave; construct's own begin with an underscore.

    In a construct of the caller, the keywords are in the outermost context, and some may be meant for other parts.
    """
    if "_" not in context:
        return {name: value for name, value in context.items() if not name.startswith("_")}
    known, outermost = {parameter.name for parameter in parameters}, context.get("_params") or {}
    return {name: value for name, value in outermost.items() if name in known}
