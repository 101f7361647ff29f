"""The one traversal of wire types: what a type is made of, and which named types it uses."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass, replace
from typing import Any, TypeVar

from wireloom.encodings import Encoding
from wireloom.expr.types import makes_text
from wireloom.model.format import Format
from wireloom.model.meanings import repeating
from wireloom.model.types import (
    Array,
    Attempt,
    Field,
    Map,
    Nullable,
    OneOf,
    Reference,
    Refusal,
    Select,
    Step,
    Struct,
    Terminator,
    Type,
    Verify,
)
from wireloom.runtime.columns.logical import List, LogicalType, Record
from wireloom.runtime.columns.logical import Map as LogicalMap
from wireloom.runtime.cursor import AGAIN

NamedTypes = tuple[tuple[str, Type], ...]
"""The named types of a format, in the order of the spec."""
_Node = TypeVar("_Node")


def references(type: Type) -> Iterator[str]:
    """The named types that a type uses directly."""
    match type:
        case Reference(name):
            yield name
        case Struct():
            for field in type.fields:
                if field.on_wire:
                    yield from references(field.type)
        case _:
            for part in parts(type):
                yield from references(part)


def expands(format: Format) -> bool:
    """Whether a record may decode to more than its bytes: a field refers to a table, is unpacked or makes text."""
    return makes_texts(format) or unpacks(format) or any(field.refers is not None for field in fields(format))


def unpacks(format: Format) -> bool:
    """Whether a record has a packed region."""
    return any(field.packing is not None for field in fields(format))


def makes_texts(format: Format) -> bool:
    """Whether computed values copy, cut or combine texts or bytes of the record."""
    return any(_makes_text(field) for field in fields(format))


def _makes_text(field: Field) -> bool:
    tables = (field.mappings, *(bit.mappings for bit in field.bits))
    computed = field.compute is not None and makes_text(field.compute)
    return computed or any(table is not None and repeating(table) for table in tables)


def fields(format: Format) -> Iterator[Field]:
    """Every field of every struct."""
    structs = (type for _, type in format.types if isinstance(type, Struct))
    return (field for struct in structs for field in struct.fields)


def reads_again(types: Mapping[str, Type], roots: Iterable[Type]) -> bool:
    """Whether bytes of a record may be read more often than the limit on rereading allows.

    That may happen if a field is at an absolute offset, if a list jumps, if repeated elements try alternatives or
    verify checksums, or if the types outside of lists do so more than `AGAIN` times.
    """
    every = (*types.values(), *roots)
    pieces = [each for type in every for each in nested(type)]
    if any(map(_jumps, pieces)):
        return True
    elements = {name for each in pieces if isinstance(each, Array | Map) for name in references(each)}
    if any(_readings(types[name]) for name in closure(elements, lambda name: references(types[name]))):
        return True
    counted = dict[str, int]()
    return any(_all_readings(type, types, counted) > AGAIN for type in every)


def reached(type: Type, types: Mapping[str, Type], without: Collection[str] = ()) -> set[str]:
    """The named types that a type uses, directly or not, except those that only the types in `without` use."""

    def inner(type: Type) -> Iterator[str]:
        return (name for name in references(type) if name not in without)

    return set(closure(inner(type), lambda name: inner(types[name])))


def closure(starts: Iterable[_Node], inner: Callable[[_Node], Iterable[_Node]]) -> dict[_Node, None]:
    """The nodes of a graph that can be reached from `starts`, which are included; nearest first."""
    found = dict.fromkeys(starts)
    waiting = list(found)
    for node in waiting:  # the loop appends to it
        new = [each for each in dict.fromkeys(inner(node)) if each not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return found


def with_structs(named: NamedTypes, change: Callable[[Struct], Struct]) -> NamedTypes:
    """The types, with `change` applied to each struct."""
    return tuple((name, change(type) if isinstance(type, Struct) else type) for name, type in named)


def with_fields(struct: Struct, change: Callable[[Field], Step]) -> Struct:
    """The struct, with `change` applied to each field."""
    return replace(struct, steps=tuple(change(step) if isinstance(step, Field) else step for step in struct.steps))


def _readings(type: Type) -> int:
    """How many alternatives a named type tries, or how many checksums it verifies."""
    match type:
        case Struct():
            return sum(isinstance(step, Verify) for step in type.steps)
        case Attempt(trials):
            return len(trials)
        case _:
            return 0


def _all_readings(type: Type, types: Mapping[str, Type], counted: dict[str, int]) -> int:
    """The same, summed over all types that it uses."""
    total = _readings(type)
    for name in references(type):
        if name not in counted:
            counted[name] = 0  # recursion goes through elements, which are checked separately
            counted[name] = _all_readings(types[name], types, counted)
        total += counted[name]
    return total


def _jumps(type: Type) -> bool:
    """Whether the type has a list that jumps, or a field at an absolute offset."""
    match type:
        case Struct():
            return any(field.base for field in type.fields)
        case Array(count=Terminator(jump=jump)):
            return jump is not None
        case _:
            return False


def plain(type: Type, named: Mapping[str, Type]) -> Type:
    """The type that a name refers to, through further names; the name itself if it refers only to itself."""
    seen = set[str]()
    while isinstance(type, Reference) and type.name not in seen:
        seen.add(type.name)
        type = named[type.name]
    return type


def within(type: Type, named: Mapping[str, Type], *through: type[Type]) -> Iterator[Type]:
    """A type and its parts, each name followed once; structs are not opened.

    With `through`, only types of these kinds are opened.
    """
    waiting, seen = [type], set[str]()
    while waiting:
        each = waiting.pop()
        if isinstance(each, Reference):
            waiting += [] if each.name in seen else [named[each.name]]
            seen.add(each.name)
            continue
        yield each
        if not through or isinstance(each, through):
            waiting += reversed(parts(each))


def bare(type: Type, named: Mapping[str, Type]) -> Type:
    """The type behind names and nulls."""
    while isinstance(type, Reference | Nullable):
        type = type.type if isinstance(type, Nullable) else named[type.name]
    return type


def nested(type: Type) -> Iterator[Type]:
    """A type and all its parts; names are not followed."""
    yield type
    for each in inner_types(type):
        yield from nested(each)


def inner_types(type: Type) -> tuple[Type, ...]:
    """The types of a struct's fields, or the parts of another type."""
    return tuple(field.type for field in type.fields) if isinstance(type, Struct) else parts(type)


def encodings_around(
    named: Mapping[str, Type], roots: Iterable[Type], outermost: Encoding
) -> dict[str, list[Encoding]]:
    """The encodings in which each named type is written: those of the structs around it."""
    found: dict[str, list[Encoding]] = {}
    pending = [(type, outermost) for type in roots]
    while pending:
        type, encoding = pending.pop()
        if isinstance(type, Reference):
            known = found.setdefault(type.name, [])
            if encoding in known:
                continue
            known.append(encoding)
            type = named[type.name]
        own = type.encoding if isinstance(type, Struct) else encoding
        pending += [(each, own) for each in inner_types(type)]
    return found


def parts(type: Type) -> tuple[Type, ...]:
    """The types that an unnamed type is made of."""
    match type:
        case Array(element):
            return (element,)
        case Map(key, value):
            return (key, value)
        case Nullable(inner):
            return (inner,)
        case OneOf(alternatives):
            return tuple(item.type for item in alternatives)
        case Select(_, cases):
            return tuple(case.type for case in cases if not isinstance(case.type, Refusal))
        case Attempt(trials):
            return tuple(trial.type for trial in trials)
        case _:
            return ()


def with_parts(part: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - part of a type
    """A part of a type with `change` applied to its own parts; the same object if none changes.

    Keeping the object keeps a broken part as it was reported.
    """
    if isinstance(part, tuple):
        return tuple(map(change, part))
    if not is_dataclass(part) or isinstance(part, type | Encoding):
        return part
    new = {each.name: change(getattr(part, each.name)) for each in dataclass_fields(part)}
    return part if all(each is getattr(part, name) for name, each in new.items()) else replace(part, **new)


def columns(type: LogicalType, path: str = "") -> Iterator[tuple[str, LogicalType]]:
    """A logical type and those within it, each with its path: `bins[].name`; the keys of a map have `{}`."""
    yield path, type
    match type:
        case Record(members):
            for each in members:
                yield from columns(each.type, f"{path}.{each.name}" if path else each.name)
        case List(element):
            yield from columns(element, f"{path}[]")
        case LogicalMap(key, value):
            yield from columns(key, f"{path}{{}}")
            yield from columns(value, f"{path}[]")
        case _:
            pass
