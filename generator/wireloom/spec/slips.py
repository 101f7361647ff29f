"""Recognize typing slips that would cause many misleading shape errors, and report each once.

Forgotten indentation, a comma without quotes and a key without a value are recognized by the nodes around them, before
pydantic checks the document. The caller hides findings of that check below a part reported here.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import takewhile

from wireloom.names import another_name
from wireloom.problems import Problem
from wireloom.spec import language
from wireloom.spec.entries import STEPS, is_type
from wireloom.spec.yaml import Entries, MappingNode, Node, Path, ScalarNode, child, entries, items, path_text

_FIELD_KEYS = frozenset(language.FieldDocument.keys())
_BIT_KEYS = frozenset(language.Bits.keys())
_CASE_KEYS = frozenset(language.CaseOfVersions.keys())
_NAMED = ("types", "parameters", "errors", "checksums", "ranges", "roots")
_OF_TYPES = frozenset({"fields", "encoding", "form", "versions", "select", "cases", "oneOf", "attempt", "doc", "else"})
_MAY_BE_NULL = ("default",)
_OF_UNIONS = ("select", "cases", "otherwise")
_PLAIN_ITEM = re.compile(r"(.*?)(?:(?:\s*[:=]\s*|(?<=\w)\s+(?=\w))(.*))?", re.DOTALL)
_DECIMAL = re.compile(r"([-+]?[0-9]+), ([0-9]+)")
_GLUED = re.compile(r"(\w+)(?:\s*[:=]\s*|\s+)([^\s<>=!&|+*/%-].*)", re.DOTALL)
_PROSE = ("doc", "unit", "title", "source")  # keys of texts that may contain commas
_ALL_KEYS = frozenset(
    key
    for each in vars(language).values()
    if isinstance(each, type) and issubclass(each, language.Document)
    for key in each.keys()  # noqa: SIM118 - a class method, no mapping
)
_GIVEN_KEYS = ("values", "cases", "bits", "escaped", "gives", "oneOf", "versions", "value", *_NAMED)
_FORMS = ("fields", "select", "oneOf", "attempt")
_TAGS = ("peek", "member")
_NEAR_TAG = 0.7
_FRAMINGS = ("prefix", "size", "delimiter", "header")
_NEAR = 0.8
_NEAR_FRAMING = 0.6
_NEAR_STEP = 0.74
_NEAR_TYPE = 0.6
_STEP_KEYS = {
    "check": language.CheckStep.keys(),
    "verify": language.VerifyStep.keys(),
    "need": language.NeedStep.keys(),
    "discard": language.DiscardStep.keys(),
}
_TYPES = ("int", "uint8", "int16", "float", "bool", "str", "bytes", "list", "map", "json", "ext", "varint", "nil")


@dataclass(frozen=True, slots=True)
class Slip:
    """A part of the document to remove, and the problem to report; None if another slip reports it.

    With `meant`, the key is renamed to that in place of being removed.
    """

    path: Path
    problem: Problem | None
    meant: str = ""


def slips(document: Node) -> Iterator[Slip]:
    """The slips of a document; parts broken by a comma or a missing space get no other report."""
    torn = (*_glued(document, ()), *_torn(document, ()))
    yield from torn
    below = tuple(slip.path for slip in torn)
    yield from (slip for slip in _others(document) if not any(slip.path[: len(path)] == path for path in below))


def _glued(node: Node, path: Path) -> Iterator[Slip]:
    """Keys without a colon and a space after them: `{type uint8}` and `{type:uint8}` are keys without a value."""
    for index, item in enumerate(items(node)):
        yield from _glued(item, (*path, index))
    if path[-1:] == ("fields",) or path[:1] == ("examples",):
        return
    before = ""
    for number, (key, value) in enumerate(entries(node)):
        where = (*path, key.text)
        yield from _glued(value, where)
        found = _GLUED.fullmatch(key.text) if _has_none(value) and not key.quoted else None
        if found is not None and before not in _PROSE and _may_be_key(found[1], path):
            rest = found[2]
            for other, _ in _while_empty(entries(node)[number + 1 :]):
                rest = rest if _is_whole(rest) else f"{rest}, {other.text}"
            message, hint = f"a colon and a space must follow {found[1]}", f"write `{found[1]}: {rest}`"
            yield Slip(_whole(where), _at(key, "yaml-syntax", message, hint, where))
            return
        before = key.text


def _may_be_key(word: str, path: Path) -> bool:
    """Whether a word is a key of the language, or a field's name where a name is expected."""
    above = path[-1] if path else ""
    if isinstance(above, int):
        return path[-2:-1] == ("fields",) or word in _ALL_KEYS
    return word in _STEP_KEYS.get(above, _ALL_KEYS) and above not in _GIVEN_KEYS


def _is_whole(text: str) -> bool:
    return not _is_open(text) and text.count("'") % 2 == 0 and text.count('"') % 2 == 0


def _torn(node: Node, path: Path) -> Iterator[Slip]:
    """Commas without quotes within parentheses: the text after the comma has become a key without a value."""
    for index, item in enumerate(items(node)):
        yield from _torn(item, (*path, index))
    for number, (key, value) in enumerate(entries(node)):
        yield from _torn(value, (*path, key.text))
        if isinstance(value, ScalarNode) and not value.quoted and _is_open(value.text):
            rest = [key for key, nothing in _while_empty(entries(node)[number + 1 :])]
            text = value.text
            while rest and _is_open(text):
                text += f", {rest.pop(0).text}"
            if text != value.text and not _is_open(text):
                yield Slip(_whole(path), _comma(value, text, (*path, key.text)))


def _is_open(text: str) -> bool:
    return text.count("(") > text.count(")")


def _while_empty(entries: Entries) -> Iterator[tuple[ScalarNode, Node]]:
    return takewhile(lambda entry: _has_none(entry[1]), entries)


def _whole(path: Path) -> Path:
    """The item of `fields` that contains a path, else the named part of the document."""
    items = [at + 1 for at, step in enumerate(path) if isinstance(step, int) and path[at - 1 : at] == ("fields",)]
    return path[: items[-1]] if items else path[:2]


def _others(document: Node) -> Iterator[Slip]:
    if not isinstance(document, MappingNode):
        return
    if document.entry("format") is not None:
        yield from _beside_document(document)
        yield from _of_framing(document)
    elif document.entry("library") is None:
        return
    types = entries(child(document, "types"))
    yield from _below_types(types)
    yield from _beside_types(types)
    for key, form in types:
        if isinstance(form, MappingNode):
            yield from _of_form(form, ("types", key.text))
            yield from _of_cases(form, ("types", key.text, "cases"))
    names = frozenset(each.text for each, _ in types)
    for key, form in types:
        for index, item in enumerate(items(child(form, "fields"))):
            path = ("types", key.text, "fields", index)
            if isinstance(item, MappingNode):
                yield from _of_item(item, path, names)
            elif isinstance(item, ScalarNode) and not item.quoted:
                yield from _of_text(item, path)


def _has_none(node: Node) -> bool:
    """Whether a key has no value, not even a null."""
    return _is_empty(node) and isinstance(node, ScalarNode) and not node.text


def _is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value is None and not node.quoted


def _beside_document(document: MappingNode) -> Iterator[Slip]:
    """Keys at the top level that belong, indented, into the mapping above them."""
    known, above, is_handled = frozenset(language.FormatDocument.keys()), "", True
    for key, value in document.entries:
        if key.text in known:
            above, is_handled = key.text, not _is_empty(value)
        elif above in _NAMED and not get_close_matches(key.text, known, 1, _NEAR):
            hint = f"indent it, if it is one of `{above}`"
            yield Slip((key.text,), _at(key, "unknown-key", f"there is no key {key.text} here", hint, (key.text,)))
            if not is_handled:
                is_handled = True
                yield Slip((above,), None)


def _of_framing(document: MappingNode) -> Iterator[Slip]:
    """A misspelled key that decides the kind of framing, or two such keys."""
    framing = child(document, "framing")
    stated = [key for key, _ in entries(framing) if key.text in _FRAMINGS]
    if len(stated) > 1:
        first, second, *_ = stated
        message, hint = f"`{second.text}` beside `{first.text}`", "a framing is one of them; drop the other"
        yield Slip(("framing",), _at(second, "conflicting-keys", message, hint, ("framing", second.text)))
    elif isinstance(framing, MappingNode):
        yield from _misspelled(framing, ("framing",), _FRAMINGS, _NEAR_FRAMING)


def _below_types(types: Entries) -> Iterator[Slip]:
    """Keys of the document that are indented below `types`; names of types are capitalized."""
    for key, _ in types:
        if key.text in language.FormatDocument.keys() and key.text not in _OF_TYPES:  # noqa: SIM118 - a class method, no mapping
            path = ("types", key.text)
            message = f"{key.text} is below `types`, but is a key of the document"
            yield Slip(path, _at(key, "unknown-key", message, "unindent it", path))


def _beside_types(types: Entries) -> Iterator[Slip]:
    """Keys of a type at the same level as its name."""
    above: ScalarNode | None = None
    is_handled = False
    for key, value in types:
        path = ("types", key.text)
        if above is not None and key.text in _OF_TYPES:
            message = f"{key.text} is at the same level as {above.text}, not inside of it"
            problem = None if is_handled else _at(key, "unknown-key", message, f"indent it below {above.text}", path)
            yield Slip(path, problem)
            yield Slip(("types", above.text), None)
            is_handled = True
            continue
        above, is_handled = (key, False) if _is_empty(value) else (None, False)


def _of_form(form: MappingNode, path: Path) -> Iterator[Slip]:
    """A misspelled key that decides the kind of type; all keys beside it would be unknown."""
    yield from _misspelled(form, path, _FORMS, _NEAR)
    yield from _of_tag(form, path)


def _of_tag(union: Node | None, path: Path) -> Iterator[Slip]:
    """A misspelled key in the tag of a union."""
    stated = child(union, "select")
    if isinstance(stated, MappingNode):
        yield from _misspelled(stated, (*path, "select"), _TAGS, _NEAR_TAG)


def _misspelled(form: MappingNode, path: Path, forms: Sequence[str], cutoff: float) -> Iterator[Slip]:
    """Report a mapping that lacks all of the keys `forms`, but has a key with a similar spelling."""
    keys = {key.text: key for key, _ in form.entries}
    if any(each in keys for each in forms):
        return
    for text, key in keys.items():
        for near in get_close_matches(text, forms, 1, cutoff):
            hint = f"did you mean {near}?"
            where = (*path, text)
            yield Slip(where, _at(key, "unknown-key", f"there is no key {text} here", hint, where), near)
            return


def _is_beside(key: ScalarNode, value: Node, others: Entries) -> bool:
    """Whether the keys of a field are at the level of its name, or the name is the value of a key `name`."""
    texts = {each.text for each, _ in others}
    if not isinstance(value, ScalarNode) or _is_empty(value) or key.text in STEPS or not texts <= _FIELD_KEYS:
        return False
    return "type" in texts if key.text == "name" else "type" not in texts


def _brief(node: Node) -> str:
    """The text of a scalar; `...` for anything else."""
    return node.text if isinstance(node, ScalarNode) else "..."


def _intended_step(key: ScalarNode, value: Node, types: frozenset[str]) -> str:
    """The step whose misspelled name or whose keys the item has; empty if the item may be a field."""
    if key.text in STEPS:
        return ""
    near = get_close_matches(key.text.lower(), STEPS, 1, _NEAR_STEP)
    match value:
        case MappingNode() if value.entry("type") is None:
            own_keys = {each.text for each, _ in value.entries}
            fitting = [step for step, keys in _STEP_KEYS.items() if own_keys & set(keys) - _FIELD_KEYS]
            if near and (near[0] in fitting or not (own_keys & _FIELD_KEYS or near[0] not in _STEP_KEYS)):
                return near[0]
            return fitting[0] if len(fitting) == 1 and own_keys <= set(_STEP_KEYS[fitting[0]]) else ""
        case ScalarNode(text=text) if near and near[0] not in _STEP_KEYS:
            return "" if is_type(text, types) or get_close_matches(text, (*_TYPES, *types), 1, _NEAR_TYPE) else near[0]
        case _:
            return ""


def _of_item(item: MappingNode, path: Path, types: frozenset[str]) -> Iterator[Slip]:
    """Slips in an item of `fields`, which must have one key: a field's name or a step."""
    if not item.entries:
        return
    (key, value), *others = item.entries
    names = ", ".join(each.text for each, _ in others)
    if "{" in key.text:
        name = key.text.partition("{")[0].rstrip(" :")
        message, hint = f"a colon and a space must follow {name}", f"write `- {name}: {{...}}`"
        yield Slip(path, _at(key, "yaml-syntax", message, hint, path))
        return
    if others and _is_beside(key, value, others):
        known = ", ".join(f"{each.text}: {_brief(node)}" for each, node in others)
        type = "" if key.text == "name" else f"type: {_brief(value)}, "
        name = _brief(value) if key.text == "name" else key.text
        message = f"{names} {'is' if len(others) == 1 else 'are'} at the same level as {key.text}, not inside of it"
        hint = f"write `- {name}: {{{type}{known}}}`"
        yield Slip(path, _at(others[0][0], "entry-keys", message, hint, path))
    elif others and _is_empty(value) and all(each.text in _FIELD_KEYS for each, _ in others):
        message = f"{names} {'is' if len(others) == 1 else 'are'} at the same level as {key.text}, not inside of it"
        yield Slip(path, _at(others[0][0], "entry-keys", message, f"indent further than {key.text}", path))
    elif others:
        message = f"an item of `fields` has {len(item.entries)} keys"
        yield Slip(path, _at(item, "entry-keys", message, "write one field or step as each item: `- name: TYPE`", path))
    elif key.text in STEPS and _is_meant_as_field(value, types):
        message = f"{key.text} is a step, and cannot be the name of a field"
        yield Slip(path, _at(key, "bad-name", message, another_name(key.text), (*path, key.text)))
    elif _is_empty(value):
        wanted = "what it says" if key.text in STEPS else f"its type, as `- {key.text}: uint8`"
        yield Slip(path, _at(key, "wrong-type", f"{key.text} is empty", f"write {wanted}", (*path, key.text)))
    elif step := _intended_step(key, value, types):
        message, hint = f"there is no step {key.text}", f"did you mean {step}?"
        where = (*path, key.text)
        yield Slip(where, _at(key, "unknown-key", message, hint, where), step)
    elif isinstance(value, MappingNode) and key.text == "check":
        for part, nothing in value.entries:
            if _has_none(nothing) and part.text not in language.CheckStep.keys():  # noqa: SIM118 - a class method, no mapping
                where = (*path, key.text, part.text)
                yield Slip(
                    path, _at(part, "unknown-key", "the condition has no key", f"write `that: {part.text}`", where)
                )
                return
    elif isinstance(value, MappingNode) and (alone := _in_braces(value, types)) is not None:
        message, hint = f"{alone.text} in braces is a key without a value", f"write `- {key.text}: {alone.text}`"
        yield Slip(path, _at(alone, "wrong-type", message, hint, (*path, key.text)))
    elif isinstance(value, MappingNode) and key.text not in STEPS:
        yield from _of_field(value, (*path, key.text))


def _is_meant_as_field(value: Node, types: frozenset[str]) -> bool:
    """Whether a step's value looks like a field's: `mark: uint8` is a type, not the name of an offset."""
    typed = isinstance(value, MappingNode) and value.entry("type") is not None
    return typed or (isinstance(value, ScalarNode) and is_type(value.text, types))


def _in_braces(value: MappingNode, types: frozenset[str]) -> ScalarNode | None:
    """The type that is the only entry of a mapping, as in `{uint8}`."""
    match value.entries:
        case [(key, nothing)] if _has_none(nothing) and is_type(key.text, types):
            return key
        case _:
            return None


def _of_text(item: ScalarNode, path: Path) -> Iterator[Slip]:
    """An item that is a text, because no colon and space follow its name."""
    name, type = _PLAIN_ITEM.fullmatch(item.text).groups("")  # type: ignore[union-attr]  # it matches any text
    message = f"a colon and a space must follow {name}" if type else f"{name} has no type"
    yield Slip(path, _at(item, "yaml-syntax", message, f"write `- {name}: {type or 'uint8'}`", path))


def _of_field(field: MappingNode, path: Path) -> Iterator[Slip]:
    """Keys of a union at the field, keys without a value, and texts that an unquoted comma has split."""
    for key, value in field.entries:
        if key.text in _OF_UNIONS or (key.text == "oneOf" and isinstance(value, MappingNode)):
            form = f"{{select: {_tag(field)}, cases: {{...}}}}" if key.text in _OF_UNIONS else f"{{{key.text}: ...}}"
            message = f"{key.text} is a key of the type, not of the field"
            yield Slip(path[:-1], _at(key, "unknown-key", message, f"write `type: {form}`", (*path, key.text)))
            return
        if key.text == "attempt":
            message, hint = "an attempt must be a type with a name", "define it under `types`, and write its name here"
            yield Slip(path[:-1], _at(key, "unknown-key", message, hint, (*path, key.text)))
            return
    yield from _of_tag(child(field, "type"), (*path, "type"))
    yield from _of_cases(child(field, "type"), (*path, "type", "cases"))
    before: ScalarNode | None = None
    for key, value in field.entries:
        for bit, document in entries(value) if key.text == "bits" else ():
            yield from _of_bit(document, (*path, key.text, bit.text))
        if before is not None and _follows_comma(before, key, value, _FIELD_KEYS):
            yield Slip(path[:-1], _comma(before, f"{before.text}, {key.text}", (*path, key.text)))
            return
        if _is_empty(value) and key.text in _FIELD_KEYS and key.text not in _MAY_BE_NULL:
            what = "empty" if _has_none(value) else "null"
            problem = _at(key, "wrong-type", f"{key.text} is {what}", "write its value, or drop it", (*path, key.text))
            yield Slip(path[:-1], problem)
            return
        before = value if isinstance(value, ScalarNode) and not value.quoted else None


def _of_cases(union: Node | None, path: Path) -> Iterator[Slip]:
    """Cases with keys of a field, which types do not have."""
    for key, value in entries(child(union, "cases")):
        if child(value, "type") is not None and {each.text for each, _ in entries(value)} - _CASE_KEYS:
            message = f"case {key.text} has keys of a field, but must be a type"
            hint = "define a type with such a field under `types`, and name it here: `{fields: [{value: {type: ...}}]}`"
            yield Slip((*path, key.text), _at(value, "wrong-shape", message, hint, (*path, key.text)))


def _tag(field: MappingNode) -> str:
    """The text of the union's `select`, or `kind` if it has none."""
    tags = (each.text for key, each in field.entries if key.text == "select" and isinstance(each, ScalarNode))
    return next(tags, "kind")


def _of_bit(document: Node, path: Path) -> Iterator[Slip]:
    """The text of a bit that an unquoted comma has split."""
    before: ScalarNode | None = None
    for key, value in entries(document):
        if before is not None and _follows_comma(before, key, value, _BIT_KEYS):
            yield Slip((*path, key.text), _comma(before, f"{before.text}, {key.text}", (*path, key.text)))
            return
        before = value if isinstance(value, ScalarNode) and not value.quoted else None


def _follows_comma(before: ScalarNode, key: ScalarNode, value: Node, known: AbstractSet[str]) -> bool:
    """Whether a key without a value is the rest of a text split by a comma, and not a misspelled key."""
    if not _has_none(value) or key.text in known or before.value is None or isinstance(before.value, bool):
        return False
    return not get_close_matches(key.text, known, 1, _NEAR)


def _comma(before: ScalarNode, whole: str, path: Path) -> Problem:
    number = _DECIMAL.fullmatch(whole)
    hint = f"put a text with a comma into quotes: '{whole}'"
    if number is not None:
        hint = f"write a decimal point: {number[1]}.{number[2]}"
    return _at(before, "unknown-key", f"a comma ends the text {before.text}", hint, path)


def _at(node: Node, id: str, message: str, hint: str, path: Path) -> Problem:
    return Problem(id, message, hint, node.location, path_text(path))
