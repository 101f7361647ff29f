"""One slip gives one diagnostic, and the suggested remedy is right."""

import pytest

from wireloom.problems import SpecProblems
from wireloom.resolve import resolve, resolve_all
from wireloom.spec import load

A = "  A: {fields: [{x: uint8}]}\n"
B = "  B: {fields: [{y: uint16}]}\n"
CRC = "checksums: {sum: {width: 16, poly: 0x1021, init: 0xFFFF, check: 0x29B1}}\n"
LISTED = "- a: uint8\n- l: {type: list(uint8), count: 2}\n- s: str(uint8)\n"
LOSES = "- lost: {type: uint32, counted: true}\n"


def said(texts: dict[str, str], folder) -> list[str]:
    """The problems of these files."""
    paths = []
    for name, text in texts.items():
        paths.append(folder / f"{name}.yaml")
        paths[-1].write_text(text, encoding="utf-8")
    try:
        resolve(load(paths, folder))
    except SpecProblems as error:
        return [f"{problem.id}: {problem.text}" for problem in error.problems]
    return []


def warned(text: str, folder) -> list[str]:
    """The warnings of a spec."""
    path = folder / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return [f"{warning.id}: {warning.text}" for warning in resolve_all(load([path], folder)).warnings]


def spec(fields: str, types: str = "", head: str = "", encoding: str = "binary", struct: str = "") -> str:
    items = "".join(f"      {line}\n" for line in fields.splitlines())
    top = f"wireloom: 1\nformat: slips\ntitle: Slips\nencoding: {encoding}\nroot: R\n{head}"
    return f"{top}types:\n  R:\n{struct}    fields:\n{items}{types}"


@pytest.mark.parametrize(
    ("type", "encoding", "right"),
    [
        ("sint32", "binary", "did you mean zigzag32?"),
        ("sint64", "protobuf", "did you mean {type: int64, wire: zigzag}?"),
        ("sint32", "json", "did you mean int32?"),
        ("uleb128", "binary", "did you mean varint64?"),
        ("int16le", "binary", "did you mean {type: int16, byteOrder: little}?"),
        ("uint16_be", "binary", "did you mean {type: uint16, byteOrder: big}?"),
        ("float64le", "binary", "did you mean {type: float64, byteOrder: little}?"),
        ("int16le", "json", "did you mean int16?"),
        ("int128", "binary", "numbers have at most 64 bits; write bytes(16)"),
        ("fixed32", "binary", "did you mean uint32?"),
        ("u8", "binary", "did you mean uint8?"),
        ("word", "binary", "did you mean uint16?"),
    ],
)
def test_a_type_of_other_languages_keeps_its_sign_and_its_order_of_bytes(tmp_path, type, encoding, right):
    tag = ", tag: 1" if encoding == "protobuf" else ""
    (found,) = said({"spec": spec(f"- a: {{type: {type}{tag}}}", encoding=encoding)}, tmp_path)
    assert found == f"unknown-type: there is no type {type}; {right}"


@pytest.mark.parametrize(
    ("key", "encoding", "right"),
    [
        ("cosnt: 3", "binary", "did you mean const?"),
        ("contant: 3", "binary", "did you mean const?"),
        ("compress: gzip", "binary", "did you mean unpack?"),
        ("null_value: 3", "binary", "did you mean null?"),
        ("separator: 00", "binary", "did you mean delimiter?"),
        ("id: 3", "protobuf", "did you mean tag?"),
        ("id: 3", "binary", ""),
        ("number: 3", "binary", ""),
    ],
)
def test_a_key_of_other_languages_is_one_that_the_encoding_has(tmp_path, key, encoding, right):
    (found,) = said({"spec": spec(f"- a: {{type: uint8, {key}}}", encoding=encoding)}, tmp_path)
    assert found == f"unknown-key: there is no key {key.split(':')[0]} here" + (f"; {right}" if right else "")


@pytest.mark.parametrize(
    ("fields", "types", "encoding"),
    [
        ("- a: T", "  T: {depth: 3, fields: [{n: uint8}, {c: {type: list(Tt), count: n}}]}\n", "binary"),
        ("- a: {type: {select: {peek: uint8}, cases: {1: A, 2: Bb}}}", A + B, "binary"),
        ("- a: {type: {select: {peek: uint8}, cases: {1: A, 2: B}}}", A.replace("uint8", "unit8") + B, "binary"),
        (
            f"- a: {{type: list(Aa), count: 2}}\n{LOSES}- discard: {{list: a, keep: x < 3 or z, count: lost}}",
            A,
            "",
        ),
        ("- a: {type: list(uin8), count: 2}\n- b: {compute: sum(a), type: uint64}", "", "binary"),
        ("- a: {type: list(Aa), count: 2}\n- b: {compute: sum(a.x), type: uint64}", A, "binary"),
        ("- a: Aa\n- b: {type: uint8, when: a.x == 3}", A, "binary"),
        ("- a: {type: Aa, flatten: true}\n- b: {type: uint8, when: x == 3 and z == 4}", A, "binary"),
        ("- a: {type: 'mp(str, json)', inline: true}", "", "json"),
        ("- a: map(strr, str)", "", "json"),
        ("- a: map(E)", "  E: {fields: [{key: st}, {value: str}]}\n", "json"),
        ("- a: ext(1, byts)", "", "msgpack"),
        ("- a: Value\n- b: Values", A.replace("A", "Valuue") + A.replace("A", "Values"), "binary"),
    ],
)
def test_follow_on_errors_of_an_unknown_type_are_hidden(tmp_path, fields, types, encoding):
    (found,) = said({"spec": spec(fields, types, encoding=encoding or "binary")}, tmp_path)
    assert found.startswith("unknown-type: ")


def test_errors_independent_of_an_unknown_type_are_shown(tmp_path):
    fields = (
        "- a: {type: unit8, when: z == 1, derive: 3, const: 4}\n- b: {type: uint8, at: 'x'}\n- c: {type: A, pad: 20}"
    )
    found = said({"spec": spec(fields, A + "  Lost: {fields: [{y: uint8}]}\n")}, tmp_path)
    assert [each.split(":")[0] for each in found] == [
        *("unknown-type", "unknown-name", "conflicting-keys", "unknown-name", "wrong-shape")
    ]


@pytest.mark.parametrize(
    "types",
    [A.replace("A", "a"), A.replace("A", "aA")],
)
def test_a_type_whose_name_is_none_is_said_there(tmp_path, types):
    (found,) = said({"spec": spec("- a: AA" if "aA" in types else "- a: A", types)}, tmp_path)
    assert found.startswith("bad-name: ")


def test_a_column_of_a_type_that_there_is_not_is_said_in_the_schema(tmp_path):
    schema = "wireloom: 1\nschema: s\ntitle: S\nfields:\n  - a: unit8\n"
    assert said({"schema": schema, "spec": spec("- a: uint8", head="schema: s\n")}, tmp_path) == [
        "unknown-type: there is no type unit8; did you mean uint8?"
    ]
    typed = schema.replace("unit8", "timestamp(ms)")
    assert said({"schema": typed}, tmp_path) == ["type-syntax: timestamp with 1 argument; write timestamp"]


@pytest.mark.parametrize(
    ("fields", "right"),
    [
        ("- a: {type uint8}", "type: uint8"),
        ("- a: {type:uint8, doc: x}", "type: uint8"),
        ("- a: {type uint8, values: {1: x, 2: y}}", "type: uint8"),
        ("- a: {type: uint8, doc 'a, b'}", "doc: 'a, b'"),
        ("- a: {type: uint8, derive 'min(b, 3)'}\n- b: uint8", "derive: 'min(b, 3)'"),
        ("- {a:uint8}", "a: uint8"),
        ("- a = uint8", "- a: uint8"),
        ("- a:\u00a0uint8", "- a: uint8"),
        ("- a: uint8\n- verify: {field a}", "field: a"),
        ("- a: {type: uint8, derive: there}\n- mark there", "- mark: there"),
        ("- a: {type: uint8, bits: {x: {at 0..1, doc: y}}}\n- b: {type: uint8, when: x == 1}", "at: 0..1"),
    ],
)
def test_a_colon_that_is_missing_is_said(tmp_path, fields, right):
    (found,) = said({"spec": spec(fields)}, tmp_path)
    name = right.removeprefix("- ").split(":")[0]
    assert found == f"yaml-syntax: a colon and a space must follow {name}; write `{right}`"


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("root: R", "root R", 5, "a colon and a space must follow root; write `root: R`"),
        ("types:", "types", 6, "a colon and a space must follow types; write `types:`"),
        ("wireloom: 1", "wireloom 1", 1, "a colon and a space must follow wireloom; write `wireloom: 1`"),
        ("  R:\n", "  R\n", 7, "a colon and a space must follow R; write `R:`"),
        ("wireloom", " wireloom", 1, "the first line is indented; begin the keys of the document in the first column"),
        (
            "uint8",
            "{type: uint8, when: !a}",
            9,
            "a tag; specs have no YAML tags; drop it, or write `not` for a negation",
        ),
    ],
)
def test_what_is_no_yaml_is_said_where_it_is(tmp_path, old, new, line, what):
    path = tmp_path / "spec.yaml"
    path.write_text(spec("- a: uint8").replace(old, new), encoding="utf-8")
    with pytest.raises(SpecProblems) as raised:
        resolve(load([path], tmp_path))
    assert [(each.location.line, each.text) for each in raised.value.problems] == [(line, what)]


@pytest.mark.parametrize("key", ["errors: {bad: Bad.}", "examples: [{name: x, hex: '00'}]", CRC.strip()])
def test_a_key_of_the_document_below_types_is_to_be_unindented(tmp_path, key):
    field = "- a: {type: uint8, const: 3, else: bad}" if key.startswith("errors") else "- a: uint8"
    (found,) = said({"spec": spec(field) + f"  {key}\n"}, tmp_path)
    assert found == f"unknown-key: {key.split(':')[0]} is below `types`, but is a key of the document; unindent it"


@pytest.mark.parametrize(("old", "new"), [("format", "name"), ("wireloom", "version")])
def test_what_a_document_says_of_itself_in_other_words(tmp_path, old, new):
    (found,) = said({"spec": spec("- a: uint8").replace(f"{old}:", f"{new}:", 1)}, tmp_path)
    assert found == f"unknown-key: there is no key {new} here; did you mean {old}?"


@pytest.mark.parametrize(("old", "new"), [("library:", "libary:"), ("types:", "types"), ("[{x", "[x")])
def test_a_library_that_is_broken_is_there_for_what_imports_it(tmp_path, old, new):
    library = f"wireloom: 1\nlibrary: net\ntitle: Net\nencoding: binary\ntypes:\n{A}".replace(old, new)
    assert len(said({"net": library, "spec": spec("- a: A", head="imports: [net]\n")}, tmp_path)) == 1


@pytest.mark.parametrize(
    ("fields", "types", "head", "encoding", "id"),
    [
        ("- a: {type: uint8, values: {1: [x]}}", "", "", "binary", "wrong-type"),
        (
            "- b: {type: uint16, checksum: sum, over: [0, 1]}\n- verify: {field: b}",
            "",
            CRC,
            "",
            "wrong-type",
        ),
        ("- a: {type: uint8, when: p}", "", "parameters: {p: {default: true}}\n", "", "conflicting-keys"),
        ("- a: V", "  V: {oneOf: {a: A, b: B}}\n" + A + B, "", "", "wrong-encoding"),
        ("- a: V", "  V: {select: {member: x}, cases: {a: A, b: B}}\n" + A + B, "", "", "wrong-encoding"),
        ("- a: uint8\n- b: {type: uint16, checksum: sum}", "", CRC, "", "conflicting-keys"),
        (
            "- a: uint8\n- b: {type: bytes('16'), checksum: md5, over: 0 .. 1}\n- verify: {field: b}",
            "",
            "",
            "",
            "expression-type",
        ),
        (f"- a: {{type: list(A), count: 2}}\n{LOSES}- discard: {{list: aa, keep: x > 3, count: lost}}", A, "", "", ""),
        ("- a: uint8\n- verify: {field: a}", "", "", "", "unknown-field"),
        ("- a: {type: 'map(str, int)', unique: key}", "", "", "json", "wrong-shape"),
        ("- a: {type: uint8, wire: zigzag}", "", "", "", "wrong-encoding"),
        ("- a: uint8", "", "limits: {size: 1MB}\n", "", "unknown-parameter"),
        ("- a: uint8", "", "framing: {prefix: uint8, size: 3}\n", "", "conflicting-keys"),
        *(
            (f"- mark: s\n- a: uint8\n- b: {{type: uint8, compute: a, {key}}}", "", "", "", "conflicting-keys")
            for key in ("byteOrder: little", "charset: cp037", "kept: true", "from: s", "raw: q", "flatten: true")
        ),
        ("- a: uint8\n- b: {type: uint8, compute: a, checksum: md5, over: 0 .. 1}", "", "", "", "conflicting-keys"),
        ("- a: uint8\n- b: {type: uint8, compute: a, count: 3}", "", "", "", "conflicting-keys"),
    ],
)
def test_one_slip_gives_one_problem(tmp_path, fields, types, head, encoding, id):  # noqa: PLR0913
    (found,) = said({"spec": spec(fields, types, head, encoding or "binary")}, tmp_path)
    assert found.startswith(f"{id or 'unknown-field'}: ")


def test_two_versions_of_one_arity_are_told_by_the_wrong_one(tmp_path):
    versions = "    versions: {v1: {arity: 2}, v2: {arity: 2}}\n"
    text = spec("- a: uint8\n- b: {type: 'uint8?', since: v2}", encoding="msgpack", struct=versions)
    assert said({"spec": text}, tmp_path) == [
        "version-arity: v1 has 1 fields, not 2; mark fields with `since` and `until`"
    ]


def test_names_at_several_distances_are_one_mistake(tmp_path):
    types = (
        "  Table: {fields: [{k: uint8}, {n: uint8}, {values: {type: list(Value), count: n}}, {e: Entry}]}\n"
        "  Entry: {fields: [{value: Value}]}\n"
        "  Value: {fields: [{a: {type: uint8, when: k == 3 and n == 2}}, {b: {type: uint8, when: k == 4}}]}\n"
    )
    (found,) = said({"spec": spec("- t: Table", types)}, tmp_path)
    assert found.startswith("ambiguous-name: k means different fields in some of the places where Value is used")


@pytest.mark.parametrize(
    ("condition", "right"),
    [
        ("a == True", "write true"),
        ("a == None", "write null"),
        ("this.a == 1", "write a: expressions look in their struct, then in those around it"),
        ("s.length == 1", "write len(s)"),
        ("l.count == 1", "write count(l)"),
        ("a if a == 1 else 2", "write a choice as `condition ? value : value`"),
    ],
)
def test_what_other_languages_write_in_expressions(tmp_path, condition, right):
    fields = LISTED + f"- b: {{type: uint8, when: {condition}}}"
    (found,) = said({"spec": spec(fields)}, tmp_path)
    assert found.endswith(f"; {right}")


@pytest.mark.parametrize(
    ("tag", "case", "right"),
    [
        *(
            ("uint8", case, "for all other values, write `otherwise` beside `cases`")
            for case in ("default", "_", "'*'", "else")
        ),
        ("uint8", "2-5", "write a range as 2 .. 5"),
        ("bool", "yes", "write true"),
        ("bool", "False", "write false"),
    ],
)
def test_what_other_languages_write_as_cases(tmp_path, tag, case, right):
    known = "1: A" if tag == "uint8" else "true: A" if right == "write false" else "false: A"
    fields = f"- k: {tag}\n- v: {{type: {{select: k, cases: {{{known}, {case}: B}}}}}}"
    (found,) = said({"spec": spec(fields, A + B)}, tmp_path)
    assert found.startswith("bad-case: ")
    assert found.endswith(f"; {right}")


def test_optional_that_is_false_may_stand_beside_null(tmp_path):
    fields = "- a: {type: str, null: '', optional: false}"
    assert said({"spec": spec(fields, encoding="json")}, tmp_path) == []
    (found,) = said({"spec": spec(fields.replace("false", "true"), encoding="json")}, tmp_path)
    assert found.startswith("conflicting-keys: ")


def test_null_is_an_alternative_of_its_own(tmp_path):
    (found,) = said({"spec": spec("- a: 'int | str?'", encoding="msgpack")}, tmp_path)
    hint = "write str without `?`, and `| nil` after the last alternative"
    assert found == f"wrong-shape: in msgpack, null must be an alternative; {hint}"


def test_a_code_that_lacks_its_meaning_lacks_it_once(tmp_path):
    field = "{type: uint8, const: 3, else: %s}"
    fields = f"- a: {field % 'nowhere'}\n- b: {field % 'nowhere'}"
    assert warned(spec(fields), tmp_path) == [
        "unknown-code: the error code nowhere is not declared; declare it under `errors`"
    ]
    (found,) = said({"spec": spec(f"- a: {field % 'Bad-Name'}")}, tmp_path)
    assert found.endswith("; a code has lower-case letters, digits and underscores and begins with a letter")


def test_bits_that_are_none_are_said_alone(tmp_path):
    fields = "- a: {type: uint8, bits: {x: 0-1}}\n- b: {type: uint8, when: x == 1}"
    assert said({"spec": spec(fields)}, tmp_path) == ["bits-out-of-range: 0-1 does not name bits; write `0..1`"]


def test_a_column_by_another_name_is_not_missing_as_well(tmp_path):
    schema = "wireloom: 1\nschema: s\ntitle: S\nfields:\n  - count: uint8\n"
    (found,) = said({"schema": schema, "spec": spec("- cuont: uint8", head="schema: s\n")}, tmp_path)
    assert found.startswith("schema-misfit: cuont is not a column of the schema; did you mean count?")


def test_a_type_that_holds_itself_by_a_wrong_name_keeps_its_depth(tmp_path):
    types = "  Tree: {depth: 3, fields: [{n: uint8}, {inner: Inner}]}\n"
    types += "  Inner: {fields: [{t: {type: list(Tre), count: 2}}]}\n"
    (found,) = said({"spec": spec("- a: Tree", types)}, tmp_path)
    assert found.startswith("unknown-type: ")
