"""Random documents give modules or diagnostics, never a traceback."""

import pytest

import specs
from conftest import CASES, SPECS


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
def test_generate_makes_modules_of_a_document_or_says_what_is_wrong_with_it(seed, tmp_path):
    for document in specs.documents(specs.seeds(SPECS, CASES), 150, seed):
        found = specs.outcome(document, tmp_path)
        assert found in ("made", "refused"), (tmp_path / "fuzzed.yaml").read_text(encoding="utf-8") + found


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "[]",
        "- a",
        "{",
        "a: b: c",
        "\0",
        "\ufeff",
        "é: \x85",
        "? a",
        "!!x y",
        "%YAML 9",
        "&a *a",
        "'",
        "---\n---",
        "a: |\n b",
    ],
)
def test_any_text_is_a_document_or_a_diagnostic(text, tmp_path):
    path = tmp_path / "fuzzed.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(specs.SpecProblems):
        specs.resolve(specs.load([path], tmp_path))
