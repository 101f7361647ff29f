"""The published definition of the language, JSON Schema and reference, agrees with the loader."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml as pyyaml
from pydantic import TypeAdapter

from conftest import CASES, ROOT, SPECS
from wireloom import reference
from wireloom.expr.functions import FUNCTIONS
from wireloom.problems import SpecProblems
from wireloom.resolve import resolve
from wireloom.runtime.codes import CODES
from wireloom.spec import language_schema, load
from wireloom.spec import yaml as positioned

REFERENCE = ROOT / "docs" / "reference" / "language.md"
LOADERS = [pyyaml.SafeLoader, getattr(pyyaml, "CSafeLoader", pyyaml.SafeLoader)]  # the second takes a tenth of the time
DOCUMENTS = sorted([*SPECS.rglob("*.yaml"), *CASES.rglob("*.yaml")])


def plain(path: Path) -> object:
    node, problems = positioned.parse(path.read_text(encoding="utf-8"), path.as_posix())
    assert node is not None
    assert not problems
    return positioned.plain(node)


@pytest.fixture(scope="module")
def validator():
    schema = language_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_published_schema_accepts_every_spec(path, validator):
    assert [error.message for error in validator.iter_errors(plain(path))] == []


@pytest.mark.parametrize("id", ["unknown-key", "missing-key", "wrong-type", "entry-keys"])
def test_the_published_schema_rejects_what_the_loader_rejects(id, validator):
    assert list(validator.iter_errors(plain(ROOT / "tests" / "rejects" / f"{id}.yaml")))


def test_the_schema_file_is_the_emitted_one():
    assert json.loads((SPECS / "wireloom.schema.json").read_text(encoding="utf-8")) == language_schema()


def test_the_reference_lists_every_key_as_the_loader_has_it():
    text = REFERENCE.read_text(encoding="utf-8")
    works = REFERENCE.with_name("what-works.md").read_text(encoding="utf-8")
    assert reference.with_tables(text, works) == text, "python -m wireloom.reference docs/reference/language.md"
    assert set(re.findall(r"<!-- keys: (\w+) -->", text)) == set(reference.classes())


def test_the_page_of_errors_lists_every_code_that_decoders_have_of_themselves():
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    table = page.split("## Codes that every format may report\n\n")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(CODES)


def test_the_reference_lists_every_function():
    text = REFERENCE.read_text(encoding="utf-8")
    assert all(f"`{name}(" in text for name in FUNCTIONS)
    assert all(function.doc in text for name, function in FUNCTIONS.items() if name not in ("min", "max"))


@pytest.mark.parametrize("name", reference.classes())
def test_the_example_of_a_key_is_a_value_of_it(name):
    for field in reference.classes()[name].model_fields.values():
        adapter = TypeAdapter(field.rebuild_annotation())
        for example in field.examples or ():
            adapter.validate_python(example)


def test_the_worked_spec_of_the_tutorial_is_the_one_that_is_tested():
    spec = (CASES / "sensor_frame" / "sensor_frame.yaml").read_text(encoding="utf-8").splitlines()
    tutorial = (ROOT / "docs" / "tutorial" / "own-format.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", tutorial, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if not line.startswith("#")]
    assert [line for line in lines if line not in spec] == []


@pytest.mark.parametrize(
    ("path", "loader"),
    [
        pytest.param(path, loader, id=f"{path.name}-{loader.__name__}")
        for path in DOCUMENTS
        for loader in LOADERS
        if path.is_relative_to(SPECS) or loader is LOADERS[-1]
    ],
)
def test_other_yaml_tools_read_every_spec(path, loader):
    read = pyyaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - both are safe
    assert list(read) == list(plain(path))
    assert list(read.get("types", {})) == list(plain(path).get("types", {}))


def test_yaml_words_of_old_are_texts():
    node, _ = positioned.parse("{a: on, b: no, c: 0x1F, d: 12:30, e: str?, f: 010, g: ~, h: 1.5}", "x")
    assert node is not None
    assert list(positioned.plain(node).values()) == ["on", "no", 31, "12:30", "str?", "010", None, 1.5]


def test_an_alias_is_refused(tmp_path):
    file = tmp_path / "spec.yaml"
    file.write_text("a: &x 1\nb: *x\n", encoding="utf-8")
    with pytest.raises(SpecProblems, match="an anchor"):
        resolve(load([file], tmp_path))
    assert pyyaml.safe_load(file.read_text(encoding="utf-8")) == {"a": 1, "b": 1}


@pytest.mark.thorough
def test_libyaml_and_pyyaml_read_every_spec_alike(monkeypatch):
    import yaml as pyyaml

    from wireloom.spec import yaml

    texts = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("specs/**/*.yaml"))]
    texts += [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("tests/*/**/*.yaml"))]
    fast = [yaml.parse(text, "spec.yaml") for text in texts]
    monkeypatch.delattr(pyyaml, "CSafeLoader", raising=False)
    assert fast == [yaml.parse(text, "spec.yaml") for text in texts]
