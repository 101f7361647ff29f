"""Compares two models part by part, ignoring the names of types.

Types are paired by where they are used; fields by member name, by number, or by position. Names that only expressions
use do not count: before expressions are compared, each field name is replaced by that of its partner. Each difference
names its rule, and values of the field that the two specs read differently.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import SequenceMatcher
from enum import Enum
from typing import Any

from wireloom.encodings import Form
from wireloom.expr.ast import FieldRef, Literal
from wireloom.expr.text import text_of
from wireloom.model import types as wire
from wireloom.model.format import ByteOrder, Format
from wireloom.model.traversal import plain
from wireloom.resolve.facts.sizes import Sizes
from wireloom.runtime.columns.logical import Named
from wireloom.runtime.patterns import Automaton, automaton
from wireloom.spec.places import Site

Scalars = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A part in which two specs differ. The values show it on the wire, in data of the old or of the new spec."""

    rule: str
    old: Site | None
    new: Site | None
    message: str
    old_values: Scalars = ()
    new_values: Scalars = ()
    columns: tuple[str, ...] = ()  # the names that readers see
    path: tuple[str, ...] = ()  # the names of the fields that lead to it


@dataclass(frozen=True, slots=True)
class Compared:
    """All differences on the wire, and the renamed columns."""

    differences: tuple[Difference, ...]
    renamed: dict[str, str]


def _version_site(format: Format) -> Site:
    """The field that holds the version of a record; empty if there is none."""
    name = format.named_versions.told.rpartition(".")[2] if format.named_versions else ""
    structs = (type for _, type in format.types if isinstance(type, wire.Struct))
    return next(
        (Site(each.name, name) for each in structs if name in [field.wire_name for field in each.fields]), Site()
    )


def compare(old: Format, new: Format) -> Compared:
    """The differences of two formats on the wire."""
    walk = _Walk(old, new)
    walk.formats()
    return Compared(tuple(dict.fromkeys(walk.found)), walk.columns)


@dataclass(frozen=True, slots=True)
class _Pair:
    """The current position of the walk: the field or struct on each side."""

    old: Site | None = None
    new: Site | None = None
    columns: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    fields: tuple[wire.Field, wire.Field] | None = None
    amount: bool = False  # the position is in a size, a count or a part of the field

    @property
    def inside(self) -> "_Pair":
        """The position in a part of the field's value: a value of the field would not show the difference."""
        return replace(self, fields=None, amount=True)

    @property
    def drawn(self) -> bool:
        """Whether a record can be made with a chosen value of the field: the field is visible and not derived."""
        sides = self.fields or ()
        return not self.amount and not any(
            each.hidden or each.derive or not each.on_wire or each.checksum for each in sides
        )


@dataclass
class _Walk:
    old: Format
    new: Format
    found: list[Difference] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)  # old to new names of fields on the wire
    columns: dict[str, str] = field(default_factory=dict)

    def add(
        self, rule: str, at: _Pair, message: str, old_values: Iterable[Any] = (), new_values: Iterable[Any] = ()
    ) -> None:
        values = (tuple(old_values), tuple(new_values)) if at.drawn else ((), ())
        self.found.append(Difference(rule, at.old, at.new, message, *values, at.columns, at.path))

    def changed(self, rule: str, at: _Pair, what: str, old: object, new: object, **values: Iterable[Any]) -> bool:
        """Add a difference if two parts are not the same; returns whether they differ."""
        if self.same(old, new):
            return False
        before, now = _shown(old), _shown(new)
        said = f"{what}: {before} before, {now} now"
        is_told = before and now and before != now and len(said) < 160
        self.add(rule, at, said if is_told else f"{what}: not as before", **values)
        return True

    def same(self, old: object, new: object) -> bool:
        """Whether two parts of the model mean the same, ignoring names of fields and types."""
        return _neutral(old, self.names) == _neutral(new, {})

    # --- formats -----------------------------------------------------------------------------------------------

    def formats(self) -> None:
        """Compare the format-wide settings, then the roots."""
        old, new, at = self.old, self.new, _Pair(Site(), Site())
        if self.changed("encoding-changed", at, "encoding", old.encoding.name, new.encoding.name):
            return
        self.changed("framing-changed", at, "framing", old.framing.text, new.framing.text)
        self.changed("byte-order-changed", at, "byte order", old.byte_order, new.byte_order)
        for name in ("size", "depth", "expansion", "ratio"):
            self.limit(name, getattr(old, name), getattr(new, name), at)
        for rule in ("check-added", "check-removed"):
            self.changed(rule, at, "invalid text", old.invalid_text, new.invalid_text)
            self.changed(rule, at, "unknown members", old.unknown_members, new.unknown_members)
        sums = [{each.name: replace(each, doc="") for each in side.checksums} for side in (old, new)]
        for name in sorted(sums[0].keys() & sums[1].keys()):
            self.changed("checksum-changed", at, f"checksum {name}", sums[0][name], sums[1][name])
        self.changed("meaning-changed", at, "named ranges", old.ranges, new.ranges)
        self.versions()
        new_roots = {root.name: root for root in new.roots}
        first, now = old.roots[0].name, new.roots[0].name
        if first != now and first in new_roots:
            self.add("default-root-changed", at, f"the first root: {first} before, {now} now")
        for root in old.roots:
            other = new_roots.get(root.name) or (new.roots[0] if len(old.roots) == len(new.roots) == 1 else None)
            if other is not None:
                self.types(root.type, other.type, at)

    def versions(self) -> None:
        """Compare the versions: added and removed ones, and the values that select them."""
        old, new = self.old.named_versions, self.new.named_versions
        sites = _version_site(self.old), _version_site(self.new)
        names = tuple(dict.fromkeys(name for each in (old, new) if each for name in (each.told, *each.path)))
        at = _Pair(*sites, names, names[:1])
        before = dict(zip(old.names, old.values, strict=True)) if old else {}
        now = dict(zip(new.names, new.values, strict=True)) if new else {}
        for name, value in before.items() if new else ():
            if name not in now:
                self.add("version-removed", at, f"version {name} is gone", (value,))
        for name, value in now.items() if old else ():
            if name not in before:
                self.add("version-added", at, f"version {name} is new", (), (value,))
        if old and new and not old.record:
            said = [{name: each[name] for name in before if name in now} for each in (before, now)]
            self.changed("condition-changed", at, "the values that tell versions", *said)

    def limit(self, name: str, old: int | str | None, new: int | str | None, at: _Pair) -> None:
        if old == new:
            return
        if isinstance(old, str) or isinstance(new, str):
            self.changed("limit-lowered", at, f"limit {name}", old, new)
            return
        lowered = new is not None and (old is None or new < old)
        least, writer = (new, self.old) if lowered else (old, self.new)
        if name == "size" and least is not None and _is_within(writer, least):
            return
        self.add(
            "limit-lowered" if lowered else "limit-raised", at, f"limit {name}: {_shown(old)} before, {_shown(new)} now"
        )

    # --- types -------------------------------------------------------------------------------------------------

    def types(self, old: wire.Type, new: wire.Type, at: _Pair) -> None:
        """Compare two types that are used at the same place."""
        names = (
            old.name if isinstance(old, wire.Reference) else "",
            new.name if isinstance(new, wire.Reference) else "",
        )
        if any(names):
            if names in self.seen:
                return
            self.seen.add(names)
        old, new = plain(old, self.old.named), plain(new, self.new.named)
        match old, new:
            case wire.Nullable(inner), wire.Nullable(other):
                self.types(inner, other, at)
            case wire.Nullable(inner), _:
                self.add("null-refused", at, "null is no longer allowed", [None])
                self.types(inner, new, at)
            case _, wire.Nullable(inner):
                self.add("null-allowed", at, "null is allowed", (), [None])
                self.types(old, inner, at)
            case wire.Integer(), wire.Integer():
                self.integers(old, new, at)
            case wire.Array(), wire.Array():
                self.amounts("count", old.count, new.count, at)
                self.changed(
                    "check-added", at, "unique elements", self.names.get(old.unique or "", old.unique), new.unique
                )
                self.changed(
                    "check-removed", at, "unique elements", self.names.get(old.unique or "", old.unique), new.unique
                )
                self.changed("step-changed", at, "salvage", old.salvage, new.salvage)
                self.held(old, new, at)
                self.types(old.element, new.element, at)
            case wire.Map(), wire.Map():
                self.spelling(old.spelling, new.spelling, at)
                self.types(old.key, new.key, at.inside)
                self.types(old.value, new.value, at.inside)
            case wire.OneOf(), wire.OneOf():
                self.alternatives(old, new, at)
            case wire.Select(), wire.Select():
                self.select(old, new, at)
            case wire.Attempt(), wire.Attempt():
                self.attempt(old, new, at)
            case wire.Struct(), wire.Struct():
                self.structs(old, new, at.path)
            case ((wire.Text() | wire.Bytes()), (wire.Text() | wire.Bytes())) if type(old) is type(new):
                self.amounts("size", old.size, new.size, at)
                self.changed("type-changed", at, "type", replace(old, size=None), replace(new, size=None))
            case _:
                self.changed("type-changed", at, "type", old, new)

    def integers(self, old: wire.Integer, new: wire.Integer, at: _Pair) -> None:
        if old == new:
            return
        if self.is_loose(old, new):
            if at.fields is None:
                self.bounds((old.minimum, old.maximum), (new.minimum, new.maximum), at)
            if not self.new.encoding.numbered or old.signed == new.signed:
                return
        said = f"{_integer(old)} before, {_integer(new)} now"
        if replace(old, signed=new.signed) == new:
            beyond = 1 << old.bits - 1  # from here on, signed and unsigned differ
            ends = [_possible(at.fields and at.fields[side], type) for side, type in enumerate((old, new))]
            probes = [
                [each for each in (low, beyond, high) if low <= each <= high and not 0 <= each < beyond]
                for low, high in ends
            ]
            if any(probes):
                self.add("number-changed", at, said, *probes)
        else:
            self.add("number-changed", at, said)

    def is_loose(self, old: wire.Integer, new: wire.Integer) -> bool:
        """Whether both integers take as many bytes as their value needs, in the same form."""
        loose = not self.new.encoding.laid_out or not (old.is_plain and new.is_plain)
        forms = [(each.form, each.digits, each.ending, each.markers, each.share) for each in (old, new)]
        return loose and forms[0] == forms[1]

    def amounts(self, what: str, old: wire.Amount | None, new: wire.Amount | None, at: _Pair) -> None:
        """Compare two sizes or counts. Of two length prefixes, compare the integers."""
        match old, new:
            case wire.Prefix(number, null), wire.Prefix(other, its) if null is its:
                self.integers(number, other, at.inside)
            case wire.Blocks(number, size), wire.Blocks(other, its) if size == its:
                self.integers(number, other, at.inside)
            case _:
                self.changed("size-changed", at, what, old, new)

    def bounds(self, old: tuple[int, int], new: tuple[int, int], at: _Pair) -> None:
        """Compare two ranges of numbers."""
        said = f"range: {old[0]} .. {old[1]} before, {new[0]} .. {new[1]} now"
        lost = [end for end in old if not new[0] <= end <= new[1]]
        won = [end for end in new if not old[0] <= end <= old[1]]
        lost += [end for end in (new[0] - 1, new[1] + 1) if lost and old[0] <= end <= old[1]]
        won += [end for end in (old[0] - 1, old[1] + 1) if won and new[0] <= end <= new[1]]
        if lost:
            self.add("range-narrowed", at, said, lost)
        if won:
            self.add("range-widened", at, said, (), won)

    def held(self, one: wire.Array, other: wire.Array, at: _Pair) -> None:
        """Compare the rules for the elements of a list."""
        old, new = (each.held or wire.Held("") for each in (one, other))
        self.mappings(old.mappings, new.mappings, at)
        self.ranges(old, new, (one.element, other.element), at)
        self.spelling(old.spelling, new.spelling, at)

    def ranges(
        self,
        old: wire.Field | wire.Held,
        new: wire.Field | wire.Held,
        types: tuple[wire.Type, wire.Type],
        at: _Pair,
    ) -> None:
        """Compare the allowed numbers of a field, or of the elements of a list."""
        kinds = [
            wire.not_null(plain(type, format.named)) for type, format in zip(types, (self.old, self.new), strict=True)
        ]
        match kinds:
            case [wire.Integer() as before, wire.Integer() as after] if not (old.mappings or new.mappings):
                stated = (old.minimum, old.maximum) != (new.minimum, new.maximum)
                if stated or (before != after and self.is_loose(before, after)):
                    self.bounds(_possible(old, before), _possible(new, after), at)
            case _:
                return

    def spelling(self, old: wire.Spelling | None, new: wire.Spelling | None, at: _Pair) -> None:
        """Compare the patterns and lengths of texts."""
        if old == new:
            return
        lost, won = distinguishing_texts(old, new), distinguishing_texts(new, old)
        if lost:
            self.add("spelling-narrowed", at, f"{_spelled(old)} before, {_spelled(new)} now", lost)
        if won:
            self.add("spelling-widened", at, f"{_spelled(old)} before, {_spelled(new)} now", (), won)

    def mappings(self, old: Sequence[wire.Mapping] | None, new: Sequence[wire.Mapping] | None, at: _Pair) -> None:
        """Compare the `values` of a field."""
        if old is None or new is None:
            if old is not None or new is not None:
                known = [each.wire for each in (old or new or ())]
                self.add(
                    "values-changed",
                    at,
                    "the numbers have words" if old is None else "the words are gone",
                    known,
                    known,
                )
            return
        before, after = ({each.wire: each.value for each in side} for side in (old, new))
        self.values(before, after, at)

    def values(self, before: dict[Any, Any], after: dict[Any, Any], at: _Pair) -> None:
        for wire_value, meant in before.items():
            said = f"the value {_shown(wire_value)} ({_shown(meant)})"
            if wire_value not in after:
                self.add("value-removed", at, f"{said} is gone", [wire_value])
            elif not self.same(meant, after[wire_value]):
                self.add("value-renamed", at, f"{said} is now {_shown(after[wire_value])}", [wire_value], [wire_value])
        for wire_value, meant in after.items():
            if wire_value not in before:
                self.add(
                    "value-added", at, f"the value {_shown(wire_value)} ({_shown(meant)}) is new", (), [wire_value]
                )

    # --- unions ------------------------------------------------------------------------------------------------

    def alternatives(self, old: wire.OneOf, new: wire.OneOf, at: _Pair) -> None:
        """Compare alternatives that are chosen by kind, paired by name, then by the kind of type."""
        left = {each.name: each for each in new.alternatives}
        unpaired = []
        for each in old.alternatives:
            other = left.pop(each.name, None)
            if other is None:
                unpaired.append(each)
            else:
                self.types(each.type, other.type, at)
        for each in unpaired:
            kind = type(plain(each.type, self.old.named))
            other = next((one for one in left.values() if isinstance(plain(one.type, self.new.named), kind)), None)
            if other is None:
                self.add("case-removed", at, f"the alternative {each.name} is gone")
            else:
                del left[other.name]
                self.types(each.type, other.type, at)
        for name in left:
            self.add("case-added", at, f"the alternative {name} is new")

    def select(self, old: wire.Select, new: wire.Select, at: _Pair) -> None:
        self.changed("case-changed", at, "what the union is told by", old.tag, new.tag)
        before, after = _cases(old), _cases(new)
        for value, type in before.items():
            other = after.get(value) or after.get(_OTHERWISE)
            said = "any other value" if value is _OTHERWISE else f"the value {_shown(value)}"
            if other is None:
                self.add("case-removed", at, f"the union has no alternative for {said}")
            else:
                self.types(type, other, at)
        for value, type in after.items():
            if value not in before:
                said = "any other value" if value is _OTHERWISE else f"the value {_shown(value)}"
                self.add("case-added", at, f"the union has an alternative for {said}")
                if _OTHERWISE in before:
                    self.types(before[_OTHERWISE], type, at)

    def attempt(self, old: wire.Attempt, new: wire.Attempt, at: _Pair) -> None:
        self.changed(
            "case-changed",
            at,
            "fallbacks",
            [each.fallbacks for each in old.trials],
            [each.fallbacks for each in new.trials],
        )
        self.changed(
            "case-changed",
            at,
            "names of the alternatives",
            [each.name for each in old.trials],
            [each.name for each in new.trials],
        )
        for each, other in zip(old.trials, new.trials, strict=False):
            self.types(each.type, other.type, at)

    # --- structs -----------------------------------------------------------------------------------------------

    def structs(self, old: wire.Struct, new: wire.Struct, path: tuple[str, ...]) -> None:
        """Compare two structs: their fields in pairs, then the steps between fields."""
        at = _Pair(Site(old.name), Site(new.name), (), path)
        if self.changed("encoding-changed", at, "form", (old.encoding.name, old.form), (new.encoding.name, new.form)):
            return
        pairs, gone, come = _paired(old, new)
        self.names |= {a.wire_name: b.wire_name for a, b in pairs if a.wire_name != b.wire_name}
        self.changed("condition-changed", at, "versions", old.versions, new.versions)
        moved = [(a, b) for a in gone for b in come if a.wire_name == b.wire_name]
        for a, b in moved:
            rule = {Form.MESSAGE: "tag-changed", Form.OBJECT: "member-renamed"}.get(new.form, "field-moved")
            keys = {"tag-changed": (a.tag, b.tag), "member-renamed": (a.key, b.key)}.get(rule)
            said = "it is at another place" if keys is None else f"{keys[0]} before, {keys[1]} now"
            self.add(rule, _pair(old, a, new, b, path), said)
        gone = [a for a in gone if not any(a is one for one, _ in moved)]
        come = [b for b in come if not any(b is one for _, one in moved)]
        for a, b in (
            list(zip(gone, come, strict=False)) if len(gone) == len(come) == 1 and new.form is Form.OBJECT else ()
        ):
            self.add("member-renamed", _pair(old, a, new, b, path), f"{a.key} before, {b.key} now")
            moved.append((a, b))
            gone = come = []
        for a in gone:
            self.add(
                "field-removed",
                _Pair(Site(old.name, a.wire_name), Site(new.name), _columns(a), (*path, a.wire_name)),
                f"{a.wire_name} is gone",
            )
        for b in come:
            self.add(
                "field-added",
                _Pair(Site(old.name), Site(new.name, b.wire_name), _columns(b), (*path, b.wire_name)),
                f"{b.wire_name} is new",
            )
        for a, b in (*pairs, *moved):
            self.fields(a, b, _pair(old, a, new, b, path))
        self.steps(old, new, at)

    def steps(self, old: wire.Struct, new: wire.Struct, at: _Pair) -> None:
        """Compare the steps: checks by their conditions, all others in order."""
        checks = [
            [(each.that, each.when, each.field) for each in side.steps if isinstance(each, wire.Check)]
            for side in (old, new)
        ]
        before = [_neutral(each[:2], self.names) for each in checks[0]]
        after = [_neutral(each[:2], {}) for each in checks[1]]
        for (that, _, name), each in zip(checks[1], after, strict=True):
            if each not in before:
                self.add(
                    "check-added",
                    replace(at, new=Site(new.name, name), columns=(name,), path=(*at.path, name)),
                    f"the check {_shown(that)} is new",
                )
        for (that, _, name), each in zip(checks[0], before, strict=True):
            if each not in after:
                self.add(
                    "check-removed",
                    replace(at, old=Site(old.name, name), columns=(name,), path=(*at.path, name)),
                    f"the check {_shown(that)} is gone",
                )
        others = [
            [
                replace(each, code="") if isinstance(each, wire.End) else each
                for each in side.steps
                if isinstance(each, wire.Frame | wire.Need | wire.End | wire.Discard | wire.Verify)
            ]
            for side in (old, new)
        ]
        self.changed("step-changed", at, "the steps between fields", *others)

    def fields(self, old: wire.Field, new: wire.Field, at: _Pair) -> None:
        """Compare all keys of two fields."""
        at = replace(at, fields=(old, new))
        if old.name != new.name and not old.hidden and not new.hidden:
            self.columns[old.name] = new.name
        for what, rule in _PARTS.items():
            self.changed(rule, at, what.replace("_", " "), getattr(old, what), getattr(new, what))
        if old.presence is not new.presence:
            required = new.presence is wire.Presence.REQUIRED
            self.add(
                "field-required" if required else "field-optional",
                at,
                "it must be there" if required else "it may be missing",
            )
        self.changed("default-changed", at, "default", old.default, new.default)
        self.changed("constant-changed", at, "constant", old.const, new.const)
        self.meanings(old.meaning, new.meaning, at)
        self.mappings(old.mappings, new.mappings, at)
        self.ranges(old, new, (old.type, new.type), at)
        self.spelling(old.spelling, new.spelling, at)
        self.bits(old, new, at)
        if old.on_wire and new.on_wire:
            self.amounts("size", old.size, new.size, at)
            self.types(old.type, new.type, at)
        else:
            self.changed("meaning-changed", at, "type", old.type, new.type)

    def meanings(self, old: wire.Meaning | None, new: wire.Meaning | None, at: _Pair) -> None:
        old, new = old or wire.Meaning(), new or wire.Meaning()
        if isinstance(old.shown, Named) and isinstance(new.shown, Named):
            before, after = (dict(each.names) for each in (old.shown, new.shown))
            self.values({k: Literal(v) for k, v in before.items()}, {k: Literal(v) for k, v in after.items()}, at)
            old, new = (replace(each, shown=None) for each in (old, new))
        self.changed("meaning-changed", at, "null", old.null, new.null)
        self.changed("meaning-changed", at, "meaning", replace(old, null=None), replace(new, null=None))

    def bits(self, old: wire.Field, new: wire.Field, at: _Pair) -> None:
        """Compare bits, paired by position."""
        before, after = ({(bit.low, bit.width): bit for bit in side.bits} for side in (old, new))
        for place, bit in before.items():
            other = after.get(place)
            own = _Pair(
                replace(at.old or Site(), field=bit.name),
                replace(at.new or Site(), field=bit.name),
                (bit.name, bit.title),
                (*at.path[:-1], bit.name),
            )
            if other is None:
                self.add("field-removed", own, f"bits {bit.low} .. {bit.low + bit.width - 1} ({bit.name}) have no name")
                continue
            own = replace(own, new=replace(at.new or Site(), field=other.name))
            if bit.name != other.name:
                self.names[bit.name] = other.name
            if bit.title != other.title and not bit.hidden and not other.hidden:
                self.columns[bit.title] = other.title
            self.changed("number-changed", own, "sign", bit.signed, other.signed)
            self.meanings(bit.meaning, other.meaning, own)
            self.mappings(bit.mappings, other.mappings, own)
        for place, bit in after.items():
            if place not in before:
                own = _Pair(
                    at.old, replace(at.new or Site(), field=bit.name), (bit.name, bit.title), (*at.path[:-1], bit.name)
                )
                self.add("field-added", own, f"bits {bit.low} .. {bit.low + bit.width - 1} are {bit.name}")


_PARTS = {
    "at": "size-changed",
    "base": "size-changed",
    "when": "condition-changed",
    "since": "condition-changed",
    "until": "condition-changed",
    "one_of": "condition-changed",
    "checksum": "checksum-changed",
    "packing": "packing-changed",
    "compute": "meaning-changed",
    "refers": "meaning-changed",
    "group": "type-changed",
    "inline": "field-moved",
    "besides": "field-moved",
}
"""Other attributes of a field, and the rule that a change of each breaks."""
_OTHERWISE = object()


def _is_within(format: Format, limit: int) -> bool:
    """Whether no record of a format can be longer than `limit` bytes."""
    sizes = Sizes(format.named)
    return all((most := sizes.of(root.type).most) is not None and most <= limit for root in format.roots)


def _paired(
    old: wire.Struct, new: wire.Struct
) -> tuple[list[tuple[wire.Field, wire.Field]], list[wire.Field], list[wire.Field]]:
    """The fields in pairs, the unpaired old ones, and the unpaired new ones."""
    before = [each for each in old.fields if each.on_wire]
    after = [each for each in new.fields if each.on_wire]
    made = {each.wire_name: each for each in new.fields if not each.on_wire}
    pairs = [(each, made[each.wire_name]) for each in old.fields if not each.on_wire and each.wire_name in made]
    if old.form is new.form and new.form in (Form.MESSAGE, Form.OBJECT):
        left = list(after)
        sides = [{each.wire_name for each in side} for side in (before, after)]

        def known(a: wire.Field, b: wire.Field) -> bool:
            """Whether each name occurs on the other side too: the two fields swapped their keys."""
            return a.wire_name in sides[1] and b.wire_name in sides[0]

        # several members may share a key under different conditions: first pair those with equal names
        for own in (True, False):
            for a in [each for each in before if not any(each is one for one, _ in pairs)]:
                alike = (each for each in left if _key(each) == _key(a))
                b = next((each for each in alike if each.wire_name == a.wire_name or not (own or known(a, each))), None)
                if b is not None:
                    left = [each for each in left if each is not b]
                    pairs.append((a, b))
        return pairs, [each for each in before if not any(each is one for one, _ in pairs)], left
    gone, come = list[wire.Field](), list[wire.Field]()
    matched = SequenceMatcher(None, [a.wire_name for a in before], [b.wire_name for b in after], autojunk=False)
    for _, i, k, j, m in matched.get_opcodes():
        here, there = before[i:k], after[j:m]
        names = {b.wire_name for b in there} & {a.wire_name for a in before} | {a.wire_name for a in here} & {
            b.wire_name for b in after
        }
        alone = len(here) == len(there) and (
            all(a.wire_name == b.wire_name for a, b in zip(here, there, strict=True)) or not names
        )
        if alone:
            pairs += zip(here, there, strict=True)
        else:
            gone, come = [*gone, *here], [*come, *there]
    return pairs, gone, come


def _possible(field: wire.Field | wire.Held | None, type: wire.Integer) -> tuple[int, int]:
    """The least and the greatest number on the wire of a field, or of an element of a list."""
    if field is None or (isinstance(field, wire.Field) and not isinstance(wire.not_null(field.type), wire.Integer)):
        return type.minimum, type.maximum
    if isinstance(field, wire.Field) and isinstance(field.const, int):
        return field.const, field.const
    numbers = [each.wire for each in field.mappings or () if isinstance(each.wire, int)]
    if numbers:
        return min(numbers), max(numbers)
    low = type.minimum if field.minimum is None else field.minimum
    return low, type.maximum if field.maximum is None else field.maximum


def _key(field: wire.Field) -> object:
    """The number or key by which a reader finds a field in its message or object."""
    return field.tag or field.key


def _pair(old: wire.Struct, a: wire.Field, new: wire.Struct, b: wire.Field, path: tuple[str, ...]) -> _Pair:
    names = (*_columns(a), *_columns(b))
    return _Pair(Site(old.name, a.wire_name), Site(new.name, b.wire_name), names, (*path, b.wire_name))


def _columns(field: wire.Field) -> tuple[str, ...]:
    return tuple(dict.fromkeys((field.wire_name, field.name, field.key)))


def _cases(select: wire.Select) -> dict[Any, wire.Type]:
    """The types by the values that select them."""
    return {
        value: case.type
        for case in select.cases
        if not isinstance(case.type, wire.Refusal)
        for value in (case.values or (_OTHERWISE,))
    }


_TOLD = frozenset({"code", "misspelled", "unknown", "unique_code", "extension_code", "doc", "column", "holders"})
"""Attributes that do not affect data: error codes, documentation and the like."""


def _neutral(value: object, names: dict[str, str]) -> object:
    """A part of a model in comparable form: without type names and error codes, with fields renamed by `names`."""
    match value:
        case FieldRef(up, name, members):
            return ("field", up, names.get(name, name), tuple(names.get(each, each) for each in members))
        case wire.Reference():
            return "type"
        case tuple() | list():
            return tuple(_neutral(each, names) for each in value)
        case dict():
            return {key: _neutral(each, names) for key, each in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            told = (each.name for each in fields(value) if each.compare and each.name not in _TOLD)
            return (type(value).__name__, *(_neutral(getattr(value, name), names) for name in told))
        case _:
            return (type(value).__name__, value)


def distinguishing_texts(one: wire.Spelling | None, other: wire.Spelling | None) -> list[str]:
    """Short texts that `one` accepts and `other` refuses; empty if none are found."""
    one, other = one or wire.Spelling(), other or wire.Spelling()
    automata = [automaton(each.pattern) if each.pattern else None for each in (one, other)]
    lengths = [each for side in (one, other) for each in (side.minimum, side.maximum) if each is not None]
    longest = min(max(lengths, default=-1) + 1, _LONGEST_TOLD)  # longer texts behave like those of this length
    if not any(automata):
        texts = ("a" * length for length in sorted({0, *lengths, longest}))
        return [text for text in texts if one.has(text) and not other.has(text)]
    letters = [(letter, _classes(automata, ord(letter))) for letter in _letters(automata)]
    waiting, seen, found = deque([("", 0, 0)]), {(0, 0, 0)}, list[str]()
    while waiting and len(found) < 3 and len(seen) < _MOST_TOLD:
        text, first, second = waiting.popleft()
        if one.has(text) and not other.has(text):
            found.append(text)
        for letter, (a, b) in letters:
            here = first if automata[0] is None else automata[0].next[first][a]
            there = second if automata[1] is None or second < 0 else automata[1].next[second][b]
            key = (here, there, min(len(text) + 1, longest))
            if here >= 0 and key not in seen:
                seen.add(key)
                waiting.append((text + letter, here, there))
    return found


_LONGEST_TOLD = 300  # characters
_MOST_TOLD = 20_000


def _letters(automata: Sequence[Automaton | None]) -> Iterator[str]:
    """One character for each pair of character classes of the automata."""
    seen = set[tuple[int, int]]()
    for symbol in (*range(97, 123), *range(48, 58), *range(32, 127), *range(32), 127, 233):
        classes = _classes(automata, symbol)
        if classes not in seen:
            seen.add(classes)
            yield chr(symbol)


def _classes(automata: Sequence[Automaton | None], symbol: int) -> tuple[int, int]:
    first, second = (0 if each is None else each.classes[min(symbol, 128)] for each in automata)
    return first, second


def _integer(type: wire.Integer) -> str:
    form = "" if type.form is wire.NumberForm.OWN else f" {type.form.value}"
    return f"{'' if type.signed else 'u'}int{type.bits}{form}"


def _spelled(spelling: wire.Spelling | None) -> str:
    if spelling is None:
        return "any text"
    ends = f"{spelling.minimum or 0} .. {'' if spelling.maximum is None else spelling.maximum} characters"
    length = ends if (spelling.minimum, spelling.maximum) != (None, None) else ""
    return ", ".join(filter(None, (spelling.known or spelling.pattern, length))) or "any text"


def _shown(value: object) -> str:
    """A part of the model in the notation of specs; empty if it has none."""
    match value:
        case None | "" | ():
            return "none"
        case Literal(inner):
            return "null" if inner is None else _shown(inner)
        case Enum(value=word):
            return str(word)
        case str():
            return f"`{value}`"
        case bytes():
            return value.hex(" ")
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case wire.Integer():
            return _integer(value)
        case wire.Float():
            return f"float{value.bits}"
        case wire.Text() | wire.Bytes() | wire.Boolean() | wire.Array() | wire.Map() | wire.Struct():
            return _KINDS[type(value)]
        case ByteOrder():
            return value.fixed or f"told by {value.parameter}"
        case wire.Delimiter() | wire.Prefix() | wire.Blocks() | wire.Terminator() | wire.Last():
            return type(value).__name__.lower()
        case wire.Frame() | wire.Need() | wire.End() | wire.Discard() | wire.Verify():
            return type(value).__name__.lower()
        case tuple() | list():
            shown = [_shown(each) for each in value]
            return f"[{', '.join(shown)}]" if all(shown) else ""
        case _:
            try:
                return f"`{text_of(value)}`"  # type: ignore[arg-type]
            except (AssertionError, TypeError, AttributeError):
                return ""


_KINDS = {
    wire.Text: "str",
    wire.Bytes: "bytes",
    wire.Boolean: "bool",
    wire.Array: "list",
    wire.Map: "map",
    wire.Struct: "struct",
}
