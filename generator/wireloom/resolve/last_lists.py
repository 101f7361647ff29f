"""Lists that end at their terminator or with the region: when builders write it."""

from collections.abc import Sequence
from dataclasses import replace

from wireloom.expr.ast import Binary, Call, Expression, FieldRef, Kind, Literal
from wireloom.model.types import Array, Bytes, Field, Step, Terminator, Text

_ALWAYS = Literal(True)  # noqa: FBT003 - a value


def ended(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps of a struct, each such list with what stands behind it."""
    return tuple(_ended(step, steps[place + 1 :]) for place, step in enumerate(steps))


def _ended(step: Step, behind: Sequence[Step]) -> Step:
    match step:
        case Field(type=Array(count=Terminator(behind=known) as terminator) as listed) if known is not None:
            changed = replace(terminator, behind=_written(behind))
            return replace(step, type=replace(listed, count=changed))
        case _:
            return step


def _written(behind: Sequence[Step]) -> Expression:
    """Where the bytes left, which readers see, stand behind it alone, it is left out if there are none."""
    match [step for step in behind if isinstance(step, Field) and step.in_struct]:
        case [Field(at=None, size=None, hidden=False, mappings=None, const=None, derive=None, meaning=None) as rest]:
            match rest.type:
                case Text(size=None) | Bytes(size=None):
                    return Binary(">", Call("len", (FieldRef(0, rest.wire_name, kind=Kind.BYTES),)), Literal(0))
                case Array(count=None):
                    return Binary(">", Call("count", (FieldRef(0, rest.wire_name, kind=Kind.LIST),)), Literal(0))
                case _:
                    return _ALWAYS
        case _:
            return _ALWAYS
