"""Every example of every spec, shipped or in tests/cases: bytes to value and back, error code, path and offset."""

import importlib

import pytest

from conftest import case_formats, shipped_formats
from wireloom.model.format import Example, Format
from wireloom.runtime.errors import DecodeError, EncodeError

EXAMPLES = [
    pytest.param(package, format, example, id=f"{format.name}: {example.name}")
    for package, formats in (("wireloom_formats", shipped_formats()), ("wireloom_cases", case_formats()))
    for format in formats
    for example in format.examples
]

# Values that building and decoding does not give again: what builders derive, or cannot bring back, is part of them.
NOT_AGAIN = {
    ("databus_event", "a little-endian event, byte order unknown"): "auto builds big-endian, of which checksums differ",
    ("databus_event", "another value behind an old checksum, checksums off"): "builders derive the checksum",
    ("kpl_record", "an aggregate without user records"): "only an unknown field makes such a message long enough",
    ("kpl_record", "the same up to the bad record"): "lost user records cannot be built, so none is counted",
    ("kpl_record", "a hash key outside of the shard"): "discarded records cannot be built",
}


@pytest.fixture
def module(package: str, format: Format, case_package):
    return importlib.import_module(f"{package}.{format.name}")


def without_nulls(rendering: object) -> object:
    """A rendering as specs write it: members that are null left out."""
    match rendering:
        case dict():
            return {name: without_nulls(value) for name, value in rendering.items() if value is not None}
        case list():
            return [without_nulls(element) for element in rendering]
        case _:
            return rendering


@pytest.mark.parametrize(("package", "format", "example"), EXAMPLES)
def test_the_example_holds(package, format: Format, example: Example, module):
    parameters = dict(example.parameters)
    if example.error is not None:
        with pytest.raises(DecodeError) as raised:
            module.parse(example.data, root=example.root, **parameters)
        found = raised.value
        assert found.code == example.error
        assert found.path == (found.path if example.path is None else example.path)
        assert found.offset == (found.offset if example.offset is None else example.offset)
        assert found.format == format.name
        assert any(error.code == found.code for error in format.errors)
        return
    value = module.parse(example.data, root=example.root, **parameters)
    rendering = module.to_canonical(value, root=example.root)
    assert without_nulls(rendering) == without_nulls(example.value)
    assert module.from_canonical(rendering, root=example.root) == value
    if example.rebuilds:
        assert module.build(value, root=example.root, **parameters) == example.data
    else:
        assert gives_again(module, value, example) == ((format.name, example.name) not in NOT_AGAIN)


def gives_again(module, value: object, example: Example) -> bool:
    """Whether the value is what the bytes built of it decode to."""
    parameters = dict(example.parameters)
    try:
        built = module.build(value, root=example.root, **parameters)
    except EncodeError:
        return False
    return module.parse(built, root=example.root, **parameters) == value


def test_every_format_has_good_and_bad_examples():
    for format in shipped_formats():
        assert any(example.error is None for example in format.examples), format.name


def test_every_example_of_a_json_format_agrees_with_its_json_schema():
    import json

    import jsonschema

    for format in shipped_formats():
        if format.encoding.value != "json":
            continue
        module = importlib.import_module(f"wireloom_formats.{format.name}")
        validator = jsonschema.Draft202012Validator(module.JSON_SCHEMA)
        for example in format.examples:
            if ("unknownMembers", "ignore") in example.parameters:
                continue  # schemas are those of the default parameters
            if example.error is None and example.root == format.roots[0].name:
                validator.validate(json.loads(example.data))
