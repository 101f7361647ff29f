"""The generated schemas in common tools: makers of typed models, and validators of other languages.

The tools come from PyPI and npm; if a registry does not answer, the tests are skipped with its message.
"""

import importlib
import json
import shutil
import venv
from pathlib import Path
from typing import Any

import pytest

from conftest import GENERATED, shipped_formats
from integration.registries import fetched, run
from wireloom.encodings.json import JSON

pytestmark = [pytest.mark.integration, pytest.mark.thorough]

PYTHON_TOOLS = ("datamodel-code-generator==0.89.0",)
NODE_TOOLS = ("ajv@8", "ajv-formats@3", "quicktype@26")
MODELS = (
    *("--input-file-type", "jsonschema", "--output-model-type", "pydantic_v2.BaseModel", "--class-name", "Message"),
    *("--strict-types", "str", "int", "float", "bool", "--use-tuple-for-closed-arrays", "--formatters", "builtin"),
)
READ = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
verdicts = {}
for name, documents in json.load(open(sys.argv[2])).items():
    module, verdicts[name] = importlib.import_module(name), []
    for text in documents:
        try:
            module.Message.model_validate_json(text)
            verdicts[name].append(True)
        except ValueError:
            verdicts[name].append(False)
print(json.dumps(verdicts))
"""
LARGEST = 1 << 53  # integers beyond are rounded by JavaScript before a schema sees them


def schema_of(name: str) -> Path:
    return GENERATED / "wireloom_formats" / name / "schema.json"


def documents() -> dict[str, list[tuple[str, bool]]]:
    """The examples of each format as the schema has them, and whether it takes them."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for format in shipped_formats():
        module = importlib.import_module(f"wireloom_formats.{format.name}")
        found[format.name] = []
        for each in format.examples:
            if each.root != format.roots[0].name or each.parameters:
                continue
            if each.error is None:
                found[format.name].append((_said(module, each.data), True))
            elif format.encoding == JSON:
                problems = module.validate(each.data)
                if all(problem.rule not in module.CODES for problem in problems):
                    found[format.name].append((each.data.decode(), False))
    return found


def _said(module: Any, data: bytes) -> str:
    return data.decode() if module.ENCODING == "json" else json.dumps(module.to_canonical(module.parse(data)))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The Python of an environment with pydantic, and a folder with the models of each format."""
    home = tmp_path_factory.mktemp("models")
    venv.create(home / "environment", with_pip=True)
    python = home / "environment" / "bin" / "python"
    fetched(python, "-m", "pip", "install", "--quiet", *PYTHON_TOOLS)
    for name in documents():
        maker = home / "environment" / "bin" / "datamodel-codegen"
        run(maker, "--input", schema_of(name), "--output", home / f"{name}.py", *MODELS)
    return python, home


def test_typed_models_take_what_is_valid_and_refuse_what_is_not(models):
    python, home = models
    cases = documents()
    (home / "cases.json").write_text(json.dumps({name: [text for text, _ in each] for name, each in cases.items()}))
    found = json.loads(run(python, "-c", READ, home, home / "cases.json"))
    assert found == {name: [valid for _, valid in each] for name, each in cases.items()}


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """A folder with ajv and quicktype."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    home = tmp_path_factory.mktemp("tools")
    (home / "package.json").write_text("{}")
    fetched("npm", "install", "--silent", "--no-audit", "--no-fund", *NODE_TOOLS, cwd=home)
    return home


def test_javascript_judges_and_reads_as_the_schemas_say(tools):
    """Ajv in strict mode gives the same results; quicktype's readers read every valid document."""
    cases = {}
    for name, each in documents().items():
        reader = tools / f"{name}.js"
        made = ("--src-lang", "schema", "--lang", "javascript", "--top-level", "Message", "-o", reader, schema_of(name))
        run(tools / "node_modules" / ".bin" / "quicktype", *made, cwd=tools)
        texts = [text for text, valid in each if valid or not _rounded(json.loads(text))]
        cases[name] = {"schema": json.loads(schema_of(name).read_text()), "documents": texts, "reader": str(reader)}
    (tools / "cases.json").write_text(json.dumps(cases))
    found = json.loads(run("node", Path(__file__).parent / "schema_tools.js", tools / "cases.json", tools))
    for name, each in documents().items():
        valid = dict(each)
        for text, (taken, read) in zip(cases[name]["documents"], found[name], strict=True):
            assert taken == valid[text], f"ajv, {name}: {text}"
            assert read or not taken, f"quicktype, {name}: {text}"


def _rounded(value: Any) -> bool:
    match value:
        case dict():
            return any(map(_rounded, value.values()))
        case list():
            return any(map(_rounded, value))
        case int():
            return abs(value) > LARGEST
        case _:
            return False
