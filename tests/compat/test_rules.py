"""Every rule of `compat` has a case that runs for real: records, tables, documents and programs of both specs."""

import importlib
import json
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compat.rule_cases import CASES, DANGEROUS, HARMLESS, NAMED
from conftest import case_formats, shipped_formats
from wireloom.compat import columns, structure
from wireloom.compat.rules import RULES, Effect, table
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.plan import Job, Plan
from wireloom.model import types as wire
from wireloom.runtime.errors import DecodeError, EncodeError, ParameterError

DOCS = Path(__file__).parents[2] / "docs" / "howto" / "compat.md"
OF_RECORDS = [rule.id for rule in RULES.values() if rule.part == "wire" and rule.id != "framing-changed"]


def test_every_rule_has_a_case():
    assert CASES.keys() == RULES.keys()


def test_the_page_has_the_table_of_the_rules():
    assert f"<!-- rules -->\n{table()}<!-- end -->" in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [rule.id for rule in RULES.values() if rule.id != "column-added"])
def test_the_rule_finds_its_case_with_both_places_and_a_way_out(name, compared):
    case = CASES[name]
    found = [each for each in compared(case) if each.rule == name]
    assert found
    effects = {RULES[name].effect(each.direction) for each in found}
    assert {each.severity for each in found} == {"warning" if effects == {Effect.WARNS} else "error"}
    for each in found:
        assert each.old.file.endswith("old/report.yaml")
        assert each.new is None or each.new.file.endswith("new/report.yaml")
        assert each.way_out
        assert each.consequence.endswith(".")


def outcome(module, witness):
    """The result of one spec for a witness: the rendering, or the error code."""
    try:
        value = module.parse(witness.data, root=witness.root, **dict(witness.parameters))
    except DecodeError as error:
        return error.code
    return module.to_canonical(value, root=witness.root)


@pytest.mark.parametrize("name", [name for name in OF_RECORDS if name != "default-root-changed"])
def test_a_record_that_one_spec_reads_is_refused_or_read_otherwise_by_the_other(name, compared, modules):
    case = CASES[name]
    finding = next(each for each in compared(case) if each.rule == name)
    old, new = modules()
    writer, reader = (old, new) if case.mode == "backward" else (new, old)
    written, read = outcome(writer, finding.witness), outcome(reader, finding.witness)
    assert isinstance(written, dict)
    assert json.dumps(written) != json.dumps(read)  # true is not 1
    assert (read in finding.witness.new + finding.witness.old) if isinstance(read, str) else True


def test_a_stream_of_the_old_framing_is_another_one_by_the_new(folders, modules):
    folders(CASES["framing-changed"])
    old, new = modules()
    data = b"".join(old.iter_build([{"a": 1}, {"a": 2}]))
    assert [each.value for each in old.iter_parse(data)] == [{"a": 1}, {"a": 2}]
    with pytest.raises(DecodeError):
        list(new.iter_parse(data))


def test_records_are_of_another_root_if_none_is_named(folders, modules):
    folders(CASES["default-root-changed"])
    old, new = modules()
    assert old.parse(b"\x07") == {"a": 7}
    with pytest.raises(DecodeError):
        new.parse(b"\x07")


# --- tables --------------------------------------------------------------------------------------------------------


def tabled(module, records) -> pa.Table:
    return pa.Table.from_struct_array(pa.chunked_array([module.decode(records).records]))


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("column-removed", {"a": 1}),
        ("column-renamed", {"a": 1, "c": None}),
        ("column-added", {"a": 1, "b": None}),
    ],
)
def test_a_file_with_the_old_columns_is_read_with_the_new_ones(name, read, folders, modules, tmp_path):
    folders(CASES[name])
    old, new = modules()
    pq.write_table(tabled(old, [b"\x01\x02"]), tmp_path / "old.parquet")
    assert pq.read_table(tmp_path / "old.parquet", schema=new.ARROW_SCHEMA).to_pylist() == [read]


def test_a_table_takes_no_column_of_another_type(folders, tmp_path, monkeypatch):
    from wireloom import pipeline
    from wireloom.failures import MisuseError
    from wireloom.ingest.job.batch import ingest
    from wireloom.project import Project

    old, new = folders(CASES["column-retyped"])
    (tmp_path / "input").mkdir()
    for number, (folder, package) in enumerate(((old, "compat_old"), (new, "compat_new"))):
        pipeline.generate(Project(folder, tmp_path / package, package))
        monkeypatch.syspath_prepend(str(tmp_path / package))
        (tmp_path / "input" / f"{number}.json").write_text('{"a": 1}')
        module = importlib.import_module(f"{package}.report")
        plan = Plan(module.__name__, module.FORMAT, module.DIGEST)
        job = Job(plan, str(tmp_path / "input"), str(tmp_path / "output"), append=True)
        if package == "compat_old":
            ingest(LocalEngine(1), job)
        else:
            with pytest.raises(MisuseError, match=r"other types.*\n  a: int -> bigint"):
                ingest(LocalEngine(1), job)


def test_a_column_that_was_never_null_is_null(folders, modules):
    folders(CASES["column-nullable"])
    _, new = modules()
    assert tabled(new, [b'{"a": null}']).to_pylist() == [{"a": None}]


def test_a_unit_changes_the_comment_and_no_value(folders, modules):
    folders(CASES["unit-changed"])
    old, new = modules()
    assert tabled(old, [b"\1"]).equals(tabled(new, [b"\1"]))
    assert [each.ARROW_SCHEMA.field("a").metadata[b"comment"] for each in (old, new)] == [b"unit: s", b"unit: ms"]


def test_other_rows_come_of_the_same_record(folders, modules):
    folders(CASES["rows-changed"])
    old, new = modules()
    assert [each.decode([b"\2\0\1\0\2"], explode=True).records.type.names for each in (old, new)] == [
        ["level"],
        ["many"],
    ]


def test_a_new_column_is_told_by_the_models(folders, tmp_path):
    from wireloom import pipeline

    folders(CASES["column-added"])
    old, new = (pipeline.read(tmp_path / name).formats[0] for name in ("old", "new"))
    assert [(each.rule, each.column) for each in columns.changes(old, new, {})] == [("column-added", "b")]


# --- documents -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["document-refused", "document-incomplete"])
def test_a_document_is_valid_by_one_schema_and_not_by_the_other(name, compared, modules):
    case = CASES[name]
    finding = next(each for each in compared(case) if each.rule == name)
    old, new = modules()
    writer, reader = (old, new) if case.mode == "backward" else (new, old)
    document = json.loads(json.dumps(writer.to_canonical(writer.parse(finding.witness.data))))
    writer_schema, reader_schema = (schema_of(each) for each in (writer, reader))
    jsonschema.validate(document, writer_schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, reader_schema)


def schema_of(module):
    from wireloom.emit import jsonschema as emitted
    from wireloom.pipeline import formats

    folder = "old" if module.__name__.endswith("old") else "new"
    return emitted.emit(formats(FOLDERS[0] / folder)[0])


FOLDERS: list[Path] = []


@pytest.fixture(autouse=True)
def _known(tmp_path):
    FOLDERS[:] = [tmp_path]


# --- programs ------------------------------------------------------------------------------------------------------


def test_programs_do_not_find_what_is_gone(folders, modules):
    folders(CASES["argument-removed"])
    old, new = modules()
    old.parse(b"\1", level=0)
    with pytest.raises(TypeError, match="level"):
        new.parse(b"\1\1", level=0)


def test_programs_cannot_pass_an_option_that_is_gone(folders, modules):
    folders(CASES["option-removed"])
    old, new = modules()
    old.parse(b"\0\1", root="other")
    with pytest.raises(ParameterError, match="other"):
        new.parse(b"\0\1", root="other")


def test_a_format_of_another_name_has_functions_of_other_names(folders, modules):
    folders(CASES["format-removed"])
    old, new = modules()
    assert (old.FORMAT, new.FORMAT) == ("report", "record")


def test_the_functions_of_a_format_of_another_name_are_gone(compared):
    finding = next(each for each in compared(CASES["name-removed"]) if each.rule == "name-removed")
    assert "from_report" in finding.message


def test_an_argument_that_is_left_out_has_another_value(folders, modules):
    folders(CASES["argument-default"])
    old, new = modules()
    assert old.parse(b"\1") == {"a": 1}
    with pytest.raises(DecodeError, match="too_small"):
        new.parse(b"\1")


def test_a_code_that_is_gone_is_no_code_of_the_module(folders, modules):
    folders(CASES["code-removed"])
    old, new = modules()
    assert "too_large" in old.CODES
    assert "too_large" not in new.CODES


def test_programs_that_build_lack_a_member(folders, modules):
    folders(CASES["build-refused"])
    old, new = modules()
    assert old.build({"a": 1}) == b"\1\0"
    with pytest.raises(EncodeError):
        new.build({"a": 1})


# --- what is found, and what is not --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_change_breaks_nothing(name, compared):
    assert [each for each in compared(HARMLESS[name]) if each.breaks] == []


@pytest.mark.parametrize("name", DANGEROUS)
def test_a_dangerous_change_breaks_something(name, compared):
    assert any(each.breaks for each in compared(DANGEROUS[name]))


@pytest.mark.parametrize("name", NAMED)
def test_the_rule_that_explains_the_records_is_named_with_both_values(name, compared):
    case, rule, message = NAMED[name]
    found = [each for each in compared(case) if each.part == "wire" and each.severity == "error"]
    assert (found[0].rule, found[0].message) == (rule, message)
    assert {each.rule for each in found} <= {rule}


@pytest.mark.parametrize("name", ["build-refused", "document-incomplete"])
def test_what_is_fine_in_a_direction_is_not_reported_there(name, compared):
    assert [each for each in compared(replace(CASES[name], mode="forward")) if each.rule == name] == []


def renamed(part):
    """A part of a model with other names of types."""
    match part:
        case wire.Reference(name):
            return wire.Reference(f"{name}Renamed")
        case wire.Struct():
            return replace(part, name=f"{part.name}Renamed", steps=tuple(map(renamed, part.steps)))
        case tuple():
            return tuple(map(renamed, part))
        case _ if is_dataclass(part):
            inner = {each.name: getattr(part, each.name) for each in fields(part)}
            return replace(part, **{name: renamed(said) for name, said in inner.items()})
        case _:
            return part


@pytest.mark.parametrize("format", [*shipped_formats(), *case_formats()], ids=lambda format: format.name)
def test_names_of_types_are_no_difference(format):
    """For every feature of the language, renaming its types is no difference."""
    other = replace(
        format,
        types=tuple((f"{name}Renamed", renamed(type)) for name, type in format.types),
        roots=tuple(replace(root, type=renamed(root.type)) for root in format.roots),
    )
    assert structure.compare(format, other).differences == ()
    assert list(columns.changes(format, other, {})) == []
