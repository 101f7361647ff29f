"""What parsers and builders of a spec's records owe each other, each class by the smallest spec that shows it."""

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from wireloom import pipeline
from wireloom.pipeline import Project
from wireloom.runtime.errors import DecodeError, EncodeError

if TYPE_CHECKING:
    from pathlib import Path

Made = Callable[..., ModuleType]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """Makes the module of a format from the fields of its root `R`, its other types, and other keys of the format."""
    folders: list[str] = []

    def module(*fields: Any, encoding: str = "binary", **keys: Any) -> ModuleType:
        package = f"wireloom_made_{len(folders)}"
        folder: Path = tmp_path_factory.mktemp(package)
        types = {"R": {"fields": list(fields)}} if fields else {}
        document = {"wireloom": 1, "format": "made", "title": "made", "encoding": encoding, "root": "R"}
        document |= keys | {"types": types | keys.get("types", {})}
        (folder / "specs").mkdir()
        (folder / "specs" / "made.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        pipeline.generate(Project(folder / "specs", folder / "generated", package))
        folders.append(str(folder / "generated"))
        sys.path.insert(0, folders[-1])
        return importlib.import_module(f"{package}.made")

    yield module
    for folder in folders:
        sys.path.remove(folder)


def error_of(module: ModuleType, data: bytes) -> tuple[str, str, int]:
    with pytest.raises(DecodeError) as caught:
        module.parse(data)
    return caught.value.code, caught.value.path, caught.value.offset


# --- computed values -----------------------------------------------------------------------------------------------


def test_a_computed_integer_becomes_the_float_that_its_type_says(made: Made):
    found = made({"a": "uint8"}, {"b": {"compute": "a * 10", "type": "float64"}}).parse(b"\x07")
    assert found == {"a": 7, "b": 70.0}
    assert isinstance(found["b"], float)


def test_a_computed_value_of_another_kind_is_a_type_mismatch(made: Made):
    module = made({"a": "int | str"}, {"b": {"compute": "a", "type": "uint8"}}, encoding="msgpack", types={})
    assert module.parse(b"\x91\x07") == {"a": 7, "b": 7}
    assert error_of(module, b"\x91\xa1x") == ("type_mismatch", "b", 3)


def test_an_alternative_of_another_kind_is_not_equal(made: Made):
    fields = [
        {"a": "int | bool | str"},
        {"b": {"compute": "a == 1", "type": "bool"}},
        {"c": {"compute": "a > 0", "type": "bool"}},
    ]
    module = made(*fields, encoding="msgpack")
    assert [module.parse(data) for data in (b"\x91\x01", b"\x91\xc3", b"\x91\xa1x")] == [
        {"a": 1, "b": True, "c": True},
        {"a": True, "b": False, "c": None},
        {"a": "x", "b": False, "c": None},
    ]


# --- what is built is read back and compared -----------------------------------------------------------------------


def refusal_of(module: ModuleType, value: Any) -> str:
    with pytest.raises(EncodeError) as caught:
        module.build(value)
    return str(caught.value)


def test_a_list_of_another_length_than_its_count_is_refused(made: Made):
    module = made({"n": "uint8"}, {"items": {"type": "list(uint8)", "count": "n"}}, {"rest": "bytes"})
    assert module.build({"n": 2, "items": [1, 2], "rest": b"x"}) == b"\x02\x01\x02x"
    assert refusal_of(module, {"n": 1, "items": [1, 2, 3], "rest": b""}).startswith("items: expected a list of 3 to be")


def test_a_value_for_a_member_that_is_not_written_is_refused(made: Made):
    module = made({"n": "uint8"}, {"extra": {"type": "uint8", "when": "n > 1"}})
    assert refusal_of(module, {"n": 1, "extra": 7}) == "extra: expected 7 to be read back, found null"
    assert refusal_of(module, {"n": 1, "unknown": 7}) == "unknown: expected 7 to be read back, found null"


def test_a_derived_value_that_is_given_must_agree(made: Made):
    module = made({"n": {"type": "uint8", "derive": "len(text)"}}, {"text": {"type": "str", "size": "n"}})
    assert module.build({"text": "ab"}) == module.build({"n": 2, "text": "ab"}) == b"\x02ab"
    assert refusal_of(module, {"n": 3, "text": "ab"}) == "n: expected 3 to be read back, found 2"


def test_the_byte_order_that_was_seen_is_built_again(made: Made):
    module = made(
        {"magic": {"type": "uint16", "const": 1, "hidden": True}},
        {"seen": {"compute": "order", "type": "str"}},
        byteOrder={"parameter": "order", "wrongWhen": ["bad_constant"]},
        parameters={"order": {"oneOf": ["big", "little", "auto"], "default": "auto"}},
    )
    assert [module.build(module.parse(data)) for data in (b"\0\1", b"\1\0")] == [b"\0\1", b"\1\0"]
    assert module.build({}) == b"\0\1"
