"""The findings of `doctor --spark` about executors that differ from the driver."""

from dataclasses import replace

import pytest

from wireloom.spark.executors import Look, compare

DRIVER = Look(
    host="laptop",
    interpreter="/usr/bin/python3",
    python="3.11.7",
    libraries={"pyarrow": "26.0.1"},
    wireloom="0.2.0",
    engine=True,
    digests={"heartbeat": "a" * 64, "invoice": "b" * 64},
    missing={},
)
WORKER = replace(DRIVER, host="node1", interpreter="/opt/python")


def wrong(*workers: Look) -> dict[str, tuple[str, str]]:
    """The findings that have to be mended."""
    return {finding.subject: (finding.detail, finding.remedy) for finding in compare(DRIVER, workers) if finding.remedy}


def test_executors_like_the_driver_are_in_order():
    assert wrong(WORKER, replace(WORKER, host="node2")) == {}


def test_another_spec_is_named_with_both_digests_and_the_place():
    old = replace(WORKER, digests=WORKER.digests | {"invoice": "c" * 64})
    detail, remedy = wrong(WORKER, old)["executors: specs"]
    assert detail == "invoice of spec cccccccccccc in /opt/python on node1; the driver has it of spec bbbbbbbbbbbb"
    assert "`wireloom package`" in remedy


def test_a_format_that_only_one_side_has_is_another_spec():
    assert "heartbeat of spec none" in wrong(replace(WORKER, digests={"invoice": "b" * 64}))["executors: specs"][0]


def test_another_minor_version_of_python_is_wrong_and_another_patch_is_not():
    assert wrong(replace(WORKER, python="3.11.2")) == {}
    detail, _ = wrong(WORKER, replace(WORKER, python="3.12.1"))["executors: Python"]
    assert detail == "3.11.7 (1 tasks), 3.12.1 (1 tasks); the driver has 3.11.7"


def test_what_cannot_be_imported_is_said_once_with_its_reason():
    lacking = replace(WORKER, missing={"wireloom": "ModuleNotFoundError: No module named 'wireloom'"}, wireloom=None)
    assert wrong(lacking, lacking).keys() == {"executors: wireloom"}


@pytest.mark.parametrize(
    ("worker", "subject", "word"),
    [
        (replace(WORKER, engine=False), "executors: engine", "the parser decodes there"),
        (replace(WORKER, wireloom="0.0.9"), "executors: wireloom", "the driver has 0.2.0"),
        (replace(WORKER, libraries={"pyarrow": "17.0.0"}), "executors: pyarrow", "17.0.0"),
    ],
)
def test_a_difference_is_found(worker, subject, word):
    found = wrong(worker)
    assert found.keys() == {subject}
    assert word in found[subject][0]
