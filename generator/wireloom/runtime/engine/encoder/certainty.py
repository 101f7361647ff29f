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

from wireloom.runtime.engine.assembly import Uncovered
from wireloom.runtime.engine.compiler.scope import limits, member
from wireloom.runtime.engine.encoder.part import Compiler, Part
from wireloom.runtime.engine.encoder.scope import Node, Scope, is_never
from wireloom.runtime.engine.expressions import Tree, makes_text, stated
from wireloom.runtime.engine.outline import Column

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

    def struct(self, node: Node, scope: Scope) -> None:
        """A struct that is written, once the names of its value are known."""
        if not self.wanted:
            return
        _, name, encoding, form, versions, steps = node
        if encoding != "json" or versions:
            self.doubts(f"{name}: not JSON, or of several versions")
            return
        if scope.melts:
            self.doubts(f"{name}: members of the record around it")
            return
        try:
            self._steps(steps, _Struct(form, scope))
        except (_DoubtError, Uncovered) as doubt:
            self.doubts(f"{name}: {doubt}")

    def tagged(self, told: Sequence[Any]) -> None:
        """A choice by a member: the reader of what each case writes comes to that case."""
        member_name, presence, default, _, cases, _ = told
        for place, (_, case) in enumerate(cases):
            for struct in self._structs(case):
                tag = stated_tag(struct, member_name, presence=presence)
                if tag is _ABSENT:
                    tag = False if presence else _ABSENT if default is None else default
                found = [n for n, (values, _) in enumerate(cases) if any(is_same(tag, value) for value in values)]
                if found != [place]:
                    self.doubts(f"{struct[1]} may be taken for another case by {member_name!r}")

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

    def _structs(self, node: Node) -> Iterator[Node]:
        """The structs that a record may be."""
        match self.compiler.reader.resolved(node):
            case ("struct", _, "json", _, _, _) as struct:
                yield struct
            case ("tagged", _, _, _, _, cases, _):
                for _, case in cases:
                    yield from self._structs(case)
            case ("refuse", _):
                pass
            case other:
                self.doubts(f"a record that is a {other[0]}")

    # --- structs -----------------------------------------------------------------------------------------------------

    def _steps(self, steps: Sequence[Any], struct: _Struct) -> None:
        for step in steps:
            match step:
                case ("field", name, type, attributes):
                    struct.worth[name] = self._field(name, type, attributes, struct)
                case ("check", that, _, when):
                    self._known(that, struct)
                    self._known(when, struct)
                    self._hold(that if when is None else ("if", when, that, True), struct)
                case _:
                    raise _DoubtError(f"the step {step[0]}")
        _tell_apart([step[3] | {"member": step[3].get("member", step[1])} for step in steps if step[0] == "field"])
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

    def _field(self, name: str, type: Node, attributes: dict[str, Any], struct: _Struct) -> str:
        """What an expression may ask of the field: its value, its length, or only whether it is there."""
        title = attributes.get("as", name)
        if attributes.keys() - _KNOWN or type[0] == "inline" or name in struct.worth or title in struct.titles:
            raise _DoubtError(f"what is said of {name}")
        column = None if attributes.get("hidden") else member(struct.scope.record, title)
        if column is not None:
            struct.titles.append(title)
        if attributes.get("when") is not None:
            self._condition(attributes["when"], column, struct)
        if _COMING_BACK & attributes.keys() and column is not None and self._is_of_entry(column):
            self._require(column, attributes)
        node, nullable = self._inner(type)
        match attributes:
            case {"compute": compute}:
                return self._computed(node, attributes, compute[1], column, struct)
            case {"const": const}:
                return self._constant(const, attributes, column, struct)
            case {"values": values}:
                return self._mapped(values, node, nullable, attributes, column)
            case {"derive": _}:
                if column is not None or not attributes.get("hidden") or node[0] not in ("int", "bool"):
                    raise _DoubtError(f"{name}, which follows from others")
                return "value"
            case _:
                return self._plain(name, node, nullable, attributes, column)

    def _is_of_entry(self, column: Column) -> bool:
        """Whether it is a member of an entry of a map."""
        entry = column.parent
        return entry is not None and entry.parent is not None and entry.parent.takes == "map"

    def _require(self, column: Column, attributes: dict[str, Any]) -> None:
        """Give up the rows that do not say what comes back: an entry has a value, be it null."""
        if "when" in attributes or column.takes == "":
            raise _DoubtError("an entry that need not say its value")
        self.assembly.emit("PRESENT", column.index)

    def _inner(self, type: Node) -> tuple[Node, bool]:
        """A type without its null."""
        node = self.compiler.reader.resolved(type)
        if node[0] == "nullable":
            return self.compiler.reader.resolved(node[1]), True
        return node, False

    def _condition(self, when: Tree, column: Column | None, struct: _Struct) -> None:
        """A field under a condition: where it does not hold, the row says nothing of the field."""
        if struct.form != "object":
            raise _DoubtError("elements of an array under a condition")
        self._known(when, struct)
        if column is not None:
            excluded = self.expressions.condition(("if", when, False, True), struct.scope)
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
            case (bool(), "bool") | (int(), "int"):
                self._agrees_with(int(tree), column)
                return
            case ("text", str(text)), "str":
                self._agrees_with(self.assembly.text(text.encode()), column)
                return
            case _:
                pass
        struct.scope.names["\0agrees"] = self.compiler.names.value(column, textual=True)
        given: Tree = ("field", 0, "\0agrees")
        self._hold(("or", ("not", ("present", given)), ("==", tree, given)), struct)

    def _agrees_with(self, value: int, column: Column) -> None:
        """What the caller gives is one value, or the number of one text."""
        if not -(1 << 63) <= value < 1 << 63:
            raise _DoubtError("a constant beyond 64 bits")
        form = {"int": "integer", "bool": "boolean", "str": "symbol"}[column.takes]
        register = self.assembly.register("int").read()
        self.assembly.emit("AGREES", column.index, self.compiler.native.LOADS[form], register, value)

    def _computed(
        self, node: Node, attributes: dict[str, Any], tree: Tree, column: Column | None, struct: _Struct
    ) -> str:
        if attributes.keys() & {"when", "values", "optional", "default", "const", "derive"}:
            raise _DoubtError("a computed field with more to it")
        if node[0] == "text" and makes_text(tree):
            raise _DoubtError("a text that counts among what a record may expand to")
        self._known(tree, struct)
        match node, tree:
            case ("int", int(bits), signed, *_), int() if not isinstance(tree, bool):
                low, high = limits(bits, signed)
                if bits > _WIDEST or not low <= tree <= high:
                    raise _DoubtError("a computed integer")
            case (("text", None), _) | (("bool",), _):
                pass
            case _:
                raise _DoubtError(f"a computed {node[0]}")
        self._agrees(tree, column, struct)
        return "value"

    def _constant(self, const: Any, attributes: dict[str, Any], column: Column | None, struct: _Struct) -> str:
        if attributes.keys() & {"values", "compute", "derive"} or not isinstance(const, bool | int | str):
            raise _DoubtError("a constant with more to it")
        if "default" in attributes and not (
            attributes.get("optional") and attributes.get("hidden") and is_same(const, attributes["default"])
        ):
            raise _DoubtError("a constant with a default")
        self._agrees(stated(const), column, struct)
        return "value"

    def _mapped(
        self,
        values: Sequence[tuple[Any, Tree]],
        node: Node,
        nullable: bool,  # noqa: FBT001 - as in the type
        attributes: dict[str, Any],
        column: Column | None,
    ) -> str:
        """Words, each of which has one meaning; which of several words for one meaning is written does not matter."""
        wires = [wire for wire, _ in values]
        fitting = {"int": int, "bool": bool, "text": str}.get(node[0])
        if any(type(wire) is not fitting and not (wire is None and nullable) for wire in wires):
            raise _DoubtError("words of other types")
        if len(set(wires)) < len(wires) or len({_meant(tree) for _, tree in values} - {"null"}) != 1:
            raise _DoubtError("words of several kinds")
        if "default" in attributes and not any(is_same(attributes["default"], wire) for wire in wires):
            raise _DoubtError("a default that is no word")
        if "derive" in attributes:
            if column is not None or not attributes.get("hidden"):
                raise _DoubtError("a word that follows from others")
        elif column is None or column.takes not in ("int", "str", "bool"):
            raise _DoubtError("words in a column of several kinds")
        return "value"

    def _plain(
        self,
        name: str,
        node: Node,
        nullable: bool,  # noqa: FBT001 - as in the type
        attributes: dict[str, Any],
        column: Column | None,
    ) -> str:
        if column is None:
            raise _DoubtError(f"{name}, which readers do not see")
        if "default" in attributes and (nullable or not attributes.get("optional")):
            raise _DoubtError("a default beside null")
        self._value(node)
        match node[0], column.takes:
            case ("int", "int") | ("bool", "bool"):
                return "value"
            case "bytes", "bytes":
                return "length"
            case _:
                return "presence"

    def _value(self, type: Node) -> None:
        """Values that read back equal; records are looked at where they are written."""
        resolved = self.compiler.reader.resolved
        match resolved(type):
            case ("int", int(bits), bool()) if bits <= _WIDEST:
                pass
            case ("float", _) | ("bool",) | ("text", None) | ("null",) | ("json", _) | ("bytes", None | int(), *_):
                pass
            case ("struct" | "tagged", *_) | ("oneOf", True, _):
                pass
            case ("nullable", inner):
                self._value(inner)
            case ("oneOf", _, alternatives):
                kinds = [_KINDS.get(resolved(each)[0], "") for each in alternatives]
                if "" in kinds or len(set(kinds)) < len(kinds):
                    raise _DoubtError("alternatives of one kind")
                for each in alternatives:
                    self._value(each)
            case ("list", ("held", *_) | ("nullable", ("held", *_)), *_):
                raise _DoubtError("elements that are held against something")
            case ("list", element, None, _, _, None, _) if self.compiler.reader.json.open_rules(element) is None:
                self._value(element)
            case ("list", _, None, None, _, None, _):
                pass
            case ("map", _, value) if self.compiler.reader.json.open_rules(value) is not None:
                pass
            case other:
                raise _DoubtError(f"a {other[0]}")

    # --- expressions -------------------------------------------------------------------------------------------------

    def _known(self, tree: Tree, struct: _Struct) -> None:
        """What an expression looks at is the same for who writes and who reads."""
        match tree:
            case None | bool() | int() | ("null",) | ("text", _) | ("parameter", _):
                return
            case ("present", ("field", 0, name)) if name in struct.worth:
                return
            case ("len", ("field", 0, name)) if struct.worth.get(name) == "length":
                return
            case ("field", 0, name) if struct.worth.get(name) == "value":
                return
            case ("in" | "rangeName", operand, _) | ("not", operand):
                self._known(operand, struct)
            case ("if", *parts):
                for part in parts:
                    self._known(part, struct)
            case (str(word), left, right) if word in _COMPARING:
                self._known(left, struct)
                self._known(right, struct)
            case _:
                raise _DoubtError(f"the expression {tree!r}")


def fields_of(struct: Node, name: str) -> list[Any]:
    """The fields of a struct that are written as a member of that name."""
    named = (step for step in struct[5] if step[0] == "field" and step[3].get("member", step[1]) == name)
    return [step for step in named if "compute" not in step[3]]


def stated_tag(struct: Node, name: str, *, presence: bool) -> Any:
    """What a reader finds as a member of what was written for a struct; UNSTATED where the value says it."""
    written = [attributes for *_, attributes in fields_of(struct, name)]
    if not written:
        return _ABSENT
    if len(written) > 1 or struct[3] != "object" or "when" in written[0]:
        return UNSTATED
    match written[0]:
        case {"optional": True, "hidden": True, "const": const, "default": default} if is_same(const, default):
            return _ABSENT
        case {"optional": True}:
            return UNSTATED
        case _ if presence:
            return True
        case {"const": const}:
            return const
        case {"values": ((wire, _),)}:
            return wire
        case _:
            return UNSTATED


def _tell_apart(fields: Sequence[dict[str, Any]]) -> None:
    """No member is written twice: of two fields with one name, the conditions exclude each other."""
    for place, each in enumerate(fields):
        for other in fields[:place]:
            if "compute" in each or "compute" in other or each["member"] != other["member"]:
                continue
            if not _exclude(each.get("when"), other.get("when")):
                raise _DoubtError(f"{each['member']!r}, which stands for two fields")


def _exclude(one: Tree, other: Tree) -> bool:
    """Whether two conditions say that one value is this, and that, or that it is not."""
    match one, other:
        case ("==", left, right), ("==", same, another):
            constants = all(isinstance(each, int | tuple) and not _is_field(each) for each in (right, another))
            return bool(left == same and constants and right != another)
        case (("==", left, right), ("!=", same, another)) | (("!=", left, right), ("==", same, another)):
            return bool(left == same and right == another)
        case (("not", held), tree) | (tree, ("not", held)):
            return bool(held == tree)
        case _:
            return False


def _is_field(tree: Tree) -> bool:
    return isinstance(tree, tuple) and tree[0] != "text"


def is_same(one: Any, other: Any) -> bool:
    """Whether two constants are of one kind, and equal."""
    return type(one) is type(other) and bool(one == other)


def _meant(tree: Tree) -> str:
    """The kind of what a word means."""
    match tree:
        case ("text", _):
            return "text"
        case None | ("null",):
            return "null"
        case bool():
            return "bool"
        case int():
            return "int"
        case _:
            raise _DoubtError("words whose meaning depends on the record")


def _is_plain_text(struct: Node, name: str) -> bool:
    """Whether a struct always has a text or bytes of this name."""
    found = [step for step in struct[5] if step[0] == "field" and step[3].get("as", step[1]) == name]
    if len(found) != 1 or found[0][1] != name or found[0][3].keys() - {"member", "code"}:
        return False
    return bool(found[0][2][0] in ("text", "bytes"))
