"""Adds checks to a spec so that it accepts only records whose derived values are right.

Parsers do not check `derive`: the wire value may be anything. If builders cannot rebuild such a record, that is no
violation. So each derived field and bit gets a check, after the fields of its struct, where all its operands are known.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from proof.modules import Spec

_STEPS = frozenset({"check", "mark", "verify", "need", "frame", "end", "discard"})
_CODE = "not_derived"


def checked(spec: Spec) -> Spec | None:
    """The spec with such checks, under another name; None if nothing is derived."""
    made = {file: _checked(document) for file, document in spec.items()}
    return made if made != spec else None


def _checked(document: Mapping[str, Any]) -> dict[str, Any]:
    types = {name: _with_checks(type) for name, type in document.get("types", {}).items()}
    if types == document.get("types", {}):
        return dict(document)
    errors = {**document.get("errors", {}), _CODE: "Something is not what it is derived of."}
    named = {"format": f"{document['format']}_checked"} if "format" in document else {}
    return {**document, **named, "errors": errors, "types": types}


def _with_checks(type: Any) -> Any:
    if not isinstance(type, dict) or "fields" not in type:
        return type
    return {**type, "fields": [*type["fields"], *(check for entry in type["fields"] for check in _checks(entry))]}


def _checks(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    ((name, field),) = entry.items()
    if name in _STEPS or not isinstance(field, dict):
        return
    told = {"when": field["when"]} if "when" in field else {}
    bits = field.get("bits") or {}
    for key, derived in {name: field, **{key: bit for key, bit in bits.items() if isinstance(bit, dict)}}.items():
        if "derive" in derived:
            yield {"check": {"that": f"{key} == ({derived['derive']})", "else": _CODE, **told}}
