"""`export proto`: protoc accepts the file, and its messages hold the columns of every example, or read the bytes."""

from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import CASES, SPECS, specs_below
from support.published import FOLDERS, differing, fill, formats_with_rows
from wireloom.cli.app import app
from wireloom.examples.memory import opened
from wireloom.exporting import as_proto, is_protobuf, wire_proto
from wireloom.exporting.protobuf import proto
from wireloom.exporting.values import messages
from wireloom.model.types import Reference
from wireloom.runtime.columns.logical import Integer, List, LogicalField, Map, Record, Text
from wireloom.runtime.values import Pairs

pytest.importorskip("grpc_tools", reason="grpcio-tools, the extra `proto`, is not installed")

from support.protobuf_messages import message_class, pool_of

INT = Integer(32, signed=True)


@pytest.mark.parametrize(("folder", "explode"), FOLDERS)
def test_messages_hold_the_columns_of_every_example(folder: str, explode: bool, tmp_path: Path):
    count = 0
    for number, found in enumerate(formats_with_rows(folder, explode=explode)):
        text = as_proto(found.format, found.root, explode=explode).text
        file = tmp_path / f"{number}.proto"
        file.write_text(text)
        name = next(line.split()[1] for line in text.splitlines() if line.startswith("message "))
        made = message_class(pool_of(file), f"{found.format.name}.{name}")
        for row in found.rows:
            message = made()
            fill(message, row)
            assert not list(differing(made.FromString(message.SerializeToString()), row)), found.format.name
            count += 1
    assert count > 150


def test_protobuf_formats_are_described_as_they_are_on_the_wire(tmp_path: Path):
    count = 0
    for specs in (specs_below(SPECS), specs_below(CASES)):
        formats = [each for each in specs.formats if is_protobuf(each)]
        with opened({each.name: specs.modules[each.name] for each in formats}) as modules:
            for format in formats:
                file = tmp_path / f"{format.name}.proto"
                file.write_text(wire_proto(format).text)
                pool = pool_of(file)
                for example in format.examples:
                    root = next(each.type for each in format.roots if each.name == example.root)
                    parameters = dict(example.parameters)
                    if (
                        example.error is None
                        and example.rebuilds
                        and isinstance(root, Reference)
                        and root.name in described(pool, format)
                    ):
                        made = message_class(pool, f"{format.name}.{root.name}")
                        again = made.FromString(example.data).SerializeToString(deterministic=True)
                        read = partial(modules[format.name].parse, root=example.root, **parameters)
                        assert unordered(read(again)) == unordered(read(example.data)), format.name
                        count += 1
    assert count > 25


def unordered(value):
    """A value without the order of its maps, and of fields in messages that are kept as bytes: protobuf has its own."""
    match value:
        case bytes():
            return sorted(value)
        case Pairs():
            return sorted(((unordered(key), unordered(each)) for key, each in value), key=repr)
        case dict():
            return {name: unordered(each) for name, each in value.items()}
        case list():
            return [unordered(each) for each in value]
        case _:
            return value


def described(pool, format):
    """The names of the messages in the file of a format."""
    return pool.FindFileByName(f"{format.name}.proto").message_types_by_name


def field(name, type, *, nullable=False):
    return LogicalField(name, type, nullable=nullable)


def test_what_proto3_has_no_field_for_stands_in_a_message_of_its_own(tmp_path: Path):
    inner = Record((field("a_b", INT), field("aB", INT), field("Inner", INT)))
    record = Record(
        (
            field("Inner", inner),
            field("lists", List(List(INT, nullable=True)), nullable=True),
            field("names", Map(inner, List(INT))),
            field("known", Map(Text(), inner, nullable=True)),
        )
    )
    exported = proto(messages(record, "Outer"), "made", "")
    file = tmp_path / "made.proto"
    file.write_text(exported.text)
    row = {
        "Inner": {"a_b": 1, "aB": 2, "Inner": 3},
        "lists": [[1, None, 3], []],
        "names": [({"a_b": 4, "aB": 5, "Inner": 6}, [7])],
        "known": [("x", None), ("y", {"a_b": 8, "aB": 9, "Inner": 10})],
    }
    made = message_class(pool_of(file), "made.Outer")
    message = made()
    fill(message, row)
    assert not list(differing(made.FromString(message.SerializeToString()), row))
    assert [(each.kind, each.where) for each in exported.differences] == [("null", "lists")]


def test_lists_that_may_be_null_are_told_with_their_places(tmp_path: Path):
    out = tmp_path / "a.proto"
    done = CliRunner().invoke(app, ["export", "proto", "dns_message", "--specs", str(SPECS / "dns"), "--out", str(out)])
    line = next(
        number
        for number, text in enumerate((SPECS / "dns" / "dns_message.yaml").read_text().splitlines(), 1)
        if text.strip().startswith("- texts:")
    )
    assert done.exit_code == 0
    assert f"dns_message.yaml:{line}:9: answers[].data.texts: the list may be null" in done.stderr
    assert "5 things differ from the spec: null 5" in done.stderr
    strict = CliRunner().invoke(app, ["export", "proto", "dns_message", "--specs", str(SPECS / "dns"), "--strict"])
    assert (strict.exit_code, strict.stdout) == (1, out.read_text())
