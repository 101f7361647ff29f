"""Gives several fields one name, each in other versions of its struct."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from proof.chance import Chance
from proof.modules import documents, resolved
from proof.renaming import retold
from wireloom.problems import SpecProblems

_SHARED = 0.6  # of the structs in which two fields could share a name


def with_namesakes(content: Mapping[str, Any], chance: Chance) -> Mapping[str, Any]:
    """The format with one name for two fields that never occur together, if it stays valid."""
    for type in content["types"].values():
        pairs = list(_pairs(type)) if isinstance(type, dict) else []
        if not pairs or not chance.often(_SHARED):
            continue
        kept, renamed = chance.one(pairs)
        changed = retold(content, partial(re.sub, rf"\b{re.escape(renamed)}\b", kept))
        try:
            resolved(documents({"proof.yaml": changed}))
        except SpecProblems:
            continue
        return dict(changed)
    return content


def _pairs(type: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Pairs of fields that no version has both of."""
    spans: dict[str, set[str]] = {}
    names = list(type.get("versions", ()))  # `versions` as a mapping states each one's condition
    for entry in type.get("fields", ()):
        for key, written in entry.items():
            ends = {each: written[each] for each in ("since", "until") if isinstance(written, dict) and each in written}
            if ends and set(ends.values()) <= set(names):
                first, last = names.index(ends.get("since", names[0])), names.index(ends.get("until", names[-1]))
                spans[key] = set(names[first : last + 1])
    for kept, own in spans.items():
        yield from ((kept, renamed) for renamed, other in spans.items() if kept != renamed and not own & other)
