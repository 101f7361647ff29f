"""JSON values and members: compact text, members in the order of the spec; optional members may be omitted.

Each member is written after a comma; when the object ends, the first comma is replaced by the brace. If the first
member is always present, its brace and name are one constant.
"""

import base64
import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.json import OF_JSON, kinds_mask, kinds_of
from wireloom.runtime.engine.compiler.scope import limits, taken, word_of
from wireloom.runtime.engine.encoder.absence import Absence
from wireloom.runtime.engine.encoder.encodings.unions import Unions
from wireloom.runtime.engine.encoder.scope import Item, Lead, Node, Scope
from wireloom.runtime.engine.programs.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Constant

_NULL = b"null"
_BRACKETS = {"object": b"{}", "array": b"[]"}
_WIDE = 64
_LINE_BYTES = 57
_MEMBERS = 2  # the form of a map whose entries become members of the enclosing object


class Json(Unions, Absence):
    """Writes structs as objects or arrays, and the values in them."""

    null = _NULL

    # --- structs -----------------------------------------------------------------------------------------------------

    def struct(self, form: str, items: Sequence[Item], scope: Scope) -> None:
        """Write an object or an array, or the members of an inline struct into the enclosing object."""
        assert scope.parent is not None
        items = [item for item in items if not item.is_never_there]
        lent = scope.parent.lent
        if lent is not None:
            scope.lead = lent
            self._members(items)
            return
        opening, closing = _BRACKETS[form][:1], _BRACKETS[form][1:]
        certain = bool(items) and _is_certain(items[0])
        scope.lead = Lead(named=form == "object", opening=opening if certain else b",")
        self._members(items)
        if certain:
            self.assembly.constant(closing)
        elif not items:
            self.assembly.constant(opening + closing)
        else:
            assert scope.start_register is not None
            self.assembly.emit("JSON_CLOSE", scope.start_register.read(), opening[0], closing[0])

    def _members(self, items: Sequence[Item]) -> None:
        for item in items:
            with self.compiler.during(item.present):
                self._field(item)

    def _field(self, item: Item) -> None:
        field, node, absent = item.field, self.compiler.reader.resolved(item.type), Label()
        lead = item.scope.lead
        assert lead is not None
        if field.optional and not lead.named:
            raise Uncovered("an optional field in an array")
        if field.besides is not None:
            self._rest(item, node)
        elif isinstance(item.type, nodes.Inline) or field.flatten:
            self._record(item, lead)
        elif field.const is not None:
            self._constant(item, lead)
        elif field.values is not None:
            self._mapped(item, node, lead)
        elif field.derive is not None and not field.bits:
            self._derived(item, node, lead)
        else:
            if not field.bits:
                self._omitted(item, node, absent)
            self.assembly.constant(lead.before(item.member))
            self._plain(item, node)
        if field.optional:
            self.assembly.place(absent)

    def _rest(self, item: Item, node: Node) -> None:
        """Write the members without a field of their own; the read-back checks that their names are new."""
        assert isinstance(node, nodes.MapOf), "the rest of an object is a map"
        if self._is_open(node):
            raise Uncovered("an `inline` map of open values")
        self.stated(node, item.scope, item.column, _MEMBERS)

    def _plain(self, item: Item, node: Node) -> None:
        if item.field.bits:
            self.compiler.fields.field(item)
        else:
            self.compiler.value(node, item.scope, item.column)

    # --- optional members --------------------------------------------------------------------------------------------

    def _omitted(self, item: Item, node: Node, absent: Label) -> None:
        """Skip the member if it has no value, or the default."""
        if not item.field.optional:
            return
        default = item.field.default_value
        if not _null_is_written(node, default):
            if item.column is None:
                self.assembly.emit("JUMP", absent)
                return
            self.compiler.null(item.column, absent, b"")
        if default is not None:
            self.unless(self.is_default(item, node, default), item.scope, absent)

    def _constant(self, item: Item, lead: Lead) -> None:
        if self.may_be_written(item.field):
            self.assembly.constant(lead.before(item.member))
            self.constant(item.field.const, self.compiler.reader.resolved(item.type))

    # --- fields ------------------------------------------------------------------------------------------------------

    def _record(self, item: Item, lead: Lead) -> None:
        """Write a record into the enclosing object, or a flattened record."""
        scope, node = item.scope, self.compiler.reader.resolved(item.type)
        is_inline = isinstance(node, nodes.Inline)
        inner = self.compiler.reader.resolved(node.type) if isinstance(node, nodes.Inline) else node
        if not self.compiler.reader.is_record(inner):
            raise Uncovered(f"`flatten` on a {word_of(inner)}")
        if item.field.optional:
            raise Uncovered("an optional field with `flatten` or `inline`")
        if not is_inline:
            self.assembly.constant(lead.before(item.member))
        scope.lent = lead if is_inline else None
        if item.field.flatten:
            self.compiler.records.members(inner, scope, scope.record, None)
        else:
            self.compiler.record(inner, scope, item.column)
        scope.lent = None

    def _mapped(self, item: Item, node: Node, lead: Lead) -> None:
        """Write the first wire value with the column's meaning; each one is a constant with the member's name."""
        field, scope = item.field, item.scope
        optional, missing = field.optional, object()
        default = field.default if optional and field.has_default else missing
        value = (
            self.compiler.fields.derived(field.derived, scope)
            if field.derive is not None
            else self.compiler.names.value(item.column, textual=True)
        ).read()
        left_out, labels = Label(), dict[str, tuple[Any, Label]]()
        targets: dict[int | None, Label] = {}
        if optional and not _null_is_written(node, None if default is missing else default):
            targets[None] = left_out
        for wire, meaning in self.compiler.fields.meanings(field.values or (), value.kind):
            literal = (type(wire).__name__, wire)
            chosen = left_out if default is not missing and _is_same(wire, default) else Label()
            label = labels.setdefault(repr(literal), (wire, chosen))[1]
            targets.setdefault(None if meaning is None else self.compiler.records.word(meaning), label)
        self.compiler.switch(targets, value)
        before = lead.before(item.member)

        def write(wire: Any) -> None:
            self.assembly.constant(before)
            self.constant(wire, node)

        self.assembly.arms((label, partial(write, wire)) for wire, label in labels.values() if label is not left_out)
        self.assembly.place(left_out)

    def _derived(self, item: Item, node: Node, lead: Lead) -> None:
        """Write a derived value."""
        field = item.field
        register = self.compiler.fields.derived(field.derived, item.scope)
        if field.optional or isinstance(node, nodes.Nullable):
            raise Uncovered("a `derive` field that is optional or may be null")
        self.assembly.constant(lead.before(item.member))
        match node, register.kind:
            case nodes.Int(), "int" | "list":
                self.number(register, node)
            case nodes.Bool(), "bool":
                yes, no, constant = Label(), Label(), self.assembly.constant
                self.compiler.switch({1: yes, 0: no}, register)
                self.assembly.arms([(yes, partial(constant, b"true")), (no, partial(constant, b"false"))])
            case _:
                raise Uncovered(f"a derived value of type {word_of(node)}")

    def number(self, register: Register, node: nodes.Int) -> None:
        """Write the integer in a register."""
        self.assembly.emit("JSON_PUT", register, *limits(node.bits, node.signed))

    def constant(self, const: Any, node: Node) -> None:
        """Write a constant."""
        if isinstance(node, nodes.Nullable) and const is not None:
            node = self.compiler.reader.resolved(node.type)
        match node, const:
            case nodes.Int(), bool():
                raise Uncovered("a `const` that the engine cannot write")
            case (
                (nodes.Int(), int())
                | (nodes.Bool(), bool())
                | (nodes.Text(), str())
                | (nodes.Nullable() | nodes.Null(), None)
            ):
                self.assembly.constant(literal(const))
            case nodes.Bytes(size, _, lines), bytes() if size in (None, len(const)):
                if lines and len(const) >= _LINE_BYTES:
                    raise Uncovered("a `const` that the engine cannot write")
                self.assembly.constant(literal(base64.b64encode(const).decode()))
            case _:
                raise Uncovered("a `const` that the engine cannot write")

    # --- values ------------------------------------------------------------------------------------------------------

    def stated(self, node: Node, scope: Scope, column: Column | None, form: int = 1) -> None:
        """Write a value of one kind; a map becomes an object, or members of the enclosing object."""
        found = self.compiler.only(column, taken(node))
        if found is None:
            return
        emit = self.assembly.emit
        match node:
            case nodes.Int(bits, signed) if bits - signed <= _WIDE:
                emit("JSON_INTEGER", found.index, *limits(bits, signed), bits - signed == _WIDE)
            case nodes.Float(bits):
                emit("JSON_FLOAT", found.index, bits)
            case nodes.Bool():
                emit("JSON_BOOLEAN", found.index)
            case nodes.Text():
                emit("JSON_TEXT", found.index)
            case nodes.Bytes(size, _, lines):
                if not isinstance(size, int | None):
                    self.assembly.doubt("a computed size of base64")
                emit("JSON_BYTES", found.index, size if isinstance(size, int) else -1, lines)
            case nodes.Json(kinds):
                emit("JSON_RAW", found.index, kinds_mask(kinds_of(kinds)))
            case nodes.ListOf(element, _, unique):
                body, place = self.compiler.repeated(element, scope, found)
                emit("JSON_REPEAT", found.index, body, place, 0)
                if unique is not None:
                    self.compiler.certainty.unique(unique, element, found)
            case nodes.MapOf():
                emit("JSON_REPEAT", found.index, *self.entries(node, scope, found, b":"), form)
            case _:
                raise Uncovered(f"a JSON {word_of(node)}")

    def _rules(self, node: nodes.OneOf | nodes.ListOf | nodes.MapOf) -> list[int] | None:
        match node:
            case nodes.MapOf(_, inner) | nodes.ListOf(inner):
                return self.compiler.reader.json.open_rules(inner)
            case _:
                return self.compiler.reader.json.open_rules(node)

    def opened(self, node: nodes.OneOf | nodes.ListOf | nodes.MapOf, column: Column | None) -> None:
        """Write an open value from the two parts of a VARIANT."""
        rules = self._rules(node)
        assert rules is not None
        kinds, is_nullable = rules[0] & ~1, isinstance(node, nodes.OneOf) and bool(rules[0] & 1)
        if not isinstance(node, nodes.OneOf):
            kinds = kinds_mask(OF_JSON["array" if isinstance(node, nodes.ListOf) else "object"])

        def write() -> None:
            found = self.compiler.only(column, "variant")
            if found is not None:
                parts = (found.children[name].index for name in ("value", "metadata"))
                self.assembly.emit("JSON_OPEN", found.index, *parts, self.assembly.table(rules), kinds)

        self.nullable(column, write) if is_nullable else write()


def literal(value: Any) -> bytes:
    """The JSON of a constant."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _is_certain(item: Item) -> bool:
    """Whether a member is always written, with a name of its own."""
    is_there = isinstance(item.present, Constant) and item.present.value is True
    is_unnamed = isinstance(item.type, nodes.Inline) or item.field.besides is not None
    return is_there and not item.field.optional and not is_unnamed


def _null_is_written(node: Node, default: Any) -> bool:
    """Whether null must be written, because absence means another value."""
    return default is not None and isinstance(node, nodes.Nullable)


def _is_same(wire: Any, default: Any) -> bool:
    return bool(wire == default) and isinstance(wire, bool) == isinstance(default, bool)
