"""Texts in specs that try to run as code, to break out of their place, or to control a terminal.

Every text in the specs is such a text, and so are the paths of the specs. The generated files must contain them only as
text: in constants and comments of Python, as text of Markdown and of JSON, without terminal control characters.
"""

import ast
import importlib
import io
import json
import re
import sys
import tokenize
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from support.drawing import drawn
from wireloom import escapes, medallion, pipeline
from wireloom.catalog import open_format, open_package
from wireloom.cli.app import app
from wireloom.problems import SpecProblems
from wireloom.project import Project

MARKER = "HOSTILE"  # in every text, and in nothing else that is generated
RUNS = "import sys; sys.hostile_effect = 1"
PIECES = (
    *(
        '"""',
        "'''",
        '"',
        "'",
        "\\",
        "\\\\",
        "\n",
        "\r",
        "\t",
        "\n\n",
        " ",
        "#",
        "`",
        "```",
        "~~~",
        "|",
        "\\|",
        "<",
        ">",
    ),
    *(
        "-->",
        "<!--",
        "</script>",
        "<img src=x onerror=alert(1)>",
        "<https://example.org>",
        "&lt;b&gt;",
        "%}",
        "{{ 1 }}",
    ),
    *(
        "{% raw %}",
        "{#",
        "[x](javascript:alert(1))",
        "![x](y)",
        "**",
        "__",
        "* ",
        "- ",
        "1. ",
        "> ",
        "# ",
        "===",
        "---",
    ),
    *("\x1b[31m", "\x1b]0;x\x07", "\x9b2J", "\x7f", "\x85", "\x0c", "\u2028", "\u2029", "\u202e", "\u2066", "\ufeff"),
    *("coding: utf-7", "# -*- coding: latin-1 -*-", "+ACIAIgAi-", "*/", "${x}", "$(id)", "\U0001f600", "é", "\u200f"),
    *(f'"""\n{RUNS}\n"""', f"\n{RUNS}\n", f"');{RUNS}#", f'")\n{RUNS}\n', "</details>\n\n<script>alert(1)</script>\n"),
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map(lambda parts: MARKER + "".join(parts) + MARKER)
PATHS = (
    "coding: utf-7 #.yaml",
    "coding=utf-7/x.yaml",
    "# -*- coding: latin-1 -*-.yaml",
    'a"""b.yaml',
    "'''.yaml",
    "a\\b\\.yaml",
    "--><script>alert(1)</script>.yaml".replace("/", "%2f"),
    "{{ x }} {% y %}.yaml",
    "größe (sha256 1).yaml",
    "`a|b`.yaml",
)


def binary_spec(text: str) -> dict[str, Any]:
    """A spec with the text in every place that allows one."""
    return {
        "wireloom": 1,
        "format": "hostile",
        "title": text,
        "doc": text,
        "source": text,
        "encoding": "binary",
        "imports": ["hostile_library"],
        "parameters": {
            "choice": {"oneOf": [text, "other"], "default": text, "doc": text, "unit": text},
            "free": {"type": "str", "default": text, "doc": text},
        },
        "checksums": {"simple": {"sum": "xor", "width": 8, "check": 0x31, "doc": text}},
        "errors": {"hostile_code": text},
        "roots": {"one": {"type": "Record", "doc": text}, "two": {"type": "list(Record)", "doc": text}},
        "types": {
            "Record": {
                "doc": text,
                "fields": [
                    {"count": {"type": "uint8", "doc": text, "unit": text}},
                    {"kind": {"type": "uint8", "values": {0: text, 1: "other"}, "doc": text}},
                    {"flags": {"type": "uint8", "bits": {"bit": {"at": 0, "doc": text}}, "doc": text}},
                    {"shared": {"type": "Shared", "doc": text}},
                    {"named": {"compute": "count == 1 ? 'a' : 'b'", "type": "str", "doc": text}},
                    {"check": {"that": f"free == {quoted(text)} or count < 200", "else": "hostile_code"}},
                ],
            }
        },
        "examples": [
            {"name": text, "hex": "01 00 01 05", "root": "one", "doc": text, "value": RECORD | {"kind": text}},
            {"name": f"{text} of a bad one", "hex": "01", "root": "one", "error": "truncated", "path": "kind"},
            {"name": f"{text} that does not hold", "hex": "01", "root": "one", "error": "truncated", "path": text},
        ],
    }


RECORD = {"count": 1, "bit": True, "shared": {"inner": 5}, "named": "a"}


def library(text: str) -> dict[str, Any]:
    """A library that is as hostile."""
    return {
        "wireloom": 1,
        "library": "hostile_library",
        "title": text,
        "doc": text,
        "encoding": "binary",
        "parameters": {"more": {"type": "str", "default": text, "doc": text}},
        "errors": {"library_code": text},
        "types": {
            "Shared": {
                "doc": text,
                "fields": [
                    {"inner": {"type": "uint8", "doc": text, "range": "0 .. 200", "else": "library_code"}},
                    {"check": {"that": f"more == {quoted(text)} or inner < 200", "else": "library_code"}},
                ],
            }
        },
    }


def json_spec(text: str) -> dict[str, Any]:
    """A spec of JSON whose members are called so, too."""
    return {
        "wireloom": 1,
        "format": "hostile_json",
        "title": text,
        "encoding": "json",
        "root": "Record",
        "types": {
            "Record": {
                "fields": [
                    {"a": {"type": "str", "member": text, "optional": True, "default": text, "doc": text}},
                    {"b": {"type": "int32", "values": {0: text, 1: "y"}, "as": "c", "unit": text}},
                ]
            }
        },
        "examples": [{"name": text, "text": json.dumps({text: text, "b": 0}), "value": {"a": text, "c": text}}],
    }


def protobuf_spec(text: str) -> dict[str, Any]:
    """A spec of protobuf, whose messages are a text of their own."""
    return {
        "wireloom": 1,
        "format": "hostile_protobuf",
        "title": text,
        "encoding": "protobuf",
        "root": "Record",
        "types": {
            "Record": {
                "doc": text,
                "fields": [
                    {"a": {"tag": 1, "type": "str", "optional": True, "default": text, "doc": text, "unit": text}}
                ],
            }
        },
    }


def quoted(text: str) -> str:
    """A text of the language of expressions."""
    return "'" + text.replace("'", "") + "'"


def write(folder: Path, path: str, document: object) -> None:
    """A spec as JSON, which is YAML."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document), encoding="utf-8")


def made(folder: Path, text: str, path: str) -> dict[Path, str]:
    """The files generated from specs with the text everywhere, at that path."""
    specs = folder / "specs"
    write(specs, path, binary_spec(text))
    write(specs, f"json {path}", json_spec(text))
    write(specs, f"protobuf {path}", protobuf_spec(text))
    write(specs, f"library {path}", library(text))
    return pipeline.files(Project(specs, folder / "out", "hostile_package", folder / "docs"))


def texts_of_python(text: str) -> list[str]:
    """The tokens of a module that have the marker, as Python reads its bytes; those of no text are a failure."""
    data = text.encode("utf-8")
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    assert encoding == "utf-8"
    assert not any(re.match(rb"^[ \t\f]*#.*?coding[:=]", line) for line in data.split(b"\n")[:2])
    found = [token for token in tokenize.tokenize(io.BytesIO(data).readline) if MARKER in token.string]
    assert all(token.type == tokenize.STRING for token in found), found
    assert escapes.is_visible(text.replace("\n", ""))
    return [token.string for token in found]


def calls(text: str) -> list[str]:
    """The names that a module uses, in order; modules that differ only in texts have the same."""
    return [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]


MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def pieces(tokens: list[Any]) -> list[Any]:
    """All tokens of Markdown, those within others too."""
    return [each for token in tokens for each in (token, *pieces(token.children or []))]


def shape(text: str) -> list[str]:
    """The structure of a page; texts appear in it only as text and code."""
    return [
        each.type
        for each in pieces(MARKDOWN.parse(text))
        if each.type not in ("text", "code_inline", "softbreak", "text_special")
    ]


def targets(text: str) -> list[str]:
    """Where the links and pictures of a page lead."""
    found = (each.attrGet("href") or each.attrGet("src") for each in pieces(MARKDOWN.parse(text)))
    return [str(each) for each in found if each]


ELEMENTS = {"svg", "title", "desc", "style", "rect", "text", "path"}
PLAIN = "plain"
BLOCKS = (
    "heading_open",
    "table_open",
    "tr_open",
    "td_open",
    "fence",
    "code_block",
    "bullet_list_open",
    "blockquote_open",
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> dict[Path, str]:
    """The same of a text that does nothing."""
    folder = tmp_path_factory.mktemp("plain")
    return {path.relative_to(folder): text for path, text in made(folder, PLAIN, "plain.yaml").items()}


@settings(max_examples=drawn(6))
@given(TEXTS, st.sampled_from(PATHS))
@example(MARKER + "".join(PIECES) + MARKER, PATHS[0])
@example(f'{MARKER} "', PATHS[1])
@example(f"{MARKER}\\", PATHS[2])
@example(f'+ACIAIgAi-{RUNS}+ACIAIgAi-"""\\{MARKER}', PATHS[0])
def test_no_text_of_a_spec_and_no_path_is_more_than_text(tmp_path_factory, plain, text, path):
    folder = tmp_path_factory.mktemp("hostile")
    for file, content in made(folder, text, path).items():
        assert content == content.encode("utf-8").decode("utf-8")
        like = plain[file.relative_to(folder)]
        match file.suffix:
            case ".py":
                texts_of_python(content)
                assert calls(content) == calls(like)
            case ".json":
                assert json.loads(content).keys() == json.loads(like).keys()
                assert escapes.is_visible(content.replace("\n", ""))
            case ".md":
                found = shape(content)
                assert found.count("html_block") == 1  # ours, in the first line
                assert "html_inline" not in found
                assert targets(content) == targets(like)
                assert all(found.count(part) == shape(like).count(part) for part in BLOCKS)
                assert escapes.is_visible(content.replace("\n", ""))
            case ".svg":
                drawn = list(ET.fromstring(content).iter())  # noqa: S314 - our own
                assert {each.tag.rpartition("}")[2] for each in drawn} <= ELEMENTS
                assert not [name for each in drawn for name in each.attrib if name.startswith(("on", "href"))]
            case ".toml":
                assert MARKER not in content


HOSTILE = MARKER + "".join(PIECES) + MARKER


@pytest.mark.parametrize("path", PATHS)
def test_what_is_generated_has_no_effect_but_its_names_when_it_is_imported(tmp_path, monkeypatch, path):
    text = f'+ACIAIgAi-\n{RUNS}\n+ACIAIgAi-"""\n{RUNS}\n"""{HOSTILE}'
    for file, content in made(tmp_path, text, path).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode("utf-8"))
    monkeypatch.syspath_prepend(tmp_path / "out")
    for name in [name for name in sys.modules if name.startswith("hostile_package")]:
        monkeypatch.delitem(sys.modules, name)
    for file in sorted((tmp_path / "out" / "hostile_package").rglob("*.py")):
        name = ".".join(file.relative_to(tmp_path / "out").with_suffix("").parts).removesuffix(".__init__")
        module = importlib.import_module(name)
        assert not hasattr(sys, "hostile_effect")
    assert module.__name__.startswith("hostile_package")
    assert text == importlib.import_module("hostile_package.hostile").TITLE
    package = tmp_path / "out" / "hostile_package"
    assert set(pipeline.tree.sources(package).values()) == {path, f"json {path}", f"protobuf {path}"}


@pytest.mark.parametrize(
    "name", ["a\nb", "x\n# coding: utf-7 #", "\x1b[31m", "\x7f", "\x9b", "\u202e", "\u2028", "\udcff"]
)
@pytest.mark.parametrize("folder", [False, True])
def test_a_path_with_control_characters_is_refused(tmp_path, name, folder):
    path = f"{name}/fine.yaml" if folder else f"{name}.yaml"
    write(tmp_path, path, json_spec("title"))
    write(tmp_path, "fine.yaml", json_spec("title") | {"format": "other"})
    with pytest.raises(SpecProblems) as raised:
        pipeline.read(tmp_path)
    (problem,) = raised.value.problems
    assert (problem.id, problem.location.line, problem.location.column) == ("bad-name", 1, 1)
    assert problem.location.file == str(tmp_path / path)
    assert str(problem).startswith(f"{escapes.visible(str(tmp_path / path))}:1:1: ")
    assert escapes.is_visible(str(problem))


def test_nothing_that_commands_print_of_texts_and_paths_is_obeyed_by_a_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    specs = Path("specs \x1b[31m\x07\x9b")
    for path, document in (
        ("a.yaml", binary_spec(HOSTILE)),
        ("b.yaml", json_spec(HOSTILE)),
        ("l.yaml", library(HOSTILE)),
    ):
        write(specs, path, document)
    data = Path("data \x1b]0;x\x07\n\u202e\udcff.bin")
    data.write_bytes(b"\xff\x1b[31m\x07\x9b")
    good = Path("good.json")
    good.write_text(json.dumps({HOSTILE: HOSTILE, "b": 0}, ensure_ascii=False), encoding="utf-8")
    shown = Path("folder", "data \x1b]0;x\x07\u202e.bin")
    shown.parent.mkdir()
    shown.write_bytes(data.read_bytes())
    ingest = [
        "ingest",
        "--format",
        "hostile_json",
        "--framing",
        "lines",
        "--engine",
        "local",
        "--output",
        "tables \x1b",
    ]
    options = ["--out", "out \x1b[31m\x07\x9b", "--package", "printed_package"]  # other tests import hostile_package
    calls = (
        (["generate", "--specs", str(specs), *options], 1),
        (["generate", "--check", "--specs", str(specs), *options], 1),
        (["test", "--specs", str(specs), *options], 1),
        (["formats", *options], 0),
        (["explain", *options], 0),
        (["decode", "hostile", str(data), *options], 1),
        (["decode", "hostile_json", str(data), *options], 1),
        (["decode", "hostile_json", str(good), *options], 0),
        (["validate", "hostile_json", str(data), *options], 1),
        (["validate", "hostile_json", str(data), "--report", "json", *options], 1),
        (["validate", "hostile_json", str(data), "--report", "sarif", *options], 1),
        (["encode", "hostile_json", str(data), "-o", "written \x1b", *options], 1),
        (["decode", "hostile", f"missing{data}", *options], 2),
        (["decode", "\x1b[31m\x07\x9b", str(data), *options], 2),
        (["decode", "--\x1b[31m\x07\x9b", str(data), *options], 2),
        (["\x1b[31m\x07\x9b"], 2),
        (["decode", "hostile", str(data), "extra\x1b[31m\x07\x9b", *options], 2),
        (["decode", "hostile", str(data), "-p", "\x1b[31m\x07\x9b=1", *options], 2),
        (["generate", "--specs", "missing \x1b[31m\x07\x9b\n", *options], 2),
        (["status", str(data)], 2),
        ([*ingest, "--input", str(data), *options], 2),
        ([*ingest, "--input", "folder", *options], 5),
        (["status", "tables \x1b"], 0),
        (["new", "\x1b[31m\x07\x9b"], 2),
        (["new", "pipeline", "pipe: \x1b[31m\x07\x9b # x", "--format", "hostile", "--source", "parquet", *options], 0),
    )
    for call, code in calls:
        result = CliRunner().invoke(app, call)
        assert result.exit_code == code, (call, result.output)
        assert result.output, call
        assert escapes.is_visible(result.output.replace("\n", "")), (call, result.output)
        assert not any(line.startswith("import sys") for line in result.output.splitlines()), (call, result.output)


def test_a_pipeline_has_texts_as_texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = HOSTILE.replace("{{ 1 }}", "")
    write(Path("specs"), "a.yaml", json_spec(text))
    assert CliRunner().invoke(app, ["generate", "--no-examples", "--package", "hostile_pipelines"]).exit_code == 0
    module = open_format(open_package("hostile_pipelines", Path("generated")), "hostile_json")
    name = "pipe: \x1b\n# \"x' \u202e"
    medallion.create(Path(name), "hostile_pipelines", module, "parquet")
    made = yaml.safe_load(Path(name, "spark-pipeline.yml").read_text(encoding="utf-8"))
    assert made["name"] == name
    assert made["storage"] == f"file://{tmp_path.resolve()}/{name}/pipeline-storage"
    assert made["configuration"]["hostile_json.landing"] == f"{tmp_path.resolve()}/{name}/landing"
    for file in Path(name).rglob("*.py"):
        content = file.read_text(encoding="utf-8")
        assert all(ast.literal_eval(found).endswith(text) for found in texts_of_python(content))
    page = Path(name, "README.md").read_text(encoding="utf-8")
    assert not {"html_block", "html_inline", "link_open", "image"} & set(shape(page))
    assert escapes.is_visible(page.replace("\n", ""))
