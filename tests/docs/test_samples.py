"""The samples that README and the documentation use match the current specs."""

import importlib

import pytest

from conftest import ROOT, shipped_formats
from wireloom.demo.files import few, files

SAMPLES = ROOT / "samples"


@pytest.mark.parametrize("format", shipped_formats(), ids=lambda format: format.name)
def test_samples_are_those_of_the_specs(format):
    module = importlib.import_module(f"wireloom_formats.{format.name}")
    made = dict(files(format.framing, few(format, module)))
    kept = {path.name: path.read_bytes() for path in (SAMPLES / format.name).iterdir()}
    assert kept == made, "run `nox -s samples`, and look at what changed"


def test_samples_are_small_and_of_shipped_formats_alone():
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 200_000
    assert {path.name for path in SAMPLES.iterdir() if path.is_dir()} == {each.name for each in shipped_formats()}
