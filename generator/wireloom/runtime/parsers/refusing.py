"""Constructs that refuse one member where it is read: the error has its path and the offset of its value.

What a header says is known to be wrong once it has been read, when nobody knows any more where that stood; so it is
read again by a construct that refuses it.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, NoReturn

from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.fields import Field
from wireloom.runtime.parsers.json import Document
from wireloom.runtime.parsers.protocol import Run, holds, start_of
from wireloom.runtime.parsers.record import Record
from wireloom.runtime.parsers.steps import Computed
from wireloom.runtime.parsers.structure import Struct

CODE = "unknown_value"


def refusing(construct: Record, member: str) -> Record | None:
    """The record, with an error at a member of that name to readers; None where no struct has it as one of its own."""
    inner = _refusing(construct.subcon, member)
    return None if inner is None else _with(construct, subcon=inner)


def _refusing(subcon: Any, member: str) -> Any:
    match subcon:
        case Struct(steps=steps):
            changed = _steps(steps, member)
            parts = tuple(step for step in changed if isinstance(step, Field))
            return None if not any(map(_differs, changed, steps)) else _with(subcon, steps=changed, fields=parts)
        case Document():
            inner = _refusing(subcon.subcon, member)
            return None if inner is None else _with(subcon, subcon=inner)
        case _:
            return None


def _differs(step: Any, other: Any) -> bool:
    return step is not other


def _with(construct: Any, **attributes: Any) -> Any:
    """A copy of a construct, with other attributes."""
    made = copy.copy(construct)
    made.__dict__.update(attributes)
    return made


def _steps(steps: Sequence[Any], member: str) -> tuple[Any, ...]:
    """The steps; of several that give the member all but the last refuse only what is there."""
    changed = list(steps)
    certain = True
    for place, step in reversed(list(enumerate(steps))):
        made = _step(step, member, certain=certain)
        if made is not None:
            changed[place], certain = made, False
    return tuple(changed)


def _step(step: Any, member: str, *, certain: bool) -> Any:
    match step:
        case Field(flatten=True):
            inner = _refusing(step.subcon, member)
            return None if inner is None else replace(step, subcon=inner)
        case Field(hidden=False) if (step.title or step.name) == member:
            return _refused(_RefusedField, step, certain=certain)
        case Field() if bit := next((each for each in step.bits if (each.title or each.name) == member), None):
            return _refused(_RefusedField, step, certain=certain, bit=bit.name)
        case Computed(hidden=False) if (step.title or step.name) == member:
            return _refused(_RefusedComputed, step, certain=certain)
        case _:
            return None


def _refused(kind: Callable[..., Any], step: Any, *, certain: bool, bit: str = "") -> Any:
    made = kind(**{each.name: getattr(step, each.name) for each in fields(step)})
    object.__setattr__(made, "certain", certain)
    object.__setattr__(made, "bit", bit)
    return made


class _RefusedField(Field):
    """A field of which no value is right; where it is not there, that is, if it is `certain` to be meant."""

    certain: bool
    bit: str

    def parse(self, run: Run) -> None:
        """Refuse that it is not there, or what is read of it."""
        if self.certain and not holds(self.when, run.scope):
            _refuse(start_of(run.stream), self.key)
        super().parse(run)

    def _store(self, run: Run, value: Any) -> None:
        if value is not None or self.certain:
            _refuse(run.offsets.get(self.name, getattr(run.source, "start", 0)), self.bit)
        super()._store(run, value)


class _RefusedComputed(Computed):
    """A computed member of which no value is right."""

    certain: bool
    bit: str

    def parse(self, run: Run) -> None:
        """Refuse what it is, at the place that it is computed at."""
        super().parse(run)
        if self.certain or run.scope[self.name] is not None:
            _refuse(start_of(run.stream), self.name)


def _refuse(offset: int, name: str) -> NoReturn:
    error = DecodeError(CODE, offset=offset)
    raise error.at(name) if name else error
