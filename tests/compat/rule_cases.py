"""A case for each rule of `compat`: an old and a new spec; the same for harmless changes.

A case is the text below `types:` and, if it starts with a key of the document, that too.
"""

from dataclasses import dataclass

HEAD = "wireloom: 1\nformat: report\ntitle: A report\n"


@dataclass(frozen=True)
class Case:
    """An old and a new spec, and the mode in which the rule is found."""

    old: str
    new: str
    mode: str = "backward"


def binary(*fields: str, head: str = "encoding: binary\nroot: Report", more: str = "") -> str:
    """A spec of one struct, with one field per line."""
    return _spec(head, fields, more)


def json(*fields: str, more: str = "") -> str:
    return _spec("encoding: json\nroot: Report", fields, more)


def msgpack(*fields: str, more: str = "") -> str:
    return _spec("encoding: msgpack\nroot: Report", fields, more)


def protobuf(*fields: str, more: str = "") -> str:
    return _spec("encoding: protobuf\nroot: Report", fields, more)


def _spec(head: str, fields: tuple[str, ...], more: str) -> str:
    listed = "\n".join(f"      - {each}" for each in fields)
    return f"{HEAD}{head}\ntypes:\n  Report:\n    fields:\n{listed}\n{more}"


def versioned(order: str, *fields: str) -> str:
    """A spec with versions, which the first field selects."""
    head = f"encoding: binary\nversions: {{order: {order}, from: version}}\nroot: Report"
    return binary("version: uint8", *fields, head=head)


def changed(spec, old: str, *new: str, mode: str = "backward") -> Case:
    """A spec of two fields, and the change of one of them."""
    return Case(spec("serial: uint16", old), spec("serial: uint16", *new), mode)


CHECKSUM = """checksums:
  crc16: {width: 16, poly: 0x1021, reflected: false, init: 0xFFFF, xorout: 0, check: 0x29B1, doc: CRC}
  crc15: {width: 16, poly: 0x8005, reflected: true, init: 0, xorout: 0, check: 0xBB3D, doc: CRC}
"""
SUMMED = (
    "a: uint32",
    "mark: body",
    "crc: {type: uint16, checksum: %s, over: 0 .. body, hidden: true}",
    "verify: {field: crc}",
)


def summed(name: str) -> str:
    return binary(*(each.replace("%s", name) for each in SUMMED), more=CHECKSUM)


def union(
    cases: str,
    more: str = "  Note: {fields: [{text: {type: str, size: uint8}}]}\n  Level: {fields: [{level: int16}]}\n",
) -> str:
    return binary("kind: uint8", f"body: {{type: {{select: kind, cases: {{{cases}}}}}}}", more=more)


OTHER = "  Other: {fields: [{level: int16}]}\n"


def parameter(default: str, *fields: str) -> str:
    """A spec with a parameter that a check uses."""
    head = f"encoding: binary\nparameters: {{level: {{type: int, default: {default}}}}}\nroot: Report"
    return binary("a: uint8", "check: {that: a >= level, field: a, else: too_small}", *fields, head=head)


CASES = {
    "encoding-changed": Case(json("a: uint16"), msgpack("a: uint16")),
    "framing-changed": Case(
        binary("a: uint16", head="encoding: binary\nframing: length-prefixed\nroot: Report"),
        binary("a: uint16", head="encoding: binary\nframing: {prefix: uint16}\nroot: Report"),
    ),
    "byte-order-changed": Case(
        binary("a: uint16"), binary("a: uint16", head="encoding: binary\nbyteOrder: little\nroot: Report")
    ),
    "field-added": changed(binary, "a: uint8", "a: uint8", "b: uint8"),
    "field-removed": Case(binary("a: uint8", "b: uint8", "c: uint8"), binary("a: uint8", "c: uint8")),
    "field-moved": Case(binary("a: uint8", "b: uint16", "c: int32"), binary("b: uint16", "c: int32", "a: uint8")),
    "member-renamed": changed(json, "a: uint8", "b: uint8"),
    "tag-changed": Case(protobuf("a: {type: uint32, tag: 1}"), protobuf("a: {type: uint32, tag: 2}")),
    "type-changed": changed(binary, "a: uint8", "a: bool"),
    "number-changed": changed(binary, "a: uint16", "a: uint32"),
    "size-changed": changed(binary, "a: bytes(4)", "a: bytes(5)"),
    "condition-changed": changed(binary, "a: {type: uint8, when: serial > 3}", "a: {type: uint8, when: serial > 300}"),
    "constant-changed": changed(
        binary, "a: {type: uint8, const: 7, hidden: true}", "a: {type: uint8, const: 8, hidden: true}"
    ),
    "values-changed": changed(binary, "a: uint8", "a: {type: uint8, values: {1: one, 2: two}}"),
    "value-removed": changed(
        binary, "a: {type: uint8, values: {1: one, 2: two, 3: three}}", "a: {type: uint8, values: {1: one, 3: three}}"
    ),
    "value-added": changed(
        binary, "a: {type: uint8, values: {1: one}}", "a: {type: uint8, values: {1: one, 2: two}}", mode="forward"
    ),
    "version-removed": Case(
        versioned("{v1: 1, v2: 2}", "level: {type: uint8, since: v2}", "id: uint8"),
        versioned("{v2: 2}", "level: uint8", "id: uint8"),
    ),
    "version-added": Case(
        versioned("{v1: 1}", "id: uint8"),
        versioned("{v1: 1, v2: 2}", "id: uint8", "level: {type: uint8, since: v2}"),
        mode="forward",
    ),
    "value-renamed": changed(
        binary, "a: {type: uint8, values: {1: one, 2: two}}", "a: {type: uint8, values: {1: one, 2: zwei}}"
    ),
    "range-narrowed": changed(binary, "a: {type: uint16, range: 0 .. 40000}", "a: {type: uint16, range: 0 .. 39999}"),
    "range-widened": changed(
        binary, "a: {type: uint16, range: 0 .. 40000}", "a: {type: uint16, range: 0 .. 40001}", mode="forward"
    ),
    "spelling-narrowed": changed(
        json, "a: {type: str, pattern: '[a-z]+[0-9]*'}", "a: {type: str, pattern: '[a-z]+[0-8]*'}"
    ),
    "spelling-widened": changed(
        json, "a: {type: str, length: 1 .. 20}", "a: {type: str, length: 1 .. 21}", mode="forward"
    ),
    "null-refused": changed(json, "a: {type: 'uint8?'}", "a: uint8"),
    "null-allowed": changed(json, "a: uint8", "a: {type: 'uint8?'}", mode="forward"),
    "field-required": changed(json, "a: {type: uint8, optional: true}", "a: uint8"),
    "field-optional": changed(json, "a: uint8", "a: {type: uint8, optional: true}", mode="forward"),
    "default-changed": changed(
        json, "a: {type: uint8, optional: true, default: 1}", "a: {type: uint8, optional: true, default: 2}"
    ),
    "meaning-changed": changed(
        binary, "a: {type: uint32, logical: {timestamp: s}}", "a: {type: uint32, logical: {timestamp: ms}}"
    ),
    "case-removed": Case(union("1: Note, 2: Level"), union("1: Note")),
    "case-added": Case(union("1: Note"), union("1: Note, 2: Level"), "forward"),
    "case-changed": Case(
        union("1: Note, 2: Level"), union("1: Note, 2: Level").replace("select: kind", "select: kind ^ 3")
    ),
    "check-added": changed(binary, "a: uint8", "a: uint8", "check: {that: a < serial, field: a, else: too_large}"),
    "check-removed": Case(
        binary("serial: uint16", "a: uint8", "check: {that: a < serial, field: a, else: too_large}"),
        binary("serial: uint16", "a: uint8"),
        "forward",
    ),
    "checksum-changed": Case(summed("crc16"), summed("crc15")),
    "packing-changed": changed(
        binary, "a: {type: str, size: uint8, unpack: zlib}", "a: {type: str, size: uint8, unpack: gzip}"
    ),
    "step-changed": Case(
        binary("length: uint8", "frame: length", "a: uint8"),
        binary("length: uint8", "frame: length + 1", "a: uint8"),
    ),
    "limit-lowered": Case(
        binary("a: bytes", head="encoding: binary\nlimits: {size: 100}\nroot: Report"),
        binary("a: bytes", head="encoding: binary\nlimits: {size: 10}\nroot: Report"),
    ),
    "limit-raised": Case(
        binary("a: bytes", head="encoding: binary\nlimits: {size: 10}\nroot: Report"),
        binary("a: bytes", head="encoding: binary\nlimits: {size: 100}\nroot: Report"),
        "forward",
    ),
    "default-root-changed": Case(
        binary("a: uint8", head="encoding: binary\nroots: {one: {type: Report}, other: {type: Other}}", more=OTHER),
        binary("a: uint8", head="encoding: binary\nroots: {other: {type: Other}, one: {type: Report}}", more=OTHER),
    ),
    "record-refused": Case(parameter("1"), parameter("2")),
    "record-differs": Case(
        parameter("1", "flag: {compute: level, type: uint8}"), parameter("2", "flag: {compute: level, type: uint8}")
    ),
    "column-removed": Case(binary("a: uint8", "b: uint8"), binary("a: uint8", "b: {type: bytes(1), hidden: true}")),
    "column-renamed": Case(binary("a: uint8", "b: uint8"), binary("a: uint8", "c: uint8")),
    "column-retyped": Case(json("a: uint16"), json("a: uint32")),
    "column-added": Case(binary("a: uint8", "b: {type: bytes(1), hidden: true}"), binary("a: uint8", "b: uint8")),
    "column-nullable": Case(json("a: uint8"), json("a: 'uint8?'")),
    "unit-changed": Case(binary("a: {type: uint8, unit: s}"), binary("a: {type: uint8, unit: ms}")),
    "rows-changed": Case(
        binary(
            "many: {type: list(Other), count: uint8}", head="encoding: binary\nroot: Report\nrows: many", more=OTHER
        ),
        binary("many: {type: list(Other), count: uint8}", more=OTHER),
    ),
    "document-refused": Case(
        binary("a: uint8", "b: {type: uint16, range: 0 .. 300}"),
        binary("a: uint8", "b: {type: uint16, range: 0 .. 300}", "c: {compute: a + b, type: uint16}"),
        "forward",
    ),
    "document-incomplete": Case(
        binary("a: uint8", "b: {type: bytes(1), hidden: true}"), binary("a: uint8", "b: uint8")
    ),
    "format-removed": Case(binary("a: uint8"), binary("a: uint8").replace("format: report", "format: record")),
    "name-removed": Case(binary("a: uint8"), binary("a: uint8").replace("format: report", "format: record")),
    "argument-removed": Case(parameter("1"), binary("a: uint8", "level: uint8")),
    "option-removed": Case(
        binary("a: uint8", head="encoding: binary\nroots: {one: {type: Report}, other: {type: Other}}", more=OTHER),
        binary("a: uint8", head="encoding: binary\nroots: {one: {type: Report}}"),
    ),
    "argument-default": Case(parameter("1"), parameter("2")),
    "code-removed": Case(
        binary("a: {type: uint8, range: 0 .. 9, else: too_large}", more="errors: {too_large: A value above 9.}\n"),
        binary("a: uint8"),
    ),
    "build-refused": Case(binary("a: uint8", "b: {type: bytes(1), hidden: true}"), binary("a: uint8", "b: uint8")),
}

TWO = "  Pair: {fields: [{x: uint8}, {y: uint8}]}\n"
HARMLESS = {
    "a version at the end, with a field": Case(
        versioned("{v1: 1, v2: 2}", "id: uint8", "level: {type: uint8, since: v2}"),
        versioned(
            "{v1: 1, v2: 2, v3: 3}", "id: uint8", "level: {type: uint8, since: v2}", "unit: {type: uint8, since: v3}"
        ),
    ),
    "documents": Case(
        binary("a: {type: uint8, doc: One.}"), binary("a: {type: uint8, doc: Another.}").replace("A report", "Reports")
    ),
    "a comment": Case(binary("a: uint8"), binary("a: uint8  # a remark")),
    "an example": Case(
        binary("a: uint8"), binary("a: uint8", more="examples: [{name: one, hex: 01, value: {a: 1}}]\n")
    ),
    "a type renamed": Case(
        binary("pair: Pair", "many: {type: list(Pair), count: uint8}", more=TWO),
        binary("pair: Couple", "many: {type: list(Couple), count: uint8}", more=TWO.replace("Pair", "Couple")),
    ),
    "a root type renamed": Case(binary("a: uint8"), binary("a: uint8").replace("Report", "Message")),
    "a hidden field renamed": Case(
        binary(
            "n: {type: uint8, derive: len(a), hidden: true}", "a: {type: str, size: n}", "b: {type: uint8, when: n > 3}"
        ),
        binary(
            "m: {type: uint8, derive: len(a), hidden: true}", "a: {type: str, size: m}", "b: {type: uint8, when: m > 3}"
        ),
    ),
    "a field renamed, and not for readers": Case(binary("a: uint8"), binary("first: {type: uint8, as: a}")),
    "an optional member": changed(json, "a: uint8", "a: uint8", "b: {type: uint8, optional: true}"),
    "an optional member of MessagePack": Case(
        msgpack("a: uint8").replace("    fields", "    form: object\n    fields"),
        msgpack("a: uint8", "b: {type: uint8, optional: true}").replace("    fields", "    form: object\n    fields"),
    ),
    "a field of protobuf": Case(
        protobuf("a: {type: uint32, tag: 1}"),
        protobuf("a: {type: uint32, tag: 1}", "b: {type: uint32, tag: 2, optional: true}"),
    ),
    "an order of members": Case(json("a: uint8", "b: str"), json("b: str", "a: uint8")),
    "an order of fields of protobuf": Case(
        protobuf("a: {type: uint32, tag: 1}", "b: {type: str, tag: 2}"),
        protobuf("b: {type: str, tag: 2}", "a: {type: uint32, tag: 1}"),
    ),
    "a new word": changed(binary, "a: {type: uint8, values: {1: one}}", "a: {type: uint8, values: {1: one, 2: two}}"),
    "a wider range": changed(binary, "a: {type: uint8, range: 0 .. 9}", "a: {type: uint8, range: 0 .. 10}"),
    "a range of all": changed(binary, "a: {type: uint8, range: 0 .. 255}", "a: uint8"),
    "a longer text": changed(json, "a: {type: str, length: 1 .. 20}", "a: {type: str, length: 1 .. 30}"),
    "the same pattern in other letters": changed(
        json, "a: {type: str, pattern: '[0-9]{2}'}", "a: {type: str, pattern: '[0-9][0-9]'}"
    ),
    "null allowed": changed(json, "a: uint8", "a: {type: 'uint8?'}"),
    "a member that may be missing": changed(json, "a: uint8", "a: {type: uint8, optional: true}"),
    "a new alternative": Case(union("1: Note"), union("1: Note, 2: Level")),
    "a check less": Case(binary("a: uint8", "check: {that: a > 3, field: a, else: too_small}"), binary("a: uint8")),
    "another code": Case(
        binary("a: {type: uint8, range: 0 .. 9, else: too_large}"),
        binary("a: {type: uint8, range: 0 .. 9, else: beyond}"),
    ),
    "a higher limit": Case(
        binary("a: bytes", head="encoding: binary\nlimits: {size: 100}\nroot: Report"),
        binary("a: bytes", head="encoding: binary\nlimits: {size: 1000}\nroot: Report"),
    ),
    "a lower limit that no record comes to": Case(
        binary("a: uint8", "b: str(8)", head="encoding: binary\nlimits: {size: 100}\nroot: Report"),
        binary("a: uint8", "b: str(8)", head="encoding: binary\nlimits: {size: 9}\nroot: Report"),
    ),
    "a range of all elements": Case(
        binary("a: {type: list(uint8), range: 0 .. 255, count: uint8}"),
        binary("a: {type: list(uint8), count: uint8}"),
        "full",
    ),
    "an algorithm that no field uses": Case(
        binary("a: uint8", more=CHECKSUM), binary("a: uint8", more=CHECKSUM.replace("crc15", "crc17"))
    ),
    "a type of its own": Case(binary("x: uint8", "y: uint8"), binary("pair: {type: Pair, flatten: true}", more=TWO)),
    "the same condition in other words": changed(
        binary, "a: {type: uint8, when: serial > 3}", "a: {type: uint8, when: serial >= 4}"
    ),
    "the same offset": Case(binary("a: uint8", "b: uint16"), binary("a: uint8", "b: {type: uint16, at: 1}")),
    "a new column of filler": Case(
        binary("a: uint8", "b: {type: bytes(1), hidden: true}"), binary("a: uint8", "b: uint8")
    ),
    "a computed column": Case(binary("a: uint8"), binary("a: uint8", "b: {compute: a + 1, type: uint16}")),
    "a parameter": Case(binary("a: uint8"), parameter("0")),
    "a wider number of MessagePack, of the same column": changed(
        msgpack, "a: {type: int64, range: 0 .. 9}", "a: {type: int64, range: 0 .. 10}"
    ),
    "a mark": Case(binary("a: uint8"), binary("a: uint8", "mark: behind")),
    "a sign of a constant": changed(
        binary, "a: {type: uint16, const: 7, hidden: true}", "a: {type: int16, const: 7, hidden: true}"
    ),
    "a sign of few values": changed(
        binary, "a: {type: uint8, values: {1: one, 2: two}}", "a: {type: int8, values: {1: one, 2: two}}"
    ),
    "a wider number in a range": changed(json, "a: {type: int64, range: 0 .. 9}", "a: {type: int64, range: -1 .. 9}"),
    "a named constant twice": changed(
        binary, "a: {type: uint8, const: 7, hidden: true}", "a: {type: uint8, const: 0x07, hidden: true}"
    ),
}
NAMED = {
    "elements of a wider type": (
        Case(msgpack("a: list(uint8)"), msgpack("a: list(uint16)"), "forward"),
        "range-widened",
        "range: 0 .. 255 before, 0 .. 65535 now",
    ),
    "values of a map of a narrower type": (
        Case(json("a: map(str, uint16)"), json("a: map(str, uint8)")),
        "range-narrowed",
        "range: 0 .. 65535 before, 0 .. 255 now",
    ),
    "numbers of protobuf swapped": (
        Case(
            protobuf("a: {type: uint32, tag: 1}", "b: {type: uint32, tag: 2}"),
            protobuf("a: {type: uint32, tag: 2}", "b: {type: uint32, tag: 1}"),
        ),
        "tag-changed",
        "1 before, 2 now",
    ),
    "a member of another name": (
        Case(json("a: uint8"), json("a: {type: uint8, member: A}")),
        "member-renamed",
        "a before, A now",
    ),
    "a default": (
        Case(
            json("a: {type: uint8, optional: true, default: 1}"), json("a: {type: uint8, optional: true, default: 2}")
        ),
        "default-changed",
        "default: 1 before, 2 now",
    ),
    "a null": (
        Case(binary("a: {type: int16, null: -1}"), binary("a: {type: int16, null: -2}")),
        "meaning-changed",
        "null: -1 before, -2 now",
    ),
    "a unit of times": (
        Case(
            binary("a: {type: uint32, logical: {timestamp: s}}"), binary("a: {type: uint32, logical: {timestamp: ms}}")
        ),
        "meaning-changed",
        "meaning: not as before",
    ),
    "a float": (Case(binary("a: float32"), binary("a: float64")), "type-changed", "type: float32 before, float64 now"),
    "an order of bytes": (
        Case(binary("a: uint16"), binary("a: uint16", head="encoding: binary\nbyteOrder: little\nroot: Report")),
        "byte-order-changed",
        "byte order: big before, little now",
    ),
    "a form of records": (
        Case(msgpack("a: uint8"), msgpack("a: uint8").replace("    fields", "    form: object\n    fields")),
        "encoding-changed",
        "form: [`msgpack`, array] before, [`msgpack`, object] now",
    ),
}
"""Cases by the rule that they show, with the message."""
DANGEROUS = {
    "a sign": changed(binary, "a: uint16", "a: int16"),
    "a sign of a length": Case(binary("a: {type: bytes, size: uint8}"), binary("a: {type: bytes, size: int8}")),
    "a sign of a derived length": Case(
        binary("n: {type: uint16, derive: len(a), hidden: true}", "a: {type: bytes, size: n}"),
        binary("n: {type: int16, derive: len(a), hidden: true}", "a: {type: bytes, size: n}"),
    ),
    "a range of a derived length": Case(
        binary("n: {type: uint16, range: 0 .. 4096, derive: len(a), hidden: true}", "a: {type: bytes, size: n}"),
        binary("n: {type: uint16, range: 0 .. 4095, derive: len(a), hidden: true}", "a: {type: bytes, size: n}"),
    ),
    "a sign in a rare alternative": Case(
        union("0 .. 250: Note, 251: Level"), union("0 .. 250: Note, 251: Level").replace("int16", "uint16")
    ),
    "a field less in a rare alternative": Case(
        union("0 .. 250: Note, 251: Level").replace("{level: int16}", "{level: int16}, {more: uint8}"),
        union("0 .. 250: Note, 251: Level"),
    ),
    "a range in a rare alternative": Case(
        union("0 .. 250: Note, 251: Level").replace("int16", "{type: int16, range: 0 .. 900}"),
        union("0 .. 250: Note, 251: Level").replace("int16", "{type: int16, range: 0 .. 899}"),
    ),
    "a range of elements": Case(
        binary("a: {type: list(uint16), range: 0 .. 900, count: uint8}"),
        binary("a: {type: list(uint16), range: 0 .. 899, count: uint8}"),
    ),
    "a bit that was one of two": changed(
        binary, "f: {type: uint8, hidden: true, bits: {a: 0..1}}", "f: {type: uint8, hidden: true, bits: {a: 0}}"
    ),
    "an order of bytes of one field": changed(binary, "a: uint16", "a: {type: uint16, byteOrder: little}"),
    "fields swapped": Case(binary("a: uint8", "b: uint8"), binary("b: uint8", "a: uint8")),
    "names swapped": Case(
        binary("first: {type: uint8, as: a}", "second: {type: uint8, as: b}"),
        binary("first: {type: uint8, as: b}", "second: {type: uint8, as: a}"),
    ),
    "words swapped": changed(
        binary, "a: {type: uint8, values: {1: one, 2: two}}", "a: {type: uint8, values: {1: two, 2: one}}"
    ),
    "a column renamed by `as`": changed(binary, "a: uint8", "a: {type: uint8, as: level}"),
    "a scale": changed(binary, "a: {type: int16, scale: 0.1}", "a: {type: int16, scale: 0.01}"),
    "a sentinel": changed(binary, "a: {type: int16, null: -1}", "a: {type: int16, null: -2}"),
    "an epoch": changed(
        binary,
        "a: {type: uint32, logical: {timestamp: s}}",
        "a: {type: uint32, logical: {timestamp: s}, epoch: 1900-01-01}",
    ),
    "a bit moved": changed(
        binary,
        "f: {type: uint8, hidden: true, bits: {a: 0, b: 1}}",
        "f: {type: uint8, hidden: true, bits: {b: 0, a: 1}}",
    ),
    "a count of another width": Case(
        binary("a: {type: list(uint8), count: uint8}"), binary("a: {type: list(uint8), count: uint16}")
    ),
    "a delimiter": Case(binary("a: {type: str, delimiter: 00}"), binary("a: {type: str, delimiter: '0a'}")),
    "a character set": changed(
        binary, "a: {type: str, size: uint8, charset: latin-1}", "a: {type: str, size: uint8, charset: cp437}"
    ),
    "a computed column of another formula": Case(
        binary("a: uint8", "b: {compute: a + 1, type: uint16}"), binary("a: uint8", "b: {compute: a + 2, type: uint16}")
    ),
    "a form of protobuf": Case(
        protobuf("a: {type: int32, tag: 1}"), protobuf("a: {type: int32, tag: 1, wire: zigzag}")
    ),
    "a number used again": Case(
        protobuf("a: {type: uint32, tag: 1}", "b: {type: str, tag: 2}"),
        protobuf("a: {type: uint32, tag: 1}", "b: {type: uint32, tag: 2}"),
    ),
    "a required field of JSON": changed(json, "a: uint8", "a: uint8", "b: uint8"),
    "a member that is not known any more": changed(json, "a: {type: uint8, optional: true}"),
    "a text that was a number": changed(json, "a: uint8", "a: str"),
    "a case that selects another type": Case(union("1: Note, 2: Level"), union("1: Level, 2: Note")),
    "an offset": Case(
        binary("a: {type: uint8, at: 0}", "b: {type: uint8, at: 1}"),
        binary("a: {type: uint8, at: 1}", "b: {type: uint8, at: 0}"),
    ),
    "a pattern with one letter less": changed(
        json, "a: {type: str, pattern: '[a-z]{1,30}'}", "a: {type: str, pattern: '[a-y]{1,30}'}"
    ),
    "a limit one byte too low": Case(
        binary("a: uint8", "b: str(8)", head="encoding: binary\nlimits: {size: 100}\nroot: Report"),
        binary("a: uint8", "b: str(8)", head="encoding: binary\nlimits: {size: 8}\nroot: Report"),
    ),
    "numbers of protobuf swapped": Case(
        protobuf("a: {type: uint32, tag: 1}", "b: {type: uint32, tag: 2}"),
        protobuf("a: {type: uint32, tag: 2}", "b: {type: uint32, tag: 1}"),
    ),
    "a unique member": Case(
        binary("a: {type: list(Other), count: uint8}", more=OTHER),
        binary("a: {type: list(Other), count: uint8, unique: level}", more=OTHER),
    ),
    "a check of two fields": Case(
        binary("a: uint8", "b: uint8"),
        binary("a: uint8", "b: uint8", "check: {that: a + b < 500, field: b, else: too_large}"),
    ),
    "elements that a field of 32 bits counts": Case(
        binary("n: uint32", "a: {type: list(Other), count: n}", more=OTHER),
        binary("n: uint32", "a: {type: list(Other), count: n}", more=OTHER.replace("int16", "uint16")),
    ),
    "a region that ends elsewhere": Case(
        binary(
            "a: {type: Other, size: uint8}", "rest: bytes", more="  Other: {fields: [{level: int16}, {more: bytes}]}\n"
        ),
        binary(
            "a: {type: Other, size: uint16}", "rest: bytes", more="  Other: {fields: [{level: int16}, {more: bytes}]}\n"
        ),
    ),
}
