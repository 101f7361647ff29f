"""The names of a struct's value: which there are, which columns they mean, and what expressions make of those."""

from collections.abc import Iterator, Sequence
from typing import Any

from wireloom.runtime.engine.assembly import Register
from wireloom.runtime.engine.compiler.scope import bit_title, member
from wireloom.runtime.engine.encoder.part import Part
from wireloom.runtime.engine.encoder.scope import Node, Scope
from wireloom.runtime.engine.expressions import Tree, encoded, join_name, sum_name
from wireloom.runtime.engine.outline import Column

_LOADS = {  # the kind of value that a column takes -> what is loaded of it, and the kind of register
    "int": ("integer", "int"),
    "bool": ("boolean", "bool"),
    "list": ("count", "list"),
    "map": ("count", "list"),
    "str": ("size", "bytes"),
    "bytes": ("size", "bytes"),
    "": ("choice", "mixed"),
}


_VALUES, _HIDDEN = 4, 6  # places of a bit in a layout

FOLLOWING = {"const", "compute", "derive", "default", "counted", "bits", "checksum"}
"""What says that a member has a value though its column may be null."""


class Names(Part):
    """The names that expressions see, loaded from the columns where a struct begins."""

    _members: dict[str, set[str]] | None = None

    def load(self, steps: Sequence[Any], scope: Scope) -> None:
        """Give each name of the struct a register with its value."""
        texts = {name for name, attributes in self.members(steps) if {"values", "compute"} & attributes.keys()}
        own: dict[str, str] = {}  # what expressions call the fields of the struct itself -> what readers call them
        for step in steps:
            if step[0] == "field":
                own.setdefault(step[1], title_of(step[1], step[3]))
                for bit in step[3].get("bits", ()):
                    own.setdefault(bit[0], bit_title(bit))
        hidden = {name for name, attributes in self.members(steps) if attributes.get("hidden")}
        for title in dict.fromkeys(self.titles(steps)):
            if own.get(title, title) == title:
                column = None if title in hidden else member(scope.record, title)
                scope.names[title] = self._loaded(column, textual=title in texts)
        for name, title in own.items():
            if name not in scope.names:
                scope.names[name] = self._loaded(member(scope.record, title), textual=title in texts)
        for step in steps:
            if step[0] == "field" and step[1] in scope.names and self._is_coded(step[2]):
                scope.names[step[1]].coded = True
            if step[0] == "field" and not step[3].get("flatten"):
                self._load_members(step, scope)
                self._load_sums(step, scope)

    def _is_coded(self, node: Node) -> bool:
        """Whether a text is in a character set that its column does not have."""
        while node[0] in ("ref", "nullable"):
            node = node[1] if node[0] == "nullable" else self.compiler.reader.layout["types"][node[1]]
        return bool(node[0] == "charset")

    def _load_members(self, step: Any, scope: Scope) -> None:
        """Give the members of a record that expressions ask for registers, as far as columns say what they are."""
        _, name, type, attributes = step
        asked = self._asked().get(name)
        column = member(scope.record, title_of(name, attributes))
        if not asked or column is None or column.takes != "record":
            return
        known = self._called(type)
        scope.names[f"\0{name}"] = self.value(column, textual=False)
        for each in asked:
            title, said = known.get(each, ("", frozenset[str]()))
            if not title or (FOLLOWING | {"hidden"}) & said:
                continue
            found = column.children.get(title)
            seen = None if found is None else self.compiler.sentinels.seen(found, title, type, scope)
            inner = self._loaded(seen, textual="values" in said)
            scope.names[f"{name}.{each}"] = register = self._where_there(name, inner, scope)
            if inner.named is not None:
                register.named = self._where_there(name, inner.named, scope)

    def _load_sums(self, step: Any, scope: Scope) -> None:
        """Give the sums over a list that expressions ask for registers; a list that is not there adds up to nothing."""
        _, name, _, attributes = step
        column = None if attributes.get("hidden") else member(scope.record, title_of(name, attributes))
        for inner in sorted(self.compiler.reader.sums.asked(name)):
            total = self.assembly.register("int")
            if column is not None:
                element = column.element if column.takes == "list" else None
                added = element.children.get(inner) if inner and element is not None else element
                if added is None or added.takes != "int":
                    continue
                self.assembly.emit("LOAD", column.index, self.compiler.native.LOADS["sum"], total, added.index)
            scope.names[sum_name(name, inner)] = total
        for inner, separator in sorted(self.compiler.reader.sums.joined(name), key=repr):
            text = self.assembly.register("bytes")
            if column is not None:
                element = column.element if column.takes == "list" else None
                added = element.children.get(inner) if inner and element is not None else element
                if added is None or added.takes != ("bytes" if isinstance(separator, bytes) else "str"):
                    continue
                form, between = self.compiler.native.LOADS["joined"], self.assembly.text(encoded(separator))
                self.assembly.emit("LOAD", column.index, form, text, added.index, between)
            scope.names[join_name(name, separator, inner)] = text

    def _called(self, type: Node) -> dict[str, tuple[str, frozenset[str]]]:
        """The members of a record by what expressions call them: what readers do, and the keys that say more of them.

        Those that readers call otherwise in each of several structs have no column of their own.
        """
        found: dict[str, tuple[str, frozenset[str]]] = {}
        for name, title, attributes in self._within(type):
            known, said = found.get(name, (title, frozenset[str]()))
            found[name] = (title if title == known else "", said | attributes.keys())
        return found

    def _where_there(self, name: str, member: Register, scope: Scope) -> Register:
        """A register with the value of a member of a record, null where the record is not there."""
        scope.names[f"\0{name}."] = member
        there = ("present", ("field", 0, f"\0{name}"))
        compiled = self.expressions.held(
            self.expressions.compiled(("if", there, ("field", 0, f"\0{name}."), ("null",)), scope)
        )
        register = self.assembly.register(member.kind if compiled.kind == "null" else compiled.kind)
        self.compiler.compute(compiled, register)
        return register

    def _asked(self) -> dict[str, set[str]]:
        """Of each field that is a record the members that an expression of the format names."""
        if self._members is None:
            self._members = {}
            layout = self.compiler.reader.layout
            for name, *inner in fields_of([*layout["types"].values(), *layout["roots"].values()]):
                if len(inner) == 1:
                    self._members.setdefault(name, set()).add(inner[0])
        return self._members

    def load_record(self, scope: Scope) -> None:
        """Give each member of a record, whatever struct it is of, a register with its value."""
        for name, column in (scope.record.children if scope.record is not None else {}).items():
            scope.names[name] = self._loaded(column, textual=False)

    def value(self, column: Column | None, *, textual: bool) -> Register:
        """A register with the value of a column; a text is the number that the format has for it."""
        return self._loaded(column, textual=textual)

    def _loaded(self, column: Column | None, *, textual: bool) -> Register:
        if column is None:
            return self.assembly.register("int")  # nothing is ever written to it: null
        form, kind = _LOADS.get(column.takes, ("present", "mixed"))
        if column.takes == "str" and textual:
            form, kind = "symbol", "text"
        register = self.assembly.register(kind)
        self.assembly.emit("LOAD", column.index, self.compiler.native.LOADS[form], register)
        if form == "size":
            register.named = self.assembly.register("text")
            self.assembly.emit("LOAD", column.index, self.compiler.native.LOADS["symbol"], register.named)
        return register

    def titles(self, steps: Sequence[Any]) -> Iterator[str]:
        """What readers call the members of a struct, those of structs that melt into it included."""
        for name, _ in self.members(steps):
            yield name

    def members(self, steps: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The fields of a struct by the names that readers know, and the bits among them, with what is said of them."""
        for name, title, attributes in self._fields(steps):
            yield name if attributes.get("hidden") else title, attributes

    def _fields(self, steps: Sequence[Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """The fields of a struct, and the bits among them: their names, those that readers know, and what is said."""
        for step in steps:
            match step:
                case ("field", _, type, {"flatten": True}):
                    yield from self._within(type)
                case ("field", name, _, attributes):
                    yield name, title_of(name, attributes), attributes
                    for bit in attributes.get("bits", ()):
                        hidden = {"hidden": True} if bit[_HIDDEN] else {}
                        named = {} if bit[_VALUES] is None else {"values": bit[_VALUES]}
                        yield bit[0], title_of(bit[0], hidden) if hidden else bit_title(bit), hidden | named
                case _:
                    pass

    def _within(self, node: Node) -> Iterator[tuple[str, str, dict[str, Any]]]:
        match self.compiler.reader.resolved(node):
            case ("struct", _, _, _, _, steps):
                yield from self._fields(steps)
            case ("inline", inner):
                yield from self._within(inner)
            case ("peek" | "select", _, cases, _) | ("tagged", _, _, _, _, cases, _):
                for _, case in cases:
                    if case[0] != "refuse":
                        yield from self._within(case)
            case ("attempt", trials, kind, reason):
                yield kind, kind, {"values": ()}
                yield reason, reason, {"values": ()}
                for trial in trials:
                    yield from self._within(trial[1])
            case _:
                pass


def title_of(name: str, attributes: dict[str, Any]) -> str:
    """What readers call a field; no name of theirs for what they do not see, since another field may have its name."""
    return f"\0{name}" if attributes.get("hidden") else str(attributes.get("as", name))


def fields_of(tree: Any) -> Iterator[tuple[str, ...]]:
    """The fields that the expressions within a layout look at, each with the members that it names of it."""
    match tree:
        case ("field", int(), str(name), *members):
            yield name, *(str(each) for each in members)
        case dict():
            for each in tree.values():
                yield from fields_of(each)
        case tuple() | list():
            for each in tree:
                yield from fields_of(each)
        case _:
            pass


def asks_for_place(tree: Tree) -> bool:
    """Whether an expression looks at where the struct ends, or how far it has come."""
    match tree:
        case ("here" | "size",) | ("mark", _):
            return True
        case (str(), *parts):
            return any(map(asks_for_place, parts))
        case _:
            return False


def own_fields(tree: Tree) -> set[str]:
    """The fields of the struct itself that an expression looks at."""
    match tree:
        case ("field", 0, str(name), *_):
            return {name}
        case tuple():
            return set().union(*(own_fields(each) for each in tree))
        case _:
            return set()
