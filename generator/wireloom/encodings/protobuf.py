"""Protocol Buffers: fields by number, in any order."""

from wireloom.encodings.encoding import FLATTEN, Encoding, Form

_CHOICE = "give each alternative its own field, with `oneOf: NAME`"

PROTOBUF = Encoding(
    "protobuf",
    (Form.MESSAGE,),
    numbered=True,
    open_ended=True,
    leaves_out=True,
    doc=(
        "Fields of protobuf messages may come in any order. Each is a varint of `tag * 8 + wire type`, then its value. "
        "Wire type 0 is a varint; 1 has 8 bytes and 5 has 4 bytes, both little-endian; 2 is a "
        "length as a varint, then that number of bytes (text, bytes, messages, packed lists). A list has the tag "
        "before each element; lists of numbers may be packed. Readers skip fields with other tags."
    ),
    codes=("undecodable",),
    keys=frozenset({"charset", "tag", "wire", "oneOf", "refers", "table", "salvage", "optional", "default"}),
    types={
        "bool": "bool",
        "integer": "varint (`wire`: zigzag, fixed)",
        "int": "`int64`",
        "varint": "varint, zigzag",
        "float": "float, double",
        "str": "string",
        "bytes": "bytes",
        "list": "repeated",
        "map": "map; the last of equal keys counts",
        "entries": "repeated messages",
    },
    choice=_CHOICE,
    instead_of_keys={"inline": FLATTEN},
    instead={
        "nil": "use `optional: true`",
        "union": _CHOICE,
    },
)
