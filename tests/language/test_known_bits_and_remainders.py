"""What is known of bits and remainders holds of every value, and no condition that a record may decide is refused."""

import random
from pathlib import Path

import pytest

from wireloom.expr.ast import Binary, Conditional, Expression, FieldRef, Kind, Literal, Unary
from wireloom.expr.extents import Extent, Known
from wireloom.expr.residues import residue
from wireloom.resolve import resolve
from wireloom.spec import load

EXTENTS = {"a": Extent(0, 7, nullable=False), "b": Extent(-4, 3, nullable=False), "c": Extent(8, 15, nullable=False)}
OPERATORS = ("&", "|", "^", "<<", ">>", "+", "-", "*", "//", "%")


def drawn(chance: random.Random, depth: int) -> Expression:
    if depth == 0 or chance.random() < 0.25:
        number = Literal(chance.choice([0, 1, 2, 3, 4, 6, 8, 12, -1, -3]))
        return number if chance.random() < 0.5 else FieldRef(0, chance.choice("abc"), (), Kind.INTEGER)
    parts = [drawn(chance, depth - 1) for _ in range(3)]
    if chance.random() < 0.1:
        return Unary(chance.choice("~-"), parts[0])
    if chance.random() < 0.1:
        return Conditional(Binary("==", parts[0], Literal(1)), parts[1], parts[2])
    return Binary(chance.choice(OPERATORS), parts[0], parts[1])


def value(expression: Expression, names: dict[str, int]) -> int | None:
    match expression:
        case Literal(int(number)):
            return number
        case FieldRef(name=name):
            return names[name]
        case Unary(operator, operand):
            found = value(operand, names)
            return None if found is None else ~found if operator == "~" else -found
        case Conditional(Binary("==", left, right), then, otherwise):
            return value(then if value(left, names) == value(right, names) else otherwise, names)
        case Binary(operator, left, right):
            return combined(operator, value(left, names), value(right, names))
        case _:
            raise AssertionError(expression)


def combined(operator: str, left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    if (operator in ("//", "%") and right == 0) or (operator in ("<<", ">>") and not 0 <= right <= 127):
        return None
    found = int(eval(f"({left}) {operator} ({right})"))  # noqa: S307 - two numbers
    return found if -(1 << 127) <= found < 1 << 128 else None


@pytest.mark.parametrize("seed", range(20))
def test_every_value_has_the_bits_and_the_remainder_that_are_known(seed):
    chance = random.Random(seed)  # noqa: S311 - no secrets
    for _ in range(150):
        expression = drawn(chance, 3)
        known = residue(expression, Known(EXTENTS).of)
        for _ in range(10):
            names = {name: chance.randint(each.low, each.high) for name, each in EXTENTS.items()}
            found = value(expression, names)
            if found is not None:
                assert not found & known.clear
                assert not ~found & known.set
                assert (found - known.rest) % known.step == 0 if known.step else found == known.rest


HEAD = "wireloom: 1\nformat: open\ntitle: Conditions that records decide\nencoding: binary\nroot: Record\n"
EITHER = """
types:
  Record: {fields: [{either: Either}]}
  Either:
    attempt:
      - {name: small, type: Small, buildWhen: present(number) and number >= 0, fallback: [{codes: [truncated]}]}
      - {name: large, type: Large, buildWhen: true}
  Small: {fields: [{number: uint8}]}
  Large: {fields: [{text: bytes(2)}]}
"""
TWICE = """
types:
  Record:
    fields:
      - kind: uint8
      - first: {type: Body, when: kind == 1}
      - second: {type: Body, when: kind == 3}
  Body: {select: kind, cases: {1: uint8, 3: uint16}}
"""
VERSIONS = """
types:
  Record: {fields: [{kind: uint8}, {body: Body}]}
  Body:
    versions: {old: {when: kind == 1}, new: {when: true}}
    fields: [{first: uint8}, {second: {type: uint8, since: new}}]
"""
ARGUMENTS = """
types:
  Record: {fields: [{body: Body(1)}]}
  Body(n): {fields: [{first: uint8}, {second: {type: uint8, when: n == 2}}]}
"""
NULL = """
types:
  Record:
    fields:
      - more: bool
      - flag: {type: bool, when: more}
      - body: {type: {select: flag, cases: {true: uint8, false: uint16}, otherwise: bytes(3)}}
"""
BITS = """
types:
  Record:
    fields:
      - flags: {type: int8, range: -4 .. 3, bits: {low: 2, sign: 7, part: {at: 0..1, signed: true}}}
      - first: {type: uint8, when: low}
      - second: {type: uint8, when: sign and part == -2}
      - third: {type: uint8, when: flags * 2 == 6 or flags & 6 == 2 or (flags | 4) == 7}
"""
PARTS = """
types:
  Record:
    fields:
      - text: str(4)
      - other: {compute: "slice(text, 1)", type: str}
      - first: {type: uint8, when: "slice(text, 0, 3) == 'é'"}
      - second: {type: uint8, when: "slice(text, -3, 2) == 'a'"}
"""


@pytest.mark.parametrize("types", [EITHER, TWICE, VERSIONS, ARGUMENTS, NULL, BITS, PARTS])
def test_what_a_record_decides_is_accepted(types: str, tmp_path: Path):
    spec = tmp_path / "open.yaml"
    spec.write_text(HEAD + types, encoding="utf-8")
    assert resolve(load([spec], tmp_path))
