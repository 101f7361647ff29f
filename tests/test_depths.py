"""Types that hold themselves to a depth that makes very large modules: said where the depth stands."""

import pytest

from conftest import CASES
from proof.modules import documents, generated, resolved
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


@pytest.mark.parametrize(
    ("held", "depth", "around"),
    [("Part", 64, '{"a":%s}'), ("list(Part)", 32, '{"a":[%s]}'), ("map(str, list(Part))", 21, '{"a":{"k":[%s]}}')],
)
def test_what_stands_in_one_another_as_deep_as_it_may_is_read_and_built(held, depth, around):
    content = {"wireloom": 1, "format": "deep", "title": "Deep", "encoding": "json", "root": "Part"}
    content["types"] = {"Part": {"depth": depth, "fields": [{"a": {"type": held, "optional": True}}]}}
    record = "{}"
    for _ in range(depth - 1):
        record = around % record
    with generated(resolved(documents({"deep.yaml": content}))) as made:
        assert made.module.build(made.module.parse(record.encode())) == record.encode()
        assert made.module.decode([record.encode()]).errors.null_count == 1
