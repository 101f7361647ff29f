"""The error codes that any format may report, each with its meaning; a spec may reword the meanings."""

from collections.abc import Mapping
from types import MappingProxyType

CODES: Mapping[str, str] = MappingProxyType(
    {
        "truncated": "The input ends before the item does.",
        "trailing_bytes": "There are bytes after the end of the record.",
        "size_limit": "The record exceeds a limit of size.",
        "json_syntax": "Not JSON.",
        "json_nonfinite": "NaN, an infinity, or a number beyond the range of a double.",
        "bad_msgpack": "The byte 0xC1, which MessagePack never uses.",
        "undecodable": "Not a protobuf message.",
        "type_mismatch": "A value of another type than the spec allows here.",
        "bad_arity": "An array with another number of elements than its fields.",
        "missing_key": "A required member is missing.",
        "unexpected_property": "A member that the format does not define.",
        "missing_required": "A required field is missing.",
        "duplicate_key": "A member or map key appears twice.",
        "int_range": "An integer outside of its type's range, or bytes that are not a number of its type.",
        "invalid_utf8": "Text that is not UTF-8.",
        "invalid_text": "Text with bytes that its character set does not define.",
        "bad_compression": "Compressed bytes that are damaged, or of another codec.",
        "bad_hex": "Text that is not pairs of hexadecimal digits.",
        "bad_base64": "Text that is not base64 with padding.",
        "depth_limit": "Containers are nested deeper than the limit.",
        "bad_ext_type": "A MessagePack ext type that is not allowed here.",
        "bad_constant": "A value other than the only one allowed.",
        "unknown_value": "A value other than those listed.",
        "out_of_range": "A number outside of the range allowed.",
        "bad_text": "Text of another length or pattern than the spec allows here.",
        "bad_size": "Bytes or text of another size than the spec allows here.",
        "bad_escape": "An unknown escape in a stream.",
        "bad_checksum": "The checksum does not match.",
        "unknown_version": "A version that the format does not have.",
        "unknown_case": "No case matches the tag.",
        "duplicate_element": "Two list elements have the same key, which must be unique.",
        "bad_region": "A region has bytes left over, or is too short.",
        "bad_index": "An index outside its table.",
        "bad_pointer": "A pointer to an offset that is not allowed here.",
    }
)
