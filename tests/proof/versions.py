"""Adds named versions to a format: some fields, words and cases are limited to some versions."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from proof.chance import Chance
from proof.modules import documents, resolved
from proof.scope import ABSENT, document
from wireloom.problems import SpecProblems
from wireloom.spec.language import CaseOfVersions, Entry, MappedValue, Parameter, Versions

_VERSIONED = 0.12  # of the formats
_MARKED = 0.4  # of the fields that could be limited to some versions
_TRIES = 4  # attempts at changes that leave the format valid


def with_versions(content: Mapping[str, Any], chance: Chance) -> Mapping[str, Any]:
    """The format, sometimes with versions, if it stays valid."""
    if not chance.often(_VERSIONED) or not content.get("types"):
        return content
    for _ in range(_TRIES):
        changed: dict[str, Any] = deepcopy(dict(content))
        if not _told(changed, chance):
            continue
        try:
            resolved(documents({"proof.yaml": changed}))
        except SpecProblems:
            continue
        return changed
    return content


def _told(content: dict[str, Any], chance: Chance) -> bool:
    """Add versions; returns whether that worked, and something is limited to some of them."""
    names = ["v1", "v2", "v3"][: chance.randint(2, 3)]
    record = content["types"].get(content.get("root"))
    way = chance.one(["parameter", "field", "fits"])
    if way != "parameter" and not (isinstance(record, dict) and "fields" in record):
        return False
    stated = dict.fromkeys(("column", "newer", "else"), ABSENT)
    if chance.often(0.9 if way == "fits" else 0.6):
        stated["column"] = "madeIn"
    order: Any = names
    told = "fits"
    structs = [each for each in content["types"].values() if isinstance(each, dict) and "fields" in each]
    if way == "parameter":
        told, options = "release", {"oneOf": names, "default": chance.one(names)}
        said = document(Parameter, {**dict.fromkeys(("type", "doc", "unit"), ABSENT), **options})
        content["parameters"] = {**content.get("parameters", {}), told: said}
    elif way == "field":
        told, structs = "told", [record]
        order = names if chance.often(0.3) and content["encoding"] != "protobuf" else _numbered(names, chance)
        record["fields"].insert(0, {told: _field(content["encoding"], chance, order, stated)})
    else:
        structs = [record]
    marked = [_mark(each, names, chance) for struct in structs if "versions" not in struct for each in _parts(struct)]
    versions = document(Versions, {"order": order, "from": told, **stated})
    rest: dict[str, Any] = {key: content.pop(key) for key in ("types", "examples") if key in content}
    content.update(versions=versions, **rest)
    return any(marked)


def _numbered(names: list[str], chance: Chance) -> dict[str, int]:
    first, step = chance.randint(0, 3), chance.one([1, 1, 2])
    return {name: first + step * place for place, name in enumerate(names)}


def _field(encoding: str, chance: Chance, order: Any, stated: dict[str, Any]) -> dict[str, Any]:
    """The field that holds the version."""
    text = "str(uint8)" if encoding == "binary" else "str"
    found: dict[str, Any] = {"type": text if isinstance(order, list) else chance.one(["uint8", "int32"])}
    if encoding == "protobuf":
        found["tag"] = 999
    if stated["column"] is not ABSENT and chance.often(0.4):
        found["hidden"] = True
    if chance.often(0.3):
        stated["newer"] = "newest"
    elif chance.often(0.3):
        stated["else"] = "bad_constant"
    return found


def _parts(struct: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """The fields of a struct."""
    for entry in struct["fields"]:
        for name in entry:
            if name not in Entry.keys() and name != "told":  # noqa: SIM118 - a class method, no mapping
                yield entry, name


def _mark(part: tuple[dict[str, Any], str], names: list[str], chance: Chance) -> bool:
    """Limit a field, one of its words or one of its cases to some versions; returns whether that worked."""
    entry, name = part
    written = entry[name] if isinstance(entry[name], dict) else {"type": entry[name]}
    if not chance.often(_MARKED):
        return False
    values, form = written.get("values"), written.get("type")
    if isinstance(values, dict) and "raw" not in written and chance.often(0.6):
        word = chance.one(list(values))
        if isinstance(values[word], str) and not values[word].startswith("="):
            values[word] = document(MappedValue, {"value": values[word], "doc": ABSENT, **_span(names, chance)})
            return True
    if isinstance(form, dict) and isinstance(form.get("select"), str) and chance.often(0.6):
        case = chance.one(list(form["cases"]))
        if isinstance(form["cases"][case], str):
            form["cases"][case] = document(CaseOfVersions, {"type": form["cases"][case], **_span(names, chance)})
            return True
    entry[name] = written | {key: said for key, said in _span(names, chance).items() if said is not ABSENT}
    return True


def _span(names: list[str], chance: Chance) -> dict[str, Any]:
    """A range of versions."""
    first = chance.randint(0, len(names) - 1)
    last = chance.randint(first, len(names) - 1)
    since = names[first] if first else ABSENT
    until = names[last] if last < len(names) - 1 or since is ABSENT else ABSENT
    return {"since": since, "until": until}
