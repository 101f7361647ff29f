"""MessagePack: the kind and size of each value precede it."""

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
        "int65": "any integer that fits `int64` or `uint64`",
        "float": "either width, rounded to the width of the type; infinite if too large for it",
        "str": "str",
        "bytes": "bin",
        "nil": "nil",
        "list": "array",
        "map": "map; entries keep their order, keys are unique and never null",
        "entries": "an array of structs",
        "ext": "an ext value with that type code",
        "union": "chosen by the type of the value",
    },
    choice="write one struct: its first field is the tag, and the others have `when: TAG == VALUE`",
)
