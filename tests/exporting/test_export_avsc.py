"""`export avsc`: fastavro writes the columns of every example with the schema, and reads them back equal."""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import fastavro
import pytest
from typer.testing import CliRunner

from conftest import SPECS
from support.published import FOLDERS, formats_with_rows
from wireloom.cli.app import app
from wireloom.exporting import as_avsc
from wireloom.exporting.avro import avsc
from wireloom.exporting.values import messages
from wireloom.runtime.columns.logical import Binary, Integer, LogicalField, Map, Meant, Record, Scaled, Text, Written

MICROSECOND = timedelta(microseconds=1)


def as_avro(value: Any, schema: Any, named: dict[str, Any]) -> Any:
    """A value of a column as fastavro takes it: maps of texts are dicts, durations are microseconds."""
    if value is None:
        return None
    if isinstance(schema, list):
        return as_avro(value, schema[1], named)
    if isinstance(schema, str):
        schema = named.get(schema, {"type": schema})
    match schema["type"]:
        case "record":
            members = value if isinstance(value, dict) else dict(zip(("key", "value"), value, strict=True))
            return {field["name"]: as_avro(members[field["name"]], field["type"], named) for field in schema["fields"]}
        case "array":
            return [as_avro(each, schema["items"], named) for each in value]
        case "map":
            return {key: as_avro(each, schema["values"], named) for key, each in value}
        case _:
            return plain(value)


def plain(value: Any) -> Any:
    """A duration in microseconds, a time with the zone that fastavro gives it, and all else as it is."""
    if isinstance(value, timedelta):
        return value // MICROSECOND
    return value.astimezone(UTC) if isinstance(value, datetime) else value


def records(schema: Any) -> dict[str, Any]:
    """The records that a schema defines, by name."""
    if isinstance(schema, list):
        return {name: each for part in schema for name, each in records(part).items()}
    if not isinstance(schema, dict):
        return {}
    own = {schema["name"]: schema} if schema["type"] == "record" else {}
    inner = [field["type"] for field in schema.get("fields", ())] + [schema.get("items"), schema.get("values")]
    return own | records(inner)


def without_ids(value: Any) -> Any:
    """The value with UUIDs as their text, which columns have."""
    match value:
        case dict():
            return {name: without_ids(each) for name, each in value.items()}
        case list():
            return [without_ids(each) for each in value]
        case _:
            return str(value) if type(value).__name__ == "UUID" else value


def again(parsed: Any, value: Any) -> Any:
    """A record, written by fastavro and read back."""
    written = io.BytesIO()
    fastavro.schemaless_writer(written, parsed, value, strict=True)
    written.seek(0)
    return without_ids(fastavro.schemaless_reader(written, parsed, parsed))


@pytest.mark.parametrize(("folder", "explode"), FOLDERS)
def test_fastavro_reads_the_columns_that_it_wrote_with_the_schema(folder: str, explode: bool):
    count = 0
    for found in formats_with_rows(folder, explode=explode):
        schema = json.loads(as_avsc(found.format, found.root, explode=explode).text)
        parsed = fastavro.parse_schema(json.loads(json.dumps(schema)))
        for row in found.rows:
            value = as_avro(row, schema, records(schema))
            assert repr(again(parsed, value)) == repr(value), found.format.name
            count += 1
    assert count > 150


def test_types_that_avro_knows_are_said():
    types = {
        "small": (Integer(16, signed=False), "int"),
        "wide": (Integer(32, signed=False), "long"),
        "widest": (Integer(64, signed=False), {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 0}),
        "at": (
            Meant(Integer(64, signed=True), Scaled("timestamp")),
            {"type": "long", "logicalType": "timestamp-micros"},
        ),
        "day": (Meant(Integer(32, signed=True), Scaled("date")), {"type": "int", "logicalType": "date"}),
        "id": (Meant(Binary(16), Written("uuid")), {"type": "string", "logicalType": "uuid"}),
        "price": (
            Meant(Integer(64, signed=True), Scaled("decimal", precision=9, digits=2)),
            {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
        ),
        "counts": (Map(Text(), Integer(8, signed=True)), {"type": "map", "values": "int"}),
    }
    record = Record(tuple(LogicalField(name, type, nullable=name == "day") for name, (type, _) in types.items()))
    schema = json.loads(avsc(messages(record, "Sale"), "shop", "A sale"))
    assert (schema["name"], schema["namespace"], schema["doc"]) == ("Sale", "shop", "A sale")
    said = {each["name"]: each["type"] for each in schema["fields"]}
    assert said == {name: ["null", type] if name == "day" else type for name, (_, type) in types.items()}
    assert [each["name"] for each in schema["fields"] if each.get("default", "") is None] == ["day"]


def test_the_command_writes_what_it_says(tmp_path):
    out = tmp_path / "netflow.avsc"
    runner, specs = CliRunner(), str(SPECS / "netflow")
    done = runner.invoke(app, ["export", "avsc", "netflow_v5", "--explode", "--specs", specs, "--out", str(out)])
    assert (done.exit_code, done.stdout) == (0, "")
    shown = runner.invoke(app, ["export", "avsc", "netflow_v5", "--explode", "--specs", specs])
    assert shown.stdout == out.read_text()
    assert "source" in [each["name"] for each in json.loads(out.read_text())["fields"]]
    unknown = runner.invoke(app, ["export", "avsc", "netflow_v6", "--specs", specs])
    assert unknown.exit_code == 2
    assert "'netflow_v6' is not a format; did you mean netflow_v5?" in unknown.stderr
