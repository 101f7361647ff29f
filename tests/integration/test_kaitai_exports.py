"""`export ksy`: Kaitai's own compiler accepts every description, and its readers give the same values.

The compiler comes from npm and its Python runtime from PyPI. The examples of each spec are read by both, for each set
of parameters that they have, and compared field by field.
"""

import json
import shutil
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import CASES, SPECS, specs_below
from integration.registries import fetched, run
from support.kaitai import Comparison, reader
from wireloom.examples.memory import opened
from wireloom.exporting import Difference, ksy
from wireloom.model.format import Example

pytestmark = [pytest.mark.integration, pytest.mark.thorough]
COMPILER = "kaitai-struct-compiler@0.11.0"
RUNTIME = "kaitaistruct==0.11"
TOLD = {"attempt", "byte-order", "codec", "discard", "encoding", "number", "salvage"}
"""The kinds of differences because of which a good record may be read otherwise, or not at all."""
OTHER_ARITHMETIC = {"expressions"}
"""Formats whose examples go beyond what the integers of Kaitai's targets agree on: 128 bits, shifts by less than 0."""


@dataclass
class Described:
    """A description, and the examples that it is for."""

    format: str
    text: str
    differences: tuple[Difference, ...]
    examples: list[Example] = field(default_factory=list)

    @property
    def description(self) -> Any:
        """The description, as the compiler takes it."""
        return yaml.safe_load(self.text)


@pytest.fixture(scope="module")
def tools(tmp_path_factory) -> Path:
    """A folder with the compiler, whose runtime can be imported."""
    home = tmp_path_factory.mktemp("kaitai")
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("npm and node are not installed")
    fetched("npm", "install", "--silent", "--no-audit", "--no-fund", COMPILER, cwd=home)
    venv.create(home / "environment", with_pip=True)
    pip = home / "environment" / "bin" / "python"
    fetched(pip, "-m", "pip", "install", "--quiet", "--target", home / "runtime", RUNTIME)
    sys.path.insert(0, str(home / "runtime"))
    yield home
    sys.path.remove(str(home / "runtime"))


def described(folder: Path) -> Iterator[Described]:
    """A description of each root of each binary format, for each set of parameters of its examples."""
    for format in specs_below(folder).formats:
        if not format.encoding.laid_out:
            continue
        for root in format.roots:
            found: dict[object, Described] = {}
            for example in [each for each in format.examples if each.root == root.name]:
                key = example.parameters
                if key not in found:
                    exported = ksy(format, root, dict(key))
                    found[key] = Described(format.name, exported.text, exported.differences)
                found[key].examples.append(example)
            yield from found.values()


def compiled(all_described: list[Described], tools: Path) -> list[dict[str, str]]:
    """The compiler's output for each description."""
    file = tools / "descriptions.json"
    file.write_text(json.dumps({str(place): each.description for place, each in enumerate(all_described)}))
    script = Path(__file__).with_name("kaitai_compiler.js")
    made = json.loads(run("node", script, file, tools))
    errors = {all_described[int(place)].format: each["error"] for place, each in made.items() if "error" in each}
    assert not errors
    return [made[str(place)]["files"] for place in range(len(all_described))]


@pytest.mark.parametrize(("folder", "least"), [(SPECS, 1500), (CASES, 2000)])
def test_kaitai_reads_the_examples_as_the_spec_does(folder: Path, least: int, tools: Path):
    everything = list(described(folder))
    assert all(each.differences for each in everything if not each.text)
    found = [each for each in everything if each.text]
    equal, wrong, silent = 0, {}, set()
    specs = specs_below(folder)
    names = {each.format for each in found}
    with opened({name: specs.modules[name] for name in names}) as modules:
        for each, files in zip(found, compiled(found, tools), strict=True):
            kaitai = reader(files, each.description["meta"]["id"])
            kinds = {difference.kind for difference in each.differences}
            for example in [one for one in each.examples if one.error is None]:
                explained = modules[each.format].explain_bytes(
                    example.data, root=example.root, **dict(example.parameters)
                )
                comparison = Comparison(each.description)
                try:
                    comparison.compare(explained.span, kaitai.from_bytes(example.data))
                except Exception as error:  # noqa: BLE001 - whatever the generated code raises
                    comparison.differences.append(repr(error))
                equal += comparison.equal
                if comparison.differences and not kinds & TOLD and each.format not in OTHER_ARITHMETIC:
                    wrong[f"{each.format}: {example.name}"] = comparison.differences[:3]
                if comparison.lost and not kinds:
                    silent.add(each.format)
    print(f"{len(found)} descriptions, {equal} values equal")  # noqa: T201 - the figure, shown by `pytest -s`
    assert not wrong, "\n".join(f"{name}: {each}" for name, each in wrong.items())
    assert not silent
    assert equal > least
