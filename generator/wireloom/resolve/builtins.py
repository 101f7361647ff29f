"""What the language brings along: the names of its types and the error codes that decoders report by themselves."""

from collections.abc import Mapping
from types import MappingProxyType

from wireloom.expr.ast import Kind
from wireloom.model.types import Boolean, Bytes, Encoding, Float, Integer, IntegerForm, JsonText, Null, Text, Type

SCALARS: Mapping[str, Type] = MappingProxyType(
    {
        "bool": Boolean(),
        **{f"int{bits}": Integer(bits, signed=True) for bits in (8, 16, 32, 64)},
        **{f"uint{bits}": Integer(bits, signed=False) for bits in (8, 16, 32, 64, 128)},
        "int": Integer(64, signed=True),
        **{f"varint{bits}": Integer(bits, signed=False, form=IntegerForm.VARINT) for bits in (32, 64)},
        **{f"zigzag{bits}": Integer(bits, signed=True, form=IntegerForm.ZIGZAG) for bits in (32, 64)},
        "float": Float(64),
        "float32": Float(32),
        "float64": Float(64),
        "str": Text(),
        "bytes": Bytes(),
        "json": JsonText(),
        "nil": Null(),
    }
)
CONSTRUCTORS = ("list", "map", "ext")
TYPE_NAMES = (*SCALARS, *CONSTRUCTORS, "any")

DIGESTS: Mapping[str, int] = MappingProxyType({"md5": 16, "sha1": 20, "sha256": 32})

CODES: Mapping[str, str] = MappingProxyType(
    {
        "truncated": "The input ends before the item does.",
        "trailing_bytes": "Bytes behind the end of the record.",
        "size_limit": "The record is larger than the configured maximum.",
        "json_syntax": "Not JSON.",
        "json_nonfinite": "NaN, an infinity, or a number beyond the range of a double.",
        "bad_msgpack": "The byte 0xC1, which MessagePack never uses.",
        "undecodable": "Not a protobuf message.",
        "type_mismatch": "A value of another type than must stand here.",
        "bad_arity": "An array with another number of elements than its fields.",
        "missing_key": "A member that must be there is absent.",
        "unexpected_property": "A member that the format does not define.",
        "missing_required": "A required field is absent.",
        "duplicate_key": "A member or a map key is there twice.",
        "int_range": "An integer outside of its type's range.",
        "invalid_utf8": "Text that is not UTF-8.",
        "bad_base64": "Text that is not base64 with padding.",
        "depth_limit": "Containers are nested deeper than the limit.",
        "bad_ext_type": "A MessagePack ext type that no value here has.",
        "bad_constant": "A value other than the only one allowed.",
        "unknown_value": "A value other than those listed.",
        "out_of_range": "A number outside of the range allowed.",
        "bad_size": "Bytes or text of another size than must stand here.",
        "bad_checksum": "The checksum does not match.",
        "unknown_case": "A tag that selects nothing.",
        "duplicate_element": "Two elements that must differ are equal.",
        "bad_region": "A part does not end where it must.",
        "bad_index": "An index beyond the table.",
    }
)


def kind(type: Type) -> Kind:
    """The kind of a scalar type's values."""
    match type:
        case Integer():
            return Kind.INTEGER
        case Boolean():
            return Kind.BOOLEAN
        case Text() | JsonText():
            return Kind.TEXT
        case Bytes():
            return Kind.BYTES
        case Null():
            return Kind.NULL
        case _:
            return Kind.ANY


def general_codes(encoding: Encoding) -> tuple[str, ...]:
    """The codes that any input of that encoding can give."""
    match encoding:
        case Encoding.BINARY:
            return ("truncated", "trailing_bytes")
        case Encoding.MSGPACK:
            return ("truncated", "trailing_bytes", "bad_msgpack", "type_mismatch")
        case Encoding.JSON:
            return (
                "truncated",
                "trailing_bytes",
                "json_syntax",
                "json_nonfinite",
                "invalid_utf8",
                "duplicate_key",
                "type_mismatch",
            )
        case Encoding.PROTOBUF:
            return ("undecodable",)
