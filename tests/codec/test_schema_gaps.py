"""The rules that a JSON Schema cannot express are listed on the page of the format.

Documents of JSON formats are altered member by member and letter by letter. Schema and parser agree on each, except
where the page's table says otherwise, and the schema never refuses a document that the parser accepts.
"""

import copy
import importlib
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conftest import CASE_PACKAGE, case_formats, shipped_formats
from proof.modules import documents, generated, resolved
from support.drawing import drawn
from wireloom.emit import jsonschema
from wireloom.emit.jsonschema.beyond import ABSENCE, gaps
from wireloom.emit.jsonschema.document import root_name
from wireloom.emit.jsonschema.objects import MAXIMUM_FLAT
from wireloom.encodings.json import JSON
from wireloom.model.format import Format
from wireloom.runtime.errors import DecodeError

pytestmark = pytest.mark.drawing
NUMBERS = [0, 1, -1, 2, 3, 5, 1.0, 0.5, 1e3, 255, 256, 2**31, 2**63, -(2**63), 2**64]
TEXTS = ["", "a", "AA==", "AB==", "A" * 76, "A" * 76 + "\n", "A" * 75 + "\nA", "\n", "aGk", "\u00e9", "\ud800"]
SCALARS = [None, True, False, *NUMBERS, *TEXTS, [], {}, [[]], {"a": 1}]
LETTERS = [*'{}[],:"\\01-+.eE ntf\n\t', "1.0", "\ud800", '"a":1,', "\\ud800", "null", "1e400", "-0"]
TURNS = drawn(60)


def json_formats() -> list[Format]:
    """The formats whose schemas judge documents."""
    known = (format for format in (*shipped_formats(), *case_formats()) if format.encoding == JSON)
    return [format for format in known if any(not (each.parameters or each.error) for each in format.examples)]


@pytest.mark.parametrize("format", json_formats(), ids=lambda format: format.name)
def test_schema_and_parser_differ_where_the_page_says_so(format: Format, case_package):
    module = importlib.import_module(f"{package_of(format)}.{format.name}")
    listed = {code for gap in gaps(format) for code in (module.CODES if gap.codes is None else gap.codes)}
    schema, seen = jsonschema.emit(format), set()
    chance = random.Random(format.name)  # noqa: S311 - the same alterations each time
    for root in format.roots:
        examples = [each for each in format.examples if each.root == root.name and not (each.parameters or each.error)]
        validator = Draft202012Validator({**schema, "$ref": f"#/$defs/{root_name(format, root)}"})
        for data in altered([each.data.decode("utf-8") for each in examples], chance):
            code = verdict(module, data, root.name)
            taken = judged(validator, data)
            if taken is False:
                assert code is not None, f"the schema alone refuses {data!r}"
            elif taken and code is not None:
                assert code in listed, f"{code}, which the page does not list: {data!r}"
                seen.add(code)
    assert seen, "no document that the schema takes was refused: were there any alterations?"


def package_of(format: Format) -> str:
    """The generated package that has the format."""
    return CASE_PACKAGE if format in case_formats() else "wireloom_formats"


def verdict(module: Any, text: str, root: str) -> str | None:
    """The parser's error code; None if it accepts the document."""
    try:
        module.parse(text.encode("utf-8", "surrogatepass"), root=root)
    except DecodeError as error:
        return error.code
    return None


def judged(validator: Draft202012Validator, text: str) -> bool | None:
    """Whether the schema accepts the document; None if it is no JSON."""
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return validator.is_valid(document)


def altered(texts: list[str], chance: random.Random) -> Iterator[str]:
    """Documents as they are, with each member twice, with members changed, and with letters changed."""
    yield from texts
    yield from (f"{text[:-1]},{text[1:]}" for text in map(str.strip, texts) if text.startswith("{") and text != "{}")
    for _ in range(TURNS):
        text = chance.choice(texts)
        if chance.random() < 0.3:
            place = chance.randrange(len(text))
            yield text[:place] + chance.choice(LETTERS) + text[place + chance.randrange(3) :]
            continue
        document = [json.loads(text)]
        other = json.loads(chance.choice(texts))
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            alter(document, other, chance)
        yield json.dumps(document[0])


def alter(document: list[Any], other: Any, chance: random.Random) -> None:
    """Change one place of the document: another value, a member less or more, an element twice."""
    holder, key = chance.choice(list(places(document)))
    value = holder[key]
    strange = chance.choice([*SCALARS, *(inner[name] for inner, name in places([other]))])
    match chance.randrange(5), holder:
        case 0, dict():
            del holder[key]
        case 1, dict():
            names = [name for inner, name in places([other]) if isinstance(inner, dict)] or ["a"]
            holder[chance.choice([*names, "more"])] = copy.deepcopy(strange)
        case 2, list() if holder is not document:
            holder.insert(chance.randrange(len(holder) + 1), copy.deepcopy(chance.choice([value, strange])))
        case 3, list() if holder is not document:
            del holder[key]
        case 4, _ if isinstance(value, int) and not isinstance(value, bool):
            holder[key] = value + chance.choice([-1, 1, 2**31, -(2**31)])
        case _:
            holder[key] = copy.deepcopy(strange)


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every member and element: what holds it, and its name or place there."""
    entries = list(document.items()) if isinstance(document, dict) else list(enumerate(document))
    for key, value in entries:
        yield document, key
        if isinstance(value, dict | list):
            yield from places(value)


@pytest.mark.parametrize("format", [*shipped_formats(), *case_formats()], ids=lambda format: format.name)
def test_every_emitted_schema_is_a_schema(format: Format):
    Draft202012Validator.check_schema(jsonschema.emit(format))


@pytest.mark.parametrize(
    ("choice", "tag"),
    [
        ({"select": {"member": "t", "presence": True}, "cases": {True: "A", False: "json"}}, [{"t": "str"}]),
        ({"select": {"member": "t", "presence": True}, "cases": {True: "json", False: "A"}}, []),
        ({"select": {"member": "t"}, "cases": {"a": "A", "b": "json"}}, [{"t": "str"}]),
        ({"select": {"member": "t", "default": "b"}, "cases": {"a": "A", "b": "json"}}, [{"t": "str"}]),
    ],
)
def test_any_json_is_a_case_where_its_tag_says_so(choice, tag):
    types = {"R": {"fields": [{"v": {"type": choice}}]}, "A": {"fields": [{"x": "int"}, *tag]}}
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "json", "root": "R", "types": types}
    texts = [
        "{}",
        "5",
        "null",
        "[1]",
        '{"x":1}',
        *(f'{{"x":1,"t":{t}}}' for t in ('"a"', '"b"', '"c"', "5")),
        '{"t":"b"}',
    ]
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        validator = Draft202012Validator(made.schema)
        for text in texts:
            document = f'{{"v":{text}}}'.encode()
            try:
                made.module.parse(document)
            except DecodeError:
                assert not validator.is_valid(json.loads(document)), document
            else:
                assert validator.is_valid(json.loads(document)), document


def test_members_of_more_choices_than_are_written_out_are_optional():
    flags = [f"f{place}" for place in range(7)]
    members = [{flag.replace("f", "m"): {"type": "int8", "when": flag}} for flag in flags]
    types = {"R": {"fields": [*({flag: "bool"} for flag in flags), *members]}}
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "json", "root": "R", "types": types}
    format = resolved(documents({"r.yaml": spec}))
    schema = jsonschema.emit(format)
    validator = Draft202012Validator(schema)
    without = dict.fromkeys(flags, False)
    for place, flag in enumerate(flags):
        assert validator.is_valid({**without, flag: True, f"m{place}": 1})
        assert validator.is_valid({**without, flag: True}) == (place == 6)
        assert not validator.is_valid({**without, flag: True, f"m{place}": 1000})
    assert len(schema["$defs"]["R"]["oneOf"]) == MAXIMUM_FLAT
    assert [gap.fields for gap in gaps(format) if gap.codes == ABSENCE] == [("R.m6",)]


def test_a_choice_by_a_member_inline_leaves_nothing_open():
    (format,) = [format for format in case_formats() if format.name == "audit_event"]
    assert all(gap.codes is not None for gap in gaps(format))
    validator = Draft202012Validator(jsonschema.emit(format))
    for example in format.examples:
        assert validator.is_valid(json.loads(example.data)) == (example.error is None), example.name
