"""`--specs` in place of a generated package, for every command that reads records with a format."""

import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest
from typer.testing import CliRunner

from conftest import GENERATED, SPECS
from wireloom.cli.app import COMMANDS, app


@dataclass
class Specs:
    """A folder with the spec `heartbeat` alone, and the file of its first example."""

    home: Path

    @property
    def spec(self):
        """The file of the spec."""
        return self.home / "mine" / "heartbeat" / "heartbeat.yaml"

    @property
    def record(self):
        """A file of one record."""
        file = self.home / "record.bin"
        found = re.search(r"hex: ([0-9a-f ]+)", self.spec.read_text(encoding="utf-8"))
        file.write_bytes(bytes.fromhex(found[1]))
        return file

    def run(self, *words, **options):
        """Run a command; nothing is generated."""
        return CliRunner().invoke(app, [str(each) for each in (*words, "--specs", self.home / "mine")], **options)


@pytest.fixture
def specs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["new", "heartbeat", "--specs", "mine"]).exit_code == 0
    return Specs(tmp_path)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["decode", "heartbeat", "FILE"], '"battery":12'),
        (["validate", "heartbeat", "FILE"], "1 record, 0 bad"),
        (["inspect", "heartbeat", "FILE"], "battery"),
        (["inspect", "heartbeat", "--diff", "FILE", "FILE"], "same"),
        (
            ["convert", "--from", "heartbeat", "--to", "heartbeat", "FILE", "--explain"],
            "every member has its place",
        ),
        (["explain", "heartbeat"], "all 1 decoded by the native engine"),
        (["explain"], "all 1 decoded by the native engine"),
        (["formats"], "heartbeat: Message of heartbeat"),
    ],
    ids=lambda words: " ".join(words[:2]) if isinstance(words, list) else "",
)
def test_a_format_is_read_from_its_spec_without_a_package(specs, words, shown):
    record = specs.record
    done = specs.run(*(record if word == "FILE" else word for word in words))
    assert done.exit_code == 0, done.output
    assert shown in done.output
    assert sorted(each.name for each in specs.home.iterdir()) == ["mine", "record.bin"]


def test_what_is_decoded_by_a_spec_is_encoded_by_it(specs):
    record = specs.record
    lines = specs.run("decode", "heartbeat", record).stdout
    assert specs.run("encode", "heartbeat", "-", input=lines).stdout_bytes == record.read_bytes()


def test_each_run_reads_the_spec_as_it_is_now(specs):
    record = specs.record
    assert '"battery":12' in specs.run("decode", "heartbeat", record).stdout
    specs.spec.write_text(specs.spec.read_text(encoding="utf-8").replace("battery", "charge"), encoding="utf-8")
    assert '"charge":12' in specs.run("decode", "heartbeat", record).stdout


def test_mistakes_of_the_specs_and_unknown_names_are_said(specs):
    assert "did you mean heartbeat?" in specs.run("decode", "heartbeet", specs.record).output
    specs.spec.write_text(specs.spec.read_text(encoding="utf-8").replace("uint8", "uint9"), encoding="utf-8")
    done = specs.run("decode", "heartbeat", specs.record)
    assert done.exit_code == 1
    assert "heartbeat.yaml:" in done.output


@pytest.mark.parametrize("command", ["decode", "encode", "validate"])
def test_specs_and_a_package_are_refused_together(command):
    done = CliRunner().invoke(app, [command, "netflow_v5", "-", "--specs", str(SPECS), "--out", str(GENERATED)])
    assert done.exit_code == 2
    assert "drop --specs, or drop the others" in done.output


def test_every_command_that_takes_a_format_and_a_package_takes_specs():
    by_name = {"ingest", "replay", "new", "package", "demo", "doctor", "generate", "test"}  # of packages
    for name in COMMANDS.keys() - by_name:
        module = import_module(f"wireloom.cli.commands.{COMMANDS[name][0]}")
        for function in getattr(module, "COMMANDS", None) or [getattr(module, name)]:
            assert "package" not in get_type_hints(function), name
