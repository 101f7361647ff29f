"""Where what is written is sure to read back equal, so that nothing need be read back.

A record of JSON is certain where each of its structs is: field by field, in the order of the spec, a reader finds what
was written, and with it the conditions, checks and computed members that look at it are the same for both. What depends
on the row is held while it is written: that checks hold, that what the caller gives agrees with what the format
determines, that members which the record has no use for are null. Texts are looked at for UTF-8, open values are read
back alone.
Whatever is not named here is in doubt: a row that has it is read back as a whole and compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import limits, member, word_of
from wireloom.runtime.engine.encoder.protocols import Compiler, Part
from wireloom.runtime.engine.encoder.scope import Node, Scope, is_never
from wireloom.runtime.engine.programs.assembly import Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Tree, makes_text, stated

_ALTERNATIVES = 1 << 32
_KNOWN = frozenset({"as", "code", "when", "optional", "default", "const", "values", "compute"})
_KNOWN |= {"derive", "hidden", "member"}
_COMING_BACK = frozenset({"const", "compute", "default"})
_COMPARING = frozenset(("and", "or", "==", "!=", "<", "<=", ">", ">="))
_WIDEST = 64
_KINDS = {"null": "null", "bool": "bool", "int": "int", "float": "float", "text": "str", "bytes": "str"}
_ABSENT = object()
UNSTATED = object()
"""What a member says of which the format states nothing."""


class _DoubtError(Exception):
    """What was written might not read back equal, for all that is known here."""


@dataclass(frozen=True, slots=True)
class _Struct:
    """A struct that is written: what was found certain of it so far."""

    form: str
    scope: Scope
    worth: dict[str, str] = field(default_factory=dict)  # of each field, what an expression may ask of it
    titles: list[str] = field(default_factory=list)


class Certainty(Part):
    """Whether records read back equal, and what must be held against each row so that they do."""

    def __init__(self, compiler: Compiler) -> None:
        super().__init__(compiler)
        self.wanted = "structure" in compiler.reader.layout and not compiler.drafts  # of JSON alone
        self.reasons: list[str] = []

    def doubts(self, reason: str) -> None:
        """Rows that come here have to be read back."""
        if self.wanted:
            self.reasons.append(reason)
            self.assembly.emit("DOUBT")

    def struct(self, node: nodes.Struct, scope: Scope) -> None:
        """A struct that is written, once the names of its value are known."""
        if not self.wanted:
            return
        name = node.name
        if node.encoding != "json" or node.versions:
            self.doubts(f"{name}: not JSON, or of several versions")
            return
        if scope.melts:
            self.doubts(f"{name}: members of the record around it")
            return
        try:
            self._steps(node.steps, _Struct(node.form, scope))
        except (_DoubtError, Uncovered) as doubt:
            self.doubts(f"{name}: {doubt}")

    def tagged(self, node: nodes.Tagged) -> None:
        """A choice by a member: the reader of what each case writes comes to that case."""
        presence, default = node.presence, node.default
        for place, case in enumerate(node.cases):
            for struct in () if isinstance(case.type, nodes.Refuse) else self._structs(case.type):
                tag = stated_tag(struct, node.member, presence=presence)
                if tag is _ABSENT:
                    tag = False if presence else _ABSENT if default is None else default
                found = [n for n, each in enumerate(node.cases) if any(is_same(tag, value) for value in each.values)]
                if found != [place]:
                    self.doubts(f"{struct.name} may be taken for another case by {node.member!r}")

    def unique(self, name: str, element: Node, listed: Column) -> None:
        """A list in which a member is unlike in each element."""
        if not self.wanted:
            return
        column = member(listed.element, name)
        plain = all(_is_plain_text(struct, name) for struct in self._structs(element))
        if column is None or column.takes not in ("str", "bytes") or not plain:
            self.doubts(f"the members {name!r} of a list, which are to differ")
        else:
            self.assembly.emit("UNIQUE", listed.index, (column.filled or column).index)

    def _structs(self, node: Node) -> Iterator[nodes.Struct]:
        """The structs that a record may be."""
        match self.compiler.reader.resolved(node):
            case nodes.Struct(encoding="json") as struct:
                yield struct
            case nodes.Tagged(cases=cases):
                for case in cases:
                    if not isinstance(case.type, nodes.Refuse):
                        yield from self._structs(case.type)
            case other:
                self.doubts(f"a record that is a {word_of(other)}")

    # --- structs -----------------------------------------------------------------------------------------------------

    def _steps(self, steps: Sequence[nodes.Step], struct: _Struct) -> None:
        for step in steps:
            match step:
                case nodes.Field():
                    struct.worth[step.name] = self._field(step, struct)
                case nodes.Check(that, _, when):
                    self._known(that, struct)
                    self._known(when, struct)
                    self._hold(that if when is None else nodes.If(when, that, otherwise=True), struct)
                case _:
                    raise _DoubtError(f"the step {step.words[0]}")
        _tell_apart([step for step in steps if isinstance(step, nodes.Field)])
        record = struct.scope.record
        unused = [] if record is None else [each for name, each in record.children.items() if name not in struct.titles]
        self._hold_nothing(unused)

    def _hold(self, tree: Tree, struct: _Struct) -> None:
        """Give up the rows in which an expression does not hold."""
        self.compiler.unless(self.expressions.condition(tree, struct.scope), self.compiler.refused)

    def _hold_nothing(self, columns: Sequence[Column]) -> None:
        """Give up the rows in which any of the columns has a value."""
        if columns:
            words = [column.index | (_ALTERNATIVES if column.takes == "" else 0) for column in columns]
            self.assembly.emit("NOTHING", self.assembly.table([len(words), *words]))

    # --- fields ------------------------------------------------------------------------------------------------------

    def _field(self, field: nodes.Field, struct: _Struct) -> str:
        """What an expression may ask of the field: its value, its length, or only whether it is there."""
        name, title, stated = field.name, field.title, field.stated.keys()
        is_inline = isinstance(field.type, nodes.Inline)
        if stated - _KNOWN or is_inline or name in struct.worth or title in struct.titles:
            raise _DoubtError(f"what is said of {name}")
        column = None if field.hidden else member(struct.scope.record, title)
        if column is not None:
            struct.titles.append(title)
        if field.when is not None:
            self._condition(field.when, column, struct)
        if _COMING_BACK & stated and column is not None and self._is_of_entry(column):
            self._require(column, field)
        node, nullable = self._inner(field.type)
        if field.compute is not None:
            return self._computed(node, field, field.compute.tree, column, struct)
        if field.const is not None:
            return self._constant(field, column, struct)
        if field.values is not None:
            return self._mapped(field.values, node, field, column, nullable=nullable)
        if field.derive is not None:
            if column is not None or not field.hidden or not isinstance(node, nodes.Int | nodes.Bool):
                raise _DoubtError(f"{name}, which follows from others")
            return "value"
        return self._plain(node, field, column, nullable=nullable)

    def _is_of_entry(self, column: Column) -> bool:
        """Whether it is a member of an entry of a map."""
        entry = column.parent
        return entry is not None and entry.parent is not None and entry.parent.takes == "map"

    def _require(self, column: Column, field: nodes.Field) -> None:
        """Give up the rows that do not say what comes back: an entry has a value, be it null."""
        if field.when is not None or column.takes == "":
            raise _DoubtError("an entry that need not say its value")
        self.assembly.emit("PRESENT", column.index)

    def _inner(self, type: Node) -> tuple[Node, bool]:
        """A type without its null."""
        node = self.compiler.reader.resolved(type)
        if isinstance(node, nodes.Nullable):
            return self.compiler.reader.resolved(node.type), True
        return node, False

    def _condition(self, when: Tree, column: Column | None, struct: _Struct) -> None:
        """A field under a condition: where it does not hold, the row says nothing of the field."""
        if struct.form != "object":
            raise _DoubtError("elements of an array under a condition")
        self._known(when, struct)
        if column is not None:
            excluded = self.expressions.condition(nodes.If(when, then=False, otherwise=True), struct.scope)
            if not is_never(excluded):
                with self.compiler.during(excluded):
                    self._hold_nothing([column])

    def _agrees(self, tree: Tree, column: Column | None, struct: _Struct) -> None:
        """What the caller gives is what the format determines."""
        if column is None:
            return
        if column.takes not in ("int", "bool", "str"):
            raise _DoubtError(f"{column.takes} that the format determines")
        match tree, column.takes:
            case (bool(value), "bool") | (int(value), "int"):
                self._agrees_with(int(value), column)
                return
            case nodes.TextConstant(text), "str":
                self._agrees_with(self.assembly.text(text.encode()), column)
                return
            case _:
                pass
        struct.scope.names["\0agrees"] = self.compiler.names.value(column, textual=True)
        given: Tree = nodes.own("\0agrees")
        self._hold(nodes.Binary("or", nodes.negated(nodes.present(given)), nodes.Binary("==", tree, given)), struct)

    def _agrees_with(self, value: int, column: Column) -> None:
        """What the caller gives is one value, or the number of one text."""
        if not -(1 << 63) <= value < 1 << 63:
            raise _DoubtError("a constant beyond 64 bits")
        form = {"int": "integer", "bool": "boolean", "str": "symbol"}[column.takes]
        register = self.assembly.register("int").read()
        self.assembly.emit("AGREES", column.index, self.compiler.native.LOADS[form], register, value)

    def _computed(self, node: Node, field: nodes.Field, tree: Tree, column: Column | None, struct: _Struct) -> str:
        if field.stated.keys() & {"when", "values", "optional", "default", "const", "derive"}:
            raise _DoubtError("a computed field with more to it")
        if isinstance(node, nodes.Text) and makes_text(tree):
            raise _DoubtError("a text that counts among what a record may expand to")
        self._known(tree, struct)
        match node, tree:
            case nodes.Int(bits, signed), int() if not isinstance(tree, bool):
                low, high = limits(bits, signed)
                if bits > _WIDEST or not low <= tree <= high:
                    raise _DoubtError("a computed integer")
            case (nodes.Text(None), _) | (nodes.Bool(), _):
                pass
            case _:
                raise _DoubtError(f"a computed {word_of(node)}")
        self._agrees(tree, column, struct)
        return "value"

    def _constant(self, field: nodes.Field, column: Column | None, struct: _Struct) -> str:
        const = field.const
        if field.stated.keys() & {"values", "compute", "derive"} or not isinstance(const, bool | int | str):
            raise _DoubtError("a constant with more to it")
        if field.has_default and not (field.optional and field.hidden and is_same(const, field.default)):
            raise _DoubtError("a constant with a default")
        self._agrees(stated(const), column, struct)
        return "value"

    def _mapped(
        self,
        values: Sequence[nodes.Meaning],
        node: Node,
        field: nodes.Field,
        column: Column | None,
        *,
        nullable: bool,
    ) -> str:
        """Words, each of which has one meaning; which of several words for one meaning is written does not matter."""
        wires = [each.wire for each in values]
        fitting = {"int": int, "bool": bool, "text": str}.get(word_of(node))
        if any(type(wire) is not fitting and not (wire is None and nullable) for wire in wires):
            raise _DoubtError("words of other types")
        if len(set(wires)) < len(wires) or len({_meant(each.means) for each in values} - {"null"}) != 1:
            raise _DoubtError("words of several kinds")
        if field.has_default and not any(is_same(field.default, wire) for wire in wires):
            raise _DoubtError("a default that is no word")
        if field.derive is not None:
            if column is not None or not field.hidden:
                raise _DoubtError("a word that follows from others")
        elif column is None or column.takes not in ("int", "str", "bool"):
            raise _DoubtError("words in a column of several kinds")
        return "value"

    def _plain(self, node: Node, field: nodes.Field, column: Column | None, *, nullable: bool) -> str:
        if column is None:
            raise _DoubtError(f"{field.name}, which readers do not see")
        if field.has_default and (nullable or not field.optional):
            raise _DoubtError("a default beside null")
        self._value(node)
        match node, column.takes:
            case (nodes.Int(), "int") | (nodes.Bool(), "bool"):
                return "value"
            case nodes.Bytes(), "bytes":
                return "length"
            case _:
                return "presence"

    def _value(self, type: Node) -> None:
        """Values that read back equal; records are looked at where they are written."""
        resolved = self.compiler.reader.resolved
        match resolved(type):
            case nodes.Int(bits, _, "") if bits <= _WIDEST:
                pass
            case (
                nodes.Float()
                | nodes.Bool()
                | nodes.Text(None)
                | nodes.Null()
                | nodes.Json()
                | nodes.Bytes(None | int())
            ):
                pass
            case nodes.Struct() | nodes.Tagged() | nodes.OneOf(open=True):
                pass
            case nodes.Nullable(inner):
                self._value(inner)
            case nodes.OneOf(_, alternatives):
                kinds = [_KINDS.get(word_of(resolved(each)), "") for each in alternatives]
                if "" in kinds or len(set(kinds)) < len(kinds):
                    raise _DoubtError("alternatives of one kind")
                for each in alternatives:
                    self._value(each)
            case nodes.ListOf(nodes.Held() | nodes.Nullable(nodes.Held())):
                raise _DoubtError("elements that are held against something")
            case nodes.ListOf(element, None, _, _, None) if self.compiler.reader.json.open_rules(element) is None:
                self._value(element)
            case nodes.ListOf(count=None, unique=None, salvage=None):
                pass
            case nodes.MapOf(_, value) if self.compiler.reader.json.open_rules(value) is not None:
                pass
            case other:
                raise _DoubtError(f"a {word_of(other)}")

    # --- expressions -------------------------------------------------------------------------------------------------

    def _known(self, tree: Tree, struct: _Struct) -> None:
        """What an expression looks at is the same for who writes and who reads."""
        match tree:
            case None | bool() | int() | nodes.NullConstant() | nodes.TextConstant() | nodes.ParameterRef(_, ()):
                return
            case nodes.Call("present", (nodes.FieldRef(0, name, ()),)) if name in struct.worth:
                return
            case nodes.Call("len", (nodes.FieldRef(0, name, ()),)) if struct.worth.get(name) == "length":
                return
            case nodes.FieldRef(0, name, ()) if struct.worth.get(name) == "value":
                return
            case nodes.Among(operand, _) | nodes.RangeName(operand, _) | nodes.Unary("not", operand):
                self._known(operand, struct)
            case nodes.If(condition, then, otherwise):
                for part in (condition, then, otherwise):
                    self._known(part, struct)
            case nodes.Binary(word, left, right) if word in _COMPARING:
                self._known(left, struct)
                self._known(right, struct)
            case _:
                raise _DoubtError(f"the expression {tree!r}")


def fields_of(struct: nodes.Struct, name: str) -> list[nodes.Field]:
    """The fields of a struct that are written as a member of that name."""
    return [field for field in struct.fields if field.wire_member == name and field.compute is None]


def stated_tag(struct: nodes.Struct, name: str, *, presence: bool) -> Any:
    """What a reader finds as a member of what was written for a struct; UNSTATED where the value says it."""
    written = fields_of(struct, name)
    if not written:
        return _ABSENT
    if len(written) > 1 or struct.form != "object" or written[0].when is not None:
        return UNSTATED
    match written[0]:
        case nodes.Field(optional=True, hidden=True, const=const, default=default) if is_same(const, default):
            return _ABSENT
        case nodes.Field(optional=True):
            return UNSTATED
        case _ if presence:
            return True
        case nodes.Field(const=const) if const is not None:
            return const
        case nodes.Field(values=(nodes.Meaning(wire),)):
            return wire
        case _:
            return UNSTATED


def _tell_apart(fields: Sequence[nodes.Field]) -> None:
    """No member is written twice: of two fields with one name, the conditions exclude each other."""
    for place, each in enumerate(fields):
        for other in fields[:place]:
            if each.compute or other.compute or each.wire_member != other.wire_member:
                continue
            if not _exclude(each.when, other.when):
                raise _DoubtError(f"{each.wire_member!r}, which stands for two fields")


def _exclude(one: Tree, other: Tree) -> bool:
    """Whether two conditions say that one value is this, and that, or that it is not."""
    match one, other:
        case nodes.Binary("==", left, right), nodes.Binary("==", same, another):
            constants = all(isinstance(each, int | nodes.TextConstant) for each in (right, another))
            return left == same and constants and right != another
        case (nodes.Binary("==", left, right), nodes.Binary("!=", same, another)) | (
            nodes.Binary("!=", left, right),
            nodes.Binary("==", same, another),
        ):
            return left == same and right == another
        case (nodes.Unary("not", held), tree) | (tree, nodes.Unary("not", held)):
            return held == tree
        case _:
            return False


def is_same(one: Any, other: Any) -> bool:
    """Whether two constants are of one kind, and equal."""
    return type(one) is type(other) and bool(one == other)


def _meant(tree: Tree) -> str:
    """The kind of what a word means."""
    match tree:
        case nodes.TextConstant():
            return "text"
        case None | nodes.NullConstant():
            return "null"
        case bool():
            return "bool"
        case int():
            return "int"
        case _:
            raise _DoubtError("words whose meaning depends on the record")


def _is_plain_text(struct: nodes.Struct, name: str) -> bool:
    """Whether a struct always has a text or bytes of this name."""
    found = [field for field in struct.fields if field.title == name]
    if len(found) != 1 or found[0].name != name or found[0].stated.keys() - {"member", "code"}:
        return False
    return isinstance(found[0].type, nodes.Text | nodes.Bytes)
