"""Converts Avro schemas to structs of a spec.

A record becomes a struct. Most types become one field of it. A union becomes the number of its branch (hidden if the
union only allows null) and a field for each branch, all with the same name for readers. A type that cannot be a list
element in a spec (a union, list, map, decimal or time) is wrapped in a struct with the one member `value`.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from wireloom.importing.avsc.schemas import (
    Array,
    Enum,
    Fixed,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
    branch_name,
    parts,
)
from wireloom.importing.circles import WORDS, beyond, cut, fitting_depths
from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.importing.naming import Members, camel, free
from wireloom.importing.settling import BYTES_TOO, SHALLOWER, Refusals
from wireloom.importing.writing import literal
from wireloom.names import logical_name_flaw
from wireloom.problems import Location

OVERFLOW = "decimal_overflow"
_BLOCKS = "blocks(zigzag64, zigzag64)"
_DIGITS = 18  # most digits of a decimal in a 64-bit integer
_DEEPEST = 64
_FORMS: Mapping[str, str] = {
    "boolean": "bool",
    "int": "zigzag32",
    "long": "zigzag64",
    "float": "float32",
    "double": "float64",
    "bytes": "bytes(zigzag64)",
    "string": "str(zigzag64)",
}
_MEANINGS: Mapping[tuple[str, str], dict[str, Any]] = {
    ("int", "date"): {"logical": "date"},
    ("int", "time-millis"): {"logical": {"duration": "ms"}},
    ("long", "time-micros"): {"logical": {"duration": "us"}},
    ("long", "timestamp-millis"): {"logical": {"timestamp": "ms"}},
    ("long", "timestamp-micros"): {"logical": {"timestamp": "us"}},
    ("long", "timestamp-nanos"): {"logical": {"timestamp": "ns"}},
    ("long", "local-timestamp-millis"): {"logical": {"timestamp": "ms"}},
    ("long", "local-timestamp-micros"): {"logical": {"timestamp": "us"}},
    ("long", "local-timestamp-nanos"): {"logical": {"timestamp": "ns"}},
}
_PERIOD = {"fields": [{"months": "uint32"}, {"days": "uint32"}, {"millis": {"type": "uint32", "unit": "ms"}}]}


@dataclass(frozen=True, slots=True)
class _Slot:
    """The field for a value: its names in the spec and for readers, its condition, and its struct."""

    name: str
    reader: str
    members: Members
    owner: str
    place: Location
    when: str = ""
    is_branch: bool = False
    """Whether other fields have the same name for readers."""
    is_alone: bool = False
    """Whether readers may see no other member in the struct."""

    def entry(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The entry of the field in `fields`."""
        named = {"as": self.reader} if self.reader != self.name else {}
        return {self.name: {**body, **self.condition, **named}}

    @property
    def condition(self) -> dict[str, Any]:
        """The `when` key of the field, if it has a condition."""
        return {"when": self.when} if self.when else {}


@dataclass(slots=True)
class Records:
    """Makes the structs of records. `refused` has the places that the check of an earlier draft refused."""

    refused: Refusals
    asked: int | None = None
    findings: list[Finding] = field(default_factory=list)
    types: dict[str, Any] = field(default_factory=dict)
    fields: dict[tuple[str, int], Location] = field(default_factory=dict)
    places: dict[str, Location] = field(default_factory=dict)
    depth: int = 1
    has_overflow: bool = False
    _names: dict[str, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _depths: dict[str, int] = field(default_factory=dict)
    _words_left: int = WORDS

    def root(self, schema: Schema, start: Location) -> str:
        """The name of the struct for the whole schema: a record, or a struct with the one member `value`."""
        records = _records(schema)
        self._levels(records, start)
        if isinstance(schema, Record):
            return self._struct(schema)
        return self._wrapper(schema, "Value", start)

    def free(self, base: str) -> str:
        """A new name for a struct."""
        return free(camel(base), self._taken)

    def find(self, place: Location, kind: str, message: str, hint: str) -> None:
        """Report a part that cannot be carried over."""
        self.findings.append(Finding(place, kind, message, hint))

    def _levels(self, records: Collection[Record], start: Location) -> None:
        """Choose the depth of recursive records."""
        graph = {each.name: [inner.name for inner in _contained(each)] for each in records}
        widths = {each.name: 1 + sum(_width(member.type) for member in each.fields) for each in records}
        avoided = {inner.name for each in records for member in each.fields for inner in _in_maps(member.type)}
        roots = [each.name for each in records][:1]
        if not roots:
            return
        levelled = cut(graph, avoided)
        depths = fitting_depths(graph, widths, levelled, roots)
        most = min((int(depth) for kind, depth in self.refused.values() if kind == SHALLOWER), default=_DEEPEST)
        self._depths = {name: min(self.asked or depth, most) for name, depth in depths.items()}
        self.depth = max(self._depths.values(), default=1)
        if (far := beyond(graph, widths, self._depths, roots)) != set():
            told = ", ".join(sorted(far or roots)[:10])
            message = f"the records have too many fields, or are nested too deep: {told}"
            raise ImportRefusedError(Finding(start, "too-large", message, "import a part of them"))

    def _struct(self, record: Record) -> str:
        """The name of the struct of a record, which is made at the first use."""
        if record.name in self._names:
            return self._names[record.name]
        name = self._names[record.name] = self.free(record.name.rpartition(".")[2])
        self.types[name] = None  # reserves its position: structs are in the order of their first use
        self.places[name] = record.location
        members = Members(each.name for each in record.fields)
        entries: list[dict[str, Any]] = []
        for each in record.fields:
            reader = members.reader(each.name)
            if reader != each.name:
                flaw = logical_name_flaw(each.name)
                self.find(each.location, "name", f"{each.name} is called {reader}: {flaw}", "")
            made = self._entries(each.type, _Slot(members.own(reader), reader, members, name, each.location))
            if each.doc:
                last = next(iter(made[-1].values()))
                last["doc"] = literal(each.doc)
            self.fields |= {(name, len(entries) + number): each.location for number in range(len(made))}
            entries += made
        depth = {"depth": self._depths[record.name]} if record.name in self._depths else {}
        doc = {"doc": literal(record.doc)} if record.doc else {}
        self.types[name] = doc | depth | {"fields": entries}
        return name

    def _wrapper(self, schema: Schema, base: str, place: Location) -> str:
        """A struct with the one member `value`."""
        name = self.free(base)
        self.types[name] = None
        self.places[name] = place
        made = self._entries(schema, _Slot("value", "value", Members(["value"]), name, place))
        self.fields |= {(name, number): place for number in range(len(made))}
        self.types[name] = {"fields": made}
        return name

    def _entries(self, schema: Schema, slot: _Slot) -> list[dict[str, Any]]:
        """The fields for a value. The last one has the value's name."""
        match schema:
            case Union():
                return self._union(schema, slot)
            case Primitive(name="null"):
                return [slot.entry({"compute": "null", "type": "bool"})]
            case Array():
                return [slot.entry(self._list(schema.items, slot))]
            case Map():
                return [slot.entry(self._map(schema.values, slot))]
            case Primitive() | Fixed() if (digits := self._digits(schema, slot)) is not None:
                return self._decimal(schema, digits, slot)
            case Primitive() | Fixed() | Enum() | Record():
                return [slot.entry(self._simple(schema, slot))]
            case _:
                assert_never(schema)

    def _simple(self, schema: Primitive | Fixed | Enum | Record, slot: _Slot) -> dict[str, Any]:
        """The keys of a value that takes one field, and can be a list element."""
        match schema:
            case Primitive():
                meaning = _meaning(schema)
                is_fine = meaning.get("logical") == {"timestamp": "ns"}
                raw = {"raw": slot.members.beside(f"{slot.reader}_nanos")} if is_fine and not slot.is_alone else {}
                return {"type": _FORMS[schema.name], **({} if is_fine and not raw else meaning), **raw}
            case Fixed(size=16, logical=logical) if logical is not None and logical.name == "uuid":
                return {"type": "bytes(16)", "logical": "uuid"}
            case Fixed(size=12, logical=logical) if logical is not None and logical.name == "duration":
                return {"type": self._period()}
            case Fixed():
                return {"type": f"bytes({schema.size})"}
            case Enum():
                self._words_left -= len(schema.symbols)
                if self._words_left < 0:
                    message = f"the values of {slot.reader} are numbers, without the symbols of {schema.name}"
                    self.find(slot.place, "enum", message, "look the names up in the program that reads the records")
                    return {"type": "zigzag32"}
                return {"type": "zigzag32", "values": dict(enumerate(schema.symbols))}
            case Record():
                return {"type": self._struct(schema)}
            case _:
                assert_never(schema)

    def _period(self) -> str:
        if "" not in self._names:
            self._names[""] = self.free("Period")
            self.types[self._names[""]] = _PERIOD
        return self._names[""]

    def _list(self, items: Schema, slot: _Slot) -> dict[str, Any]:
        """A list in blocks."""
        if isinstance(items, Enum | Record) or (
            isinstance(items, Primitive | Fixed) and items != Primitive("null") and not _meaning(items)
            and self._digits(items, slot) is None
        ):  # fmt: skip
            form = self._simple(items, replace(slot, is_alone=True))
            return {**form, "type": f"list({form['type']})", "count": _BLOCKS}
        name = self._wrapper(items, f"{slot.owner}_{slot.reader}_element", slot.place)
        message = f"each element of {slot.reader} is a struct: a list in a spec cannot contain {_kind(items)}"
        self.find(slot.place, "element", message, "read its member `value`")
        return {"type": f"list({name})", "count": _BLOCKS}

    def _map(self, values: Schema, slot: _Slot) -> dict[str, Any]:
        """A map in blocks, whose entries have a key and a value."""
        name = self.free(f"{slot.owner}_{slot.reader}_entry")
        self.types[name] = None
        self.places[name] = slot.place
        if isinstance(values, Union) and not _is_nullable(values):
            inner = self._wrapper(values, f"{slot.owner}_{slot.reader}_value", slot.place)
            message = f"each value of {slot.reader} is a struct that states the branch of the union"
            self.find(slot.place, "element", message, "read its member `value`")
            made = [{"value": inner}]
        else:
            members = Members(["key", "value"])
            made = self._entries(values, _Slot("value", "value", members, name, slot.place, is_alone=True))
        self.types[name] = {"fields": [{"key": _FORMS["string"]}, *made]}
        self.fields |= {(name, number): slot.place for number in range(len(made) + 1)}
        return {"type": f"map({name})", "count": _BLOCKS}

    def _union(self, union: Union, slot: _Slot) -> list[dict[str, Any]]:
        """The number of the branch, and the fields of all branches."""
        if not _is_nullable(union):
            return self._branches(union, slot)
        number = next((n for n, each in enumerate(union.branches) if each != Primitive("null")), 0)
        inner = union.branches[number]
        index = slot.members.beside(f"{slot.reader}_index")
        if len(union.branches) == 1:
            head = {index: {"type": "zigzag32", "const": 0, "hidden": True}}
            return [head, *self._entries(inner, slot)]
        says = f"present({slot.name}) ? {number} : {1 - number}"
        head = {index: {"type": "zigzag32", "range": "0 .. 1", "derive": says, "hidden": True}}
        return [head, *self._entries(inner, replace(slot, when=f"{index} == {number}"))]

    def _branches(self, union: Union, slot: _Slot) -> list[dict[str, Any]]:
        """A union of several types: a word for the branch, and a field for each branch, all with one name."""
        words = [branch_name(each) for each in union.branches]
        short = [each.rpartition(".")[2] for each in words]
        words = short if len({each.lower() for each in short}) == len(short) else words
        branch = slot.members.beside(f"{slot.reader}_branch")
        made: list[dict[str, Any]] = [{branch: {"type": "zigzag32", "values": dict(enumerate(words))}}]
        apart = self._refusal(slot.place)
        if apart:
            message = f"each branch of {slot.reader} has its own member: {apart}"
            self.find(slot.place, "union", message, "the member that is not null has the value")
        for word, each in zip(words, union.branches, strict=True):
            if each == Primitive("null"):
                continue
            name = slot.members.beside(f"{slot.reader}_{word.replace('.', '_')}")
            reader = name if apart else slot.reader
            made += self._entries(
                each, replace(slot, name=name, reader=reader, when=f"{branch} == '{word}'", is_branch=True)
            )
        return made

    def _refusal(self, place: Location) -> str:
        """Why a shared name for branches was refused, or ""; raises ImportRefusedError if separate names were, too."""
        refusal = self.refused.get(place)
        if refusal is None or refusal[0] == SHALLOWER:
            return ""
        if refusal[0].endswith(BYTES_TOO) or refusal[1].endswith(BYTES_TOO):
            raise ImportRefusedError(Finding(place, "refused", refusal[0], refusal[1].removesuffix(BYTES_TOO)))
        return refusal[0]

    def _digits(self, schema: Primitive | Fixed, slot: _Slot) -> int | None:
        """The digits after the point of a decimal that a spec can express; None for any other type."""
        logical = schema.logical
        on_bytes = isinstance(schema, Fixed) or schema.name == "bytes"
        if logical is None or logical.name != "decimal" or not on_bytes or not 1 <= logical.precision >= logical.scale:
            return None
        if isinstance(schema, Fixed) and not schema.size:
            return None
        if logical.precision > _DIGITS or (isinstance(schema, Fixed) and schema.size > 16):
            message = f"{slot.reader} stays bytes: a decimal of {logical.precision} digits"
            hint = f"specs allow decimals of up to {_DIGITS} digits; the bytes are the number, big-endian"
            if all(each.location != slot.place or each.kind != "decimal" for each in self.findings):
                self.find(slot.place, "decimal", message, hint)
            return None
        return logical.scale

    def _decimal(self, schema: Primitive | Fixed, digits: int, slot: _Slot) -> list[dict[str, Any]]:
        """A decimal: an integer of fixed size, or one whose size in bytes precedes it."""
        scale = {"scale": f"1/{10**digits}"} if digits else {}
        if isinstance(schema, Fixed) and schema.size <= 8:
            return [slot.entry(_big(schema.size) | scale)]
        if isinstance(schema, Fixed):
            return self._wide(schema.size, scale, slot)
        size = slot.members.beside(f"{slot.reader}_size")
        widths = range(1, 9)
        fits = "".join(
            f"{slot.name} >= {-(1 << 8 * n - 1)} and {slot.name} < {1 << 8 * n - 1} ? {n} : " for n in widths[:-1]
        )
        head = {"type": "zigzag64", "range": "1 .. 8", "derive": f"{fits}8", "hidden": True, **slot.condition}
        made: list[dict[str, Any]] = [{size: head}]
        named = []
        for width in widths:
            named.append(slot.members.beside(f"{slot.reader}_{width}"))
            when = f"{slot.when} and {size} == {width}" if slot.when else f"{size} == {width}"
            made.append({named[-1]: _big(width) | {"when": when, "derive": slot.name, "hidden": True}})
        read = "".join(f"{size} == {width} ? {name} : " for width, name in zip(widths[:-1], named[:-1], strict=True))
        shown = slot if slot.is_branch else replace(slot, when="")  # without its parts, the value is null
        return [*made, shown.entry({"compute": f"{read}{named[-1]}", "type": "int64", **scale})]

    def _wide(self, size: int, scale: dict[str, Any], slot: _Slot) -> list[dict[str, Any]]:
        """A decimal of more than eight bytes. The upper bytes must repeat the sign."""
        self.has_overflow = True
        high = slot.members.beside(f"{slot.reader}_sign")
        sign = f"({slot.name} < 0 ? -1 : 0)"
        form = _big(size - 8) | {"derive": sign, "hidden": True, **slot.condition}
        check = {"that": f"{high} == {sign}", "else": OVERFLOW, **slot.condition}
        return [{high: form}, slot.entry(_big(8) | scale), {"check": check}]


def _big(size: int) -> dict[str, Any]:
    """A big-endian integer of `size` bytes."""
    return {"type": f"int{8 * size}"} | ({"byteOrder": "big"} if size > 1 else {})


def _meaning(schema: Primitive | Fixed) -> dict[str, Any]:
    """The keys for the logical type of a number."""
    if schema.logical is None or isinstance(schema, Fixed):
        return {}
    return _MEANINGS.get((schema.name, schema.logical.name), {})


def _kind(schema: Schema) -> str:
    match schema:
        case Union():
            return "unions"
        case Array():
            return "lists"
        case Map():
            return "maps"
        case Primitive(name="null"):
            return "nulls"
        case Primitive() | Fixed() if schema.logical is not None:
            return f"values with the meaning {schema.logical.name}"
        case _:
            return "values"


def _is_nullable(union: Union) -> bool:
    """Whether a union has one type, and null at most."""
    return len(union.branches) == 1 or (len(union.branches) == 2 and Primitive("null") in union.branches)


def _records(schema: Schema) -> list[Record]:
    """The records that a value may contain, each once."""
    found: dict[str, Record] = {}
    ahead = [schema]
    for each in ahead:
        if isinstance(each, Record):
            if each.name in found:
                continue
            found[each.name] = each
        ahead += parts(each)
    return list(found.values())


def _contained(record: Record) -> list[Record]:
    """The records that the fields of a record contain."""
    return [found for member in record.fields for found in _nearest(member.type)]


def _nearest(schema: Schema) -> Iterable[Record]:
    """The outermost records within a schema."""
    if isinstance(schema, Record):
        return [schema]
    return [found for part in parts(schema) for found in _nearest(part)]


def _in_maps(schema: Schema) -> Iterable[Record]:
    """The records within a schema that are values of maps."""
    if isinstance(schema, Record):
        return []
    if isinstance(schema, Map):
        return _nearest(schema.values)
    return [found for part in parts(schema) for found in _in_maps(part)]


def _width(schema: Schema) -> int:
    """The number of fields that a value takes, without those of inner records."""
    own = 10 if getattr(schema, "logical", None) is not None else 1
    return own + (0 if isinstance(schema, Record) else sum(_width(part) + 1 for part in parts(schema)))
