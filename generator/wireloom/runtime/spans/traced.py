"""Constructs that report what they read: copies of those of a format, made when a record is first explained.

The original constructs do not change, so parsing costs the same even if records are explained. In the copy, fields,
elements, entries, length prefixes, regions and structs report to the tracer (one of the parameters) where they begin
and end. Any other construct is copied with its parts.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from itertools import islice
from typing import Any

import construct
from construct import Container

from wireloom.runtime.checkpoints import Checkpoint, Passed
from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers import bodies
from wireloom.runtime.parsers.binary import Blocks, Bytes, Delimiter, Jump, Padded, Prefix, Terminator, Text
from wireloom.runtime.parsers.elements import Elements, nodes_behind
from wireloom.runtime.parsers.fields import Field, Held, Run, Step
from wireloom.runtime.parsers.json.nodes import Node as JsonNode
from wireloom.runtime.parsers.json.scalars import Carried as JsonCarried
from wireloom.runtime.parsers.json.types import Map as JsonMap
from wireloom.runtime.parsers.msgpack.containers import Map as MsgpackMap
from wireloom.runtime.parsers.msgpack.structs import Members, Positional
from wireloom.runtime.parsers.protobuf.types import Map as ProtobufMap
from wireloom.runtime.parsers.protobuf.types import MessageForm, Occurrences
from wireloom.runtime.parsers.protobuf.wire import Holes, Occurrence, Scan, Scanned, Schema
from wireloom.runtime.parsers.protocol import evaluate, holds, start_of
from wireloom.runtime.parsers.record import Record
from wireloom.runtime.parsers.regions import Packing
from wireloom.runtime.parsers.steps import Computed, Counted, Discard, Frame, Mark, Verify, with_hole
from wireloom.runtime.parsers.structure import Struct
from wireloom.runtime.parsers.unions import Attempt, Deferred, Trial
from wireloom.runtime.spans.containers import MessageNotes, note_map, note_object
from wireloom.runtime.spans.tracer import ABSENT, TRACER, Covered, Traced, Tracer
from wireloom.runtime.values import meant

_PARTS = "wireloom.runtime.parsers."
Parse = Callable[[Any, Container, str], Any]


def traced(record: Record) -> Record:
    """A copy of the record that reports what it reads to the tracer among its parameters."""
    copies = _Copies()
    inner = copies.of(record.subcon)
    made: Record = _with(record, subcon=_instead(inner, _whole(inner._parse)))
    return made


def tracer_of(context: Container) -> Tracer:
    """The tracer of the current parse."""
    found: Tracer = dict.__getitem__(context["_params"], TRACER)
    return found


def _with(part: Any, **attributes: Any) -> Any:
    made = copy.copy(part)
    made.__dict__.update(attributes)
    return made


def _as(kind: type, part: Any, **attributes: Any) -> Any:
    """A copy of the part, of another class."""
    made: Any = object.__new__(kind)
    made.__dict__.update({**part.__dict__, **attributes})
    return made


def _instead(part: Any, parse: Parse) -> Any:
    """A copy of the part with another `_parse`."""
    return _with(part, _parse=parse)


def _whole(parse: Parse) -> Parse:
    """Give each reading of the record a tree of its own."""

    def read(stream: Any, context: Container, path: str) -> Any:
        tracer, error = tracer_of(context), None
        tracer.begin()
        try:
            return tracer.reading(tracer.root, stream, parse, stream, context, path)
        except DecodeError as raised:
            error = raised
            raise
        finally:
            tracer.roots.append((tracer.root, tracer.spaces, tracer.fault, error))

    return read


# --- where values are ----------------------------------------------------------------------------------------------


def _known(stream: Any, tracer: Tracer) -> Traced | None:
    """The node that the scan of a protobuf message made for a value."""
    if not isinstance(stream, Occurrence | Scanned):
        return None
    return tracer.known.get((tracer.space, tracer.base + stream.start))


def _named(kind: str, name: Any, stream: Any, tracer: Tracer, part: Any) -> Traced:
    """The node for a value that is about to be read."""
    node = _known(stream, tracer)
    start = tracer.base + start_of(stream)
    if node is None:
        node = tracer.add(kind, name, start, start)
    node.form = node.form or _form(part)
    return node


def _form(part: Any) -> str:
    """The encoding of a construct."""
    if isinstance(part, Deferred):
        return _form(part.struct)
    return type(part).__module__.removeprefix(_PARTS).partition(".")[0]


# --- parts of values -----------------------------------------------------------------------------------------------


def _numbered(kind: str, part: Any) -> Any:
    """A construct whose value is the position or size of other bytes."""
    parse = part._parse

    def read(stream: Any, context: Container, path: str) -> Any:
        tracer = tracer_of(context)
        node = tracer.add(kind, "", tracer.base + start_of(stream), tracer.base + start_of(stream))
        return tracer.reading(node, stream, parse, stream, context, path)

    return _instead(part, read)


def _element(part: Any, plain: Any) -> Any:
    """An element of a list, at its index. An element that may be folded is read by `plain`, if it is good."""
    parse, can_fold = part._parse, not _leads_elsewhere(plain)

    def read(stream: Any, context: Container, path: str) -> Any:
        tracer = tracer_of(context)
        if can_fold and not tracer.keeps(context._index) and isinstance(stream, Cursor | JsonNode | Scanned):
            return _folded(plain, stream, context, lambda: trace(stream, context, path))
        return trace(stream, context, path)

    def trace(stream: Any, context: Container, path: str) -> Any:
        tracer = tracer_of(context)
        node = _named("element", context._index, stream, tracer, part)
        return tracer.reading(node, stream, parse, stream, context, path)

    return _instead(part, read)


def _folded(plain: Any, stream: Any, context: Container, trace: Callable[[], Any]) -> Any:
    """Read an element without a trace; if it is bad, read it again with one."""
    tracer, index, start, spent = tracer_of(context), context._index, start_of(stream), context._params._expansion
    before = spent.spent, spent.packed, spent.unpacked
    counted = (stream.again, stream.furthest) if isinstance(stream, Cursor) else None
    try:
        value = plain._parse(stream, context, "")
    except DecodeError:
        spent.spent, spent.packed, spent.unpacked = before
        if counted is not None:
            stream.seek(start)
            stream.again, stream.furthest = counted
        return trace()
    if not isinstance(stream, Scanned):  # protobuf elements are folded by `MessageNotes`
        end = stream.tell() if isinstance(stream, Cursor) else stream.end
        tracer.fold(index, 1, tracer.base + start, tracer.base + end)
    return value


def _leads_elsewhere(part: Any) -> bool:
    """Whether a construct also reads bytes outside of its start and end."""
    waiting, seen = [part], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        match each:
            case Jump():
                return True
            case Field() if each.at is not None:
                return True
            case Deferred():
                waiting.append(each.target())
            case tuple() | list():
                waiting += each
            case dict():
                waiting += each.values()
            case _:
                waiting += vars(each).values() if _is_part(each) else ()
    return False


def _is_part(each: Any) -> bool:
    return type(each).__module__.startswith(_PARTS) and hasattr(each, "__dict__")


class _Elements(Elements):
    """A list of which the engine has read some elements: the first ones are traced, the others folded."""

    def _pass_over(self, stream: Cursor, streams: Iterable[Any], context: Container, known: Checkpoint) -> Passed:
        """Trace the first elements, and continue where the engine stopped."""
        tracer, first = tracer_of(context), self._first(streams, context, known)
        start = tracer.base + stream.tell()
        passed = super()._pass_over(stream, streams, context, known)
        if known.count > len(first):
            tracer.fold(len(first), known.count - len(first), start, tracer.base + stream.tell())
        return passed

    def _pass_nodes(self, nodes: list[Any], context: Container, known: Checkpoint) -> Passed:
        """The same for nodes; protobuf elements are folded by `MessageNotes`."""
        tracer, first = tracer_of(context), self._first(nodes_behind(nodes, 0), context, known)
        if known.count > len(first) and isinstance(last := list.__getitem__(nodes, len(first) - 1), JsonNode):
            rest = next((each for each in list.__getitem__(nodes, slice(known.count, None)) if each is not None), None)
            end = last.source.start + known.position if rest is None else rest.start
            tracer.fold(len(first), known.count - len(first), tracer.base + last.end, tracer.base + end)
        return super()._pass_nodes(nodes, context, known)

    def _first(self, streams: Iterable[Any], context: Container, known: Checkpoint) -> list[Any]:
        """The first elements, whose inner lists have no checkpoints.

        The element that the engine gave up is then traced at once, not read twice, as its checkpoints can be used only
        once.
        """
        folding, checkpoints = tracer_of(context).folding, context._params["_checkpoints"]
        assert folding is not None, "there are checkpoints"
        checkpoints.pause()
        try:
            first = self.parse(islice(streams, min(folding.first, known.count)), context)
        finally:
            checkpoints.resume()
        if known.is_open:
            folding.indices.add(known.count)
        return first


def _half(kind: str, part: Any) -> Any:
    """The key or the value of a map entry; both have the entry's path."""

    def noted(parse: Callable[..., Any], stream: Any, context: Container, *path: str) -> Any:
        tracer = tracer_of(context)
        map_node = tracer.current
        node = _named(kind, map_node.entries, stream, tracer, part)
        node.kind = kind
        map_node.entries += kind == "entry"
        return tracer.reading(node, stream, parse, stream, context, *path)

    made = _instead(part, partial(noted, part._parse))
    if hasattr(part, "decode"):  # protobuf decodes scalars with it
        made.decode = partial(noted, part.decode)
    return made


def _sized(part: Any) -> Any:
    """A text or bytes with a delimiter or padding."""
    parse, size = part._parse, part.size

    def read(stream: Any, context: Container, path: str) -> Any:
        tracer, start = tracer_of(context), stream.tell()
        value = parse(stream, context, path)
        end = stream.tell()
        tracer.current.wire = value
        if isinstance(size, Delimiter):
            found = size.ending.find(stream.getvalue(), start, end)
            if found is not None and not size.ending.kept:
                tracer.add("delimiter", "", tracer.base + found[0], tracer.base + found[1])
        elif isinstance(size, Padded):
            filled = end - start - len(size.read(_at(stream, start)))
            tracer.add("padding", "", tracer.base + end - filled, tracer.base + end)
        return value

    return _instead(part, read)


def _at(stream: Cursor, start: int) -> Cursor:
    again = Cursor(stream.getvalue())
    again.seek(start)
    return again


class _Jump(Jump):
    """A pointer, noted if the number is one."""

    def target(self, stream: Any, context: Container) -> int | None:
        """The offset that it leads to."""
        if TRACER not in context._params:
            return super().target(stream, context)
        tracer, start = tracer_of(context), stream.tell()
        found = super().target(stream, context)
        if found is not None:
            node = tracer.add("pointer", "", tracer.base + start, tracer.base + stream.tell())
            node.leads = tracer.base + found
            node.value = node.leads
        return found


def _trial(parse: Parse) -> Parse:
    """An alternative: discards what the alternatives before it noted about the same bytes."""

    def read(stream: Any, context: Container, path: str) -> Any:
        tracer_of(context).go_back()
        return parse(stream, context, path)

    return read


def _attempt(attempt: Attempt) -> Attempt:
    """Alternatives, with a note why one of them was chosen."""
    made = _with(
        attempt,
        trials=tuple(_with(each, subcon=_instead(each.subcon, _trial(each.subcon._parse))) for each in attempt.trials),
    )
    parse = made._parse

    def read(stream: Any, context: Container, path: str) -> Any:
        tracer = tracer_of(context)
        with tracer.attempting():
            value = parse(stream, context, path)
        reason = value.get(attempt.reason) if attempt.reason else None
        if attempt.kind:
            because = f", and not the alternative before it: {reason}" if reason else ""
            tracer.current.note = f"{value[attempt.kind]}{because}"
        return value

    reading: Attempt = _instead(made, read)
    return reading


def _held(part: Any) -> Any:
    """An element that readers see as another value; its wire value is noted too."""
    parse = part.subcon._parse

    def read(stream: Any, context: Container, path: str) -> Any:
        value = parse(stream, context, path)
        tracer_of(context).current.wire = value
        return value

    return _with(part, subcon=_instead(part.subcon, read))


# --- structs and maps ----------------------------------------------------------------------------------------------


class _MessageForm(MessageForm):
    """A message whose fields are noted while it is scanned."""

    def scan(self, data: bytes, message: Scanned, schema: Schema, holes: Holes, scope: Container) -> Scan:
        """A scan that notes the outermost message."""
        tracer = tracer_of(scope)
        return MessageNotes(tracer, tracer.current, data, message, schema, 0, holes)


def _struct(struct: Struct) -> Struct:
    """A struct that notes its type, and those of its bytes that no field reads."""
    parse = struct._parse
    frame = next((step.bytes for step in struct.steps if isinstance(step, Frame)), None)

    def read(stream: Any, context: Container, path: str) -> Any:
        tracer = tracer_of(context)
        node = tracer.current
        node.struct, node.frame = struct.name, frame
        if isinstance(stream, JsonNode):
            node.form = "json"
        elif isinstance(struct.form, Members | Positional):
            node.form = "msgpack"
        elif isinstance(struct.form, MessageForm):
            node.form = "protobuf"
        start = stream.tell() if isinstance(stream, Cursor) else 0
        try:
            return parse(stream, context, path)
        except DecodeError:
            node.failed = True
            raise
        finally:
            if isinstance(stream, JsonNode) and stream.kind == "object":
                note_object(tracer, stream)
            elif isinstance(struct.form, Members):
                note_map(tracer, stream, start)

    made: Struct = _instead(struct, read)
    return made


def _map(part: Any) -> Any:
    """A JSON map, whose keys are not values."""
    parse = part._pairs

    def pairs(stream: Any, context: Container) -> Any:
        tracer = tracer_of(context)
        try:
            return parse(stream, context)
        except DecodeError:
            tracer.current.failed = True
            raise
        finally:
            if stream.kind == "object":
                note_object(tracer, stream)

    return _with(part, _pairs=pairs)


# --- steps ---------------------------------------------------------------------------------------------------------


class _Field(Field):
    """A field that notes its wire value and its readers' value."""

    def _take(self, run: Run, stream: Any) -> None:
        tracer = tracer_of(run.scope)
        if isinstance(stream, Occurrences):  # the scan of the message made a node for each
            node = Traced("field", self.key, 0, 0, tracer.space, self)
        else:
            name = "" if self.inline and self.besides is None else self.key
            node = _named("field", name, stream, tracer, self.subcon)
            node.step = self
            node.scattered = self.inline or not isinstance(stream, Cursor | JsonNode | Occurrence | Scanned)
        tracer.reading(node, stream, super()._take, run, stream)

    def _accept(self, raw: Any, run: Run, offset: int) -> Any:
        tracer = tracer_of(run.scope)
        node = tracer.current
        node.wire = raw
        try:
            value = super()._accept(raw, run, offset)
        finally:
            for bit in self.bits:
                made = tracer.add("bits", bit.name, node.start, node.start, bit)
                made.bits, made.wire = (bit.low, bit.width), bit._on_wire(raw)
                made.value = run.scope.get(bit.name, ABSENT)
                made.scattered = self.shared
        node.value = value
        return value


class _Computed(Computed):
    """A computed member, which has no bytes."""

    def parse(self, run: Run) -> None:
        """Compute and note it."""
        super().parse(run)
        if holds(self.when, run.scope):
            _note_without_bytes("computed", self.name, run, run.scope[self.name], self)


class _Counted(Counted):
    """The number of lost or discarded elements."""

    def parse(self, run: Run) -> None:
        """Note the number."""
        super().parse(run)
        _note_without_bytes("computed", self.name, run, run.value[self.name], self)


class _Mark(Mark):
    """A named offset."""

    def parse(self, run: Run) -> None:
        """Note the offset."""
        super().parse(run)
        _note_without_bytes("mark", self.name, run, run.scope._marks[self.name], self)


class _Discard(Discard):
    """Elements that are dropped."""

    def parse(self, run: Run) -> None:
        """Note the number."""
        super().parse(run)
        if run.value.get(self.count):
            tracer_of(run.scope).current.note = f"{run.value[self.count]} elements of {self.field} are left out"


class _Verify(Verify):
    """A checksum, with the bytes that it covers."""

    def parse(self, run: Run) -> None:
        """Verify and note it at the field."""
        node = next((each for each in tracer_of(run.scope).current.children if each.name == self.field), None)
        holding = None if run.scope[self.field] is None or not holds(self.when, run.scope) else False
        try:
            super().parse(run)
            holding = holding if holding is None else True
        finally:
            if node is not None:
                node.covers = self._covered(run, holding)

    def _covered(self, run: Run, holding: bool | None) -> Covered | None:  # noqa: FBT001 - None is a third value
        checksum, base = run.scope._checksums[self.field], tracer_of(run.scope).base + run.scope._start
        start, end = (evaluate(bound, run.scope) for bound in (checksum.start, checksum.end))
        if not isinstance(start, int) or not isinstance(end, int):
            return None
        hole, scope = run.offsets[self.field] - run.scope._start - start, run.scope

        def fits(data: bytes) -> bool:
            return bool(checksum.of(self.field, with_hole(data, hole, checksum.octets), scope) == scope[self.field])

        return Covered(base + start, base + end, holding, fits if holding is False else None)


def _note_without_bytes(kind: str, name: str, run: Run, value: Any, step: Any) -> None:
    tracer = tracer_of(run.scope)
    here = tracer.base + start_of(run.stream)
    tracer.add(kind, name, here, here, step).value = meant(value)


_STEPS: Mapping[type, type] = {
    Field: _Field, Computed: _Computed, Counted: _Counted, Mark: _Mark, Verify: _Verify, Discard: _Discard,
}  # fmt: skip


# --- regions of other bytes ----------------------------------------------------------------------------------------


class _Packing(Packing):
    """A region that is unpacked, and read in its own space."""

    def parse(self, subcon: Any, stream: Cursor, scope: Container) -> Any:
        """Read the unpacked bytes."""
        tracer, start = tracer_of(scope), stream.tell()
        codec = self._codec(None if self.tag is None else evaluate(self.tag, scope))
        if codec in (None, "none"):
            return super().parse(subcon, stream, scope)
        node = tracer.add("packed", "", tracer.base + start, tracer.base + stream.limit)
        node.note = codec or ""
        inner = _instead(subcon, _in_space(subcon._parse, codec or "", node))
        return tracer.reading(node, None, super().parse, inner, stream, scope)


class _Body(bodies.Body):
    """A struct in the bytes of a value; if `codec` is set, in the decoded text."""

    codec: str

    def parse(self, data: bytes, start: int, context: Container) -> Any:
        """Read it, with offsets in the record or in a space of its own."""
        tracer = tracer_of(context)
        parse, node = self.subcon._parse, tracer.current
        if self.codec:
            packed = tracer.add("packed", "", node.start, node.start + len(data))
            inside = _in_space(parse, self.codec, packed)
        else:
            inside = _based(parse, start)
        return bodies.Body(_instead(self.subcon, inside)).parse(data, start, context)


def _in_space(parse: Parse, codec: str, node: Traced) -> Parse:
    def read(stream: Cursor, context: Container, path: str) -> Any:
        tracer, data = tracer_of(context), stream.getvalue()
        space = tracer.unpacked(data, codec, node.start, node.end)
        content = Traced("content", "", 0, len(data), space.number)
        node.children.append(content)
        with tracer.within(space.number, 0):
            stream.reader = tracer.read_text
            return tracer.reading(content, None, parse, stream, context, path)

    return read


def _based(parse: Parse, start: int) -> Parse:
    def read(stream: Cursor, context: Container, path: str) -> Any:
        tracer = tracer_of(context)
        with tracer.within(tracer.space, tracer.base + start):
            stream.reader = tracer.read_text
            return parse(stream, context, path)

    return read


# --- copies --------------------------------------------------------------------------------------------------------

_CARRIERS = (Elements, Prefix, Blocks, Terminator, Trial, bodies.Body)


class _Copies:
    """Copies of constructs, one of each, as the types of a format refer to one another."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}

    def of(self, part: Any) -> Any:
        """The copy of a construct, or of an object that has constructs."""
        known = self._made.get(id(part))
        if known is not None:
            return known[1]
        made = self._copied(part)
        self._made[id(part)] = part, made
        return made

    def _copied(self, part: Any) -> Any:
        match part:
            case Deferred():
                return _with(part, target=lambda: self.of(part.target()))
            case Struct():
                steps = tuple(map(self._step, part.steps))
                own = tuple(step for step in steps if isinstance(step, Field))
                form = _MessageForm() if isinstance(part.form, MessageForm) else part.form
                return _struct(_with(part, steps=steps, fields=own, form=form))
            case Jump():
                return _as(_Jump, part)
            case _:
                return self._finished(part, self._parts(part))

    def _parts(self, part: Any) -> Any:
        """The copy with copies of its parts, and without cached properties."""
        attributes = {
            name: self._value(value)
            for name, value in part.__dict__.items()
            if not isinstance(getattr(type(part), name, None), cached_property)
        }
        made: Any = object.__new__(type(part))
        made.__dict__.update(attributes)
        for name in getattr(construct.Construct, "__slots__", ()):
            if isinstance(part, construct.Construct) and hasattr(part, name):
                setattr(made, name, getattr(part, name))
        return made

    def _finished(self, part: Any, made: Any) -> Any:
        """The copy, with its own reports added."""
        match part:
            case Elements():
                return _as(_Elements, made, element=_element(made.element, part.element))
            case Prefix():
                return _with(made, number=_numbered("length", made.number))
            case Blocks():
                size = None if made.size is None else _numbered("length", made.size)
                return _with(made, number=_numbered("length", made.number), size=size)
            case Attempt():
                return _attempt(made)
            case Held():
                return _held(made)
            case JsonMap():
                return _map(_with(made, value=_half("entry", made.value)))
            case MsgpackMap() | ProtobufMap():
                return _with(made, key=_half("key", made.key), value=_half("entry", made.value))
            case Text() | Bytes() if isinstance(made.size, Delimiter | Padded):
                return _sized(made)
            case bodies.Body():
                return _as(_Body, made, codec="")
            case JsonCarried():
                return _with(made, body=_as(_Body, made.body, codec="base64"))
            case _:
                return made

    def _value(self, value: Any) -> Any:
        match value:
            case construct.Construct() | Jump():
                return self.of(value)
            case tuple() | list():
                return type(value)(map(self._value, value))
            case dict():
                return {key: self._value(each) for key, each in value.items()}
            case _:
                return self.of(value) if isinstance(value, _CARRIERS) else value

    def _step(self, step: Step) -> Step:
        """A step that reports; a field also gets copies of its parts."""
        kind = _STEPS.get(type(step))
        if kind is None:
            return step
        changed: dict[str, Any] = {}
        if isinstance(step, Field):
            packing = None if step.packing is None else _as(_Packing, step.packing)
            changed = {"subcon": self.of(step.subcon), "size": self._value(step.size), "packing": packing}
        made: Step = _as(kind, step, **changed)
        return made
