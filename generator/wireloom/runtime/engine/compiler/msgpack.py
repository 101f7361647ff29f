"""Values of MessagePack bodies, and open values.

The first byte of a value determines its family, so a union is a jump by family. A struct is an array (`arrays.py`) or a
map, whose members are found once and read in the order of the spec. An open value is one instruction with a table of
rules: the allowed families, the range of its integers, and its ext types.
"""

from collections.abc import Sequence
from typing import Any

from wireloom.runtime.columns.canonical import dumps
from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.core import Part
from wireloom.runtime.engine.compiler.scope import Item, Node, Scope, Sink, limits, taken, word_of
from wireloom.runtime.engine.programs.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.programs.expressions import Tree

FAMILIES = {
    "null": 0,
    "bool": 1,
    "int": 2,
    "float": 3,
    "text": 4,
    "bytes": 5,
    "list": 6,
    "struct": 6,
    "map": 7,
    "ext": 8,
}
_FAMILY_COUNT = 9
_HALVES = 16  # the shift of the table of a map's halves in the operand of families
_WORD = 64
_ALLOWED, _REFUSED = range(2)  # how to treat unknown members of a map
_NARROW = 4  # the flag of floats that are rounded to 32 bits, whatever the column's type


class MessagePack(Part):
    """Reads values by the family in their first byte; structs are arrays (`Arrays`) or maps."""

    stated = frozenset({"member", "besides", "optional", "default"})

    def value(self, node: Node, scope: Scope, sink: Sink) -> None:
        """Read one value."""
        emit = self.assembly.emit
        match node:
            case nodes.Int(bits, signed) if bits - signed <= _WORD:
                self.compiler.put(node, sink, "PACK_INTEGER", *limits(bits, signed), bits - signed == _WORD, None)
            case nodes.Float(bits, ""):
                with self.compiler.into(sink.column, "float") as column:
                    emit("PACK_FLOAT", 0 if bits == _WORD else _NARROW, None, column and column.index)
            case nodes.Bool():
                self.compiler.put(node, sink, "PACK_BOOLEAN", 0, None)
            case nodes.Null():
                emit("PACK_NIL")
            case nodes.Text():
                self.compiler.put(node, sink, "PACK_TEXT", -1, 0, None)
            case nodes.Bytes(size):
                form, operand = self.compiler.size(size, scope)
                if form == 2:
                    raise Uncovered("a bin with a computed size")
                self.compiler.put(node, sink, "PACK_BYTES", operand if form else -1, 0, None)
            case nodes.Nullable(inner):
                end = Label()
                emit("PACK_NIL_JUMP", end)
                self.compiler.value(inner, scope, sink)
                self.assembly.place(end)
            case nodes.ListOf(element, _, unique):
                self._count(sink)
                rules = self.open_rules(element)
                if rules is not None and unique is None:
                    self._open_value(rules, 1 << FAMILIES["list"], sink)
                elif rules is None and not self.compiler.holds_open(element):
                    with self.compiler.into(sink.column, taken(node)) as column:
                        self.compiler.repeated("PACK_REPEAT", (), element, scope, column, unique, name=sink.name)
                elif rules is None:
                    raise Uncovered("open values in a list or map that is not an open value itself")
                else:
                    raise Uncovered("`unique` on a list of open values")
            case nodes.MapOf(key, value):
                self._map(key, value, scope, sink)
            case nodes.Ext(code, content):
                self._extension(code, content == "text", sink)
            case nodes.OneOf():
                self._one_of(node, scope, sink)
            case _:
                raise Uncovered(f"a MessagePack {word_of(node)}")

    # --- structs ---

    def open(self, node: nodes.Struct, arities: dict[int, int], scope: Scope, version: Register) -> None:
        """Open a struct's array or map."""
        fields = [field for field in node.fields if field.is_written]
        if node.form == "array":
            self.compiler.arrays.open(fields, arities, scope, version)
        else:
            self._open_map(fields, scope)

    def _open_map(self, fields: Sequence[nodes.Field], scope: Scope) -> None:
        """Open a struct's map: find the value of each member."""
        scope.holder = self.assembly.slot()
        self.compiler.note_members((field.wire_member for field in fields if field.besides is None), scope)
        scope.others = _ALLOWED if self.compiler.unknown() == "ignore" else _REFUSED
        self.assembly.emit("PACK_OBJECT", scope.holder, scope.members, scope.others)

    def close(self, scope: Scope) -> None:
        """After the last step: check that no member or element is unread."""
        if scope.members is not None:
            self.assembly.emit("PACK_CLOSE", scope.holder, scope.members, scope.others)
        self.compiler.arrays.close(scope)

    def field(self, item: Item, when: Tree) -> None:
        """Find a member's value, or the next element, and read it."""
        if item.scope.members is None:
            self.compiler.arrays.element(item, when)
        else:
            self._member(item)

    def _member(self, item: Item) -> None:
        field, scope, absent = item.field, item.scope, Label()
        if field.flatten and not self.compiler.is_record(item.type):
            raise Uncovered("`flatten` on a field that is not a struct")
        if field.besides is not None:
            raise Uncovered("an `inline` map in MessagePack")
        self.assembly.emit("PACK_MEMBER", scope.tables[field.wire_member], absent, not field.optional)
        self.compiler.fields.read(item)
        self.compiler.fields.defaulted(item, absent, has_default=field.has_default and field.optional)

    def _extension(self, code: int, text: bool, sink: Sink) -> None:  # noqa: FBT001 - an operand
        with self.compiler.into(sink.column, "str" if text else "bytes") as column:
            self.assembly.emit("PACK_EXT", code, text, sink.register, column and column.index)

    def _count(self, sink: Sink) -> None:
        """Count the elements of the next list or map, for expressions."""
        if sink.register is not None and sink.register.kind == "list":
            self.assembly.emit("PACK_COUNT", sink.register)

    def _map(self, key: Node, value: Node, scope: Scope, sink: Sink) -> None:
        """Read a map of open values or of stated types: a list of entries with distinct keys."""
        self._count(sink)
        rules, own = self.open_rules(value), self.open_rules(key)
        if isinstance(key, nodes.Spelled) and (rules is not None or own is not None):
            raise Uncovered("map keys with `length` or `pattern`, in a map of open values")
        if rules is not None and rules == own:
            self._open_value(rules, 1 << FAMILIES["map"], sink)
            return
        if (rules is None) != (own is None):
            halves = own or self.closed_rules(key), rules or self.closed_rules(value)
            self._open_value(rules or own or [], 1 << FAMILIES["map"], sink, halves)
            return
        if self.compiler.holds_open(key) or self.compiler.holds_open(value):
            raise Uncovered("a map of open values of several types")
        if not isinstance(self.compiler.resolved(key), nodes.Int | nodes.Text | nodes.Bytes):
            raise Uncovered("map keys that are not all integers, all texts or all bytes")
        with self.compiler.into(sink.column, "map") as column:
            found = self.assembly.register(self.compiler.kind(key)).read()
            self.compiler.repeated("PACK_REPEAT", (), value, scope, column, entry=(key, found))

    def _one_of(self, node: nodes.OneOf, scope: Scope, sink: Sink) -> None:
        alternatives = node.alternatives
        if node.open:
            rules = self.open_rules(node)
            assert rules is not None
            self.compiler.any_value("PACK_NIL_JUMP", rules, sink, self._open_value)
            return
        targets: list[Any] = [-1] * _FAMILY_COUNT
        labels = [Label() for _ in alternatives]
        for alternative, label in zip(map(self.compiler.resolved, alternatives), labels, strict=True):
            written = alternative.type if isinstance(alternative, nodes.Charset) else alternative
            family = FAMILIES.get(word_of(written))
            if family is None:
                raise Uncovered("an alternative that has several MessagePack types")
            if family == FAMILIES["ext"] and targets[family] != -1:
                raise Uncovered("several alternatives of type `ext`")
            targets[family] = label
        self.assembly.emit("PACK_FAMILY", self.assembly.table(targets))
        end = Label()
        for alternative, label in zip(alternatives, labels, strict=True):
            self.assembly.place(label)
            self.compiler.value(alternative, scope, sink)
            self.assembly.jump(end)
        self.assembly.place(end)

    def shows_open(self, node: Any, seen: frozenset[str] = frozenset()) -> bool:
        """Whether any value in the type, at any depth, is shown as an open value."""
        for each in nodes.within(node):
            match each:
                case nodes.OneOf(open=True):
                    return True
                case nodes.Ref(name) if name not in seen and self.shows_open(
                    self.compiler.resolved(each), seen | {name}
                ):
                    return True
                case _:
                    pass
        return False

    def open_rules(self, node: Node) -> list[int] | None:
        """The rules of an open value: families, range of integers, ext types; None if it is not open."""
        node = self.compiler.resolved(node)
        if not isinstance(node, nodes.OneOf) or not node.open:
            return None
        families, low, high, extensions = 0, 0, -1, list[int]()
        for alternative in (self.compiler.resolved(each) for each in node.alternatives):
            if word_of(alternative) not in FAMILIES:
                raise Uncovered("open values whose lists or maps contain values of another type")
            families |= 1 << FAMILIES[word_of(alternative)]
            match alternative:
                case nodes.Int(bits, signed):
                    low, high = limits(bits, signed)
                    if bits - signed == _WORD:
                        raise Uncovered("open values with unsigned 64-bit integers")
                case nodes.Ext(code, content):
                    extensions += [code, content == "text"]
                case nodes.ListOf(element, None, None, _, None) if self.compiler.resolved(element) is node:
                    pass
                case nodes.MapOf(key, value) if (
                    self.compiler.resolved(key) is node and self.compiler.resolved(value) is node
                ):
                    pass
                case nodes.Float(bits, "") if bits < _WORD:
                    raise Uncovered(f"open values with floats of {bits} bits")
                case nodes.Bytes(None) | nodes.Null() | nodes.Bool() | nodes.Float() | nodes.Text(None):
                    pass
                case _:
                    raise Uncovered("open values whose lists or maps contain values of another type")
        return [families, low, high, len(extensions) // 2, *extensions]

    def closed_rules(self, node: Node) -> list[int]:
        """The rules of the typed half of a map in which only the keys or only the values are open."""
        match self.compiler.resolved(node):
            case nodes.Nullable(inner) if not isinstance(self.compiler.resolved(inner), nodes.Nullable):
                families, *rest = self.closed_rules(inner)
                return [families | 1 << FAMILIES["null"], *rest]
            case nodes.Int(bits, signed) if bits - signed < _WORD:
                return [1 << FAMILIES["int"], *limits(bits, signed), 0]
            case nodes.Bool() | nodes.Float(64, "") | nodes.Text(None) | nodes.Bytes(None) as scalar:
                return [1 << FAMILIES[word_of(scalar)], 0, -1, 0]
            case other:
                raise Uncovered(
                    f"a map with open values on one side and a {word_of(other)} with its own rule on the other"
                )

    def _open_value(
        self, rules: list[int], families: int, sink: Sink, halves: tuple[list[int], list[int]] | None = None
    ) -> None:
        """Read an open value of some families; for a map whose halves differ, `halves` are their rules."""
        if halves is not None:
            both = self.assembly.table([self.assembly.table(half) for half in halves])
            families |= both + 1 << _HALVES
        names = self._tags(rules) if self.compiler.open_values == "json" and sink.column is not None else 0
        self.compiler.open_value("PACK_OPEN", self.assembly.table(rules), families, sink, names)

    def _tags(self, rules: list[int]) -> int:
        """The table of prefixes that tagged JSON puts before each ext type of the rules."""
        words: list[int] = []
        for code in rules[4::2]:
            names = {extension.name or f"ext{code}" for extension in self.compiler.extensions if extension.code == code}
            if len(names) != 1:
                raise Uncovered("an `ext` type with several names")
            words.append(self.assembly.text(f"{{{dumps(names.pop())}:".encode()))
        return self.assembly.table([len(words), *words])
