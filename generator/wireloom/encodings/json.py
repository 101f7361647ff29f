"""JSON: each record is the text of one value."""

from wireloom.encodings.encoding import Encoding, Form

JSON = Encoding(
    "json",
    (Form.OBJECT, Form.ARRAY),
    text=True,
    tells_kinds=True,
    open_ended=True,
    leaves_out=True,
    doc="Records are JSON texts in UTF-8.",
    codes=(
        "truncated",
        "trailing_bytes",
        "json_syntax",
        "json_nonfinite",
        "invalid_utf8",
        "duplicate_key",
        "type_mismatch",
        "depth_limit",
    ),
    keys=frozenset({"inline", "lineFeeds", "member", "optional", "default"}),
    types={
        "bool": "true, false",
        "integer": "a number without fraction or exponent, range checked",
        "int": "`int64`",
        "int65": "the same as in MessagePack",
        "float": "a number, rounded to 64 bits, then to the width of the type",
        "str": "a string",
        "bytes": "base64 in a string",
        "nil": "null",
        "list": "array",
        "map": "object",
        "entries": "an array of objects",
        "json": "any value, object or array, kept as text",
        "union": "chosen by the type of the value",
    },
    choice="choose by `select: {member: NAME}` or by `oneOf`",
)
