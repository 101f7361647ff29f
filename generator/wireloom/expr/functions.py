"""The functions that expressions may call: a flat table. All are total; null in gives null, false or 0 out."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from wireloom.expr.ast import Kind

_INTEGER = (Kind.INTEGER,)
_NUMBER = (Kind.INTEGER, Kind.FLOAT)
_SIZED = (Kind.TEXT, Kind.BYTES)


@dataclass(frozen=True, slots=True)
class Function:
    """A function: the kinds that each argument may have, the kind of its value, and what it gives."""

    parameters: tuple[tuple[Kind, ...], ...]
    result: Kind
    doc: str
    variadic: bool = False  # the last parameter may be repeated
    literals: tuple[int, ...] = ()  # places of arguments that must be literals
    optional: int = 0  # the number of last arguments that may be missing
    words: tuple[str, ...] = ()  # the texts that literal ones may be
    alike: bool = False  # texts and bytes among the arguments are of one kind, which is that of the result


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "len": Function((_SIZED,), Kind.INTEGER, "Bytes of a text (in UTF-8) or of bytes; 0 for null."),
        "count": Function(((Kind.LIST,),), Kind.INTEGER, "Elements of a list; 0 for null."),
        "sum": Function(
            ((Kind.LIST,), (Kind.TEXT,)),
            Kind.INTEGER,
            "The sum of a list of integers, or of an integer that its elements have (`sum(parts.length)`); "
            "those that are null add nothing, and the sum of null is 0.",
            literals=(1,),
            optional=1,
        ),
        "present": Function(((Kind.ANY,),), Kind.BOOLEAN, "Whether there is a value."),
        "rangeName": Function(
            (_INTEGER, (Kind.TEXT,)),
            Kind.TEXT,
            "The name of the first of the named ranges that holds the number; null if none does.",
            literals=(1,),
        ),
        "decimal": Function(
            ((Kind.TEXT,), _INTEGER),
            Kind.INTEGER,
            "The number that the digits of a text say, with or without a plus sign; null for any other text, or if it "
            "needs more bits than stated.",
            literals=(1,),
        ),
        "int": Function(
            ((Kind.BYTES,), (Kind.TEXT,)),
            Kind.INTEGER,
            "The unsigned number that up to eight bytes are, in the byte order `'big'` or `'little'`; 0 for no bytes, "
            "null for more than eight.",
            literals=(1,),
            words=("big", "little"),
        ),
        "md5": Function(
            (_SIZED,),
            Kind.INTEGER,
            "MD5 of a text (in UTF-8) or of bytes, as an unsigned 128-bit number, highest byte first.",
        ),
        "slice": Function(
            (_SIZED, _INTEGER, _INTEGER),
            Kind.ANY,
            "The characters of a text, or bytes, from a place on, up to and without another or to the end; places "
            "count from 0, negative ones from the end.",
            optional=1,
            alike=True,
        ),
        "concat": Function(
            (_SIZED, _SIZED), Kind.ANY, "Texts, or bytes, one after another.", variadic=True, alike=True
        ),
        "join": Function(
            ((Kind.LIST,), _SIZED, (Kind.TEXT,)),
            Kind.ANY,
            "The texts, or bytes, of a list, or of a member of its elements (`join(labels.text, '.')`), with a literal "
            "between.",
            literals=(1, 2),
            optional=1,
            alike=True,
        ),
        "min": Function((_NUMBER, _NUMBER), Kind.INTEGER, "The smallest.", variadic=True),
        "max": Function((_NUMBER, _NUMBER), Kind.INTEGER, "The largest.", variadic=True),
    }
)
