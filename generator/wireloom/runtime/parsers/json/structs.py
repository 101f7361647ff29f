"""JSON structs: forms that find a struct's fields in an object or an array, and unions told by a member.

An inline struct reads from the enclosing object and writes to it. It gets the source (or sink) of that object as its
stream, so one set records the members that were used, and only the struct that owns the object refuses the others.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import construct
from construct import Container

from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers.fields import Field, WireStruct
from wireloom.runtime.parsers.json.nodes import WORDS, Kind, Node, Slot, Tree, expect, mismatch
from wireloom.runtime.parsers.protocol import MISSING, Expression, Scalar, evaluate
from wireloom.runtime.parsers.unions import CasesByValue, Refusal, fields_of, struct_for, told
from wireloom.runtime.values import kind_of

# --- structs as objects --------------------------------------------------------------------------------------------


def _object_at(stream: "Node | SharedMembers") -> Node:
    node = stream.node if isinstance(stream, SharedMembers) else stream
    expect(node, "object")
    return node


@dataclass(slots=True, eq=False)
class SharedMembers:
    """The source of an inline struct: the members of the enclosing object, which also checks unused ones."""

    node: Node
    nodes: dict[str, Node]
    located: set[str]

    @property
    def start(self) -> int:
        """The offset of the object."""
        return self.node.start

    def tell(self) -> int:
        """The offset of the object."""
        return self.node.start

    def locate(self, field: Field) -> Any:
        """The member's node. An inline struct gets this object's members, to locate its own among them."""
        if field.inline:
            shared = SharedMembers(self.node, self.nodes, self.located)
            return shared if field.besides is None else self._rest(field.besides)
        name = field.key
        self.located.add(name)
        return self.nodes.get(name, MISSING)

    def _rest(self, besides: Collection[str]) -> Node:
        """The members except those named in `besides`, as an object."""
        rest = [member for member in self.node.members if member[0] not in besides]
        self.located.update(name for name, _, _ in rest)
        return Node(self.node.source, "object", self.node.start, self.node.end, rest)

    def offset(self, stream: "Node | SharedMembers") -> int:
        """The offset of the member's value."""
        return stream.tell()

    def close(self) -> None:
        """Nothing to check: another struct owns the object."""


@dataclass(slots=True, eq=False)
class _Members(SharedMembers):
    """An object while its struct is parsed: its members, and which of them fields have located."""

    unknown: Expression | None
    scope: Container

    def close(self) -> None:
        """Members that no field has located are `unexpected_property`, unless they are ignored."""
        if self.unknown is not None and evaluate(self.unknown, self.scope) == "ignore":
            return
        for key, offset, _ in self.node.members:
            if key not in self.located:
                error = DecodeError("unexpected_property", offset=offset, expected="no such member", actual=shown(key))
                raise error.at(key)


class _BuiltMembers:
    """An object while its struct is built."""

    def __init__(self, slot: Slot) -> None:
        self._slot = slot
        self._placed: list[tuple[str, Slot]] = []
        self._rest: Slot | None = None

    def place(self, field: Field) -> Any:
        """A slot for the member's value; for an inline struct, this object itself."""
        if field.inline and field.besides is None:
            return SharedSlot(self)
        slot = self._slot.within()
        if field.inline:
            self._rest = slot
        else:
            self._placed.append((field.key, slot))
        return slot

    def close(self) -> None:
        """Put the members that have a value into the object."""
        tree: dict[str, Tree] = {}
        for name, slot in self._placed:
            if slot.value is MISSING:
                continue
            if name in tree:
                raise EncodeError(f"one value for the member {name}", "two")
            tree[name] = slot.value
        self._slot.value = tree if self._rest is None else tree | self._rest.value


@dataclass(frozen=True, slots=True)
class SharedSlot:
    """The sink of an inline struct: the enclosing object."""

    around: _BuiltMembers

    def place(self, field: Field) -> Any:
        """A slot for the member's value."""
        return self.around.place(field)

    def close(self) -> None:
        """Nothing to do: another struct owns the object."""


@dataclass(frozen=True)
class Object:
    """A struct as an object, with its fields found by name.

    A member that no field has located (a field whose `when` fails locates none) is `unexpected_property`. It is
    reported after all fields, in the order of the text, unless `unknown_members` yields "ignore".
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("object",)

    unknown_members: Expression | None = None

    def open(self, struct: WireStruct, stream: Node | SharedMembers, scope: Container) -> SharedMembers:
        """The object's members."""
        node = _object_at(stream)
        if isinstance(stream, SharedMembers):
            return stream
        return _Members(node, {key: child for key, _, child in node.members}, set(), self.unknown_members, scope)

    def create(
        self, struct: WireStruct, stream: Slot | SharedSlot, scope: Container, fields: Sequence[Field]
    ) -> _BuiltMembers | SharedSlot:
        """An object to fill."""
        return stream if isinstance(stream, SharedSlot) else _BuiltMembers(stream)


# --- structs as arrays ---------------------------------------------------------------------------------------------


@dataclass
class _Places:
    """An array while its struct is parsed: each field takes the next element."""

    node: Node
    next: int = 0

    @property
    def start(self) -> int:
        """The offset of the array."""
        return self.node.start

    def locate(self, field: Field) -> Any:
        """The next element's node."""
        if self.next == len(self.node.elements):
            raise self._wrong(f"{self.next + 1} or more elements")
        self.next += 1
        return self.node.elements[self.next - 1]

    def offset(self, stream: Node) -> int:
        """The offset of the element."""
        return stream.start

    def close(self) -> None:
        """Check that no elements are left; absent fields have none."""
        if self.next != len(self.node.elements):
            raise self._wrong(f"{self.next} elements")

    def _wrong(self, expected: str) -> DecodeError:
        return DecodeError("bad_arity", offset=self.start, expected=expected, actual=str(len(self.node.elements)))


@dataclass
class _BuiltPlaces:
    """An array while its struct is built."""

    slot: Slot
    placed: list[Slot] = field(default_factory=list)

    def place(self, field: Field) -> Slot:
        """A slot for the next element."""
        self.placed.append(self.slot.within())
        return self.placed[-1]

    def close(self) -> None:
        """Put the elements into the array; a left-out element is null."""
        self.slot.value = [None if slot.value is MISSING else slot.value for slot in self.placed]


@dataclass(frozen=True)
class Positions:
    """A struct as an array with one element per field, in order. The number of elements may tell the version."""

    kinds: ClassVar[tuple[Kind, ...]] = ("array",)

    def open(self, struct: WireStruct, stream: Node, scope: Container) -> _Places:
        """Check kind and number of elements (`bad_arity`)."""
        elements: list[Node] = expect(stream, "array")
        arities = struct.arities
        if len(elements) not in arities:
            wanted = " or ".join(str(arity) for arity in sorted(arities, reverse=True))
            raise DecodeError(
                "bad_arity", offset=stream.start, expected=f"{wanted} elements", actual=str(len(elements))
            )
        version = arities[len(elements)]
        if version is not None:
            scope._version = version
        return _Places(stream)

    def create(self, struct: WireStruct, stream: Slot, scope: Container, fields: Sequence[Field]) -> _BuiltPlaces:
        """An array to fill."""
        return _BuiltPlaces(stream)


# --- unions told by a member -----------------------------------------------------------------------------------------


class SelectMember(CasesByValue, construct.Construct):
    """A union of structs chosen by a member of the object itself, or (`presence`) by whether it is present.

    The member's value must have the kind of some case (else `type_mismatch`) and be one of the cases (else `code`). An
    absent member counts as `default`, or is `missing_key` if there is no default.
    """

    kinds: tuple[Kind, ...] = ("object",)
    values = ("record",)

    def __init__(  # noqa: PLR0913 - a declaration, used with keywords
        self,
        member: str,
        cases: Mapping[Scalar, Any],
        code: str = "unknown_case",
        *,
        presence: bool = False,
        default: Scalar = None,
        required: bool = True,
    ) -> None:
        super().__init__()
        self.member, self.cases, self.code, self.presence = member, dict(cases), code, presence
        self.default, self.required = default, required and default is None
        self.subcons = tuple(dict.fromkeys(case for case in cases.values() if not isinstance(case, Refusal)))
        self._by_kind = {(kind_of(value), value): case for value, case in cases.items()}

    def _parse(self, stream: Node | SharedMembers, context: Container, path: str) -> Any:
        node = _object_at(stream)
        try:
            case = self._case(node)
        except DecodeError as error:
            raise error.at(self.member) from None
        return case._parse(stream, context, path)

    def _case(self, node: Node) -> Any:
        found = next((child for key, _, child in node.members if key == self.member), None)
        if self.presence:
            tag: Any = found is not None
        elif found is None:
            tag = self._absent(node)
        else:
            tag = self._tag(found)
        case = self._by_kind.get((kind_of(tag), tag))
        if case is None or isinstance(case, Refusal):
            known = ", ".join(shown(value) for value in self.cases)
            offset = node.start if found is None else found.start
            code = self.code if case is None else case.code
            raise DecodeError(code, offset=offset, expected=f"one of {known}", actual=shown(tag))
        return case

    def _absent(self, node: Node) -> Scalar:
        if self.required:
            raise DecodeError("missing_key", offset=node.start, expected=self.member, actual="no such member")
        return self.default

    def _tag(self, found: Node) -> Scalar:
        kinds = dict.fromkeys(kind for kind, _ in self._by_kind)
        if found.kind not in kinds:
            raise mismatch(found, " or ".join(WORDS[kind] for kind in WORDS if kind in kinds))
        tag: Scalar = found.value
        return tag

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        return struct_for(obj, self.subcons, context, self._selects)._build(obj, stream, context, path)

    def _selects(self, case: Any, value: Mapping[str, Any]) -> bool:
        """Whether the given value of the member selects the case; True if the value does not have the member."""
        found = [] if self.presence else [field for field in fields_of(case) if field.key == self.member]
        tag: Any = told(found[0], value) if len(found) == 1 else MISSING
        return tag is MISSING or self._by_kind.get((kind_of(tag), tag)) is case
