"""Unions: alternatives chosen by a tag, or tried in order."""

import io
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import construct
from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.expressions import PositionPendingError, equal
from wireloom.runtime.parsers.binary import Float
from wireloom.runtime.parsers.facts import CircleError, assume, lent
from wireloom.runtime.parsers.fields import refuses
from wireloom.runtime.parsers.protocol import first_of, guess, is_guessed
from wireloom.runtime.parsers.structure import Expression, Scalar, Struct, Value, evaluate, holds, made_up_within

_SHOWN = 1024
_BEHIND = bytes(64)  # what may stand behind an alternative that needs more than its own bytes to hold


@dataclass(frozen=True)
class Refusal:
    """A case that is known and is an error."""

    code: str


def titles_of(subcons: Sequence[Any], *, hidden: bool) -> Iterator[str]:
    """What readers call the members of the structs among `subcons`; the names of `hidden` ones among them."""
    for subcon in subcons:
        if hasattr(subcon, "titles"):
            yield from subcon.titles(hidden=hidden)


def _fewest_made_up(subcons: Sequence[Any], within: frozenset[int]) -> tuple[int, int]:
    """How many members readers see of one of these, whatever a value says: at least, and at most."""
    return min((made_up_within(each, within) for each in subcons), default=(0, 0))


def structs_for(value: Any, subcons: Sequence[Any], context: Container) -> Sequence[Any]:
    """While building: the structs that `value` may be of, by its constants and words, then by the members it has.

    Of several that have as many of them comes first what makes up fewest itself, of which a value without them is.
    Those of which a range or a spelling refuses a member come last, for what they say of it.
    """
    candidates = [
        subcon
        for subcon in subcons
        if isinstance(value, Mapping) and hasattr(subcon, "accepts") and subcon.accepts(value, context)
    ]
    if not candidates:
        raise EncodeError("a record of one of the known kinds", shown(value))
    if len(candidates) == 1:
        return candidates
    return sorted(
        candidates,
        key=lambda struct: (_is_refused(value, struct), -struct.covers(value), made_up_within(struct, frozenset())),
    )


def _is_refused(value: Mapping[str, Any], subcon: Any) -> bool:
    """Whether a range or a spelling of a member of its own refuses what `value` has of it."""
    match subcon:
        case Struct():
            return any(
                _is_refused(value, field.subcon)
                if field.flatten
                else refuses(field, value.get(field.title or field.name))
                for field in subcon.held
            )
        case CasesByValue():
            return all(_is_refused(value, each) for each in subcon.subcons)
        case Deferred():
            return _is_refused(value, subcon.target())
        case _:  # what stands around a struct
            within = getattr(subcon, "body", None) or getattr(subcon, "subcon", None)
            return within is not None and _is_refused(value, within)


class CasesByValue:
    """What unions of structs share: they can stand where a Struct can."""

    subcons: tuple[Any, ...]

    def titles(self, *, hidden: bool = False) -> Iterator[str]:
        """What readers call the members of the cases."""
        return titles_of(self.subcons, hidden=hidden)

    def accepts(self, value: Mapping[str, Any], context: Container) -> bool:
        """Whether one of the cases accepts `value`."""
        return any(subcon.accepts(value, context) for subcon in self.subcons)

    def covers(self, value: Mapping[str, Any]) -> int:
        """The most members of `value` that a case has."""
        return max(int(subcon.covers(value)) for subcon in self.subcons)

    def makes_up(self, within: frozenset[int] = frozenset()) -> tuple[int, int]:
        """How many members readers see of a case, whatever a value says: at least, and at most."""
        return _fewest_made_up(self.subcons, within)

    def lent(self, value: Mapping[str, Any], context: Container) -> Mapping[str, Any]:
        """What expressions see of the members of `value`."""
        return lent(structs_for(value, self.subcons, context)[0], value, context)


def _subcons(cases: Mapping[Scalar, Any], otherwise: Any) -> tuple[Any, ...]:
    """What a value may be of, each once; the case of all other values last."""
    found = [case for case in cases.values() if not isinstance(case, Refusal)]
    return tuple(dict.fromkeys([*found, otherwise] if otherwise is not None else found))


class Select(construct.Construct):
    """A union chosen by `tag`, an expression over fields read before; a tag of no case is `otherwise`, else `code`."""

    def __init__(
        self,
        tag: Expression,
        cases: Mapping[Scalar, Any],
        code: str = "unknown_case",
        *,
        otherwise: Any = None,
        notation: str = "",
    ) -> None:
        super().__init__()
        self.notation = notation  # how the spec writes the cases
        self.tag, self.cases, self.code, self.otherwise = tag, dict(cases), code, otherwise
        self.subcons = _subcons(self.cases, otherwise)

    def titles(self, *, hidden: bool = False) -> Iterator[str]:
        """What readers call the members of the cases."""
        return titles_of(self.subcons, hidden=hidden)

    def _case(self, tag: Any) -> Any:
        """The case of a tag, None where there is none. Kinds differ: true does not select the case 1."""
        found = self.cases.get(tag) if isinstance(tag, Scalar) else None
        return found if any(equal(tag, value) for value in self.cases) else self.otherwise

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        tag = evaluate(self.tag, context)
        case = self._case(tag)
        if case is None or isinstance(case, Refusal):
            offset = stream.tell() if hasattr(stream, "tell") else stream.start
            code, actual = case.code if case else self.code, shown(tag, notation=self.notation)
            raise DecodeError(code, offset=offset, expected="a known case", actual=actual)
        return case._parse(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        try:
            tag = evaluate(self.tag, context)
        except PositionPendingError:
            guess(context)
            return self._build_guess(None, obj, stream, context)
        case = self._case(tag)
        known = case is not None and not isinstance(case, Refusal)
        if is_guessed(context):  # null: a field that is not known to be there
            return self._build_guess(case if known and tag is not None else None, obj, stream, context)
        if known:
            return case._build(obj, stream, context, path)
        raise EncodeError(f"a value for the case {shown(tag)}", "no such case")

    def _build_guess(self, chosen: Any, obj: Any, stream: Any, context: Container) -> Any:
        """The case that is `chosen` so far, else the first that the value may be of: a further pass knows better."""
        try:
            guesses = self._guesses(obj, context)
        except EncodeError:
            if chosen is None:
                raise
            guesses = ()
        options = [*([] if chosen is None else [chosen]), *(case for case in guesses if case is not chosen)]
        first_of(options, stream, context, lambda case: case._build(obj, stream, context, ""))
        return obj

    def _guesses(self, obj: Any, context: Container) -> Sequence[Any]:
        """The cases that a value may be of, where the tag follows from places."""
        if isinstance(obj, Mapping) and all(hasattr(subcon, "accepts") for subcon in self.subcons):
            return structs_for(obj, self.subcons, context)
        return self.subcons

    def makes_up(self, within: frozenset[int] = frozenset()) -> tuple[int, int]:
        """How many members readers see of a case, whatever a value says: at least, and at most."""
        return _fewest_made_up(self.subcons, within)

    def lent(self, value: Mapping[str, Any], context: Container) -> Mapping[str, Any]:
        """What expressions see of the members of `value`: of the case by its tag, which may follow from just that."""
        try:
            case = self._case(evaluate(self.tag, context))
        except CircleError:
            assume(context)
            case = self._guesses(value, context)[0]
        return lent(case, value, context)


class Peek(CasesByValue, construct.Construct):
    """A union of structs chosen by a value read ahead and not consumed."""

    def __init__(
        self,
        tag: Any,
        cases: Mapping[Scalar, Any],
        code: str = "unknown_case",
        *,
        otherwise: Any = None,
        octets: int | None = None,
    ) -> None:
        super().__init__()
        self.tag, self.cases, self.code, self.otherwise = tag, dict(cases), code, otherwise
        self.octets = octets  # how many bytes the tag is, where cases are bytes and no numbers
        self.subcons = _subcons(self.cases, otherwise)

    def _shown(self, tag: Any) -> str:
        """A tag as the spec has it."""
        return shown(tag) if self.octets is None or tag is None else int(tag).to_bytes(self.octets, "big").hex()

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        start = stream.tell()
        tag = self.tag._parse(stream, context, path)
        stream.seek(start)
        match self.cases.get(tag, self.otherwise):
            case None:
                known = (self._shown(value) for value, case in self.cases.items() if not isinstance(case, Refusal))
                raise DecodeError(
                    self.code, offset=start, expected=f"one of {', '.join(known)}", actual=self._shown(tag)
                )
            case Refusal(code):
                text = stream.take(min(stream.left, _SHOWN)).decode("utf-8", "backslashreplace")
                raise DecodeError(code, offset=start, expected="a record", actual=text)
            case case:
                return case._parse(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        first_of(
            self._cases_for(obj, context),
            stream,
            context,
            lambda case: stream.write(self._selected(case, obj, context)),
        )
        return obj

    def _cases_for(self, obj: Any, context: Container) -> Sequence[Any]:
        """The cases that a value may be of: of structs those that accept it, of other types all."""
        plain = [] if isinstance(obj, Mapping) else [case for case in self.subcons if not hasattr(case, "accepts")]
        if isinstance(obj, int):
            plain.sort(key=lambda case: isinstance(case, Float))  # which would take an integer, too
        return plain or structs_for(obj, self.subcons, context)

    def _selected(self, case: Any, obj: Any, context: Container) -> bytes:
        """The bytes of a value as one of the cases, which its tag must select again."""
        buffer = io.BytesIO()
        case._build(obj, buffer, context, "")
        try:
            tag = self.tag._parse(Cursor(buffer.getvalue()), context, "")
        except DecodeError:
            tag = None
        if tag is None or self.cases.get(tag, self.otherwise) is not case:
            raise EncodeError("a value that its tag selects", f"one that begins with {self._shown(tag)}")
        return buffer.getvalue()


@dataclass(frozen=True)
class Fallback:
    """Codes that send an Attempt on to its next alternative, while `when` holds."""

    codes: tuple[str, ...]
    when: Expression | None = None


@dataclass(frozen=True)
class Trial:
    """One alternative of an Attempt."""

    name: str
    subcon: Struct
    fallbacks: tuple[Fallback, ...] = ()
    build_when: Expression | None = None

    def falls_back(self, error: DecodeError, context: Container) -> bool:
        """Whether `error` means: not this alternative."""
        return any(error.code in fallback.codes and holds(fallback.when, context) for fallback in self.fallbacks)


class Attempt(CasesByValue, construct.Construct):
    """Alternatives tried in order over the same bytes.

    The value says which one held and what refused the one before, where these have names.
    """

    def __init__(self, *trials: Trial, kind: str, reason: str) -> None:
        super().__init__()
        self.trials, self.kind, self.reason = trials, kind, reason
        self.subcons = tuple(trial.subcon for trial in trials)

    def titles(self, *, hidden: bool = False) -> Iterator[str]:
        """What readers call the members of the alternatives."""
        yield from filter(None, (self.kind, self.reason))
        yield from titles_of(self.subcons, hidden=hidden)

    def accepts(self, value: Mapping[str, Any], context: Container) -> bool:
        """Whether an alternative accepts `value`, of its name where it names one."""
        named = value.get(self.kind) if self.kind else None
        return any(trial.subcon.accepts(value, context) for trial in self.trials if named in (None, trial.name))

    def covers(self, value: Mapping[str, Any]) -> int:
        """The most members of `value` that an alternative has, its name and the reason counted."""
        told = sum(1 for name in (self.kind, self.reason) if name and value.get(name) is not None)
        return told + super().covers(value)

    def makes_up(self, within: frozenset[int] = frozenset()) -> tuple[int, int]:
        """How many members readers see of an alternative, whatever a value says: its name is one."""
        least, most = super().makes_up(within)
        return bool(self.kind) + least, bool(self.kind) + most

    def _parse(self, stream: Any, context: Container, path: str) -> Value:
        trial, reason, parsed = self._read(stream, context, path)
        told = {self.kind: trial.name, self.reason: reason}
        told.pop("", None)
        value = Value(parsed.free | told.keys(), parsed.derived | (told.keys() & {self.reason}))
        value.update(told)
        value.update(parsed)
        value.hidden.update(parsed.hidden)
        return value

    def _read(self, stream: Any, context: Container, path: str) -> tuple[Trial, str | None, Value]:
        """The alternative that holds, the code that refused the one before, and the value."""
        start, reason = stream.tell(), None
        region = stream.limit, stream.overrun, stream.depth, stream.frame_end
        proven = stream.checksums, stream.constants
        for trial in self.trials:
            stream.retried += 1
            try:
                parsed: Value = trial.subcon._parse(stream, context, path)
            except DecodeError as error:
                stream.retried -= 1
                if not trial.falls_back(error, context):
                    raise
                if trial is self.trials[-1]:
                    raise
                reason = error.code
                stream.go_over_again(start, stream.tell())
                stream.seek(start)
                stream.limit, stream.overrun, stream.depth, stream.frame_end = region
                stream.checksums, stream.constants = proven
                continue
            stream.retried -= 1
            return trial, reason, parsed
        raise AssertionError("an Attempt has alternatives")

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if not isinstance(obj, Mapping):
            raise EncodeError("a record", shown(obj))
        first_of(self._tries(obj, context), stream, context, lambda each: stream.write(self._tried(each, obj, context)))
        return obj

    def _tries(self, obj: Mapping[str, Any], context: Container) -> Iterator[tuple[Trial, bool]]:
        """The alternatives to try, and whether one is taken of which only what stands behind it says that it holds.

        Of those with as many members of the value come first the ones that hold alone.
        """
        is_part = context.get("_") is not None
        for _, group in groupby(self._trials_for(obj, context), lambda trial: trial.subcon.covers(obj)):
            trials = list(group)
            for trusted in (False, True) if is_part else (False,):
                yield from ((trial, trusted) for trial in trials)

    def lent(self, value: Mapping[str, Any], context: Container) -> Mapping[str, Any]:
        """What expressions see of the members of `value`."""
        trial = self._trials_for(value, context)[0]
        told = {self.kind: trial.name, self.reason: value.get(self.reason)}
        told.pop("", None)
        return ChainMap(told, lent(trial.subcon, value, context))  # type: ignore[arg-type]

    def _tried(self, option: tuple[Trial, bool], obj: Mapping[str, Any], context: Container) -> bytes:
        """The bytes of a value as one of the alternatives, which readers must come to: they try them in order."""
        trial, trusted = option
        buffer = io.BytesIO()
        trial.subcon._build(obj, buffer, context, "")
        data = buffer.getvalue()
        instead = self._read_instead(trial, Cursor(data), context)
        if instead and trusted and self._may_hold(trial, data, obj, context):
            return data
        if instead:
            raise EncodeError(f"a value that reads back as {trial.name}", instead)
        return data

    def _may_hold(self, trial: Trial, data: bytes, obj: Mapping[str, Any], context: Container) -> bool:
        """Whether what stands behind the bytes may make them the alternative: all is read back in the end.

        Where the value names it, bytes that alone are no alternative may be that one: there is no other to take.
        """
        if self.kind and obj.get(self.kind) is not None:
            try:
                self._read(Cursor(data), context, "")
            except DecodeError:
                return True
        return any(not self._read_instead(trial, each, context) for each in self._within(data))

    def _within(self, data: bytes) -> Iterator[Cursor]:
        """The bytes as they may stand in a record: before others, or at the end of a region with a code of its own."""
        yield Cursor(data + _BEHIND)
        for code in dict.fromkeys(code for trial in self.trials for each in trial.fallbacks for code in each.codes):
            cursor = Cursor(data)
            cursor.overrun = code
            yield cursor

    def _read_instead(self, trial: Trial, cursor: Cursor, context: Container) -> str:
        """What is read of the bytes of an alternative, where that is not the alternative."""
        try:
            read, reason, _ = self._read(cursor, context, "")
        except PositionPendingError:
            return ""  # it looks at a struct around it that is not settled; the whole is read back in the end
        except DecodeError as error:
            return f"{error.code} at {error.path}"
        because = f" ({reason})" if reason else ""
        return "" if read is trial else f"one that reads as {read.name}{because}"

    def _trials_for(self, obj: Mapping[str, Any], context: Container) -> Sequence[Trial]:
        """The alternative that the value names; else all, by the members they have, then by `build_when`."""
        named = obj.get(self.kind) if self.kind else None
        for trial in self.trials:
            if trial.name == named:
                return (trial,)
        if named is not None:
            raise EncodeError("one of " + ", ".join(trial.name for trial in self.trials), shown(named)).at(self.kind)
        scope = Container(dict.fromkeys(self.titles(hidden=True)) | dict(obj))
        scope.update({"_": context, "_params": context._params})
        ordered = self.trials if self.kind else sorted(self.trials, key=lambda trial: trial.subcon.makes_up())
        return sorted(ordered, key=lambda trial: (-trial.subcon.covers(obj), not holds(trial.build_when, scope)))


class Deferred(construct.Construct):
    """A named type that refers to itself, looked up when it is first used."""

    def __init__(self, target: Callable[[], Any]) -> None:
        super().__init__()
        self.target = target

    def titles(self, *, hidden: bool = False) -> Iterator[str]:
        """What readers call the members of the type."""
        return titles_of([self.target()], hidden=hidden)

    def accepts(self, value: Mapping[str, Any], context: Container) -> bool:
        """Whether the struct accepts `value`."""
        return bool(self.target().accepts(value, context))

    def fits(self, value: object) -> bool:
        """Whether `value` is of the type's kind."""
        return bool(self.target().fits(value))

    def covers(self, value: Mapping[str, Any]) -> int:
        """How many members of `value` the type has."""
        return int(self.target().covers(value))

    def makes_up(self, within: frozenset[int] = frozenset()) -> tuple[int, int]:
        """How many members readers see of the type, whatever a value says: at least, and at most."""
        return made_up_within(self.target(), within)

    def lent(self, value: Mapping[str, Any], context: Container) -> Mapping[str, Any]:
        """What expressions see of the members of `value`."""
        return lent(self.target(), value, context)

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        return self.target()._parse(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        return self.target()._build(obj, stream, context, path)
