"""Structs that readers see as map entries must have a key that is always present, and a value."""

from wireloom.model import types
from wireloom.model.extents import may_be_absent
from wireloom.model.traversal import plain, within
from wireloom.model.types import Field, Struct, Type
from wireloom.resolve.facts.sites import Types
from wireloom.resolve.types.notations import UNKNOWN
from wireloom.runtime.values import ENTRY

HINT_OF_ENTRIES = (
    "an entry is a struct with a `key`, which is never missing, and a `value`; use `as: key` to rename a member"
)
_KEYS = types.Integer | types.Boolean | types.Text | types.Bytes  # types that columns and builders can compare


def flaw_of_entry(type: Type, named: Types) -> str:
    """Why a type cannot be the entry of a map; empty if it can."""
    entry = plain(type, named)
    if entry is UNKNOWN:
        return ""
    if not isinstance(entry, Struct):
        return "the entries of a map must be structs"
    seen = {field.name: field for field in entry.fields if not field.hidden}
    if seen.keys() != set(ENTRY) or any(field.flatten or field.bits for field in entry.fields):
        return f"{entry.name} has more members than a key and a value"
    key, value = (seen[name] for name in ENTRY)
    flaw = _flaw_of_key(key, named) or _flaw_of_value(value, named)
    return f"{entry.name} cannot be the entry of a map: {flaw}" if flaw else ""


def _flaw_of_key(field: Field, named: Types) -> str:
    """Why the key is not always present as a plain wire value; empty if it is."""
    is_plain = field.mappings is None and field.meaning is None and field.refers is None
    if not may_be_absent(field) and is_plain and isinstance(plain(field.type, named), _KEYS):
        return ""
    return "its key must be a number, text, bytes or boolean that is never missing"


def _flaw_of_value(field: Field, named: Types) -> str:
    """Why a column of maps cannot hold the value; empty if it can."""
    if field.since or field.until:
        return "its value is only in some versions"
    if any(isinstance(each, types.OneOf) and each.open for each in within(field.type, named)):
        return "its value may have any type"
    if field.meaning is not None and field.meaning.null is not None:
        return "its value has `null`"
    return ""
