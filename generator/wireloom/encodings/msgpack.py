"""MessagePack: each value after its kind and its size."""

from wireloom.encodings.encoding import Encoding, Form

MSGPACK = Encoding(
    "msgpack",
    (Form.ARRAY, Form.OBJECT),
    tells_kinds=True,
    tries=True,
    null="nil",
    doc="Values are MessagePack. A sender may write a number in any of its widths.",
    codes=("truncated", "trailing_bytes", "bad_msgpack", "type_mismatch"),
    keys=frozenset({"charset", "inline", "member", "optional", "default"}),
    types={
        "bool": "true, false",
        "integer": "any width, range checked",
        "int": "`int64`",
        "int65": "any integer: what `int64` or `uint64` holds",
        "float": "either width, rounded to its own (beyond its largest number infinite)",
        "str": "str",
        "bytes": "bin",
        "nil": "nil",
        "list": "array",
        "map": "map; entries keep their order, keys are unique and never null",
        "entries": "an array of them",
        "ext": "ext value of that type",
        "union": "told apart by the kind of value",
    },
)
