"""JSON by schema: the text is read whole (`text`), then constructs take its nodes in the order of the spec.

While parsing, the stream of each construct here is a `Node`; while building, it is a `Slot` that receives a tree of
values, which the enclosing `Document` writes at the end. So errors of the text come before errors of its values. An
offset is that of the value's first character.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any

import construct
from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers.bodies import Around
from wireloom.runtime.parsers.elements import Elements
from wireloom.runtime.parsers.entries import OfEntries
from wireloom.runtime.parsers.fields import Keys
from wireloom.runtime.parsers.json.nodes import (
    WORDS,
    Kind,
    Member,
    Nesting,
    Node,
    Slot,
    Tree,
    Verbatim,
    expect,
    mismatch,
    too_deep,
)
from wireloom.runtime.parsers.json.scalars import amount
from wireloom.runtime.parsers.json.text import read, write
from wireloom.runtime.parsers.protocol import Expression
from wireloom.runtime.parsers.scalars import encoded_text
from wireloom.runtime.parsers.structure import Struct
from wireloom.runtime.parsers.unions import Deferred, struct_for
from wireloom.runtime.values import OpenBytes, Pairs, kind_of

_DEFAULT_DEPTH = 64


# --- document ------------------------------------------------------------------------------------------------------


class Document(construct.Construct):
    """A whole JSON text, to the end of the region. Lists and maps of open values may nest to `depth`.

    The declared structure of the format nests to at most `structural_depth` besides. A text deeper than both together
    is refused while it is read, before any value is made.
    """

    def __init__(self, subcon: Any, depth: int | Expression = _DEFAULT_DEPTH, structural_depth: int = 0) -> None:
        super().__init__()
        self.subcon, self.depth, self.structural_depth = subcon, depth, structural_depth

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        start = stream.tell()
        stream.seek(0)
        data = stream.read(getattr(stream, "limit", -1))
        depth = amount(self.depth, context)
        checkpoints = context._params.get("_checkpoints")
        chosen = getattr(stream, "reader", None) or read
        reading = partial(chosen, data, depth + self.structural_depth, start)
        root = reading() if checkpoints is None else checkpoints.text(len(data) - start, reading)
        root.source.nesting.limit = depth
        root.source.keeps_open = getattr(stream, "keeps_open", False)
        if isinstance(stream, Cursor):
            stream.document = root
        try:
            return self.subcon._parse(root, context, path)
        except RecursionError:
            error = DecodeError(
                "depth_limit", offset=root.start, expected="what Python's stack can hold", actual="more"
            )
        raise error

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        slot = Slot(Nesting(amount(self.depth, context)))
        try:
            self.subcon._build(obj, slot, context, path)
            data = write(slot.value)
        except RecursionError:
            error = EncodeError("a value that Python's stack can hold", "deeper nesting")
        else:
            stream.write(data)
            return obj
        raise error


class Body(Around, Document):
    """A JSON text that holds a struct within another encoding, and can be used like the struct."""


# --- containers ----------------------------------------------------------------------------------------------------


def _enter(node: Node) -> None:
    if not node.source.nesting.enter():
        raise too_deep(node)


def _enter_built(slot: Slot) -> None:
    if not slot.nesting.enter():
        raise EncodeError(f"at most {slot.nesting.limit} nested containers", "a deeper one")


def _kept(node: Node, parse: Callable[[], Any]) -> Any:
    """An open value, or its text if the source keeps it; its content is checked in either case."""
    source = node.source
    if not source.keeps_open:
        return parse()
    source.keeps_open = False
    try:
        value = parse()
    finally:
        source.keeps_open = True
    return None if value is None else OpenBytes(source.data[node.start : node.end], value)


def _build_kept(subcon: construct.Construct, value: OpenBytes, slot: Slot, context: Container) -> OpenBytes:
    """Write the text of an open value, which must be one value of `subcon`."""
    try:
        node = read(value.data, slot.nesting.limit)
        node.source.nesting.depth = slot.nesting.depth
        subcon._parse(node, context, "")
    except DecodeError as error:
        raise EncodeError(error.expected or error.code, f"{error.actual} ({error.code})") from error
    slot.value = Verbatim(node.literal)
    return value


class Array(construct.Construct):
    """An array of elements of one type. An `open` array has open values, and counts towards the depth."""

    kinds: tuple[Kind, ...] = ("array",)
    values = ("list",)

    def __init__(
        self, element: Any, *, unique: str = "", unique_code: str = "duplicate_element", open: bool = False
    ) -> None:
        super().__init__()
        self.elements, self.open = Elements(element, unique, unique_code), open

    def _parse(self, stream: Node, context: Container, path: str) -> Any:
        if self.open:
            return _kept(stream, lambda: self._nested(stream, context))
        nodes: list[Node] = expect(stream, "array")
        return self.elements.parse_nodes(nodes, context, stream.start - stream.source.start)

    def _nested(self, stream: Node, context: Container) -> list[Any]:
        nodes: list[Node] = expect(stream, "array")
        _enter(stream)
        elements = self.elements.parse_nodes(nodes, context, stream.start - stream.source.start)
        stream.source.nesting.leave()
        return elements

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        if self.open and isinstance(obj, OpenBytes):
            return _build_kept(self, obj, stream, context)
        if not isinstance(obj, list | tuple) or isinstance(obj, Pairs):
            raise EncodeError("a list", shown(obj))
        if self.open:
            _enter_built(stream)
        slots = [stream.within() for _ in obj]
        self.elements.build(obj, iter(slots), context)
        if self.open:
            stream.nesting.leave()
        stream.value = [slot.value for slot in slots]
        return obj


class Entries(OfEntries, Array):
    """An array of records that are the entries of a map."""


class Map(construct.Construct):
    """An object with any names, as Pairs in the order of the text. An `open` map counts towards the depth."""

    kinds: tuple[Kind, ...] = ("object",)
    values = ("map", "record")

    def __init__(self, value: Any, *, open: bool = False, keys: Keys | None = None) -> None:
        super().__init__()
        self.value, self.open, self.keys = value, open, keys

    def _parse(self, stream: Node, context: Container, path: str) -> Any:
        return _kept(stream, lambda: self._pairs(stream, context)) if self.open else self._pairs(stream, context)

    def _pairs(self, stream: Node, context: Container) -> Pairs:
        members: list[Member] = expect(stream, "object")
        if self.open:
            _enter(stream)
        pairs = Pairs()
        for index, (key, offset, node) in enumerate(members):
            try:
                if self.keys is not None:
                    self.keys.hold(key, offset)
                pairs.append((key, self.value._parse(node, context, "")))
            except DecodeError as error:
                raise error.at(index) from None
        if self.open:
            stream.source.nesting.leave()
        return pairs

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        if self.open and isinstance(obj, OpenBytes):
            return _build_kept(self, obj, stream, context)
        if not isinstance(obj, Pairs | Mapping):
            raise EncodeError("a map (a dict, or `Pairs` of wireloom.runtime.values)", shown(obj))
        if self.open:
            _enter_built(stream)
        tree: dict[str, Tree] = {}
        for index, (key, value) in enumerate(obj.items() if isinstance(obj, Mapping) else obj):
            try:
                tree[_new_key(key, tree)] = self._built(value, stream, context)
            except EncodeError as error:
                raise error.at(index) from None
        if self.open:
            stream.nesting.leave()
        stream.value = tree
        return obj

    def _built(self, value: Any, stream: Slot, context: Container) -> Tree:
        slot = stream.within()
        self.value._build(value, slot, context, "")
        tree: Tree = slot.value
        return tree


class Rest(construct.Construct):
    """The members of an object except those named in `besides`, as a map, whose keys must not be these names."""

    of_null = Pairs()

    def __init__(self, map: Map, *besides: str) -> None:
        super().__init__()
        self.map, self.besides = map, frozenset(besides)

    def _parse(self, stream: Node, context: Container, path: str) -> Any:
        source = stream.source
        if not (self.map.open and source.keeps_open):
            return self.map._parse(stream, context, path)
        source.keeps_open = False
        try:
            value = self.map._parse(stream, context, path)
        finally:
            source.keeps_open = True
        texts = (source.data[offset : node.end] for _, offset, node in stream.members)
        return OpenBytes(b"{" + b",".join(texts) + b"}", value)

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        self.map._build(self.of_null if obj is None else obj, stream, context, path)
        if isinstance(stream.value, Verbatim):
            members = read(stream.value.text.encode(), stream.nesting.limit).members
            stream.value = {name: Verbatim(node.literal) for name, _, node in members}
        for index, name in enumerate(stream.value):
            if name in self.besides:
                raise EncodeError("a name that no other member has", shown(name)).at(index)
        return obj


def _new_key(key: object, tree: Mapping[str, Tree]) -> str:
    encoded_text(key)
    assert isinstance(key, str)
    if key in tree:
        raise EncodeError("another key", f"{shown(key)} again")
    return key


# --- alternatives --------------------------------------------------------------------------------------------------


_SPACE = " \t\r\n"
_CONTAINERS: dict[str, Kind] = {"{": "object", "[": "array"}


def _target(subcon: Any) -> Any:
    """The construct, with deferred ones resolved."""
    return _target(subcon.target()) if isinstance(subcon, Deferred) else subcon


def _kinds_of(subcon: Any) -> Sequence[Kind]:
    """The kinds of node that a construct parses."""
    target = _target(subcon)
    return getattr(target.form if isinstance(target, Struct) else target, "kinds", ("object",))


def _values_of(subcon: Any) -> Sequence[str]:
    """The kinds of Python value that a construct builds."""
    return getattr(_target(subcon), "values", ("record",))


def _named_kinds(subcon: Any) -> Sequence[str]:
    """The kinds of value that a construct builds, for a message: a map also accepts a record."""
    return ("map",) if isinstance(_target(subcon), Map) else _values_of(subcon)


def _texts_of(subcon: Any) -> Sequence[Kind]:
    """The kinds of JSON that a construct keeps as text."""
    return tuple(getattr(_target(subcon), "texts", ()))


class Nullable(construct.Construct):
    """null, or a value of the type."""

    nullable = True

    def __init__(self, subcon: Any) -> None:
        super().__init__()
        self.subcon = subcon

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of node that it parses."""
        return "null", *_kinds_of(self.subcon)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The kinds of Python value that it builds."""
        return "null", *_values_of(self.subcon)

    @cached_property
    def texts(self) -> Sequence[Kind]:
        """The kinds of JSON that it keeps as text."""
        return _texts_of(self.subcon)

    def _parse(self, stream: Node, context: Container, path: str) -> Any:
        return None if stream.kind == "null" else self.subcon._parse(stream, context, path)

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        if obj is None:
            stream.value = None
        else:
            self.subcon._build(obj, stream, context, path)
        return obj


class OneOf(construct.Construct):
    """Alternatives told apart by the kind of the value; an integer literal is a float if nothing else takes it."""

    def __init__(self, alternatives: Mapping[str, Any], code: str = "type_mismatch", *, open: bool = False) -> None:
        super().__init__()
        self.alternatives, self.code, self.open = dict(alternatives), code, open

    @cached_property
    def kinds(self) -> dict[Kind, Any]:
        """The alternative for each kind of node."""
        return self._by_kind(_kinds_of)

    @cached_property
    def values(self) -> dict[str, Any]:
        """The alternative for each kind of Python value."""
        return self._by_kind(_values_of)

    def _by_kind(self, kinds_of: Callable[[Any], Sequence[Any]]) -> dict[Any, Any]:
        chosen: dict[Any, Any] = {}
        for subcon in self.alternatives.values():
            for kind in kinds_of(subcon):
                chosen.setdefault(kind, subcon)
        if "float" in chosen:
            chosen.setdefault("int", chosen["float"])
        return chosen

    @cached_property
    def texts(self) -> dict[Kind, Any]:
        """The alternative that keeps each kind of JSON as text."""
        return {kind: subcon for subcon in self.alternatives.values() for kind in _texts_of(subcon)}

    @cached_property
    def records(self) -> tuple[Any, ...]:
        """The constructs that build a record, as an object or an array; the members tell them apart."""
        return tuple(found for subcon in self.alternatives.values() for found in _records(subcon))

    def _parse(self, stream: Node, context: Container, path: str) -> Any:
        return _kept(stream, lambda: self._value(stream, context)) if self.open else self._value(stream, context)

    def _value(self, stream: Node, context: Container) -> Any:
        subcon = self.kinds.get(stream.kind)
        if subcon is None:
            raise mismatch(stream, " or ".join(WORDS[kind] for kind in self.kinds), self.code)
        return subcon._parse(stream, context, "")

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        if self.open and isinstance(obj, OpenBytes):
            return _build_kept(self, obj, stream, context)
        kind = _kind_of(obj)
        subcon = self._alternative(kind, obj)
        if subcon is None:
            kinds = dict.fromkeys(chain.from_iterable(map(_named_kinds, self.alternatives.values())))
            raise EncodeError("one of " + ", ".join(kinds), shown(obj))
        if kind == "record" and len(self.records) > 1:
            subcon = _taker(obj, self.records, context)
        subcon._build(obj, stream, context, path)
        return obj

    def _alternative(self, kind: str, obj: Any) -> Any:
        """The alternative for a value; for JSON kept as text, its first character tells the kind."""
        if kind == "str" and self.texts and len({*self.texts.values()}) > 1:
            return self.texts.get(_CONTAINERS.get(obj.lstrip(_SPACE)[:1], "str"))
        return self.values.get(kind)


def _records(subcon: Any) -> Iterator[Any]:
    """The constructs that build a record within a construct."""
    match _target(subcon):
        case Nullable(subcon=inner):
            yield from _records(inner)
        case OneOf(records=records):
            yield from records
        case target if "record" in _values_of(target):
            yield target


def _taker(record: Mapping[str, Any], subcons: Sequence[Any], context: Container) -> Any:
    """While building: the construct for a record, by its members; a map takes a record that no struct fits."""
    maps = [subcon for subcon in subcons if isinstance(subcon, Map)]
    structs = [subcon for subcon in subcons if not isinstance(subcon, Map)]
    if not maps:
        return struct_for(record, structs, context)
    return next((each for each in structs if each.takes(record) and each.accepts(record, context)), maps[0])


def _kind_of(value: object) -> str:
    try:
        return kind_of(value)
    except TypeError as error:
        raise EncodeError("a value", str(error)) from None
