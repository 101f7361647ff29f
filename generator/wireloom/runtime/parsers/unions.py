"""Unions of structs: chosen by a tag (`Select`), by a value read ahead (`Peek`), or tried in order (`Attempt`).

A tag without a case is an error, at the tag. An attempt tries the next alternative only for the error codes that the
spec lists. When building, the tag decides if the value shows it; else the first struct that has a place for every
member.
"""

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import construct
from construct import Container

from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.expressions import PositionPendingError, equal
from wireloom.runtime.parsers.binary import Bytes, Float, Integer, Numeral, Text
from wireloom.runtime.parsers.bodies import Around
from wireloom.runtime.parsers.facts import CircleError, assume, visible_members
from wireloom.runtime.parsers.fields import Field
from wireloom.runtime.parsers.protocol import MISSING, Expression, Scalar, evaluate, guess, holds, same
from wireloom.runtime.parsers.structure import Struct
from wireloom.runtime.values import Value

_SHOWN = 1024
_LISTED = 12  # cases that an error lists
_BYTE = 8


@dataclass(frozen=True)
class Refusal:
    """A known case that is an error."""

    code: str


def titles_of(subcons: Sequence[Any], *, hidden: bool) -> Iterator[str]:
    """The readers' names of the members of the structs in `subcons`; with `hidden`, also those of hidden members."""
    for subcon in subcons:
        if hasattr(subcon, "titles"):
            yield from subcon.titles(hidden=hidden)


def fields_of(subcon: Any) -> Sequence[Field]:
    """The fields of a struct inside any wrappers; empty for other types."""
    while not isinstance(subcon, Struct):
        subcon = subcon.target() if isinstance(subcon, Deferred) else getattr(subcon, "subcon", None)
        if subcon is None:
            return ()
    return subcon.fields


def told(field: Field, value: Mapping[str, Any]) -> Any:
    """The wire value of a field, if the value being built states it plainly; else MISSING."""
    follows = field.is_derived or field.bits or field.hidden or field.when or field.optional
    given = None if follows or field.const is not MISSING else value.get(field.title or field.name)
    if given is None or field.mapped is None:
        return given if isinstance(given, int | str) else MISSING
    meanings = field.mapped.constants or ()
    words = zip(field.mapped.entries, meanings, strict=False)
    return next((wire for (wire, _), meaning in words if same(meaning, given)), MISSING)


def struct_for(
    value: Any, subcons: Sequence[Any], context: Container, selects: Callable[[Any, Any], bool] | None = None
) -> Any:
    """While building: the first struct, in the order of the spec, that takes `value`.

    Only structs whose constants agree with the value, and that the tag `selects`, are considered. If none of them takes
    the value, it is the one with most of its members, so that the error names the members that do not fit.
    """
    agreeing = [
        subcon
        for subcon in subcons
        if isinstance(value, Mapping) and hasattr(subcon, "accepts") and subcon.accepts(value, context)
    ]
    if not agreeing:
        raise EncodeError("a record that fits one of the alternatives", shown(value))
    if selects is not None:
        agreeing = [subcon for subcon in agreeing if selects(subcon, value)]
        if not agreeing:
            raise EncodeError("a value that its tag selects", shown(value))
    if len(agreeing) == 1:
        return agreeing[0]
    taking = next((each for each in agreeing if each.takes(value)), None)
    present = {name for name, member in value.items() if member is not None}
    return taking or max(agreeing, key=lambda each: len(present & {*each.titles()}))


class CasesByValue:
    """The common part of unions of structs, which can be used like a Struct."""

    subcons: tuple[Any, ...]

    def titles(self, *, hidden: bool = False) -> Iterator[str]:
        """The readers' names of the members of the cases."""
        return titles_of(self.subcons, hidden=hidden)

    def accepts(self, value: Mapping[str, Any], context: Container) -> bool:
        """Whether one of the cases accepts `value`."""
        return any(subcon.accepts(value, context) for subcon in self.subcons)

    def takes(self, value: Mapping[str, Any]) -> bool:
        """Whether a case has a place for each member of `value`, and `value` has all that it requires."""
        return any(subcon.takes(value) for subcon in self.subcons)

    def visible_members(self, value: Mapping[str, Any], context: Container) -> Mapping[str, Any]:
        """The members of `value` as expressions see them."""
        return visible_members(struct_for(value, self.subcons, context), value, context)


def _subcons(cases: Mapping[Scalar, Any], otherwise: Any) -> tuple[Any, ...]:
    """The types of the cases, each once; the default case is last."""
    found = [case for case in cases.values() if not isinstance(case, Refusal)]
    return tuple(dict.fromkeys([*found, otherwise] if otherwise is not None else found))


class Select(construct.Construct):
    """A union chosen by `tag`, an expression over earlier fields; a tag without a case is `otherwise`, else `code`.

    `told` is shown in errors instead of the tag.
    """

    def __init__(  # noqa: PLR0913 - the tag, its cases, and their form in errors
        self,
        tag: Expression,
        cases: Mapping[Scalar, Any],
        code: str = "unknown_case",
        *,
        otherwise: Any = None,
        notation: str = "",
        told: Expression | None = None,
    ) -> None:
        super().__init__()
        self.notation = notation  # how the spec writes the cases
        self.told = tag if told is None else told
        self.tag, self.cases, self.code, self.otherwise = tag, dict(cases), code, otherwise
        self.subcons = _subcons(self.cases, otherwise)

    def titles(self, *, hidden: bool = False) -> Iterator[str]:
        """The readers' names of the members of the cases."""
        return titles_of(self.subcons, hidden=hidden)

    def _case(self, tag: Any) -> Any:
        """The case of a tag, or None. Kinds differ: true does not select the case 1."""
        found = self.cases.get(tag) if isinstance(tag, Scalar) else None
        return found if any(equal(tag, value) for value in self.cases) else self.otherwise

    def _known(self) -> str:
        """The values that have a case, or the first of many."""
        known = [value for value, case in self.cases.items() if not isinstance(case, Refusal)]
        listed = [shown(value, notation=self.notation) for value in known[:_LISTED]]
        more = ["..."] if len(known) > _LISTED else []
        return f"one of {', '.join(listed + more)}" if listed else "another case"

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        tag = evaluate(self.tag, context)
        case = self._case(tag)
        if case is None or isinstance(case, Refusal):
            offset = stream.tell() if hasattr(stream, "tell") else stream.start
            actual = shown(evaluate(self.told, context), notation=self.notation)
            code = case.code if case else self.code
            raise DecodeError(code, offset=offset, expected=self._known(), actual=actual)
        return case._parse(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        try:
            tag = evaluate(self.tag, context)
        except PositionPendingError:
            guess(context)
            return self._of_shape(obj, context)._build(obj, stream, context, path)
        case = self._case(tag)
        if case is None or isinstance(case, Refusal):
            tag_text = shown(evaluate(self.told, context), notation=self.notation)
            raise EncodeError(f"a value for the case {tag_text}", "no such case")
        return case._build(obj, stream, context, path)

    def _of_shape(self, value: Any, context: Container) -> Any:
        """The case that fits a value whose tag depends on positions that are not known yet."""
        if isinstance(value, Mapping) and all(hasattr(subcon, "accepts") for subcon in self.subcons):
            return struct_for(value, self.subcons, context)
        return self.subcons[0]

    def takes(self, value: Mapping[str, Any]) -> bool:
        """Whether a case has a place for each member of `value`, and `value` has all that it requires."""
        return any(subcon.takes(value) for subcon in self.subcons if hasattr(subcon, "takes"))

    def visible_members(self, value: Mapping[str, Any], context: Container) -> Mapping[str, Any]:
        """The members of `value` as expressions see them, of the case that the tag selects."""
        try:
            case = self._case(evaluate(self.tag, context))
        except CircleError:
            assume(context)
            case = self._of_shape(value, context)
        return visible_members(case, value, context)


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
        self.octets = octets  # the size of the tag if the cases are bytes, else None
        self.subcons = _subcons(self.cases, otherwise)

    def _shown(self, tag: Any) -> str:
        """A tag as the spec writes it."""
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
        return self._case_for(obj, context)._build(obj, stream, context, path)

    def _case_for(self, obj: Any, context: Container) -> Any:
        """The case of a value: a struct that takes it, else the first type that has values of its kind."""
        plain = [] if isinstance(obj, Mapping) else [case for case in self.subcons if not hasattr(case, "accepts")]
        if not plain:
            return struct_for(obj, self.subcons, context, self._selects)
        return next((case for case in plain if isinstance(obj, _kinds_of(case))), plain[0])

    def _selects(self, case: Any, value: Mapping[str, Any]) -> bool:
        """Whether the value's first field, which is the value read ahead, selects the case."""
        first = next(iter(fields_of(case)), None)
        tag: Any = MISSING if first is None or not _is_alike(first.subcon, self.tag) else told(first, value)
        return tag is MISSING or self.cases.get(tag, self.otherwise) is case


def _is_alike(one: Any, other: Any) -> bool:
    """Whether two constructs are integers of the same form."""
    if not (isinstance(one, Integer) and isinstance(other, Integer)):
        return False
    orders = [each.order for each in (one, other) if each.bits > _BYTE and isinstance(each.order, str)]
    return (one.bits, one.signed) == (other.bits, other.signed) and len({*orders}) < 2


def _kinds_of(case: Any) -> Any:
    """The Python types of the values of a type that is not a struct."""
    match case:
        case Float():
            return float
        case Integer() | Numeral():
            return int
        case Text():
            return str
        case Bytes():
            return bytes | bytearray | memoryview
        case Deferred():
            return _kinds_of(case.target())
        case _:
            return object


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
        """Whether `error` means that the next alternative is tried."""
        return any(error.code in fallback.codes and holds(fallback.when, context) for fallback in self.fallbacks)


class Attempt(CasesByValue, construct.Construct):
    """Alternatives tried in order over the same bytes.

    The members `kind` and `reason`, if they have names, hold the alternative that parsed and the error code that
    refused the one before it.
    """

    def __init__(self, *trials: Trial, kind: str, reason: str) -> None:
        super().__init__()
        self.trials, self.kind, self.reason = trials, kind, reason
        self.subcons = tuple(trial.subcon for trial in trials)

    def titles(self, *, hidden: bool = False) -> Iterator[str]:
        """The readers' names of the members of the alternatives."""
        yield from filter(None, (self.kind, self.reason))
        yield from titles_of(self.subcons, hidden=hidden)

    def accepts(self, value: Mapping[str, Any], context: Container) -> bool:
        """Whether an alternative accepts `value`: the one that `value` names, or any."""
        named = value.get(self.kind) if self.kind else None
        return any(trial.subcon.accepts(value, context) for trial in self.trials if named in (None, trial.name))

    def takes(self, value: Mapping[str, Any]) -> bool:
        """Whether an alternative has a place for each member of `value`, and `value` has all that it requires."""
        members = {name: member for name, member in value.items() if name not in (self.kind, self.reason)}
        return super().takes(members)

    def _parse(self, stream: Any, context: Container, path: str) -> Value:
        trial, reason, parsed = self._read(stream, context, path)
        labels = {self.kind: trial.name, self.reason: reason}
        labels.pop("", None)
        value = Value(parsed.free | labels.keys(), parsed.derived | (labels.keys() & {self.reason}))
        value.update(labels)
        value.update(parsed)
        value.hidden.update(parsed.hidden)
        return value

    def _read(self, stream: Any, context: Container, path: str) -> tuple[Trial, str | None, Value]:
        """The alternative that parsed, the error code that refused the one before, and the value."""
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
        return self._trial_for(obj, context).subcon._build(obj, stream, context, path)

    def visible_members(self, value: Mapping[str, Any], context: Container) -> Mapping[str, Any]:
        """The members of `value` as expressions see them."""
        trial = self._trial_for(value, context)
        labels = {self.kind: trial.name, self.reason: value.get(self.reason)}
        labels.pop("", None)
        return ChainMap(labels, visible_members(trial.subcon, value, context))  # type: ignore[arg-type]

    def _trial_for(self, obj: Mapping[str, Any], context: Container) -> Trial:
        """The alternative that the value names, else the first that takes it and whose `build_when` holds."""
        named = obj.get(self.kind) if self.kind else None
        for trial in self.trials:
            if trial.name == named:
                return trial
        if named is not None:
            raise EncodeError("one of " + ", ".join(trial.name for trial in self.trials), shown(named)).at(self.kind)
        scope = Container(dict.fromkeys(self.titles(hidden=True)) | dict(obj))
        scope.update({"_": context, "_params": context._params})
        left = [trial for trial in self.trials if holds(trial.build_when, scope)]
        chosen = struct_for(obj, [trial.subcon for trial in left], context)
        return next(trial for trial in left if trial.subcon is chosen)


class Deferred(Around, construct.Construct):
    """A named type that refers to itself, looked up on first use."""

    def __init__(self, target: Callable[[], Any]) -> None:
        super().__init__()
        self.target = target

    @property
    def struct(self) -> Any:
        """The type."""
        return self.target()

    def titles(self, *, hidden: bool = False) -> Iterator[str]:
        """The readers' names of the members of the type."""
        return titles_of([self.target()], hidden=hidden)

    def fits(self, value: object) -> bool:
        """Whether `value` is of the type's kind."""
        return bool(self.target().fits(value))

    def visible_members(self, value: Mapping[str, Any], context: Container) -> Mapping[str, Any]:
        """The members of `value` as expressions see them."""
        return visible_members(self.target(), value, context)

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        return self.target()._parse(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        return self.target()._build(obj, stream, context, path)
