"""Types that hold themselves to a depth that makes very large modules: said where the depth stands."""

from conftest import CASES
from wireloom import depths, pipeline


def test_a_depth_that_makes_a_very_large_module_is_said_where_it_stands_with_what_helps():
    specs = pipeline.read(CASES / "recursion")
    modules = {"recursion": {"columns.py": "x" * 2_500_000}}
    ((location, message),) = depths.large_formats(specs.documents, modules)
    line = (CASES / "recursion" / "recursion.yaml").read_text(encoding="utf-8").splitlines()[location.line - 1]
    assert line[location.column - 1 :] == "3"
    assert "holds itself to a depth of 3, and recursion comes to 2.5 MB; say a smaller one, or keep" in message


def test_nothing_is_said_of_what_is_of_a_usual_size():
    assert pipeline.large_formats(pipeline.read(CASES / "recursion")) == []
