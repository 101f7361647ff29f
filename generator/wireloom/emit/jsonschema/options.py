"""What value tables and booleans can be: as schemas, and as options that conditions tell apart."""

from wireloom.emit.jsonschema import rendering
from wireloom.emit.jsonschema.conditions import Constant, outcomes
from wireloom.emit.jsonschema.constants import NEVER, Schema, values
from wireloom.emit.jsonschema.members import SOMETHING, Option
from wireloom.model.types import Mapping as ValueMapping
from wireloom.runtime.columns.logical import LogicalType


def meanings(mappings: tuple[ValueMapping, ...], shown: LogicalType) -> Schema:
    """What a value table can mean; any value where a meaning is computed."""
    known: list[Constant] = []
    for each in mappings:
        found = outcomes(each.value)
        if found is None:
            return rendering.schema(shown)
        known += [value for value in found if value is not None]
    distinct = [rendering.constant(each, shown) for each in dict.fromkeys(known)]
    return values(distinct) if distinct else NEVER


def mapped_options(mappings: tuple[ValueMapping, ...], shown: LogicalType) -> tuple[Option, ...]:
    """The meanings of a value table as options that conditions tell apart; something where one is computed."""
    known = [outcomes(each.value) for each in mappings]
    if any(each is None or len(each) != 1 for each in known):
        return (SOMETHING,)
    single = dict.fromkeys(each[0] for each in known if each is not None and each[0] is not None)
    return tuple(Option(rendering.constant(each, shown), each) for each in single)


def booleans(shown: LogicalType) -> tuple[Option, ...]:
    """True and false as options."""
    return tuple(Option(rendering.constant(each, shown), each) for each in (True, False))
