"""Finds the columns of a spec that tell kinds of records apart."""

import importlib

import pytest

from conftest import shipped_formats
from wireloom.model.kinds import kinds

EXPECTED = {
    ("aerospike_json", "record"): ("msg",),
    ("aerospike_json", "key"): (),
    ("aerospike_msgpack", "batch_records"): ("msg", "durable"),
    ("databus_event", "record"): ("version", "opcode", "schemaDigestType"),
    ("databus_json", "record"): ("version", "opcode"),
    ("kpl_record", "record"): ("kind", "reason"),
}


@pytest.mark.parametrize("name", EXPECTED, ids="-".join)
def test_versions_and_choices_of_the_spec_are_kinds_and_the_generated_module_has_them(name):
    (format,) = (each for each in shipped_formats() if each.name == name[0])
    (root,) = (each for each in format.roots if each.name == name[1])
    assert kinds(format, root) == EXPECTED[name]
    module = importlib.import_module(f"wireloom_formats.{format.name}")
    assert module.CODEC.root(root.name).kinds == EXPECTED[name]
