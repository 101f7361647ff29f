"""Which keys of a field go together: what needs another one beside it, and what excludes which.

One table for the reference, which shows it, and for `resolve`, which reports what breaks it.
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
"""Keys that mean something only beside another one."""
ON_WIRE = (
    *("at", "from", "size", "unpack", "count", "delimiter", "kept", "escape", "escaped", "pad", "charset"),
    *("terminator", "jump", "lastWhen", "tag", "oneOf", "member", "optional", "default", "const", "values", "range"),
    *("length", "pattern", "bits", "checksum", "refers", "table", "flatten", "inline", "unique", "salvage"),
    *("lineFeeds", "wire", "byteOrder", "null", "raw"),
)
"""Keys that say something of the wire, where computed and counted fields are not."""
_WHETHER = ("when", "since", "until")  # say whether a field is there
_DECIDED = (
    "const",
    "values",
    "bits",
    "derive",
    "checksum",
    "refers",
    "table",
    "flatten",
)  # what the value is, or whose
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
"""Keys that no element of an array has which may be left out: they say, too, whether it is there, or what it is."""
OF_WHOLE_BYTES = (*_WHETHER, "from", "size", "bits", "checksum", "as", "refers")
"""Keys that no field has which shares its bytes with others."""
CHECKED = frozenset(
    (
        *("const", "values", "range", "length", "pattern", "size", "delimiter", "checksum", "refers", "unique"),
        *("bits", "logical"),
    )
)
"""Keys whose check has a code, which `else` replaces."""
