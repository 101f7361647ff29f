"""Every byte of a record belongs to one span, or to a span that says why no field reads it."""

import importlib
import os
from pathlib import Path
from types import ModuleType

import pytest

from conftest import CASE_PACKAGE, CASES, ROOT, SPECS, specs_below
from proof.chance import Chance
from proof.records import mutants
from support.spans import flaws, uncovered
from wireloom import pipeline
from wireloom.examples import opened
from wireloom.model.format import Example, Format
from wireloom.runtime import spans
from wireloom_formats import aerospike_json, aerospike_msgpack, databus_event, kpl_record

VECTORS = Path(os.environ.get("WIRELOOM_VECTORS") or ROOT.parent / "shared" / "vectors")


def module_of(folder: Path, format: Format) -> ModuleType:
    """The generated module of a format; those of cases are there where `case_package` is asked for."""
    return importlib.import_module(f"{'wireloom_formats' if folder == SPECS else CASE_PACKAGE}.{format.name}")


FORMATS = [
    pytest.param(folder, format, id=format.name) for folder in (SPECS, CASES) for format in specs_below(folder).formats
]


def sound(module: ModuleType, example: Example, data: bytes) -> list[str]:
    return list(flaws(module.CODEC, data, root=example.root, **dict(example.parameters)))


@pytest.mark.parametrize(("folder", "format"), FORMATS)
def test_every_byte_of_an_example_has_one_span(folder: Path, format: Format, case_package):
    module = module_of(folder, format)
    found = {example.name: sound(module, example, example.data) for example in format.examples}
    assert {name: each for name, each in found.items() if each} == {}


@pytest.mark.drawing
@pytest.mark.parametrize(("folder", "format"), FORMATS)
def test_every_byte_of_a_damaged_example_has_one_span(folder: Path, format: Format, case_package):
    module, chance = module_of(folder, format), Chance(format.name)
    for example in format.examples[:6]:
        for data in mutants([example.data], 4, chance, format.encoding.name):
            assert sound(module, example, data) == [], data.hex()


@pytest.mark.parametrize(
    ("pattern", "module"),
    [
        ("kpl/**/*.bin", kpl_record),
        ("databus/**/*.bin", databus_event),
        ("aerospike/**/*.msgpack", aerospike_msgpack),
        ("aerospike/**/*.json", aerospike_json),
    ],
)
def test_every_byte_of_a_vector_has_one_span(pattern: str, module: ModuleType):
    if not VECTORS.is_dir():
        pytest.skip(f"no vectors: {VECTORS} is not there; WIRELOOM_VECTORS names another folder")
    files = [path for path in sorted(VECTORS.glob(pattern)) if path.stat().st_size < 100_000]
    assert files
    for path in files:
        assert list(flaws(module.CODEC, path.read_bytes())) == [], path


@pytest.mark.parametrize("depth", [60, 85, 95, 110, 300])
def test_a_record_that_only_the_parser_has_stack_for_is_explained(depth: int):
    value = "1"
    for _ in range(depth):
        value = f"[{value}]"
    bins = f'[{{"name":"l","type":"list","value":{value}}}]'
    key = '["test","demo","AAECAwQFBgcICQoLDA0ODxAREhM=",7]'
    data = f'{{"msg":"write","key":{key},"gen":3,"exp":0,"lut":1,"bins":{bins}}}'.encode()
    assert list(flaws(aerospike_json.CODEC, data, max_depth=2000)) == []


UNPACKED_FIRST = """wireloom: 1
format: tried
title: Tried
encoding: binary
root: Tried
types:
  Tried:
    attempt:
      - {name: packed, type: Packed, fallback: [{codes: [bad_region]}]}
      - {name: plain, type: Plain}
  Packed:
    fields:
      - width: {type: uint8, derive: after - before}
      - mark: before
      - inner: {type: Inner, size: width, unpack: base64}
      - mark: after
  Inner: {fields: [{number: uint32}]}
  Plain: {fields: [{head: bytes(4)}, {one: {type: uint8, const: 1}}]}
"""


def test_the_fault_of_an_alternative_that_was_given_up_is_forgotten(tmp_path):
    (tmp_path / "tried.yaml").write_text(UNPACKED_FIRST)
    specs = pipeline.read(tmp_path)
    with opened({"tried": specs.modules["tried"]}) as modules:
        explained = modules["tried"].CODEC.explain_bytes(b"\x04AAAA")
    assert (explained.error.code, explained.error.path, explained.fault.space) == ("bad_constant", "one", 0)
    assert (explained.fault.offset, len(explained.spaces)) == (4, 1)


MELTED = """wireloom: 1
format: melted
title: Melted
encoding: json
root: Outer
types:
  Outer: {fields: [{within: {type: Inner, inline: true}}]}
  Inner: {fields: [{first: {type: str, compute: "'a'"}}, {number: uint16}]}
"""


def test_members_that_stand_in_the_object_around_have_no_bytes_where_the_first_is_bad(tmp_path):
    (tmp_path / "melted.yaml").write_text(MELTED)
    specs = pipeline.read(tmp_path)
    with opened({"melted": specs.modules["melted"]}) as modules:
        assert list(flaws(modules["melted"].CODEC, b'{"number":127.0}')) == []


OPEN = """wireloom: 1
format: opened
title: An open value
encoding: msgpack
root: Record
types:
  Record: {fields: [{value: Value}]}
  Value: {oneOf: {int: int, float: float, str: str, list: list(Value), map: "map(Value, Value)"}}
"""


@pytest.mark.parametrize("data", ["91 92 01 cb3ff8", "91 93 91 92 01", "91 81 a161 91 cb"])
def test_the_head_of_an_unfinished_list_is_a_head(tmp_path, data: str):
    (tmp_path / "opened.yaml").write_text(OPEN)
    specs = pipeline.read(tmp_path)
    with opened({"opened": specs.modules["opened"]}) as modules:
        explained = modules["opened"].CODEC.explain_bytes(bytes.fromhex(data))
    assert explained.error.code == "truncated"
    kinds, left = set[str](), [explained.span]
    while left:
        span = left.pop()
        kinds.add(span.kind)
        left += span.children
    assert "head" in kinds
    assert "terminator" not in kinds


def said(explained: spans.Explained) -> tuple[object, ...] | None:
    error, fault = explained.error, explained.fault
    return error and fault and (error.code, error.path, error.offset, error.expected, error.actual, *fault[1:])


def named(explained: spans.Explained) -> set[tuple[str, int, str]]:
    """The spans of values; folded spans count too, since they describe bytes around a fault."""
    found = (each for each in explained.span.walk() if each.path and each.kind not in ("folded", "ignored", "unread"))
    return {(each.kind, each.start, each.path) for each in found}


@pytest.mark.parametrize(("folder", "format"), FORMATS)
def test_a_folded_record_shows_what_the_whole_one_shows(folder: Path, format: Format, case_package, monkeypatch):
    monkeypatch.setattr(spans, "MANY", 0)
    monkeypatch.setattr(spans, "LARGE", 0)
    monkeypatch.setattr(spans, "KEPT", 1)
    codec = module_of(folder, format).CODEC
    for example in format.examples:
        settings = codec.settings(dict(example.parameters))
        folded = codec.summarize_bytes(example.data, example.root, settings)
        whole = codec.explain_bytes(example.data, root=example.root, **settings)
        assert list(uncovered(folded)) == [], example.name
        assert said(folded) == said(whole), example.name
        assert named(folded) - named(whole) == set(), example.name


def test_a_protobuf_field_that_is_no_text_has_its_bytes(case_package):
    format = next(each for folder in (CASES,) for each in specs_below(folder).formats if each.name == "protobuf_groups")
    codec = module_of(CASES, format).CODEC
    example = next(each for each in format.examples if each.error == "invalid_utf8")
    explained = codec.explain_bytes(example.data, root=example.root)
    bad = explained.at(explained.fault.start)
    assert bad.failed
    assert bad.path.startswith(explained.error.path)


def test_elements_of_a_message_that_stands_in_fragments_have_the_places_of_its_value(case_package):
    format = next(each for each in specs_below(CASES).formats if each.name == "protobuf_groups")
    codec, counted = module_of(CASES, format).CODEC, 0
    for example in format.examples:
        explained = codec.explain_bytes(example.data, root=example.root)
        paths = [span.path for span in explained.span.walk() if span.kind == "element"]
        assert len(set(paths)) == len(paths), example.name
        counted += len(paths)
    assert counted > 0
