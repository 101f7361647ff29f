"""Nodes of layouts are tuples with a name for each part."""

import importlib
import pkgutil

import pytest

from wireloom.runtime.engine import contract, nodes

LOOKS = {
    nodes.Struct: lambda part: part[:1] == ("struct",) and len(part) == 6,
    nodes.Field: lambda part: part[:1] == ("field",) and isinstance(part[-1], dict),
    nodes.FieldRef: lambda part: part[:1] == ("field",) and isinstance(part[1], int),
    nodes.Int: lambda part: part[:1] == ("int",) and isinstance(part[1], int),
    nodes.If: lambda part: part[:1] == ("if",) and len(part) == 4,
}
"""What the tuples of some nodes look like, without their declarations."""


def test_layouts_are_what_they_state(case_package):
    for module in pkgutil.iter_modules(case_package.__path__):
        codec = getattr(importlib.import_module(f"{case_package.__name__}.{module.name}"), "CODEC", None)
        stated = None if codec is None else codec.layout
        if stated is not None:
            layout = nodes.loaded(stated)
            assert layout == stated
            assert contract.digest(layout) == stated["digest"]
            assert nodes.loaded(layout) == layout
            raw = list(_tuples([*stated["types"].values(), *stated["roots"].values()]))
            made = list(nodes.within([*layout["types"].values(), *layout["roots"].values()]))
            for kind, looks_like in LOOKS.items():
                assert sum(isinstance(each, kind) for each in made) == sum(map(looks_like, raw))


def _tuples(part):
    """All tuples within a layout."""
    if isinstance(part, tuple):
        yield part
    if isinstance(part, tuple | list | dict):
        for each in part.values() if isinstance(part, dict) else part:
            yield from _tuples(each)


def test_parts_at_their_default_are_not_stated():
    assert nodes.Int(8, signed=False) == ("int", 8, False)
    assert nodes.Int(8, signed=False, form="decimal", detail=3) == ("int", 8, False, "decimal", 3)
    assert nodes.Field("a", nodes.Bool(), optional=True) == ("field", "a", ("bool",), {"optional": True})
    assert nodes.FieldRef(1, "a", ("b", "c")) == ("field", 1, "a", "b", "c")


def test_parts_are_asked_for_by_name():
    field = nodes.Field.load(("field", "a", ("int", 8, False), {"as": "b", "default": None}))
    assert (field.title, field.has_default, field.default, field.when) == ("b", True, None, None)
    assert field.type.form == ""
    assert field.with_parts(renamed=None, default=nodes.ABSENT) == nodes.Field("a", nodes.Int(8, signed=False))
    match field.type:
        case nodes.Int(bits, signed, form, detail):
            assert (bits, signed, form, detail) == (8, False, "", None)


def test_a_word_that_no_node_has_is_refused():
    with pytest.raises(AssertionError, match="no node has the word 'octuple'"):
        nodes.loaded({"types": {"A": ("octuple", 8)}, "roots": {}})


def test_too_many_parts_are_refused():
    with pytest.raises(AssertionError, match="too many parts for Bool"):
        nodes.Bool(1)
    with pytest.raises(AssertionError, match="Mark has no title"):
        nodes.Mark("a", title="b")
