"""JSON: the whole text is parsed, then each field finds its value among the members or elements.

Steps run in the order of the spec, whatever the order of the members. An `inline` struct takes its members from the
enclosing object; only the struct that owns the object checks that every member was used.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.arrays import depends, possible
from wireloom.runtime.engine.compiler.core import Part
from wireloom.runtime.engine.compiler.scope import Item, Node, Scope, Sink, limits, taken, word_of
from wireloom.runtime.engine.compiler.switches import hashed, is_beyond
from wireloom.runtime.engine.programs.assembly import Edge, Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Tree

_KINDS = {"null": 0, "bool": 1, "int": 2, "float": 3, "str": 4, "list": 5, "object": 6}
_EVERY = tuple(_KINDS.values())
OF_JSON = {"any": _EVERY, "array": (_KINDS["list"],), "object": (_KINDS["object"],)}
"""The kinds of JSON values that may be kept as text."""
_WIDEST = 64  # bits of an integer
_COMPUTED = 2  # the form of a size that is an expression
_TEXT = nodes.Text(None)

Read = Callable[[Node], object]


class Json(Part):
    """Reads values of a JSON text, and members by name."""

    stated = frozenset({"member", "besides", "optional", "default"})

    def document(self, root: str) -> None:
        """Parse the text of a root."""
        self.assembly.emit("JSON_DOCUMENT", self.compiler.layout["structure"][root])

    # --- structs ---

    def open(self, node: nodes.Struct, arities: dict[int, int], scope: Scope, version: Register) -> None:
        """Open a struct's object or array."""
        fields = [field for field in node.fields if field.is_written]
        lengths = possible(fields) if depends(fields, arities) else [len(fields)]
        arities = arities or dict.fromkeys(lengths, 0)
        for step in node.steps:
            if not isinstance(step, nodes.Field | nodes.Check | nodes.Discard):
                raise Uncovered(f"the step {step.words[0]} in JSON")
        if scope.shared:
            return
        scope.holder = self.assembly.slot()
        if node.form == "array":
            words = [word for entry in arities.items() for word in entry]
            self.assembly.emit("JSON_ARRAY", self.assembly.table([len(arities), *words]), version, scope.holder)
            return
        self.compiler.note_members(self._names(node), scope)
        self.assembly.emit("JSON_OBJECT", scope.holder, scope.members)

    def close(self, scope: Scope) -> None:
        """After the last step: check that no member or element is unused."""
        if scope.shared:
            return
        if scope.members is None:
            self.assembly.emit("JSON_NO_MORE", scope.holder)
        elif self.compiler.unknown() != "ignore":
            self.assembly.emit("JSON_CLOSE", scope.holder, scope.members)

    def _names(self, struct: nodes.Struct) -> Iterator[str]:
        """The names of a struct's members, including those of inline structs."""
        for field in struct.fields:
            if not field.is_written:
                continue
            if isinstance(field.type, nodes.Inline):
                yield from self._names_of(field.type.type)
            elif field.besides is not None:
                yield from field.besides
            else:
                yield field.wire_member

    def _names_of(self, node: Node) -> Iterator[str]:
        match self.compiler.resolved(node):
            case nodes.Struct(encoding="json", form="object") as struct:
                yield from self._names(struct)
            case nodes.Tagged(cases=cases) | nodes.Select(cases=cases):
                for case in cases:
                    if not isinstance(case.type, nodes.Refuse):
                        yield from self._names_of(case.type)
            case other:
                raise Uncovered(f"`inline` on a {word_of(other)}")

    def inline(
        self, node: Node, scope: Scope, record: Column | None, into: Scope | None, place: Register | None
    ) -> Scope | None:
        """Read a record from the members of the enclosing object."""

        def within(case: Node) -> Scope | None:
            return self.inline(case, scope, record, into, place)

        match self.compiler.resolved(node):
            case nodes.Struct(encoding=encoding) as struct:
                inner = Scope(encoding, scope, into, place, tables=scope.tables, holder=scope.holder, shared=True)
                inner.members = scope.members
                return self.compiler.structs.struct(struct, inner, record)
            case nodes.Tagged() as tagged:
                assert scope.holder is not None
                self._tagged(tagged, scope.holder, within)
            case nodes.Select(tag, cases, code):
                self.compiler.records.selected(tag, cases, code, scope, within)
            case other:
                raise Uncovered(f"`inline` on a {word_of(other)}")
        return None

    # --- fields ---

    def field(self, item: Item, when: Tree) -> None:
        """Find a field's value and read it."""
        field, scope, read = item.field, item.scope, self.compiler.fields.read
        if field.flatten and not self.compiler.is_record(item.type):
            raise Uncovered("`flatten` on a field that is not a struct")
        if isinstance(item.type, nodes.Inline):
            read(item)
            return
        if field.besides is not None:
            self._rest(item)
            return
        if scope.members is None:
            self.assembly.emit("JSON_ELEMENT", scope.holder)
            read(item)
            return
        absent = Label()
        self.assembly.emit("JSON_MEMBER", scope.tables[field.wire_member], absent, not field.optional)
        read(item)
        self.compiler.fields.defaulted(item, absent, has_default=field.has_default and field.optional)

    def _rest(self, item: Item) -> None:
        """Read the members without a field of their own, as an object."""
        rest = self.compiler.resolved(item.type)
        assert isinstance(rest, nodes.MapOf), "the rest of an object is a map"
        if self.compiler.open_values == "binary" and self.compiler.holds_open(rest.value):
            raise Uncovered("an `inline` map of open values that are shown as bytes")
        self.assembly.emit("JSON_REST", item.scope.holder, item.scope.members)
        self.compiler.fields.read(item)

    # --- structs that are told by a member ---

    def tagged(self, node: nodes.Tagged, scope: Scope, read: Read) -> None:
        """Read the current object by the case that one of its members selects."""
        if scope.encoding != "json":
            raise Uncovered("a choice by a member, outside of JSON")
        holder = self.assembly.slot()
        self.assembly.emit("JSON_OBJECT", holder, self.assembly.table([0]))

        def case_of(case: Node) -> object:
            self.assembly.emit("JSON_AT", holder)
            return read(case)

        self._tagged(node, holder, case_of)

    def _tagged(self, node: nodes.Tagged, holder: int, read: Read) -> None:
        cases, default = node.cases, node.default
        emit, absent, refused, end = self.assembly.emit, Label(), Label(), Label()
        labels = [Label() for _ in cases]
        known = {
            (type(value), value): label for case, label in zip(cases, labels, strict=True) for value in case.values
        }
        name = self.assembly.text(node.member.encode())
        emit("JSON_FIND", name >> 16, name & 0xFFFF, holder, absent)
        if node.presence:
            self.assembly.jump(known.get((bool, True), refused))
        else:
            self._by_value(list(known), known, refused)
        self.assembly.place(absent)
        stated = False if node.presence else default
        missing = node.required and default is None and not node.presence
        self.assembly.jump(refused if missing else known.get((type(stated), stated), refused))
        for case, label in zip(cases, labels, strict=True):
            self.assembly.place(label)
            if isinstance(case.type, nodes.Refuse):
                self.assembly.jump(refused)
            else:
                read(case.type)
                self.assembly.jump(end)
        self.assembly.place(refused)
        emit("FAIL", self.assembly.refusal("unknown_case"))
        self.assembly.place(end)

    def _by_value(
        self, values: Sequence[tuple[type, Any]], known: dict[tuple[type, Any], Label], refused: Label
    ) -> None:
        """Jump to the case of the current value."""
        kinds: dict[type, str] = {type(None): "null", bool: "bool", int: "int", str: "str"}
        if any(kind not in kinds for kind, _ in values):
            raise Uncovered("a choice whose tag is not a number, boolean or text")
        used = dict.fromkeys(kind for kind, _ in values)
        labels = {kind: Label() for kind in used}
        targets: list[Any] = [-1] * len(_KINDS)
        for kind, label in labels.items():
            targets[_KINDS[kinds[kind]]] = label
        self.assembly.emit("JSON_KIND", self.assembly.table(targets))
        for kind, label in labels.items():
            self.assembly.place(label)
            self._switched(kind, {value: known[found, value] for found, value in values if found is kind}, refused)

    def _switched(self, kind: type, targets: dict[Any, Label], refused: Label) -> None:
        emit, code = self.assembly.emit, self.assembly.refusal("unknown_case")
        if kind is type(None):
            self.assembly.jump(targets[None])
            return
        chosen = self.assembly.register("int").read()
        if kind is str:
            text = self.assembly.register("bytes").read()
            emit("JSON_TEXT", text, None)
            words = [
                word for place, value in enumerate(targets) for word in (self.assembly.text(value.encode()), 1, place)
            ]
            emit("MATCH", text, self.assembly.table([len(targets), *words]), code, chosen, None)
            numbered: dict[int | None, Label | int] = dict(enumerate(targets.values()))
        else:
            if kind is bool:
                emit("JSON_BOOLEAN", chosen, None)
            else:
                emit("JSON_INTEGER", *limits(_WIDEST, signed=True), 0, chosen, None)
            numbered = {int(value): label for value, label in targets.items() if not is_beyond(value)}
        emit("SWITCH", self.assembly.table(hashed(numbered)), code, chosen)
        self.assembly.jump(refused)

    # --- values ---

    def value(self, node: Node, scope: Scope, sink: Sink) -> None:
        """Read the current value."""
        emit = self.assembly.emit
        match node:
            case nodes.Int(bits, signed, "") if bits - signed <= _WIDEST:
                self.compiler.put(node, sink, "JSON_INTEGER", *limits(bits, signed), bits - signed == _WIDEST)
            case nodes.Float(bits, ""):
                with self.compiler.into(sink.column, "float") as column:
                    emit("JSON_FLOAT", bits, column and column.index)
            case nodes.Bool():
                self.compiler.put(node, sink, "JSON_BOOLEAN")
            case nodes.Null():
                emit("JSON_NULL")
            case nodes.Text():
                self.compiler.put(node, sink, "JSON_TEXT")
            case nodes.Bytes(size, _, lines):
                form, operand = self.compiler.size(size, scope)
                if form == _COMPUTED:
                    raise Uncovered("base64 with a computed size")
                self.compiler.put(node, sink, "JSON_BYTES", operand if form else -1, lines)
            case nodes.Json():
                with self.compiler.into(sink.column, "str") as column:
                    emit("JSON_RAW", kinds_mask(self._kinds(node)), column and column.index)
            case nodes.Nullable(inner):
                end = Label()
                emit("JSON_NULL_JUMP", end)
                self.compiler.value(inner, scope, sink)
                self.assembly.place(end)
            case nodes.ListOf(count=None, salvage=None):
                self._list(node, scope, sink)
            case nodes.MapOf():
                self._map(node, scope, sink)
            case nodes.OneOf():
                self._one_of(node, scope, sink)
            case _:
                raise Uncovered(f"a JSON {word_of(node)}")

    def _count(self, sink: Sink) -> None:
        """Count the elements or members of the current value, for expressions."""
        if sink.register is not None and sink.register.kind == "list":
            self.assembly.emit("JSON_COUNT", sink.register)

    def _list(self, node: nodes.ListOf, scope: Scope, sink: Sink) -> None:
        self._count(sink)
        element, unique = node.element, node.unique
        rules = self.open_rules(element)
        if rules is not None and unique is None:
            self._open(rules, 1 << _KINDS["list"], sink)
        elif self.compiler.holds_open(element):
            raise Uncovered("open values in a list or map that is not an open value itself")
        else:
            with self.compiler.into(sink.column, taken(node)) as column:
                self._repeated(element, scope, column, unique, name=sink.name)

    def _map(self, node: nodes.MapOf, scope: Scope, sink: Sink) -> None:
        self._count(sink)
        key, value = node.key, node.value
        if self.compiler.resolved(key) != _TEXT:
            raise Uncovered("map keys that are not text")
        rules = self.open_rules(value)
        if rules is not None and isinstance(key, nodes.Spelled):
            raise Uncovered("map keys with `length` or `pattern`, in a map of open values")
        if rules is not None:
            self._open(rules, 1 << _KINDS["object"], sink)
        elif self.compiler.holds_open(value):
            raise Uncovered("open values in a list or map that is not an open value itself")
        else:
            with self.compiler.into(sink.column, "map") as column:
                self._repeated(value, scope, column, None, key=key)

    def _repeated(  # noqa: PLR0913 - the element, and where it goes
        self,
        element: Node,
        scope: Scope,
        column: Column | None,
        unique: str | None,
        *,
        key: Node | None = None,
        name: str = "",
    ) -> None:
        """Emit a list or a map, and the body that reads an element or an entry."""
        scope.listed = True
        place = self.assembly.register("int").read()
        inner = column.element if column is not None else None
        totals = self.compiler.sums.begin(name, element, scope)

        def body() -> None:
            if key is not None:
                found = self.assembly.register("bytes").read() if isinstance(key, nodes.Spelled) else None
                self.compiler.entry(key, found, element, scope, inner, "JSON_NEXT")
            elif unique is not None:
                self.compiler.sums.add(totals, None, self._unique(row, element, unique, scope, inner, place))
            else:
                self.compiler.element(element, scope, Sink(None, inner), place, totals)

        label = self.assembly.later(body)
        of_map = key is not None
        row = self.assembly.emit("JSON_REPEAT", label, column and column.index, place, None, of_map, None)

    def _unique(  # noqa: PLR0913 - an element, and where it goes
        self, row: list[Any], element: Node, unique: str, scope: Scope, column: Column | None, place: Register
    ) -> Scope:
        """Read an element with a `unique` member, which has one register, whichever struct the element is."""
        if not self.compiler.is_record(element):
            raise Uncovered("`unique` on a list whose elements are not structs")
        shared, first = Scope(scope.encoding, scope), len(self.assembly.registers)
        cleared = self.assembly.emit("ENTER", None, None, Edge(first), Edge(first))
        with self.compiler.into(column, "record") as record:
            self.compiler.records.members(element, scope, record, shared, place)
            if record is not None:
                self.assembly.emit("FINISH", record.index)
        cleared[4] = Edge(len(self.assembly.registers))
        register = self.compiler.unique_register(shared, unique)
        row[4 if register.kind == "bytes" else 6] = register.read()
        return shared

    def _one_of(self, node: nodes.OneOf, scope: Scope, sink: Sink) -> None:
        end, alternatives = Label(), node.alternatives
        if node.open:
            rules = self.open_rules(node)
            assert rules is not None
            self.compiler.any_value("JSON_NULL_JUMP", rules, sink, self._open)
            return
        targets: list[Any] = [-1] * len(_KINDS)
        labels = [Label() for _ in alternatives]
        for alternative, label in zip(alternatives, labels, strict=True):
            for kind in self._kinds(alternative):
                targets[kind] = label if targets[kind] == -1 else targets[kind]
        _take_integers(targets)
        self.assembly.emit("JSON_KIND", self.assembly.table(targets))
        for alternative, label in zip(alternatives, labels, strict=True):
            self.assembly.place(label)
            self.compiler.value(alternative, scope, sink)
            self.assembly.jump(end)
        self.assembly.place(end)

    def _kinds(self, node: Node) -> Sequence[int]:
        """The kinds of JSON values that a type accepts."""
        match self.compiler.resolved(node):
            case nodes.Null() | nodes.Bool() | nodes.Int() | nodes.Float() | nodes.ListOf() as plain:
                return (_KINDS[word_of(plain)],)
            case nodes.Text() | nodes.Bytes():
                return (_KINDS["str"],)
            case nodes.Json(kinds):
                return kinds_of(kinds)
            case nodes.Struct(form="array"):
                return (_KINDS["list"],)
            case nodes.Struct() | nodes.Tagged() | nodes.MapOf():
                return (_KINDS["object"],)
            case nodes.Nullable(inner):
                return (_KINDS["null"], *self._kinds(inner))
            case other:
                raise Uncovered(f"an alternative that is a {word_of(other)}")

    # --- open values ---

    def open_rules(self, node: Node) -> list[int] | None:
        """The rules of an open value: kinds, range of integers, whether these are floats; None if it is not open."""
        node = self.compiler.resolved(node)
        if not isinstance(node, nodes.OneOf) or not node.open:
            return None
        kinds, low, high = 0, 0, -1
        for alternative in (self.compiler.resolved(each) for each in node.alternatives):
            match alternative:
                case nodes.Int(bits, signed) if bits - signed < _WIDEST:
                    low, high = limits(bits, signed)
                case nodes.Int():
                    raise Uncovered("open values with unsigned 64-bit integers")
                case nodes.ListOf(element, None, None, _, None) if self.compiler.resolved(element) is node:
                    pass
                case nodes.MapOf(key, value) if (
                    self.compiler.resolved(key) == _TEXT and self.compiler.resolved(value) is node
                ):
                    pass
                case nodes.Null() | nodes.Bool() | nodes.Float(64, "") | nodes.Text(None):
                    pass
                case _:
                    raise Uncovered("open values whose lists or maps contain values of another type")
            kinds |= kinds_mask(self._kinds(alternative))
        floats = kinds >> _KINDS["float"] & 1 and not kinds >> _KINDS["int"] & 1
        return [kinds | floats << _KINDS["int"], low, high, floats]

    def _open(self, rules: list[int], kinds: int, sink: Sink) -> None:
        self.compiler.open_value("JSON_OPEN", self.assembly.table(rules), kinds, sink)


def kinds_of(kept: Sequence[str]) -> Sequence[int]:
    """The kinds of JSON values that may be kept as text."""
    return [kind for each in kept for kind in OF_JSON[each]]


def kinds_mask(kinds: Sequence[int]) -> int:
    """A bit for each kind of JSON value."""
    return sum(1 << kind for kind in dict.fromkeys(kinds))


def _take_integers(targets: list[Any]) -> None:
    """Let a float alternative also take integers, unless another alternative does."""
    if targets[_KINDS["int"]] == -1:
        targets[_KINDS["int"]] = targets[_KINDS["float"]]
