"""Which keys of a field need each other, and which exclude each other.

The reference shows this table, and `resolve` reports fields that break it.
"""

from collections.abc import Mapping

COMPANIONS: Mapping[str, str] = {
    "over": "checksum",
    "checksum": "over",
    "stored": "checksum",
    "default": "optional",
    "from": "at",
    "kept": "delimiter",
    "escape": "delimiter",
    "escaped": "escape",
    "epoch": "logical",
    "jump": "terminator",
    "unpack": "size",
}
"""Keys that need another key beside them."""
ON_WIRE = (
    *("at", "from", "size", "unpack", "count", "delimiter", "kept", "escape", "escaped", "pad", "charset"),
    *("terminator", "jump", "lastWhen", "tag", "oneOf", "member", "optional", "default", "const", "values", "range"),
    *("length", "pattern", "bits", "checksum", "refers", "table", "flatten", "inline", "unique", "salvage"),
    *("lineFeeds", "wire", "byteOrder", "null", "raw"),
)
"""Keys that describe bytes on the wire, and so are not allowed on computed and counted fields."""
_WHETHER = ("when", "since", "until")  # keys that decide whether a field is present
_DECIDED = (
    "const",
    "values",
    "bits",
    "derive",
    "checksum",
    "refers",
    "table",
    "flatten",
)  # keys that decide the field's value, or take over another's
_NUMERIC = dict.fromkeys(("logical", "scale", "offset"), (*_DECIDED, "inline", "unique", "salvage", "hidden"))
EXCLUDED: Mapping[str, tuple[str, ...]] = {
    "compute": ("counted", *ON_WIRE),
    "counted": ("derive", *_WHETHER, "as", "hidden", "logical", "scale", "offset", *ON_WIRE),
    "count": ("terminator", "lastWhen"),
    "terminator": ("lastWhen",),
    "derive": ("const", "checksum"),
    "const": ("checksum",),
    "values": ("checksum", "bits", "range"),
    "table": ("values", "range"),
    "raw": ("hidden", "const"),
    "kept": ("escape", "logical"),
    "charset": ("logical", "checksum"),
    "refers": ("charset", "const", "values", "derive", "default"),
    "flatten": ("hidden", "as"),
    **_NUMERIC,
    "null": (*(key for key in _NUMERIC["logical"] if key != "values"), "optional", "default", "oneOf"),
    **dict.fromkeys(("length", "pattern"), (*_DECIDED, "hidden", "logical", "scale", "offset")),
    "unpack": ("const", "values", "bits", "derive", "checksum", "pad", "hidden"),
    "from": ("derive", "checksum", "bits", "hidden"),
    "oneOf": ("optional", *_WHETHER, "derive", "const", "refers", "table", "flatten", "hidden"),
}
"""The keys that each key excludes."""
EXCLUDED_BY_OMISSION = (*_WHETHER, "derive", "const", "flatten", "hidden")
"""Keys that an optional array element cannot have, since they also decide its presence or its value."""
OF_WHOLE_BYTES = (*_WHETHER, "from", "size", "bits", "checksum", "as", "refers")
"""Keys that a bit field cannot have unless it fills whole bytes."""
CHECKED = frozenset(
    (
        *("const", "values", "range", "length", "pattern", "size", "delimiter", "checksum", "refers", "unique"),
        *("bits", "logical"),
    )
)
"""Keys whose check reports an error code, which `else` replaces."""
