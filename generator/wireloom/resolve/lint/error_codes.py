"""Every error code that types use must be declared, and every declared code must be used."""

from collections.abc import Iterator

from wireloom.names import code_flaw
from wireloom.problems import nearest
from wireloom.resolve.bind.draft import Draft
from wireloom.runtime.codes import CODES
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode, Node, ScalarNode, SequenceNode

_CODE_KEYS = ("else", "extElse", "error", "end")
_NEAR = 0.8  # codes consist of few words, so many are slightly similar
_CODE_LISTS = ("codes", "wrongWhen")
_NAMING_KEYS = ("bits", "cases", "values", "oneOf", "as", "versions")  # mappings whose keys the author names


def check_codes(draft: Draft) -> None:
    """Warn about codes that are used but not declared, and declared but not used."""
    known = (*draft.content.errors, *CODES)
    mentioned, lacking = set[str](), set[str]()
    for place, code in _written_codes(draft.place):
        mentioned.add(code)
        if code not in known:
            near = nearest(code, known, _NEAR)
            if code not in lacking or near:
                hint = near or "declare it under `errors`"
                draft.warns(place, "unknown-code", f"the error code {code} is not declared", hint)
            lacking.add(code)
    intended = {nearest(code, known, _NEAR).removeprefix("did you mean ").removesuffix("?") for code in lacking}
    for code in draft.content.errors:
        if code not in (*mentioned, *CODES, *intended):
            hint = "use it as `else` of a check, or drop it"
            draft.warns_entry(draft.place / "errors" / code, "unused-code", f"no check reports {code}", hint)


def check_code_names(draft: Draft) -> None:
    """Report texts that are not allowed as error codes."""
    for place, code in _written_codes(draft.place):
        if flaw := code_flaw(code):
            draft.reports(place, "bad-name", f"{code} cannot be the name of an error code", flaw)


def _written_codes(place: Place) -> Iterator[tuple[Place, str]]:
    """Every code that the types use; examples only mention codes."""
    for key, names in (("byteOrder", False), ("types", True)):
        if (place / key).node is not place.document.node:  # the key exists
            yield from _codes_below(place / key, names=names)


def _codes_below(place: Place, *, names: bool = False) -> Iterator[tuple[Place, str]]:
    """The codes in a part of a spec; `names` tells whether its keys are names chosen by the author."""
    match place.node:
        case MappingNode(entries=entries):
            for key, value in entries:
                yield from _codes_of(key.text, value, place / key.text, names=names)
        case SequenceNode(items=items):
            for index in range(len(items)):
                yield from _codes_below(place / index)
        case ScalarNode():
            return


def _codes_of(key: str, value: Node, place: Place, *, names: bool) -> Iterator[tuple[Place, str]]:
    match value:
        case _ if names:
            yield from _codes_below(place)
        case ScalarNode(text=code) if key in _CODE_KEYS:
            yield place, code
        case SequenceNode(items=items) if key in _CODE_LISTS:
            yield from ((place / index, item.text) for index, item in enumerate(items) if isinstance(item, ScalarNode))
        case SequenceNode(items=items) if key == "fields":
            for index, item in enumerate(items):
                is_step = isinstance(item, MappingNode) and item.entry("end") is not None
                yield from _codes_below(place / index, names=not is_step)
        case _:
            yield from _codes_below(place, names=key in _NAMING_KEYS)
