"""The parts of libraries that formats use, and the places of mistakes in libraries."""

import pytest

from wireloom.problems import SpecProblems
from wireloom.resolve import resolve
from wireloom.spec import load

FORMAT = """wireloom: 1
format: importer
title: A format with imports
encoding: {encoding}
imports: [{imports}]
root: Record
types:
  Record: {{fields: [{fields}]}}
"""
LIBRARY = """wireloom: 1
library: {name}
title: A library
encoding: binary
byteOrder: little
types:
"""


def resolved(folder, **files):
    paths = []
    for name, text in files.items():
        paths.append(folder / f"{name}.yaml")
        paths[-1].write_text(text, encoding="utf-8")
    return resolve(load(paths, folder))


def said(folder, **files):
    """The problems, each as file, line, diagnostic and message."""
    with pytest.raises(SpecProblems) as raised:
        resolved(folder, **files)
    return [
        (each.location.file.rpartition("/")[2], each.location.line, each.id, each.message)
        for each in raised.value.problems
    ]


def importer(fields, imports="ends", encoding="binary"):
    return FORMAT.format(fields=fields, imports=imports, encoding=encoding)


def library(types, name="ends", head=""):
    return LIBRARY.format(name=name).replace("types:\n", f"{head}types:\n") + types


END = "  End: {fields: [{port: uint16}]}\n"


def test_a_mistake_in_a_library_is_shown_there_and_once_for_all_formats_that_take_it(tmp_path):
    wrong = library("  End: {fields: [{port: unit16}]}\n")
    second = importer("{from: End}").replace("format: importer", "format: second")
    assert said(tmp_path, one=importer("{source: End}"), two=second, ends=wrong) == [
        ("ends.yaml", 7, "unknown-type", "there is no type unit16")
    ]


def test_what_a_library_does_not_know_is_said_once_whatever_its_importers_know(tmp_path):
    wrong = library("  End: {fields: [{port: uint16}, {more: {type: uint8, when: nope == 3}}]}\n")
    second = importer("{from: End}").replace("format: importer", "format: second")
    assert said(tmp_path, one=importer("{source: End}"), two=second, ends=wrong) == [
        ("ends.yaml", 7, "unknown-name", "there is no nope here")
    ]


def test_the_shape_of_a_library_is_checked_though_nobody_imports_it_and_hides_what_would_follow(tmp_path):
    wrong = library(END, head="eror: {}\n")
    alone = importer("{source: uint8}").replace("imports: [ends]\n", "")
    assert [each[:3] for each in said(tmp_path, one=alone, ends=wrong)] == [("ends.yaml", 6, "unknown-key")]
    assert [each[:3] for each in said(tmp_path, one=importer("{source: End}"), ends=wrong)] == [
        ("ends.yaml", 6, "unknown-key")
    ]


def test_the_mistakes_of_a_format_are_shown_beside_those_of_its_library(tmp_path):
    wrong = library("  End: {fields: [{port: unit16}]}\n")
    found = said(tmp_path, one=importer("{source: End}, {kind: unit8}"), ends=wrong)
    assert {(file, id) for file, _, id, _ in found} == {("one.yaml", "unknown-type"), ("ends.yaml", "unknown-type")}


def test_a_library_does_not_see_the_types_of_those_who_import_it(tmp_path):
    seeing = library("  End: {fields: [{label: Label}]}\n")
    format = importer("{source: End}, {label: Label}") + "  Label: {fields: [{text: str(4)}]}\n"
    assert said(tmp_path, one=format, ends=seeing) == [
        ("ends.yaml", 7, "unknown-type", "there is no type Label in the library ends")
    ]


def test_two_libraries_with_one_name_are_no_mistake_until_it_is_used(tmp_path):
    files = {"ends": library(END + "  Other: {fields: [{a: uint8}]}\n"), "more": library(END, name="more")}
    assert said(tmp_path, one=importer("{source: End}, {other: Other}", "ends, more"), **files) == [
        ("one.yaml", 5, "clashing-import", "End is a type of ends and of more"),
    ]
    (format,) = resolved(tmp_path, one=importer("{other: Other}"), **files)
    assert list(dict(format.types)) == ["Record", "Other"]


def test_libraries_may_import_each_other(tmp_path):
    ends = library("  End: {fields: [{label: Label}]}\n", head="imports: [labels]\n")
    labels = library(
        "  Label: {fields: [{text: str(4)}]}\n  Pair: {fields: [{a: End}]}\n", "labels", "imports: [ends]\n"
    )
    (format,) = resolved(tmp_path, one=importer("{source: End}"), ends=ends, labels=labels)
    assert sorted(dict(format.types)) == ["End", "Label", "Record"]


def test_a_format_whose_library_changes_means_something_else(tmp_path):
    (before,) = resolved(tmp_path, one=importer("{source: End}"), ends=library(END))
    (after,) = resolved(tmp_path, one=importer("{source: End}"), ends=library(END.replace("port", "door")))
    assert before.digest != after.digest


def test_a_byte_order_of_a_library_holds_for_its_structs_and_is_refused_for_what_has_none(tmp_path):
    (format,) = resolved(tmp_path, one=importer("{source: End}, {kind: uint16}"), ends=library(END))
    assert dict(format.types)["End"].fields[0].type != dict(format.types)["Record"].fields[1].type
    names = library("  Name: str(uint8)\n")
    (format,) = resolved(tmp_path, one=importer("{first: Name}, {more: list(Name)}"), ends=names)
    assert list(dict(format.types)) == ["Record", "Name"]
    ports = library("  Ports: list(uint16)\n")
    assert said(tmp_path, one=importer("{ports: {type: Ports, count: uint8}}"), ends=ports) == [
        (
            "ends.yaml",
            7,
            "clashing-import",
            "Ports is not a struct, so its numbers would have the byte order of importer",
        )
    ]


def test_what_a_library_and_a_format_both_have_must_be_the_same(tmp_path):
    head = "parameters: {strict: {type: bool, default: true}}\nerrors: {zero: No port.}\n"
    body = "  End: {fields: [{port: uint16}, {check: {that: port > 0 or not strict, else: zero}}]}\n"
    ends = library(body, head=head)
    same = importer("{source: End}") + head.replace("No port", "None at all")
    (format,) = resolved(tmp_path, one=same, ends=ends)
    assert [each.doc for each in format.errors if each.code == "zero"] == ["None at all."]
    other = importer("{source: End}") + "parameters: {strict: {type: bool, default: false}}\n"
    assert said(tmp_path, one=other, ends=ends) == [
        ("ends.yaml", 6, "clashing-import", "strict is different in importer, which imports ends")
    ]
