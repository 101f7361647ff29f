"""Proves that a written row reads back equal, so that it need not be read back.

Each struct comes here after its instructions are compiled. A row is certain if three things are true:

- Each instruction that wrote a value is exact: a reader gets that value back (assembly.py lists these instructions).
- Readers find the same fields: the names in conditions have the same values for writer and reader.
- Everything else that readers check is checked on the row: sizes, counts, checks, computed members, members that the
  format determines, members that have no place in the record.

If one of these is false, or cannot be checked, the row is in doubt: it is read back and compared. No row is refused
here.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import held_width, is_computed, limits, member, number_form, word_of
from wireloom.runtime.engine.encoder.members import asks_for_place
from wireloom.runtime.engine.encoder.protocols import Part
from wireloom.runtime.engine.encoder.scope import Item, Node, Placed, Scope
from wireloom.runtime.engine.programs.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Code, Constant, Term, Tree, looks_at, makes_text, stated

_ALTERNATIVES = 1 << 32
_KNOWN = {"as", "code", "when", "optional", "default", "const", "values", "compute", "derive", "hidden", "member"}
_LAID_OUT = _KNOWN | {"size", "bits", "shared", "checksum", "flatten", "minimum", "maximum"}
_CONSTANT = {"const", "values", "default"}
_FORMS = {"int": ("integer", {"int", "list"}), "bool": ("boolean", {"bool"}), "str": ("symbol", {"text"})}
_SHOWN = {"binary", "msgpack", "json"}  # encodings whose instructions are known to be exact
_NULL = nodes.NullConstant()
_WORD = 64
_END = nodes.MarkRef("\0end")  # the position after the struct's last field


class _DoubtError(Exception):
    """The written row may not read back equal."""


class Certainty(Part):
    """Compiles the checks that each row must pass to be certain."""

    _doubted: Label  # rows that must be read back jump here

    def struct(self, node: nodes.Struct, scope: Scope) -> None:
        """Add the checks of a struct, after its instructions."""
        if not self.assembly.certain:
            return
        self._doubted, end = Label(), Label()
        try:
            self._steps(node, scope)
        except (_DoubtError, Uncovered) as doubt:
            self.assembly.place(self._doubted)
            self.assembly.doubt(f"{node.name}: {doubt}")
            return
        self.assembly.emit("JUMP", end)
        self.assembly.place(self._doubted)
        self.assembly.emit("DOUBT")
        self.assembly.place(end)

    def unique(self, name: str, element: Node, listed: Column) -> None:
        """Add the check that the elements of a list differ in a member."""
        if not self.assembly.certain:
            return
        structs = [*self.compiler.records.structs(element)] if self.compiler.reader.is_record(element) else []
        column, plain = member(listed.element, name), bool(structs)
        for struct in structs:
            found = [each for each in struct.fields if each.title == name]
            plain = plain and len(found) == 1 and not found[0].stated.keys() - {"member", "code", "as"}
        if column is None or column.takes not in ("str", "bytes") or not plain:
            self.assembly.doubt(f"the members {name!r} of a list, which are to differ")
        else:
            self.assembly.emit("UNIQUE", listed.index, (column.filled or column).index)

    # --- while a struct is written -----------------------------------------------------------------------------------

    def looks(self, tree: Tree, scope: Scope) -> None:
        """Note a choice by an expression, before its cases."""
        try:
            self._known(tree, scope)
        except _DoubtError as doubt:
            self.assembly.doubt(str(doubt))

    def counted(self, count: Tree, column: Column, scope: Scope) -> None:
        """Note a value with a computed size, or a list with a computed length, before it is written."""
        if not self.assembly.certain:
            return
        if scope.record is None or column not in scope.record.children.values():
            self.assembly.doubt("a computed size of an element")
            return
        if isinstance(count, nodes.FieldRef) and self._measures(count, column, scope):
            return
        own = nodes.own(f"\0size {len(scope.holds)}")
        register = scope.names[own.name] = self.assembly.register("int")
        form = self.compiler.native.LOADS["count" if column.takes in ("list", "map") else "size"]
        self.assembly.emit("LOAD", column.index, form, register)
        agrees = nodes.Binary("==", self._here(count, scope), own)
        always = [
            each.when is None and each.title for each in scope.fields if member(scope.record, each.title) is column
        ]
        scope.holds.append(agrees if always and all(always) else _where(nodes.present(own), agrees))

    def _measures(self, count: nodes.FieldRef, column: Column, scope: Scope) -> bool:
        """Whether the length field is derived from this value, so that the two always agree."""
        match [each for each in scope.fields if each.name == count.name and count.up == 0]:
            case [
                nodes.Field(derive=nodes.Formula(nodes.Call("len" | "count", (nodes.FieldRef(0, name, ()),)))) as length
            ]:
                found = [each for each in scope.fields if each.name == name]
                if len(found) != 1 or found[0].hidden or length.values is not None:
                    return False
                return length.when in (None, found[0].when) and member(scope.record, found[0].title) is column
            case _:
                return False

    def last(self, scope: Scope) -> None:
        """Note a value that extends to the end of its region, after it was written."""
        if self.assembly.certain and self._is_region(scope):
            end = self._mark(scope)
            scope.holds.append(_where(nodes.present(end), nodes.Binary("==", end, _END)))
        else:
            self.assembly.doubt("a value up to the end of what is around it")

    @contextmanager
    def region(self, item: Item) -> Iterator[None]:
        """Note a field with a computed size while it is written."""
        scope, size = item.scope, item.field.size
        if not self.assembly.certain or isinstance(size, nodes.Counted | None):
            yield
            return
        start = self._mark(scope)
        outer, scope.in_region = scope.in_region, True
        wanted = self._here(size, scope)
        yield
        scope.in_region = outer
        written = nodes.Binary("-", self._mark(scope), start)
        scope.holds.append(_where(nodes.present(start), nodes.Binary("==", wanted, written)))

    def summed(self, placed: Placed) -> None:
        """Note a checksum after it was written: a value that the caller gave must equal it."""
        column, node = placed.item.column, self.compiler.reader.resolved(placed.item.type)
        if not self.assembly.certain or column is None:
            return
        if not isinstance(node, nodes.Int) or column.takes != "int":
            self.assembly.doubt("a digest that readers see")
        else:
            form = held_width(node), *number_form(node, self.compiler.big)
            self.assembly.emit("AGREES_HELD", column.index, placed.register, *form)

    def _mark(self, scope: Scope) -> nodes.MarkRef:
        """A mark at the current position."""
        mark = nodes.MarkRef(f"\0{len(scope.marks)}")
        scope.marks[mark.name] = self.compiler.structs.marked(scope)
        return mark

    def _here(self, tree: Tree, scope: Scope) -> Tree:
        """Replace `here` in an expression by a new mark at the current position."""
        return (
            self.compiler.structs.from_here(tree, scope, f"\0{len(scope.marks)}") if looks_at(tree, {"here"}) else tree
        )

    def _is_region(self, scope: Scope) -> bool:
        """Whether the struct fills a region, so that both have the same size."""
        outer = scope.parent
        inner = scope.place is None and outer is not None and outer.in_region
        return scope.encoding == "binary" and (inner or self.compiler.records.outermost(scope))

    # --- structs -----------------------------------------------------------------------------------------------------

    def _steps(self, node: nodes.Struct, scope: Scope) -> None:
        if node.encoding not in _SHOWN or node.versions or scope.in_passes:
            raise _DoubtError("a message, or what has versions, or is written in passes")
        if node.encoding == "binary":
            scope.size_register = scope.size_register or self.compiler.structs.marked(scope)
            scope.marks[_END.name] = scope.size_register
        found = _Members(node.form == "object", scope)
        for step in node.steps:
            match step:
                case nodes.Field():
                    found.add(step, self._columns(step, scope))
                    self._field(step, found)
                case nodes.Check(that, _, when):
                    self._hold(that if when is None else _where(when, that), scope)
                case nodes.Mark():
                    pass
                case nodes.Verify(_, when):
                    self._known(when, scope)
                case nodes.Need(count):
                    self._hold(nodes.Binary("<=", count, _END), scope)
                case nodes.Frame(count):
                    self._hold(nodes.Binary("==", count, _END), scope)
                case _:
                    raise _DoubtError(f"the step {step.words[0]}")
        for tree in (*scope.holds, *found.alone()):
            self._hold(tree, scope)
        if not scope.melts:
            record = scope.record.children if scope.record is not None else {}
            unused = [each for name, each in record.items() if name not in found.titles]
            self._nothing([*unused, *found.never])

    def _hold(self, tree: Tree, scope: Scope) -> None:
        """Doubt the rows for which an expression is false."""
        self._known(tree, scope)
        self.compiler.unless(self.expressions.condition(tree, scope), self._doubted)

    def _known(self, tree: Tree, scope: Scope) -> None:
        """Check that the names in an expression have the same values for writer and reader."""
        for each in nodes.within(tree):
            match each:
                case nodes.Position("size") if self._is_region(scope):
                    pass
                case nodes.Position(word) | nodes.FieldRef(_, word, (_, *_)):
                    raise _DoubtError(f"the expression {tree!r}, which looks at {word}")
                case _:
                    pass

    def _nothing(self, columns: Sequence[Column]) -> None:
        """Doubt the rows in which any of the columns has a value."""
        if columns:
            words = [column.index | (_ALTERNATIVES if column.takes == "" else 0) for column in columns]
            self.assembly.emit("NOTHING", self.assembly.table([len(words), *words]))

    def _agrees(self, tree: Tree, column: Column | None, scope: Scope) -> None:
        """Doubt the rows in which a member differs from the value that the format determines."""
        self._known(tree, scope)
        if column is None:
            return
        form, kinds = _FORMS.get(column.takes, ("", set()))
        compiled = self.expressions.compiled(tree, scope)
        if compiled.kind not in kinds or column.filled is not None:
            raise _DoubtError(f"{column.takes} that is compared with {compiled.kind}")
        given, other, number = self.assembly.register("int").read(), None, 0
        match compiled:
            case Constant(value):
                number = self.compiler.records.word(value)
            case Code(_, Term("LOAD", _, Register() as register)):
                other = register.read()
            case _:
                other = self.assembly.register(compiled.kind).read()
                self.compiler.compute(compiled, other)
        self.assembly.emit("AGREES", column.index, self.compiler.native.LOADS[form], given, other, number)

    # --- fields ------------------------------------------------------------------------------------------------------

    def _columns(self, field: nodes.Field, scope: Scope) -> dict[str, Column | None]:
        """The columns that readers see for a field, by their names."""
        if field.flatten:
            if not isinstance(self.compiler.reader.resolved(field.type), nodes.Struct):
                raise _DoubtError("one of several records that melts in")
            known = self.compiler.names.members([field])
            return {name: member(scope.record, name) for name, keys in known if not keys.get("hidden")}
        titles = [] if field.hidden else [field.title]
        titles += [bit.title for bit in field.bits if not bit.hidden]
        return {title: member(scope.record, title) for title in titles}

    def _field(self, field: nodes.Field, found: "_Members") -> None:
        scope, columns = found.scope, self._columns(field, found.scope)
        unknown = field.stated.keys() - (_LAID_OUT if scope.encoding == "binary" else _KNOWN)
        if unknown or any(isinstance(part, nodes.Inline | nodes.Held) for part in nodes.within(field.type)):
            raise _DoubtError(f"what is said of {field.name}")
        present = [each for each in columns.values() if each is not None]
        if field.when is not None:
            self._known(field.when, scope)
            if asks_for_place(field.when):  # builders write it if the value has it
                raise _DoubtError("a field whose condition looks at places")
            if scope.encoding != "binary" and not found.named:
                raise _DoubtError("elements of an array under a condition")
            self._absent(field.when, present, found)
        node, nullable = self._inner(field.type)
        column = None if field.hidden else columns.get(field.title)
        if column is not None and _is_of_entry(column) and field.stated.keys() & {"const", "compute", "default"}:
            raise _DoubtError("a member of an entry, which comes back where it was not given")
        if isinstance(node, nodes.Bytes | nodes.Text) and is_computed(node.size) and field.stated.keys() & _CONSTANT:
            raise _DoubtError("a constant of a computed size")
        own: Tree = nodes.own(field.name)
        match field:
            case nodes.Field(compute=nodes.Formula(tree)):
                self._computed(node, field, tree, column, scope)
            case nodes.Field(const=const) if const is not None:
                self._constant(field, column, scope)
            case nodes.Field(checksum=nodes.Checksum(_, start, end)):
                self._known(start, scope)
                self._known(end, scope)
            case nodes.Field(bits=(_, *_)):
                self._bits(field, column, scope)
            case nodes.Field(flatten=True):
                pass
            case nodes.Field(values=values) if values is not None:
                self._mapped(values, node, field, column, nullable=nullable)
            case nodes.Field(
                hidden=True, type=nodes.Bytes(int(size)), derive=nodes.Formula(nodes.BytesConstant(data))
            ) if len(data) == size:
                pass
            case nodes.Field(derive=nodes.Formula()):
                if not isinstance(node, nodes.Int | nodes.Bool) or field.optional:
                    raise _DoubtError(f"{field.name}, which follows from others")
                self._agrees(own, column, scope)
            case _ if column is None:
                raise _DoubtError(f"{field.name}, which readers do not see")
            case _ if field.has_default and (nullable or not field.optional):
                raise _DoubtError("a default beside null")
            case _:
                pass
        for word, limit in (("<=", field.maximum), (">=", field.minimum)):
            if limit is not None:
                self._hold(_where(nodes.present(own), nodes.Binary(word, own, limit)), scope)

    def _inner(self, type: Node) -> tuple[Node, bool]:
        """A type without its null, and whether it had one."""
        node = self.compiler.reader.resolved(type)
        if isinstance(node, nodes.Nullable):
            return self.compiler.reader.resolved(node.type), True
        return node, False

    def _absent(self, when: Tree, columns: Sequence[Column], found: "_Members") -> None:
        """Doubt the rows in which the condition is false and one of these columns has a value."""
        lacks = self.expressions.condition(nodes.If(when, then=False, otherwise=True), found.scope)
        if isinstance(lacks, Constant):
            found.never += columns if lacks.value else []
        elif columns:
            with self.compiler.during(lacks):
                self._nothing(columns)

    def _computed(self, node: Node, field: nodes.Field, tree: Tree, column: Column | None, scope: Scope) -> None:
        if field.stated.keys() & {"when", "values", "optional", "default", "const", "derive"}:
            raise _DoubtError("a computed field with more to it")
        match node:
            case nodes.Text(None) if not makes_text(tree):
                pass
            case nodes.Bool():
                pass
            case nodes.Int(bits, signed) if bits <= _WORD:
                low, high = limits(bits, signed)
                fits = nodes.both(nodes.Binary(">=", tree, low), nodes.Binary("<=", tree, high))
                self._hold(_where(nodes.present(tree), fits), scope)
            case _:
                raise _DoubtError(f"a computed {word_of(node)}")
        self._agrees(tree, column, scope)

    def _constant(self, field: nodes.Field, column: Column | None, scope: Scope) -> None:
        const = field.const
        if field.stated.keys() & {"values", "derive", "bits"} or not isinstance(const, bool | int | str):
            raise _DoubtError("a constant with more to it")
        if field.has_default and not (field.optional and field.hidden and is_same(const, field.default)):
            raise _DoubtError("a constant with a default")
        self._agrees(stated(const), column, scope)

    def _bits(self, field: nodes.Field, column: Column | None, scope: Scope) -> None:
        """Check that bits read back equal, also those that were not given although their column is nullable."""
        if column is not None:
            self._agrees(nodes.own(field.name), column, scope)
        for bit in field.bits:
            if bit.null is not None:
                raise _DoubtError("bits that may mean null")
            seen = None if bit.hidden else member(scope.record, bit.title)
            if bit.derive is not None:
                self._agrees(nodes.own(bit.name), seen, scope)
            elif bit.values is not None and _NULL not in [each.means for each in bit.values]:
                scope.names[f"\0{bit.name} said"] = self.compiler.names.value(seen, textual=True)
                is_given: Tree = nodes.present(nodes.own(f"\0{bit.name} said"))
                self._hold(is_given if field.when is None else _where(field.when, is_given), scope)

    def _mapped(
        self,
        values: Sequence[nodes.Meaning],
        node: Node,
        field: nodes.Field,
        column: Column | None,
        *,
        nullable: bool,
    ) -> None:
        """Check that each word has one meaning; several words may have the same meaning."""
        wires = [each.wire for each in values]
        fitting = {"int": int, "bool": bool, "text": str}.get(word_of(node))
        if any(type(wire) is not fitting and not (wire is None and nullable) for wire in wires):
            raise _DoubtError("words of other types")
        kinds = {type(each.means) for each in values} - {nodes.NullConstant, type(None)}
        if len(set(wires)) < len(wires) or len(kinds) != 1 or not kinds <= {bool, int, nodes.TextConstant}:
            raise _DoubtError("words of several kinds")
        if field.has_default and not any(is_same(field.default, wire) for wire in wires):
            raise _DoubtError("a default that is no word")
        if field.derive is not None:
            if column is not None or not field.hidden:
                raise _DoubtError("a word that follows from others")
        elif column is None or column.takes not in _FORMS:
            raise _DoubtError("words in a column of several kinds")


@dataclass(slots=True)
class _Members:
    """The fields of a struct so far, with their names for readers, in expressions and on the wire."""

    named: bool  # whether fields have names on the wire
    scope: Scope
    titles: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    members: dict[str, list[Tree]] = field(default_factory=dict)
    never: list[Column] = field(default_factory=list)  # columns of fields that are never present

    def add(self, field: nodes.Field, titles: Mapping[str, Column | None]) -> None:
        """Add a field; raises if another field has one of its names."""
        names = {field.name, *(bit.name for bit in field.bits)}
        if names & self.names or titles.keys() & self.titles:
            raise _DoubtError(f"{field.name}, which several fields are called")
        self.names |= names
        self.titles |= titles.keys()
        if self.named and field.compute is None:
            self.members.setdefault(field.wire_member, []).append(True if field.when is None else field.when)

    def alone(self) -> Iterator[Tree]:
        """The conditions under which no member is written twice."""
        for conditions in self.members.values():
            for place, when in enumerate(conditions):
                yield from (nodes.negated(nodes.both(when, other)) for other in conditions[:place])


def _where(when: Tree, tree: Tree) -> Tree:
    """The rule `tree`, limited to the rows for which a condition holds."""
    return nodes.If(when, tree, otherwise=True)


def _is_of_entry(column: Column) -> bool:
    """Whether a column is a member of a map entry."""
    entry = column.parent
    return entry is not None and entry.parent is not None and entry.parent.takes == "map"


def is_same(one: Any, other: Any) -> bool:
    """Whether two constants have the same type and value."""
    return type(one) is type(other) and bool(one == other)
