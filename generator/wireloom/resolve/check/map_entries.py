"""Structs that readers see as the entries of a map: each has a key that is always there, and a value."""

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
_KEYS = types.Integer | types.Boolean | types.Text | types.Bytes  # what columns and builders tell entries apart by


def flaw_of_entry(type: Type, named: Types) -> str:
    """Why a type is no entry of a map; empty where it is one."""
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
    """Why not every entry has its key there, as it stands on the wire."""
    is_plain = field.mappings is None and field.meaning is None and field.refers is None
    if not may_be_absent(field) and is_plain and isinstance(plain(field.type, named), _KEYS):
        return ""
    return "its key must be a number, text, bytes or boolean that is never missing"


def _flaw_of_value(field: Field, named: Types) -> str:
    """Why a column of maps does not have the value."""
    if field.since or field.until:
        return "its value is only in some versions"
    if any(isinstance(each, types.OneOf) and each.open for each in within(field.type, named)):
        return "its value may have any type"
    if field.meaning is not None and field.meaning.null is not None:
        return "its value has `null`"
    return ""
