"""The rules of `compat`: each kind of change, what it breaks, and the way out. docs/howto/compat.md prints this table.

Data may cross a change in two directions: `backward` is old data read by the new spec, `forward` is new data read by
the old one. An effect is what the specs alone tell about a direction; `witnesses` then tries records.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Literal

Part = Literal["wire", "columns", "schema", "source"]
Direction = Literal["backward", "forward"]


class Effect(Enum):
    """What a change does in one direction."""

    BREAKS = "breaks"  # the specs decide it; on the wire, records made for it may show the opposite
    TRIED = "if a record shows it"  # records decide it
    WARNS = "warning"
    FINE = "fine"


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of change."""

    id: str
    part: Part
    what: str
    backward: Effect
    forward: Effect
    way_out: str

    def effect(self, direction: Direction) -> Effect:
        """The effect in a direction."""
        return self.backward if direction == "backward" else self.forward


_BREAKS, _TRIED, _WARNS, _FINE = Effect.BREAKS, Effect.TRIED, Effect.WARNS, Effect.FINE
_VERSION = "keep both layouts: `versions` with `since` and `until`, or a second format for the new data"
_BOTH = "accept what the old spec accepts for a time, and tighten the rule when the old data is gone"
_READERS = "update readers before writers"
_TABLE = "keep the column, or begin the next version of the tables with `wireloom ingest --new-version`"
_NAME = (
    "keep the name for readers with `as`, or begin the next version of the tables with `wireloom ingest --new-version`"
)
_CALLERS = "keep the name, or change its callers together with the package"
_LONG = {
    "both layouts": _VERSION,
    "both rules": _BOTH,
    "keep the column": _TABLE,
    "reader's name": _NAME,
    "name and callers": _CALLERS,
}
"""Ways out that several rules share, by their short names in the table."""

_RULES = (
    # --- wire
    Rule("encoding-changed", "wire", "The encoding of a format or a struct differs.", _BREAKS, _BREAKS, _VERSION),
    Rule("framing-changed", "wire", "Records are separated in another way.", _BREAKS, _BREAKS, _VERSION),
    Rule("byte-order-changed", "wire", "The byte order of integers changes.", _TRIED, _TRIED, _VERSION),
    Rule("field-added", "wire", "A struct gets a field.", _TRIED, _TRIED, _VERSION),
    Rule("field-removed", "wire", "A struct loses a field.", _TRIED, _TRIED, _VERSION),
    Rule("field-moved", "wire", "A field is at another place in its struct.", _TRIED, _TRIED, _VERSION),
    Rule("member-renamed", "wire", "A member has another name in its object.", _TRIED, _TRIED, _BOTH),
    Rule("tag-changed", "wire", "A protobuf field has another number.", _TRIED, _TRIED, "keep the number"),
    Rule("type-changed", "wire", "A field has a type of another kind.", _TRIED, _TRIED, _VERSION),
    Rule("number-changed", "wire", "A number has another width, sign, order or form.", _BREAKS, _BREAKS, _VERSION),
    Rule("size-changed", "wire", "A size, a count, an offset or an end differs.", _TRIED, _TRIED, _VERSION),
    Rule("condition-changed", "wire", "A field is present under another condition.", _TRIED, _TRIED, _VERSION),
    Rule("constant-changed", "wire", "A constant changes, is added or is removed.", _TRIED, _TRIED, _BOTH),
    Rule("values-changed", "wire", "A field gets names for its numbers, or loses them.", _TRIED, _TRIED, _BOTH),
    Rule("value-removed", "wire", "A value or word is no longer allowed.", _BREAKS, _FINE, "keep the value"),
    Rule("value-added", "wire", "A value or word is added.", _FINE, _BREAKS, _READERS),
    Rule("value-renamed", "wire", "A value is shown as another word.", _BREAKS, _BREAKS, "keep the word"),
    Rule("range-narrowed", "wire", "Some numbers are no longer allowed.", _BREAKS, _FINE, _BOTH),
    Rule("range-widened", "wire", "More numbers are allowed.", _FINE, _BREAKS, _READERS),
    Rule("spelling-narrowed", "wire", "Some texts are no longer allowed (pattern or length).", _BREAKS, _FINE, _BOTH),
    Rule("spelling-widened", "wire", "More texts are allowed (pattern or length).", _FINE, _BREAKS, _READERS),
    Rule("null-refused", "wire", "Null is no longer allowed.", _BREAKS, _FINE, _BOTH),
    Rule("null-allowed", "wire", "Null becomes allowed.", _FINE, _BREAKS, _READERS),
    Rule("field-required", "wire", "An optional member becomes required.", _BREAKS, _FINE, "keep it optional"),
    Rule("field-optional", "wire", "A required member becomes optional.", _FINE, _BREAKS, _READERS),
    Rule("default-changed", "wire", "The default of a missing member changes.", _TRIED, _TRIED, "keep the default"),
    Rule("meaning-changed", "wire", "The same bytes are shown as another value.", _TRIED, _TRIED, "give the new meaning a column of its own"),
    Rule("case-removed", "wire", "A union loses an alternative.", _BREAKS, _FINE, "keep the alternative"),
    Rule("case-added", "wire", "A union gets an alternative.", _FINE, _BREAKS, _READERS),
    Rule("case-changed", "wire", "A union tells its alternatives apart in another way.", _TRIED, _TRIED, _VERSION),
    Rule("check-added", "wire", "A check is added or changed.", _TRIED, _FINE, _BOTH),
    Rule("check-removed", "wire", "A check is removed or changed.", _FINE, _TRIED, _READERS),
    Rule("checksum-changed", "wire", "A checksum, or the bytes that it covers, changes.", _TRIED, _TRIED, _VERSION),
    Rule("packing-changed", "wire", "A region is compressed or written in another way.", _TRIED, _TRIED, _VERSION),
    Rule("step-changed", "wire", "A frame, end, minimum or discard step differs.", _TRIED, _TRIED, _VERSION),
    Rule("limit-lowered", "wire", "The limit on the size or depth of records is lower.", _BREAKS, _FINE, "keep the limit"),
    Rule("limit-raised", "wire", "The limit on the size or depth of records is higher.", _FINE, _BREAKS, _READERS),
    Rule("version-removed", "wire", "A version is removed.", _BREAKS, _FINE, "keep the version"),
    Rule("version-added", "wire", "A version is added.", _FINE, _BREAKS, _READERS),
    Rule("default-root-changed", "wire", "The default root changes.", _BREAKS, _BREAKS, "keep the first root first"),
    Rule("record-refused", "wire", "One spec refuses a record that the other reads; no other rule explains it.", _TRIED, _TRIED, _BOTH),
    Rule("record-differs", "wire", "The specs read different values from a record; no other rule explains it.", _TRIED, _TRIED, _BOTH),
    # --- columns
    Rule("column-removed", "columns", "A column is removed: old rows keep it, new rows have null.", _BREAKS, _BREAKS, _TABLE),
    Rule("column-renamed", "columns", "A column has another name: tables have both, each null where the other is set.", _BREAKS, _BREAKS, _NAME),
    Rule("column-retyped", "columns", "A column changes its type. Parquet readers may misread it; streaming checkpoints refuse it.", _BREAKS, _BREAKS, _TABLE),
    Rule("column-added", "columns", "A column is added: old rows have null.", _FINE, _FINE, ""),
    Rule("column-nullable", "columns", "A column that was never null may be null.", _WARNS, _WARNS, "check for null in queries of the column"),
    Rule("unit-changed", "columns", "The unit in the comment of a column changes, and its values do not.", _WARNS, _WARNS, "convert the values, or give the new unit a column of its own"),
    Rule("rows-changed", "columns", "Rows come from another list.", _BREAKS, _BREAKS, _TABLE),
    # --- JSON Schema
    Rule("document-refused", "schema", "A document that one JSON Schema allows is not allowed by the other.", _TRIED, _TRIED, _BOTH),
    Rule("document-incomplete", "schema", "Documents written before lack a new column that the JSON Schema requires.", _WARNS, _FINE, "decode again from the bytes"),
    # --- source
    Rule("format-removed", "source", "The package no longer has a module for the format.", _BREAKS, _FINE, _CALLERS),
    Rule("name-removed", "source", "The module no longer has a name.", _BREAKS, _FINE, _CALLERS),
    Rule("argument-removed", "source", "A function no longer has an argument.", _BREAKS, _FINE, _CALLERS),
    Rule("option-removed", "source", "An argument no longer accepts a value.", _BREAKS, _FINE, _CALLERS),
    Rule("argument-default", "source", "The default of an argument changes.", _WARNS, _FINE, "pass the argument"),
    Rule("code-removed", "source", "An error code is gone; filters on it find nothing.", _WARNS, _FINE, "look for it in --drop and in queries"),
    Rule("build-refused", "source", "`build` refuses values that it accepted.", _WARNS, _FINE, "give the new members in programs that build records"),
)  # fmt: skip
RULES: Mapping[str, Rule] = {rule.id: rule for rule in _RULES}
LAYOUT = frozenset(
    (
        *("encoding-changed", "byte-order-changed", "field-added", "field-removed", "field-moved", "tag-changed"),
        *("type-changed", "number-changed", "size-changed", "condition-changed", "packing-changed", "step-changed"),
        *("case-changed",),
    )
)
"""Changes that move later fields, so that a record may fail at another field."""


def table() -> str:
    """Two Markdown tables: the ways out and the rules."""
    shorter = {text: f"*{name}*" for name, text in _LONG.items()}
    ways = "".join(f"| {shorter[text]} | {text} |\n" for text in _LONG.values())
    head = "| rule | part | change | old data, new spec | new data, old spec | way out |\n|---|---|---|---|---|---|\n"
    rows = (
        f"| `{each.id}` | {each.part} | {each.what} | {each.backward.value} | {each.forward.value} | {shorter.get(each.way_out, each.way_out)} |"
        for each in RULES.values()
    )
    return f"| way out | what to do |\n|---|---|\n{ways}\n{head}" + "\n".join(rows) + "\n"
