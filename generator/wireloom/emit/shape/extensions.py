"""The extensions that open values of a format may hold."""

from collections.abc import Iterator

from wireloom.model.format import Format
from wireloom.model.types import Array, Attempt, Extension, Map, Nullable, OneOf, Refusal, Select, Struct, Text, Type


def extensions(format: Format) -> tuple[tuple[int, str, bool], ...]:
    """Code, name and whether the content is text, of each extension in an open union, in spec order."""
    found: dict[tuple[int, str], bool] = {}
    for type in (*(type for _, type in format.types), *(root.type for root in format.roots)):
        for union in _unions(type):
            for alternative in union.alternatives if union.open else ():
                if isinstance(alternative.type, Extension):
                    key = (alternative.type.code, alternative.name)
                    found.setdefault(key, isinstance(alternative.type.content, Text))
    return tuple((code, name, text) for (code, name), text in found.items())


def _unions(type: Type) -> Iterator[OneOf]:
    """Every union in a type, short of what it refers to by name."""
    if isinstance(type, OneOf):
        yield type
    for part in _parts(type):
        yield from _unions(part)


def _parts(type: Type) -> tuple[Type, ...]:
    match type:
        case Array(element=part) | Nullable(type=part):
            return (part,)
        case Map(key, value):
            return (key, value)
        case OneOf(alternatives):
            return tuple(alternative.type for alternative in alternatives)
        case Select(cases=cases):
            return tuple(case.type for case in cases if not isinstance(case.type, Refusal))
        case Attempt(trials=trials):
            return tuple(trial.type for trial in trials)
        case Struct():
            return tuple(field.type for field in type.fields)
        case _:
            return ()  # scalars, extensions and references hold no types of their own
