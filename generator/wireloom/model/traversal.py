"""The one traversal of wire types: what a type is made of, and which named types it uses."""

from collections.abc import Iterator

from wireloom.model.format import Format
from wireloom.model.types import Array, Attempt, Map, Nullable, OneOf, Reference, Refusal, Select, Struct, Type


def references(type: Type) -> Iterator[str]:
    """The named types that a type uses directly."""
    match type:
        case Reference(name):
            yield name
        case Struct():
            for field in type.fields:
                if field.compute is None and not field.counted:
                    yield from references(field.type)
        case _:
            for part in parts(type):
                yield from references(part)


def expands(format: Format) -> bool:
    """Whether a record may hold more than its bytes: a field refers to an entry of a table, as others do."""
    structs = (type for _, type in format.types if isinstance(type, Struct))
    return any(field.refers is not None for struct in structs for field in struct.fields)


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
