"""How strongly the bytes at a position prove that a record begins there.

The evidence is derived from the constructs: the checksums and constants of the format, and the first bytes of its
records. `streams/resync.py` uses it to find the next record after a bad one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from construct import Container

from wireloom.runtime.boundary_evidence import Proof
from wireloom.runtime.parsers import binary
from wireloom.runtime.parsers.fields import Field
from wireloom.runtime.parsers.protocol import MISSING, holds
from wireloom.runtime.parsers.steps import Verify, checksum_bits
from wireloom.runtime.parsers.structure import Struct
from wireloom.runtime.parsers.unions import Attempt, Peek, Select


def strongest(subcon: Any, settings: Mapping[str, Any]) -> Proof:
    """The strongest proof that a record can give."""
    match subcon:
        case Struct():
            parts = [_of_step(step, subcon, settings) for step in subcon.steps]
            return Proof(sum(part.checksums for part in parts), sum(part.constants for part in parts))
        case Peek() | Select():
            return _most(strongest(case, settings) for case in subcon.subcons)
        case Attempt():
            return _most(strongest(trial.subcon, settings) for trial in subcon.trials)
        case _:
            return Proof()


def _most(proofs: Iterable[Proof]) -> Proof:
    found = list(proofs)
    return max(
        found, key=lambda proof: (proof.alone, proof.with_next, proof.checksums, proof.constants), default=Proof()
    )


def _of_step(step: Any, struct: Struct, settings: Mapping[str, Any]) -> Proof:
    match step:
        case Verify(field=name, when=when):
            algorithm = struct._checksums[name].algorithm
            return Proof(checksum_bits(algorithm(b""), algorithm) if _may_hold(when, settings) else 0)
        case Field():
            inner = strongest(step.subcon, settings)
            return Proof(inner.checksums, inner.constants + step.constant_bits)
        case _:
            return Proof()


def _may_hold(when: Any, settings: Mapping[str, Any]) -> bool:
    """Whether a condition can hold under these parameters; True if it depends on the record."""
    parameters = Container(settings)
    try:
        return holds(when, Container(_params=parameters))
    except (KeyError, AttributeError, TypeError):
        return True


def beginnings(subcon: Any) -> frozenset[bytes] | None:
    """The possible first bytes of records; None if they are not known."""
    match subcon:
        case Struct():
            return _of_constants(subcon.steps)
        case Peek(tag=binary.Integer() as tag):
            cases = [case for case in subcon.cases if isinstance(case, int)]
            return frozenset(each for case in cases for each in _encoded(tag, case))
        case Attempt():
            found = [beginnings(trial.subcon) for trial in subcon.trials]
            known = [each for each in found if each is not None]
            return frozenset().union(*known) if len(known) == len(found) else None
        case _:
            return None


def _of_constants(steps: Sequence[Any]) -> frozenset[bytes] | None:
    """The constant at the start of a struct."""
    first = next((step for step in steps if isinstance(step, Field)), None)
    if first is None or first.when is not None or first.at is not None or first.optional or first.size is not None:
        return None
    match first.const, first.subcon:
        case int(), binary.Integer():
            return frozenset(_encoded(first.subcon, first.const))
        case bytes(), binary.Bytes():
            return frozenset([first.const])
        case const, Struct() if const is MISSING:
            return beginnings(first.subcon)
        case _:
            return None


def _encoded(integer: binary.Integer, value: int) -> Iterator[bytes]:
    """The bytes of an integer, in each byte order that it may have."""
    orders: tuple[Literal["big", "little"], ...] = ("big", "little")
    for order in (integer.order,) if isinstance(integer.order, str) else orders:
        yield value.to_bytes(integer.bits // 8, order, signed=integer.signed)
