"""Random documents: specs with parts removed, repeated, moved or replaced, and arbitrary trees.

The only requirement: for any YAML document, `generate` either makes importable modules or reports what is wrong.
`python tests/fuzz/specs.py 5000 1` tries 5000 documents from the seed 1.
"""

import copy
import random
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from wireloom import pipeline
from wireloom.examples.memory import opened
from wireloom.problems import SpecProblems
from wireloom.resolve import resolve
from wireloom.spec import load

sys.path.append(str(Path(__file__).parents[1]))

from proof.texts import formats_below

_KEYS = """
type types fields root roots encoding as else at size when optional default const values range bits derive compute
checksum over refers table flatten inline counted hidden tag member since until count unique salvage lineFeeds wire
select cases oneOf attempt kind reason fallback codes buildWhen check that verify mark need frame end discard keep list
versions arity form parameters limits depth framing byteOrder rows errors checksums ranges examples hex text value error
path offset presence peek imports library
"""
_WORDS = """
uint8; int64; uint64; uint128; float32; bool; nil; str; bytes; json; any; int?; str?; list(uint8); bytes(4); bytes(-1)
str(here); bytes(size); list(list(str)); map(str, int); map(int, nil); ext(7, bytes); int | str; nil | bool; Record
list(Record); Record?; Other; json(object); here; size; index; size > here; present(x); count(x); len(x); x; x.y
1 << 200; not x; x in [1, 'a', null]; rangeName(x, 'R'); decimal('5', 500); md5(''); min(1, 2, 3); x ? 1 : 'a'; null
-x * 2; 0 .. 4; ..; 0 .. size; binary; msgpack; protobuf; json; array; object; concatenated; lines; big; little
zigzag; fixed; varint; a.b; 1e-7; true
"""
_TREES = """
[[], {}, [1], [uint8], {a: 1}, {type: uint8}, {x: uint8}, [{x: uint8}], {member: k}, {peek: int8}, {fields: []},
{select: x, cases: {'1': uint8}}, {oneOf: {a: int, b: str}}, {error: truncated}, {that: x > 1, else: bad_size},
{field: x}, {bytes: x}, {list: x, keep: 'true', count: n}]
"""
_NAMES = _KEYS.split()
_VALUES: Sequence[Any] = (
    *(None, True, False, 0, 1, -1, 3, 255, 1 << 70, 0.5, "", " "),
    *(word.strip() for line in _WORDS.strip().splitlines() for word in line.split(";")),
    *yaml.safe_load(_TREES),
)


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path in a tree except the root."""
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from places(value, (*path, key))


def at(tree: Any, path: Sequence[Any]) -> Any:
    """The value at a path."""
    for step in path:
        tree = tree[step]
    return tree


def mutated(document: Any, donors: Sequence[Any], chance: random.Random) -> Any:
    """The document with one to three changes."""
    document = copy.deepcopy(document)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        known = list(places(document))
        if known:
            _mutate(document, chance.choice(known), donors, chance)
    return document


def _mutate(document: Any, path: tuple[Any, ...], donors: Sequence[Any], chance: random.Random) -> None:
    above, key = at(document, path[:-1]), path[-1]
    match chance.randrange(8):
        case 0:
            del above[key]
        case 1:
            above[key] = copy.deepcopy(chance.choice(_VALUES))
        case 2:
            other = chance.choice(donors)
            above[key] = copy.deepcopy(at(other, chance.choice(list(places(other)))))
        case 3 if isinstance(above, dict):
            above[chance.choice(_NAMES)] = above.pop(key)
        case 4 if isinstance(above, dict):
            above[chance.choice(_NAMES)] = copy.deepcopy(chance.choice(_VALUES))
        case 5 if isinstance(above, list):
            above.insert(chance.randrange(len(above) + 1), copy.deepcopy(above[key]))
        case 6 if isinstance(above, list):
            chance.shuffle(above)
        case _:
            value = above[key]
            if isinstance(value, dict):
                value[chance.choice(_NAMES)] = copy.deepcopy(chance.choice(_VALUES))
            elif isinstance(value, str):
                above[key] = _respelled(value, chance)
            else:
                above[key] = copy.deepcopy(chance.choice(_VALUES))


def _respelled(text: str, chance: random.Random) -> str:
    place = chance.randrange(len(text) + 1)
    match chance.randrange(3):
        case 0:
            return text[:place] + chance.choice("()[]{}?:,|&<>=-'\"0 9ax.#\n\0é") + text[place:]
        case 1:
            return text[:place] + text[place + 1 :]
        case _:
            return text + chance.choice((" + x", "?", " | int", "(4)", " .. 5", " and true", ".y"))


def anything(chance: random.Random, depth: int = 0) -> Any:
    """A tree of words of the language."""
    if depth > 5 or chance.random() < 0.35:
        return copy.deepcopy(chance.choice(_VALUES))
    if chance.random() < 0.6:
        return {chance.choice(_NAMES): anything(chance, depth + 1) for _ in range(chance.randrange(5))}
    return [anything(chance, depth + 1) for _ in range(chance.randrange(4))]


def small(chance: random.Random) -> Any:
    """A format of a few fields with keys that may or may not be allowed together."""
    fields: list[Any] = []
    for name in ("x", "y", "n", "z")[: chance.randrange(1, 5)]:
        field: dict[str, Any] = {"type": copy.deepcopy(chance.choice(_VALUES))}
        for _ in range(chance.randrange(3)):
            field[chance.choice(_NAMES)] = copy.deepcopy(chance.choice(_VALUES))
        fields.append({name: field if chance.random() < 0.8 else chance.choice(("uint8", "int?", "Other"))})
    if chance.random() < 0.4:
        step = chance.choice(("check", "verify", "mark", "need", "frame", "end", "discard"))
        fields.insert(chance.randrange(len(fields) + 1), {step: copy.deepcopy(chance.choice(_VALUES))})
    other = chance.choice(
        ({"fields": [{"x": "uint8"}]}, {"oneOf": {"a": "int", "b": "list(Other)"}}, anything(chance, 3), "uint8")
    )
    encoding = chance.choice(("binary", "msgpack", "protobuf", "json"))
    if encoding == "protobuf":
        for number, field in enumerate(fields, 1):
            for value in field.values():
                if isinstance(value, dict):
                    value.setdefault("tag", number)
    return {
        "wireloom": 1,
        "format": "fuzzed",
        "title": "A format that nobody wrote",
        "encoding": encoding,
        "root": "Record",
        "types": {"Record": {"fields": fields}, "Other": other},
    }


def documents(seeds: Sequence[Any], count: int, seed: int) -> Iterator[Any]:
    """`count` documents."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    for number in range(count):
        match number % 8:
            case 0:
                yield anything(chance)
            case 1 | 2 | 3:
                yield small(chance)
            case _:
                yield mutated(chance.choice(seeds), seeds, chance)


def seeds(*folders: Path) -> list[Any]:
    """The specs below the folders as plain values, without most of their examples."""
    found = [document for folder in folders for document in formats_below(folder)]
    for document in found:
        document.pop("schema", None)
        document["examples"] = document.get("examples", [])[:1]
    return found


def outcome(document: Any, folder: Path, *, imported: bool = True) -> str:
    """The result of `generate` for a document: `refused`, `made`, or the traceback of a bug."""
    path = folder / "fuzzed.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), encoding="utf-8")
    try:
        formats = resolve(load([path], folder))
        files = {format.name: pipeline.emit(format) for format in formats}
        if imported:
            with opened(files):
                pass
    except SpecProblems:
        return "refused"
    except Exception:  # noqa: BLE001 - whatever it is, it is a bug
        return traceback.format_exc()
    return "made"


def main() -> None:
    """Try many documents, and show each kind of traceback once."""
    import tempfile

    root = Path(__file__).parents[2]
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    known: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for document in documents(seeds(root / "specs", root / "tests" / "cases"), count, seed):
            found = outcome(document, Path(folder))
            kind = found if found in ("refused", "made") else "\n".join(found.splitlines()[-3:])
            if kind not in known and kind == "\n".join(found.splitlines()[-3:]) and found not in ("refused", "made"):
                print(yaml.safe_dump(document, sort_keys=False)[:1500], found, sep="\n---\n")  # noqa: T201
            known[kind] = known.get(kind, 0) + 1
    for kind, times in known.items():
        print(times, kind)  # noqa: T201


if __name__ == "__main__":
    main()
