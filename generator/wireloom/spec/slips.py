"""Slips of the keyboard that a checker of shapes would say many things of: what each is, said once.

A forgotten indentation, a comma without quotes and a key without a value are told by the nodes around them, before the
document is held against the classes of the language. What is said of such a part is not said again by the checker.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from wireloom.problems import Problem
from wireloom.spec.entries import fields_named_as_steps
from wireloom.spec.language import Bits, CheckStep, Entry, FieldDocument, FormatDocument
from wireloom.spec.yaml import MappingNode, Node, Path, ScalarNode, SequenceNode, find, path_text

_FIELD_KEYS = frozenset(FieldDocument.keys())
_BIT_KEYS = frozenset(Bits.keys())
_STEPS = frozenset(Entry.model_fields)
_NAMED = ("types", "parameters", "errors", "checksums", "ranges", "roots")
_OF_TYPES = frozenset({"fields", "encoding", "form", "versions", "select", "cases", "oneOf", "attempt", "doc", "else"})
_MAY_BE_NULL = ("default",)
_OF_UNIONS = ("select", "cases", "otherwise")
_PLAIN_ITEM = re.compile(r"(.*?)(?:(?:\s*[:=]\s*|(?<=\w)\s+(?=\w))(.*))?", re.DOTALL)
_FORMS = ("fields", "select", "oneOf", "attempt")
_NEAR = 0.8


@dataclass(frozen=True, slots=True)
class Slip:
    """A part of the document that goes, and what to say of it; nothing where another slip says it."""

    path: Path
    problem: Problem | None


def slips(document: Node) -> Iterator[Slip]:
    """The slips of a document."""
    if not isinstance(document, MappingNode):
        return
    if document.entry("format") is not None:
        yield from _beside_document(document)
    elif document.entry("library") is None:
        return
    types = document.entry("types")
    if types is None or not isinstance(types[1], MappingNode):
        return
    yield from _beside_types(types[1])
    for key, form in types[1].entries:
        if isinstance(form, MappingNode):
            yield from _of_form(form, ("types", key.text))
            yield from _of_cases(form, ("types", key.text, "cases"), 1)
    for path, problem in fields_named_as_steps(document):
        yield Slip(path, problem)
    for key, form in types[1].entries:
        fields = find(form, ("fields",))[1]
        if isinstance(fields, SequenceNode) and fields is not form:
            for index, item in enumerate(fields.items):
                path = ("types", key.text, "fields", index)
                if isinstance(item, MappingNode):
                    yield from _of_item(item, path)
                elif isinstance(item, ScalarNode) and not item.quoted:
                    yield from _of_text(item, path)


def _is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value is None and not node.quoted


def _beside_document(document: MappingNode) -> Iterator[Slip]:
    """Names that stand beside the mapping that they belong to, at the document's edge."""
    known, above, said = frozenset(FormatDocument.keys()), "", True
    for key, value in document.entries:
        if key.text in known:
            above, said = key.text, not _is_empty(value)
        elif above in _NAMED and not get_close_matches(key.text, known, 1, _NEAR):
            hint = f"indent it, if it is one of `{above}`"
            yield Slip((key.text,), _at(key, "unknown-key", f"there is no key {key.text} here", hint, (key.text,)))
            if not said:
                said = True
                yield Slip((above,), None)


def _beside_types(types: MappingNode) -> Iterator[Slip]:
    """Keys of a type that stand beside its name."""
    above: ScalarNode | None = None
    said = False
    for key, value in types.entries:
        path = ("types", key.text)
        if above is not None and key.text in _OF_TYPES:
            message = f"{key.text} stands beside {above.text}, not in it"
            problem = None if said else _at(key, "unknown-key", message, f"indent it below {above.text}", path)
            yield Slip(path, problem)
            yield Slip(("types", above.text), None)
            said = True
            continue
        above, said = (key, False) if _is_empty(value) else (None, False)


def _of_form(form: MappingNode, path: Path) -> Iterator[Slip]:
    """The key that says what sort of type it is, misspelled: all that stands beside it would be unknown."""
    keys = {key.text: key for key, _ in form.entries}
    if any(each in keys for each in _FORMS):
        return
    for text, key in keys.items():
        for near in get_close_matches(text, _FORMS, 1, _NEAR):
            hint = f"did you mean {near}?"
            yield Slip(path, _at(key, "unknown-key", f"there is no key {text} here", hint, (*path, text)))
            return


def _of_item(item: MappingNode, path: Path) -> Iterator[Slip]:
    """What is wrong with an item of `fields`, whose one key is a field's name or a step."""
    if not item.entries:
        return
    (key, value), *others = item.entries
    names = ", ".join(each.text for each, _ in others)
    if "{" in key.text:
        name = key.text.partition("{")[0].rstrip(" :")
        message, hint = f"a colon and a space must stand behind {name}", f"write `- {name}: {{...}}`"
        yield Slip(path, _at(key, "yaml-syntax", message, hint, path))
        return
    if others and _is_empty(value) and all(each.text in _FIELD_KEYS for each, _ in others):
        message = f"{names} stand{'s' if len(others) == 1 else ''} beside {key.text}, not in it"
        yield Slip(path, _at(others[0][0], "entry-keys", message, f"indent further than {key.text}", path))
    elif others:
        message = f"an item of `fields` has {len(item.entries)} keys"
        hint = "write one field or step as each item: `- name: TYPE`"
        yield Slip(path, _at(item, "entry-keys", message, hint, path))
    elif _is_empty(value):
        wanted = "what it says" if key.text in _STEPS else f"its type, as `- {key.text}: uint8`"
        yield Slip(path, _at(key, "wrong-type", f"{key.text} is empty", f"write {wanted}", (*path, key.text)))
    elif isinstance(value, MappingNode) and key.text == "check":
        for part, nothing in value.entries:
            if _is_empty(nothing) and part.text not in CheckStep.keys():  # noqa: SIM118 - a class method, no mapping
                where = (*path, key.text, part.text)
                yield Slip(
                    path, _at(part, "unknown-key", "a condition without its key", f"write `that: {part.text}`", where)
                )
                return
    elif isinstance(value, MappingNode) and key.text not in _STEPS:
        yield from _of_field(value, (*path, key.text))


def _of_text(item: ScalarNode, path: Path) -> Iterator[Slip]:
    """An item that is no mapping, since no colon and space stand behind its name."""
    name, type = _PLAIN_ITEM.fullmatch(item.text).groups("")  # type: ignore[union-attr]  # it matches any text
    message = f"a colon and a space must stand behind {name}" if type else f"{name} has no type"
    yield Slip(path, _at(item, "yaml-syntax", message, f"write `- {name}: {type or 'uint8'}`", path))


def _of_field(field: MappingNode, path: Path) -> Iterator[Slip]:
    """Keys of a union beside the field's own, and keys without a value; what a comma without quotes made of a text."""
    for key, value in field.entries:
        if key.text in _OF_UNIONS or (key.text == "oneOf" and isinstance(value, MappingNode)):
            form = f"{{select: {_tag(field)}, cases: {{...}}}}" if key.text in _OF_UNIONS else f"{{{key.text}: ...}}"
            message = f"{key.text} is a key of the field's type, and stands beside it"
            yield Slip(path[:-1], _at(key, "unknown-key", message, f"write `type: {form}`", (*path, key.text)))
            return
    yield from _of_cases(field, (*path, "type", "cases"), 2)
    before: ScalarNode | None = None
    for key, value in field.entries:
        if key.text == "bits" and isinstance(value, MappingNode):
            for bit, said in value.entries:
                yield from _of_bit(said, (*path, key.text, bit.text))
        if _is_empty(value) and key.text not in _FIELD_KEYS and before is not None:
            yield Slip(path[:-1], _comma(before, key, path))
            return
        if _is_empty(value) and key.text in _FIELD_KEYS and key.text not in _MAY_BE_NULL:
            problem = _at(key, "wrong-type", f"{key.text} is empty", "write its value, or drop it", (*path, key.text))
            yield Slip(path[:-1], problem)
            return
        before = value if isinstance(value, ScalarNode) and not value.quoted else None


def _of_cases(node: Node, path: Path, below: int) -> Iterator[Slip]:
    """Cases with keys of a field, which types have not; they stand so many keys below a node."""
    above, cases = find(node, path[-below:])
    if above is None or above.text != "cases" or not isinstance(cases, MappingNode):
        return
    for key, value in cases.entries:
        if isinstance(value, MappingNode) and value.entry("type") is not None:
            message = f"case {key.text} has keys of a field, and is a type alone"
            hint = "name a type in `types` that has such a field: `{fields: [{value: {type: ...}}]}`"
            yield Slip((*path, key.text), _at(value, "wrong-shape", message, hint, (*path, key.text)))


def _tag(field: MappingNode) -> str:
    """What a union selects by, as far as it is said."""
    tags = (each.text for key, each in field.entries if key.text == "select" and isinstance(each, ScalarNode))
    return next(tags, "kind")


def _of_bit(said: Node, path: Path) -> Iterator[Slip]:
    """What a comma without quotes made of the text of a bit."""
    before: ScalarNode | None = None
    for key, value in said.entries if isinstance(said, MappingNode) else ():
        if _is_empty(value) and key.text not in _BIT_KEYS and before is not None:
            yield Slip((*path, key.text), _comma(before, key, path))
            return
        before = value if isinstance(value, ScalarNode) and not value.quoted else None


def _comma(before: ScalarNode, key: ScalarNode, path: Path) -> Problem:
    hint = f"text with a comma is put into quotes: '{before.text}, {key.text}'"
    return _at(before, "unknown-key", f"a comma ends the text {before.text}", hint, (*path, key.text))


def _at(node: Node, id: str, message: str, hint: str, path: Path) -> Problem:
    return Problem(id, message, hint, node.location, path_text(path))
