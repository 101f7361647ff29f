"""Each type of the language has the forms that the reference lists, and is refused in other encodings."""

import pyarrow as pa
import pytest

from proof.modules import documents, generated, resolved
from wireloom.encodings import ENCODINGS
from wireloom.encodings.binary import BINARY
from wireloom.encodings.protobuf import PROTOBUF
from wireloom.model.types import Integer, NumberForm
from wireloom.problems import SpecProblems
from wireloom.resolve.bind.builtins import BUILTINS
from wireloom.runtime import engine as engines
from wireloom.runtime.errors import EncodeError

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
NEAR = (1, 7, 8, 9, 31, 32, 33, *range(60, 65))  # bits: about what machines have
MANY = 16  # words of one builtin, of which some are tried
TYPES = [
    (name, written)
    for name, builtin in BUILTINS.items()
    for words in [tuple(builtin.words)]
    for written in (*words[:: 1 if len(words) <= MANY else 13], *CONSTRUCTED.get(name, ()))
]


def test_every_builtin_is_tried():
    assert {name for name, _ in TYPES} == set(BUILTINS)


def structs(encoding, place, name, written):
    """A struct that has a field of the type, and what the type or the struct needs beside it."""
    field = {"type": written} | ({"tag": 1} if encoding == PROTOBUF else {})
    field |= {"delimiter": "0a"} if name == "digits" and encoding == BINARY else {}
    bits = getattr(BUILTINS[name].words.get(written), "bits", 1) if name == "bits" else 0
    filling = [{"g": {"type": f"uint{-bits % 8}" if bits % 8 < 7 else "bit"}}] if bits and encoding == BINARY else []
    types = {f"R{place}": {"fields": [{"f": field}, *filling]}}
    if name == "entries":
        types["Entry"] = {"fields": [{"key": {"type": "bool"}}, {"value": {"type": "bool"}}]}
        for tag, entry in enumerate(types["Entry"]["fields"] if encoding == PROTOBUF else (), 1):
            next(iter(entry.values()))["tag"] = tag
    return types


@pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=lambda encoding: encoding.name)
def test_a_type_has_a_form_or_is_refused_where_it_stands(encoding):
    has_form = {
        pair: pair[0] in encoding.types and (pair[1] != SIZED or encoding == BINARY) for pair in dict.fromkeys(TYPES)
    }
    known, unknown = ([pair for pair, has in has_form.items() if has == wanted] for wanted in (True, False))

    def read(pairs):
        types = {key: type for place, pair in enumerate(pairs) for key, type in structs(encoding, place, *pair).items()}
        roots = {f"r{place}": {"type": f"R{place}"} for place in range(len(pairs))}
        spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": encoding.name, "roots": roots, "types": types}
        return documents({"r.yaml": spec})

    with generated(resolved(read(known))) as made:
        assert len(made.complete().module.CODEC.roots) == len(known)
    with pytest.raises(SpecProblems) as raised:
        resolved(read(unknown))
    problems = sorted(raised.value.problems, key=lambda problem: problem.location.line)
    wanted = ["unknown-type" if name in ("any", "meant") else "wrong-encoding" for name, _ in unknown]
    assert [problem.id for problem in problems] == wanted
    assert len({problem.location.line for problem in problems}) == len(unknown)


def test_what_an_encoding_lacks_has_something_instead():
    for name, builtin in BUILTINS.items():
        for encoding in ENCODINGS.values():
            instead = encoding.instead.get(name, builtin.instead)
            assert builtin.only or name in encoding.types or instead, (name, encoding.name)


def test_an_encoding_has_forms_of_types_that_there_are():
    for encoding in ENCODINGS.values():
        assert {*encoding.types, *encoding.instead} <= set(BUILTINS)


def _is_left(encoding, type):
    """Lists of partial bytes, and number formats of a single file format, are left to the parser."""
    own = {getattr(NumberForm, name) for name in ("QUIC", "SQLITE", "FLAC", "EBML", "VLQ", "SLEB")}
    return encoding == BINARY and (type.bits % 8 != 0 or type.form in own)


@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
@pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=lambda encoding: encoding.name)
def test_the_outermost_integers_of_every_type_are_read_and_written_by_the_engine(encoding):
    words = {
        word: type.bits
        for name, builtin in BUILTINS.items()
        for word, type in builtin.words.items()
        if name in encoding.types
        and isinstance(type, Integer)
        and type.bits in NEAR
        and name != "digits"
        and not _is_left(encoding, type)
    }
    field = {"count": "uint8"} if encoding == BINARY else {"tag": 1} if encoding == PROTOBUF else {}
    types = {f"R{at}": {"fields": [{"x": {"type": f"list({word})", **field}}]} for at, word in enumerate(words)}
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": encoding.name, "types": types}
    spec["roots"] = {name.lower(): {"type": name} for name in types}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec, tried, slow = made.module.CODEC, set(), set()
        for root, (word, bits) in zip(codec.roots, words.items(), strict=True):
            half = 1 << bits - 1
            for value in {0, 1, half - 1, half, 2 * half - 1, -1, -half}:
                try:
                    data = made.module.build({"x": [value, value]}, root=root)
                except EncodeError:
                    continue
                tried.add(word)
                before = codec.engine.rebuilt
                read = codec.decode(pa.array([data], pa.binary()), root=root)
                assert codec.encode(read.records, root=root).to_pylist() == [data]
                if read.reread or codec.engine.rebuilt > before:
                    slow.add((word, value))
    assert tried == {*words}
    assert not slow
