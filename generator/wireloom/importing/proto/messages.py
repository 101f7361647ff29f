"""Converts messages to structs of the spec: one field for each, encoded as its descriptor says."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from wireloom.importing.circles import WORDS, beyond, cut, fitting_depths, fitting_roots, without
from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.importing.naming import Members, camel, field_name, free
from wireloom.importing.proto.descriptions import Origins
from wireloom.importing.settling import BYTES_TOO, SHALLOWER, Refusals
from wireloom.importing.writing import Quoted, literal
from wireloom.names import logical_name_flaw
from wireloom.problems import Location

_DEEPEST = 64  # greatest depth that a user may ask for
_SCALARS: Mapping[int, dict[str, Any]] = {
    FieldDescriptor.TYPE_DOUBLE: {"type": "float64"},
    FieldDescriptor.TYPE_FLOAT: {"type": "float32"},
    FieldDescriptor.TYPE_INT64: {"type": "int64"},
    FieldDescriptor.TYPE_UINT64: {"type": "uint64"},
    FieldDescriptor.TYPE_INT32: {"type": "int32"},
    FieldDescriptor.TYPE_FIXED64: {"type": "uint64", "wire": "fixed"},
    FieldDescriptor.TYPE_FIXED32: {"type": "uint32", "wire": "fixed"},
    FieldDescriptor.TYPE_BOOL: {"type": "bool"},
    FieldDescriptor.TYPE_STRING: {"type": "str"},
    FieldDescriptor.TYPE_BYTES: {"type": "bytes"},
    FieldDescriptor.TYPE_UINT32: {"type": "uint32"},
    FieldDescriptor.TYPE_ENUM: {"type": "int32"},
    FieldDescriptor.TYPE_SFIXED32: {"type": "int32", "wire": "fixed"},
    FieldDescriptor.TYPE_SFIXED64: {"type": "int64", "wire": "fixed"},
    FieldDescriptor.TYPE_SINT32: {"type": "int32", "wire": "zigzag"},
    FieldDescriptor.TYPE_SINT64: {"type": "int64", "wire": "zigzag"},
}
_IN_MAPS = {"int32": "zigzag32", "int64": "zigzag64"}


@dataclass(frozen=True, slots=True)
class _FieldNames:
    """The name of a field in the spec, its name for readers, and the name of the raw number of its enum."""

    name: str
    reader: str
    number: str


@dataclass(slots=True)
class Messages:
    """Makes the structs of messages. `refused` has the places that the check of an earlier draft refused."""

    origins: Origins
    refused: Refusals
    asked: int | None = None
    findings: list[Finding] = field(default_factory=list)
    fields: dict[tuple[str, int], Location] = field(default_factory=dict)
    places: dict[str, Location] = field(default_factory=dict)
    depth: int = 1
    _names: dict[str, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    _words_left: int = WORDS
    _kept: set[str] = field(default_factory=set)
    """The messages that are kept as bytes."""

    def types(self, roots: Sequence[Descriptor]) -> dict[str, Any]:
        """The structs of the root messages, and of all messages inside them."""
        levelled = self._levels(roots)
        found: dict[str, Any] = {}
        for message in self._reached(roots, self._kept):
            name = self.name(message)
            self.places[name] = self.origins.place(message.full_name)
            depth = {"depth": levelled[message.full_name]} if message.full_name in levelled else {}
            found[name] = self._documented(message.full_name) | depth | {"fields": self._fields(message)}
            self._lacking(message)
        return found | self._entries

    def name(self, message: Descriptor) -> str:
        """The name of a message's struct."""
        if message.full_name not in self._names:
            within = [message.name]
            around = message.containing_type
            while around is not None and camel("_".join(within)).lower() in self._taken:
                within, around = [around.name, *within], around.containing_type
            self._names[message.full_name] = free(camel("_".join(within)), self._taken)
        return self._names[message.full_name]

    def fitting(self, roots: Sequence[Descriptor]) -> list[Descriptor]:
        """The roots that fit together into a spec of normal size."""
        graph, widths, avoided = self._counted(roots)
        found = fitting_roots(graph, widths, cut(graph, avoided), [each.full_name for each in roots])
        for each in roots:
            if each.full_name not in found:
                message = f"{each.name} is not a root of the spec, which would be too large"
                self._find(each.full_name, "record", message, f"import it alone by --message {each.name}")
        return [each for each in roots if each.full_name in found]

    def _levels(self, roots: Sequence[Descriptor]) -> dict[str, int]:
        """The depths of recursive messages; also sets the greatest one, and which messages are kept as bytes."""
        graph, widths, avoided = self._counted(roots)
        starts = [each.full_name for each in roots]
        levelled = cut(graph, avoided)
        most = min((int(depth) for kind, depth in self.refused.values() if kind == SHALLOWER), default=_DEEPEST)
        asked = dict.fromkeys(levelled, self.asked or 1)
        depths = asked if self.asked else fitting_depths(graph, widths, levelled, starts)
        depths = {name: min(depth, most) for name, depth in depths.items()}
        self.depth = max(depths.values(), default=1)
        kept = beyond(graph, widths, depths, starts)
        if kept is None:
            message = f"{', '.join(starts)}: too many fields for a spec"
            raise ImportRefusedError(
                Finding(self.origins.place(starts[0]), "too-large", message, "give a smaller message")
            )
        self._kept = kept
        self._kept |= {name for name in graph if self._refusal(self.origins.place(name))}
        for name in self._kept & set(starts):
            message, hint = self.refused[self.origins.place(name)]
            raise ImportRefusedError(Finding(self.origins.place(name), "refused", message, hint))
        return {name: depths.get(name, 1) for name in cut(without(graph, self._kept), avoided)}

    def _reached(self, roots: Iterable[Descriptor], kept: Collection[str] = ()) -> list[Descriptor]:
        """The messages that records may contain, each once, without those kept as bytes."""
        found = {each.full_name: each for each in roots}
        ahead = list(found.values())
        for message in ahead:
            for each in self._inner(message):
                if each.full_name not in found and each.full_name not in kept:
                    found[each.full_name] = each
                    ahead.append(each)
        return ahead

    def _inner(self, message: Descriptor) -> list[Descriptor]:
        """The messages that are types of a message's fields, or of map values."""
        carried = (each for each in message.fields if not self._refusal(self.origins.place(each.full_name)))
        values = (parts[1] if (parts := _entry(each)) else each for each in carried)
        return [each.message_type for each in values if each.message_type is not None]

    def _counted(self, roots: Iterable[Descriptor]) -> tuple[dict[str, list[str]], dict[str, int], set[str]]:
        """For the messages in records: their inner messages, their numbers of fields, and which are values of maps."""
        reached = self._reached(roots)
        graph = {each.full_name: [inner.full_name for inner in self._inner(each)] for each in reached}
        widths = {each.full_name: len(each.fields) + 1 for each in reached}
        return graph, widths, {name for each in reached for name in _in_maps(each)}

    def _refusal(self, place: Location) -> tuple[str, str] | None:
        """The refusal of the result of a location by the check of an earlier draft; None if there is none."""
        refusal = self.refused.get(place)
        return None if refusal is None or refusal[0] == SHALLOWER else refusal

    def _find(self, name: str, kind: str, message: str, hint: str) -> None:
        self.findings.append(Finding(self.origins.place(name), kind, message, hint))

    def _documented(self, name: str) -> dict[str, Any]:
        doc = self.origins.doc(name)
        return {"doc": literal(doc)} if doc else {}

    def _fields(self, message: Descriptor) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for each, names in zip(message.fields, self._field_names(message), strict=True):
            body = self._field(each, names)
            if body is None:
                continue
            self.fields[self.name(message), len(found)] = self.origins.place(each.full_name)
            reader = {"as": names.reader} if names.reader != names.name else {}
            found.append({names.name: body | reader | self._documented(each.full_name)})
        return found

    def _field_names(self, message: Descriptor) -> list[_FieldNames]:
        """Names of the fields: the original ones if valid, otherwise unused ones."""
        members = Members(each.name for each in message.fields)
        found: list[_FieldNames] = []
        for each in message.fields:
            reader = members.reader(each.name)
            if reader != each.name:
                flaw = logical_name_flaw(each.name)
                self._find(each.full_name, "name", f"{each.name} is called {reader}: {flaw}", "")
            number = members.beside(f"{reader}_number") if each.enum_type is not None else ""
            found.append(_FieldNames(members.own(reader), reader, number))
        return found

    def _field(self, field: FieldDescriptor, names: _FieldNames) -> dict[str, Any] | None:
        """The keys of a field; None if a spec cannot express it."""
        refusal = self._refusal(self.origins.place(field.full_name))
        keys: dict[str, Any] = {"tag": field.number}
        parts = _entry(field)
        if refusal is None and parts is not None:
            return keys | self._map(field, *parts)
        if refusal is None:
            form = self._form(field)
        elif field.type == FieldDescriptor.TYPE_MESSAGE and not refusal[0].endswith(BYTES_TOO) and parts is None:
            form = {"type": "bytes"}
            self._find(field.full_name, "refused", f"{field.name}: {refusal[0]}; it is kept as bytes", refusal[1])
        else:
            self._find(field.full_name, "refused", f"{field.name}: {refusal[0]}; it is not imported", refusal[1])
            return None
        if field.is_repeated:
            return keys | form | {"type": f"list({form['type']})"} | self._closed(field, field)
        return keys | form | self._raw(field, names) | self._presence(field)

    def _form(self, field: FieldDescriptor) -> dict[str, Any]:
        """The type of a field's values, and its encoding."""
        if field.message_type is None:
            return dict(_SCALARS[field.type])
        if field.message_type.full_name in self._kept:
            message = f"{field.name} is kept as bytes: {field.message_type.name} is nested too deep, or is too large"
            self._find(field.full_name, "too-large", message, "give a smaller message by --message")
            return {"type": "bytes"}
        group = {"wire": "group"} if field.type == FieldDescriptor.TYPE_GROUP else {}
        return {"type": self.name(field.message_type), **group}

    def _presence(self, field: FieldDescriptor) -> dict[str, Any]:
        """The keys for an absent field."""
        if field.is_required:
            return {}
        group = field.containing_oneof
        if group is not None and len(group.fields) > 1:
            return {"oneOf": literal(field_name(group.name))}
        if field.message_type is not None or (field.has_presence and not field.has_default_value):
            return {"optional": True}
        value = field.default_value
        if isinstance(value, float) and not math.isfinite(value):
            self._find(
                field.full_name, "default", f"the default of {field.name} is {value}", "if it is absent, it is null"
            )
            return {"optional": True}
        return {"optional": True, **_absent(field)}

    def _raw(self, field: FieldDescriptor, names: _FieldNames) -> dict[str, Any]:
        """The words of an enum, and the raw number for values without a word."""
        words = self._words(field, field.enum_type)
        return words | {"raw": names.number} if words else {}

    def _closed(self, field: FieldDescriptor, element: FieldDescriptor) -> dict[str, Any]:
        """The words of an enum in a list or map, which has no member for raw numbers."""
        enum = element.enum_type
        words = self._words(field, enum)
        if enum is not None and words:
            message = f"a number in {field.name} that {enum.name} does not list is an error of the record"
            self._find(field.full_name, "enum-list", message, "remove `values` to allow any number")
        return words

    def _words(self, field: FieldDescriptor, enum: EnumDescriptor | None) -> dict[str, Any]:
        """The words of an enum, as long as the spec's limit allows."""
        if enum is None:
            return {}
        self._words_left -= len(enum.values)
        if self._words_left < 0:
            message = f"the values of {field.name} are numbers, without the names of {enum.name}"
            self._find(field.full_name, "enum", message, "look the names up in the program that reads the records")
            return {}
        values: dict[int, Any] = {}
        for each in enum.values:
            doc = self.origins.doc(f"{enum.full_name}.{each.name}")
            values.setdefault(each.number, {"value": each.name, "doc": literal(doc)} if doc else each.name)
        return {"values": values}

    def _map(self, field: FieldDescriptor, key: FieldDescriptor, value: FieldDescriptor) -> dict[str, Any]:
        """A map. If its key or value is fixed-size or has words, its entries become a struct that states that."""
        forms = [self._form(key), self._form(value) | self._closed(field, value)]
        if all(each.get("wire") != "fixed" and "values" not in each for each in forms):
            said = (_IN_MAPS[each["type"]] if each.get("wire") == "zigzag" else each["type"] for each in forms)
            return {"type": f"map({', '.join(said)})"}
        name = free(camel("_".join([*field.full_name.split(".")[-2:], "entry"])), self._taken)
        pairs = [("key", key, forms[0]), ("value", value, forms[1])]
        fields = [{each: {"tag": part.number, **form, "optional": True, **_absent(part)}} for each, part, form in pairs]
        self._entries[name] = {"fields": fields}
        return {"type": f"map({name})"}

    def _lacking(self, message: Descriptor) -> None:
        """Report extensions of a message, which are skipped."""
        for each in self.origins.extensions:
            if each.of == message.full_name:
                found = f"the extension {each.name} of {each.of} is not imported"
                self.findings.append(Finding(each.location, "extension", found, "add a field with its number"))


def _absent(field: FieldDescriptor) -> dict[str, Any]:
    """The value of an absent field: its default; for a message, nothing."""
    if field.message_type is not None:
        return {}
    value = field.default_value
    return {"default": Quoted(value.hex()) if isinstance(value, bytes) else literal(value)}


def _in_maps(message: Descriptor) -> list[str]:
    """The messages that are values of maps."""
    values = (parts[1] for each in message.fields if (parts := _entry(each)))
    return [each.message_type.full_name for each in values if each.message_type is not None]


def _entry(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor] | None:
    """The key and value of a map field; None for other fields."""
    entry = field.message_type
    if entry is None or not field.is_repeated or not entry.GetOptions().map_entry:
        return None
    return entry.fields_by_name["key"], entry.fields_by_name["value"]
