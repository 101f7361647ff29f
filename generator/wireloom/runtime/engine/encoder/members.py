"""The members of a struct's value: their names, their columns, and the registers that expressions read.

`load` runs at the start of a struct. It loads a register for each name that an expression of the format uses. When
writing, names denote members of the value, not bytes read: two fields with the same name for readers share a column.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import member
from wireloom.runtime.engine.encoder.protocols import Part
from wireloom.runtime.engine.encoder.scope import Known, Node, Scope
from wireloom.runtime.engine.programs.assembly import Register
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Tree, looks_at, sum_name

_LOADS = {  # the kind of value that a column takes -> what is loaded, and the kind of register
    "int": ("integer", "int"),
    "bool": ("boolean", "bool"),
    "list": ("count", "list"),
    "map": ("count", "list"),
    "str": ("size", "bytes"),
    "bytes": ("size", "bytes"),
    "": ("choice", "mixed"),
}


_CONDITIONS = {"when", "since", "until"}
FOLLOWING = {"const", "compute", "derive", "default", "counted", "bits", "checksum"}
"""The keys that give a member a value although its column may be null."""


class Names(Part):
    """Loads the names that expressions see, at the start of a struct."""

    _members: dict[str, set[tuple[str, ...]]] | None = None

    def load(self, steps: Sequence[nodes.Step], scope: Scope) -> None:
        """Load the value of each name of the struct into a register."""
        texts = {name for name, attributes in self.members(steps) if {"values", "compute"} & attributes.keys()}
        own: dict[str, str] = {}  # names in expressions of the struct's own fields -> names for readers
        for field in nodes.fields(steps):
            own.setdefault(field.name, title_of(field))
            for bit in field.bits:
                own.setdefault(bit.name, bit.title)
        hidden = {name for name, attributes in self.members(steps) if attributes.get("hidden")}
        for title in dict.fromkeys(self.titles(steps)):
            if own.get(title, title) == title:
                column = None if title in hidden else member(scope.record, title)
                scope.names[title] = self._loaded(column, textual=title in texts)
        for name, title in own.items():
            if name not in scope.names:
                scope.names[name] = self._loaded(member(scope.record, title), textual=title in texts)
        scope.unsaid.update(self._unsaid(steps))
        for field in nodes.fields(steps):
            if field.name in scope.names and self._is_coded(field.type):
                scope.names[field.name].coded = True
            if not field.flatten:
                self._load_sums(field, scope)
        self._load_members(steps, scope)

    def _unsaid(self, steps: Sequence[nodes.Step]) -> Iterator[str]:
        """The names of fields whose columns do not tell whether they are present: flattened ones, and shared names."""
        shared = Counter(self.titles(steps))
        for field in nodes.fields(steps):
            if field.flatten:
                yield from () if field.name in shared else (field.name,)  # a member with the field's name has a value
            elif shared[title_of(field)] > 1 and field.is_conditional:
                yield field.name

    def _is_coded(self, node: Node) -> bool:
        """Whether a text is in a character set, while its column is UTF-8."""
        while isinstance(node, nodes.Ref | nodes.Nullable):
            node = self.compiler.reader.layout["types"][node.name] if isinstance(node, nodes.Ref) else node.type
        return isinstance(node, nodes.Charset)

    def _load_members(self, steps: Sequence[nodes.Step], scope: Scope) -> None:
        """Load the members of records that expressions use, if one column holds each."""
        for name, ways in _by_name(self.fields(steps)).items():
            asked = self._asked().get(name)
            column = _column_of(ways, scope.record)
            if asked and column is not None and column.takes == "record":
                scope.names[f"\0{name}"] = self.value(column, textual=False)
                self._load_within(name, ways, column, asked, scope)

    def _load_within(
        self, path: str, alternatives: Sequence[Known], column: Column, asked: set[tuple[str, ...]], scope: Scope
    ) -> None:
        """Load members of the record in a column, and their members; null if the record is missing."""
        known = _by_name(member for way in alternatives if way.type is not None for member in self._within(way.type))
        called = Counter(title for ways in known.values() for title in {way.title for way in ways})
        for each in sorted({first for first, *_ in asked} & known.keys()):
            ways, name = known[each], f"{path}.{each}"
            if any((FOLLOWING | {"hidden"}) & way.attributes.keys() for way in ways):
                continue
            if any(called[way.title] > 1 and _CONDITIONS & way.attributes.keys() for way in ways):
                scope.unsaid.add(name)
            found = _column_of(ways, column)
            if found is not None:
                self.compiler.sentinels.see(found, ways[0])
            inner = self._loaded(found, textual=any("values" in way.attributes for way in ways))
            scope.names[name] = register = self._where_there(path, inner, scope)
            register.coded = any(way.type is not None and self._is_coded(way.type) for way in ways)
            if inner.named is not None:
                register.named = self._where_there(path, inner.named, scope)
            deeper = {tuple(rest) for first, *rest in asked if first == each and rest}
            if deeper and found is not None and found.takes == "record":
                scope.names[f"\0{name}"] = register
                self._load_within(name, ways, found, deeper, scope)

    def _load_sums(self, field: nodes.Field, scope: Scope) -> None:
        """Load the sums over a list that expressions use; a missing list sums up to 0."""
        name = field.name
        column = None if field.hidden else member(scope.record, field.title)
        for inner in sorted(self.compiler.reader.sums.asked(name)):
            total = self.assembly.register("int")
            if column is not None:
                element = column.element if column.takes == "list" else None
                added = element.children.get(inner) if inner and element is not None else element
                if added is None or added.takes != "int":
                    continue
                self.assembly.emit("LOAD", column.index, self.compiler.native.LOADS["sum"], total, added.index)
            scope.names[sum_name(name, inner)] = total

    def _where_there(self, name: str, member: Register, scope: Scope) -> Register:
        """A register with the value of a record's member; null if the record is missing."""
        scope.names[f"\0{name}."] = member
        exists: Tree = nodes.present(nodes.own(f"\0{name}"))
        value: Tree = nodes.own(f"\0{name}.")
        if member.kind == "mixed":  # expressions only see whether it is present
            value = nodes.If(nodes.present(value), then=True, otherwise=nodes.NullConstant())
        compiled = self.expressions.held(
            self.expressions.compiled(nodes.If(exists, value, nodes.NullConstant()), scope)
        )
        if member.kind == "mixed":
            self.compiler.compute(compiled, register := self.assembly.register("mixed"))
            return register
        register = self.assembly.register(member.kind if compiled.kind == "null" else compiled.kind)
        self.compiler.compute(compiled, register)
        return register

    def _asked(self) -> dict[str, set[tuple[str, ...]]]:
        """The members of record fields that expressions use, as paths, by field."""
        if self._members is None:
            self._members = {}
            layout = self.compiler.reader.layout
            for name, *inner in fields_of([*layout["types"].values(), *layout["roots"].values()]):
                if inner:
                    self._members.setdefault(name, set()).add(tuple(inner))
        return self._members

    def load_record(self, scope: Scope) -> None:
        """Load each member of a record, whatever its struct is."""
        for name, column in (scope.record.children if scope.record is not None else {}).items():
            scope.names[name] = self._loaded(column, textual=False)

    def value(self, column: Column | None, *, textual: bool) -> Register:
        """A register with the value of a column; a text becomes the number of the constant that it equals."""
        return self._loaded(column, textual=textual)

    def bits(self, column: Column | None) -> Register:
        """A register with the 64 bits of a float column."""
        if column is None or column.takes != "float":
            return self._loaded(column, textual=False)
        register = self.assembly.register("int")
        self.assembly.emit("LOAD", column.index, self.compiler.native.LOADS["real"], register)
        return register

    def _loaded(self, column: Column | None, *, textual: bool) -> Register:
        if column is None:
            return self.assembly.register("int")  # never written: null
        form, kind = _LOADS.get(column.takes, ("present", "mixed"))
        if form == "size" and textual:
            form, kind = "symbol", "text"
        register = self.assembly.register(kind)
        self.assembly.emit("LOAD", column.index, self.compiler.native.LOADS[form], register)
        if form == "size":
            register.named = self.assembly.register("text")
            self.assembly.emit("LOAD", column.index, self.compiler.native.LOADS["symbol"], register.named)
        return register

    def titles(self, steps: Sequence[nodes.Step]) -> Iterator[str]:
        """The names for readers of a struct's members, including those of flattened structs."""
        for name, _ in self.members(steps):
            yield name

    def members(self, steps: Sequence[nodes.Step]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The fields and bits of a struct, by their names for readers, with their keys in the spec."""
        for known in self.fields(steps):
            yield known.name if known.attributes.get("hidden") else known.title, known.attributes

    def fields(self, steps: Sequence[nodes.Step]) -> Iterator[Known]:
        """The fields of a struct and their bits; flattened structs are replaced by their members."""
        for field in nodes.fields(steps):
            if field.flatten:
                yield from self._within(field.type)
                continue
            yield Known(field.name, title_of(field), field.stated, field.type)
            for bit in field.bits:
                keys = {"hidden": bit.hidden, "values": bit.values, "derive": bit.derive}
                yield Known(bit.name, title_of(bit), {key: each for key, each in keys.items() if each}, None, bit)

    def _within(self, node: Node) -> Iterator[Known]:
        """The same for each struct that a record may be."""
        match self.compiler.reader.resolved(node):
            case nodes.Struct(steps=steps):
                yield from self.fields(steps)
            case nodes.Inline(inner) | nodes.Nullable(inner):
                yield from self._within(inner)
            case nodes.Peek(cases=cases) | nodes.Select(cases=cases) | nodes.Tagged(cases=cases):
                for case in cases:
                    if not isinstance(case.type, nodes.Refuse):
                        yield from self._within(case.type)
            case nodes.Attempt(trials, kind, reason):
                yield Known(kind, kind, {"values": ()})
                yield Known(reason, reason, {"values": ()})
                for trial in trials:
                    yield from self._within(trial.type)
            case _:
                pass


def _by_name(members: Iterable[Known]) -> dict[str, list[Known]]:
    """Group members by their names in expressions; a record may be one of several structs."""
    found: dict[str, list[Known]] = {}
    for each in members:
        found.setdefault(each.name, []).append(each)
    return found


def _column_of(ways: Sequence[Known], record: Column | None) -> Column | None:
    """The column of a member that a record has in one of several structs; None if its names for readers differ."""
    titles = {way.title for way in ways}
    return member(record, titles.pop()) if len(titles) == 1 else None


def title_of(part: nodes.Field | nodes.Bits) -> str:
    """The name for readers; for hidden fields a name that no visible field can have."""
    return f"\0{part.name}" if part.hidden else part.title


def fields_of(tree: Any) -> Iterator[tuple[str, ...]]:
    """The fields that the expressions in a layout use, each with the path to a member."""
    for each in nodes.within(tree):
        if isinstance(each, nodes.FieldRef):
            yield each.name, *each.members


def asks_for_place(tree: Tree) -> bool:
    """Whether an expression depends on a position or on the struct's size."""
    return looks_at(tree, {"here", "size", "mark"})


def own_fields(tree: Tree) -> set[str]:
    """The fields of the struct itself that an expression uses."""
    return {each.name for each in nodes.within(tree) if isinstance(each, nodes.FieldRef) and each.up == 0}


def in_order(trees: Mapping[str, Tree]) -> Iterator[str]:
    """The names, each after those that it depends on; cyclic ones in any order."""
    left = {name: own_fields(tree) & trees.keys() - {name} for name, tree in trees.items()}
    while left:
        name = next((name for name, sources in left.items() if not sources & left.keys()), next(iter(left)))
        del left[name]
        yield name
