"""The one traversal of wire types: what a type is made of, and which named types it uses."""

from collections.abc import Iterable, Iterator, Mapping

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
    Struct,
    Terminator,
    Type,
    Verify,
)


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
    """Whether a record may hold more than its bytes: a field refers to an entry of a table, or is unpacked or made."""
    return makes_texts(format) or any(
        field.refers is not None or field.packing is not None for field in _fields(format)
    )


def makes_texts(format: Format) -> bool:
    """Whether texts or bytes are computed that are others once more, parts of them, or made of them."""
    return any(_makes_text(field) for field in _fields(format))


def _makes_text(field: Field) -> bool:
    tables = (field.mappings, *(bit.mappings for bit in field.bits))
    computed = field.compute is not None and makes_text(field.compute)
    return computed or any(table is not None and repeating(table) for table in tables)


def _fields(format: Format) -> Iterator[Field]:
    structs = (type for _, type in format.types if isinstance(type, Struct))
    return (field for struct in structs for field in struct.fields)


def reads_again(types: Mapping[str, Type], roots: Iterable[Type]) -> bool:
    """Whether bytes of a record may be read any number of times.

    What is in a list tries them or sums them up, a list goes on with elements of others, or a field stands elsewhere.
    """
    if any(_jumps(type) for type in (*types.values(), *roots)):
        return True
    found = set[str]()
    left = [name for type in (*types.values(), *roots) for element in _elements(type) for name in references(element)]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += references(types[name])
    return any(_reads_again(types[name]) for name in found)


def _reads_again(type: Type) -> bool:
    if isinstance(type, Struct):
        return any(isinstance(step, Verify) for step in type.steps)
    return isinstance(type, Attempt)


def _jumps(type: Type) -> bool:
    """Whether a list within a type goes on elsewhere, or a field of it stands there."""
    if isinstance(type, Struct) and any(field.base for field in type.fields):
        return True
    inner = (field.type for field in type.fields) if isinstance(type, Struct) else parts(type)
    here = isinstance(type, Array) and isinstance(type.count, Terminator) and type.count.jump is not None
    return here or any(_jumps(each) for each in inner)


def _elements(type: Type) -> Iterator[Type]:
    """The types of the elements of lists within a type."""
    for part in (field.type for field in type.fields) if isinstance(type, Struct) else parts(type):
        if isinstance(type, Array):
            yield part
        yield from _elements(part)


def plain(type: Type, named: Mapping[str, Type]) -> Type:
    """What a name of a type stands for; the name itself where it stands for itself alone."""
    seen = set[str]()
    while isinstance(type, Reference) and type.name not in seen:
        seen.add(type.name)
        type = named[type.name]
    return type


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
