"""The types of the language: each has the forms that the reference lists, and is refused where it has none."""

import pytest

from proof.modules import documents, generated, resolved
from wireloom.model.types import Encoding
from wireloom.problems import SpecProblems
from wireloom.resolve.builtins import BUILTINS

SIZED = "str(3)"  # a text that does not say itself where it ends, as those of trees do
CONSTRUCTED = {  # by the name of the builtin; the others are tried by each of their words
    "nil": ("uint8?",),
    "list": ("list(uint8)",),
    "map": ("map(str, uint8)",),
    "ext": ("ext(1, bytes)", "ext(1, str)"),
    "extended": ("extended(253, uint16, uint64)",),
    "json": ("json(object)",),
    "union": ("uint8 | str",),
    "entries": ("map(Entry)",),
    "any": ("any",),
    "meant": ("timestamp", "date", "duration", "decimal(10, 2)"),
    "str": (SIZED,),
    "bytes": ("bytes(3)",),
}
MANY = 16  # words of one builtin, of which some are tried
TYPES = [
    (name, written)
    for name, builtin in BUILTINS.items()
    for words in [tuple(builtin.words)]
    for written in (*words[:: 1 if len(words) <= MANY else 13], *CONSTRUCTED.get(name, ()))
]


def test_every_builtin_is_tried():
    assert {name for name, _ in TYPES} == set(BUILTINS)


@pytest.mark.parametrize("encoding", Encoding, ids=lambda encoding: encoding.value)
@pytest.mark.parametrize(("name", "written"), TYPES, ids=lambda value: value)
def test_a_type_has_a_form_or_is_refused_where_it_stands(name, written, encoding):
    field = {"type": written} | ({"tag": 1} if encoding is Encoding.PROTOBUF else {})
    field |= {"delimiter": "0a"} if name == "digits" and encoding is Encoding.BINARY else {}
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": encoding.value, "root": "R"}
    alone = BUILTINS[name].words.get(written)
    bits = getattr(alone, "bits", 1) if name == "bits" else 0
    filling = (
        [{"g": {"type": f"uint{-bits % 8}" if bits % 8 < 7 else "bit"}}] if bits and encoding.value == "binary" else []
    )
    types = {"R": {"fields": [{"f": field}, *filling]}}
    if name == "entries":
        types["Entry"] = {"fields": [{"key": {"type": "bool"}}, {"value": {"type": "bool"}}]}
        for tag, entry in enumerate(types["Entry"]["fields"] if encoding is Encoding.PROTOBUF else (), 1):
            next(iter(entry.values()))["tag"] = tag
    read = documents({"r.yaml": {**spec, "types": types}})
    if encoding in BUILTINS[name].forms and (written != SIZED or encoding is Encoding.BINARY):
        with generated(resolved(read)):
            return
    with pytest.raises(SpecProblems) as raised:
        resolved(read)
    (problem,) = raised.value.problems
    assert problem.id == ("unknown-type" if name in ("any", "meant") else "wrong-encoding")


def test_what_an_encoding_lacks_has_something_instead():
    for builtin in BUILTINS.values():
        assert builtin.only or {*builtin.forms, *builtin.instead} == set(Encoding)
