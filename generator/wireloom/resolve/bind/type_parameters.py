"""Replace types with parameters by ordinary types: `Counted(Reading)` becomes `Counted_Reading`.

Each list of arguments gives one type: a copy with arguments in place of parameters, which keeps its location in the
file. Later passes see only types without parameters.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wireloom import names
from wireloom.numbers import integer
from wireloom.problems import Problem
from wireloom.resolve.bind import builtins, notation
from wireloom.resolve.bind.draft import Draft, TypeForm, form_of
from wireloom.resolve.bind.foreign_types import hint_of_type
from wireloom.spec.documents import location_in
from wireloom.spec.entries import STEPS
from wireloom.spec.yaml import MappingNode, Node, Path, ScalarNode, SequenceNode, changed, find, path_text, plain

_HEAD = re.compile(r"([A-Z]\w*)\(([^()]*)\)")
_WORD = re.compile(r"'[^']*'|(?<![\w.])[A-Za-z_]\w*|(?<=\.\.)[A-Za-z_]\w*")
_WITHIN = 8  # nested uses of one type, each with other arguments
_MOST = 1000  # types that are made in one format

_TYPES = frozenset(("type", "otherwise", "peek"))
_OF_TYPES = frozenset(("cases", "oneOf"))
_EXPRESSIONS = frozenset(
    (
        *("at", "size", "count", "when", "derive", "compute", "lastWhen", "over", "stored", "range", "length"),
        *("select", "keep", "that", "bytes", "frame", "buildWhen", "const", "default", "null", "scale", "offset"),
        "start",
    )
)
"""Keys whose value is a type, contains types, or is an expression or a number."""


def with_instances(draft: Draft) -> Draft | None:
    """The format with a type for each use of a type with parameters; None if there are mistakes."""
    heads = [key for key in draft.content.types if "(" in key]
    if not heads:
        return draft
    found = {key: head for key in heads if (head := _head(draft, key)) is not None}
    making = _Making(draft, {head.name: head for head in found.values()})
    return making.result() if not draft.problems.found else None


# --- types with parameters -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Head:
    """A type with parameters; capitalized parameters are types, all others are numbers."""

    key: str
    name: str
    parameters: tuple[str, ...]


def _head(draft: Draft, key: str) -> _Head | None:
    """The name and parameters that a key of `types` states; reports mistakes and returns None."""
    match = _HEAD.fullmatch(key)
    place, before = draft.place / "types" / key, len(draft.problems.found)
    if match is None:
        message, hint = f"{key} cannot be a name in `types`", "write a type with parameters as `Name(T, n)`"
        draft.reports_entry(place, "bad-name", message, hint)
        return None
    head = _Head(key, match[1], tuple(part.strip() for part in match[2].split(",")))
    keys = list(draft.content.types)
    if head.name in keys or any(each.partition("(")[0] == head.name for each in keys[: keys.index(key)]):
        draft.reports_entry(place, "bad-name", f"{head.name} is defined twice", "give one of them another name")
    body = set(_fields(place.node))
    for name in dict.fromkeys(head.parameters):
        if flaw := _flaw(draft, head, name, body):
            draft.reports_entry(place, "bad-name", f"{name} cannot be a parameter of {head.name}", flaw)
    return head if len(draft.problems.found) == before else None


def _flaw(draft: Draft, head: _Head, name: str, body: set[str]) -> str:
    """What is wrong with a parameter's name; empty if nothing is."""
    if flaw := names.name_flaw(name):
        return flaw
    if head.parameters.count(name) > 1:
        return "it is given twice"
    if name in body:
        return "a field has that name"
    if name in draft.content.parameters:
        return "a parameter of the format has that name"
    known = {each.partition("(")[0] for each in draft.content.types} | set(builtins.TYPE_NAMES)
    return "a type has that name" if name in known else ""


def _fields(node: Node) -> Iterator[str]:
    """The names that a struct defines: fields, bits and marks."""
    found = find(node, ("fields",))[1]
    for item in found.items if isinstance(found, SequenceNode) else ():
        for key, value in item.entries if isinstance(item, MappingNode) else ():
            yield key.text
            bits = find(value, ("bits",))[1]
            if key.text == "mark" and isinstance(value, ScalarNode):
                yield value.text
            elif isinstance(bits, MappingNode) and bits is not value:
                yield from (bit.text for bit, _ in bits.entries)


# --- texts ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Text:
    """A text, with the file's column of each character."""

    text: str
    columns: tuple[int, ...]

    def __getitem__(self, part: slice) -> "_Text":
        return _Text(self.text[part], self.columns[part])

    def __len__(self) -> int:
        return len(self.text)

    def __add__(self, other: "_Text") -> "_Text":
        return _Text(self.text + other.text, self.columns + other.columns)

    def replaced(self, parts: Sequence[tuple[int, int, str]]) -> "_Text":
        """Replace parts of the text, each given by its start, its end and the new text."""
        found, end = self[:0], 0
        for start, after, text in parts:
            found, end = found + self[end:start] + _Text(text, self.columns[start : start + 1] * len(text)), after
        return found + self[end:]

    @property
    def stripped(self) -> "_Text":
        """The text without surrounding blanks."""
        start = len(self.text) - len(self.text.lstrip())
        return self[start : len(self.text.rstrip())] if self.text.strip() else self


def _text(node: ScalarNode) -> _Text:
    return _Text(node.text, node.columns or tuple(range(len(node.text))))


def _closing(text: str, place: int) -> int | None:
    """The index after the parenthesis that closes the one at `place`; None if it is not closed."""
    depth = 0
    for at in range(place, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return None


def _arguments(inner: _Text) -> list[_Text]:
    """Split at commas outside of parentheses."""
    found, depth, start = [], 0, 0
    for at, character in enumerate(inner.text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            found.append(inner[start:at].stripped)
            start = at + 1
    return [*found, inner[start:].stripped] if inner.text.strip() else []


# --- making --------------------------------------------------------------------------------------------------------

_Key = tuple[str, tuple[str, ...]]  # the name of a type with parameters, and its arguments


@dataclass(frozen=True, slots=True)
class _Site:
    """The context of a type that is being read: its arguments, and the types with parameters that led to it."""

    arguments: Mapping[str, str]
    above: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The type with its arguments, as the spec uses it."""
        return f"{self.above[-1]}({', '.join(self.arguments.values())})" if self.above else ""


@dataclass
class _Making:
    """Makes the types, each once for a list of arguments."""

    draft: Draft
    heads: Mapping[str, _Head]
    made: dict[_Key, str] = field(default_factory=dict)
    waiting: list[tuple[_Head, str, _Site]] = field(default_factory=list)
    used: set[tuple[str, str]] = field(default_factory=set)  # types with parameters, and the parameters that they use
    types: dict[str, TypeForm] = field(default_factory=dict)
    nodes: dict[str, tuple[ScalarNode, Node]] = field(default_factory=dict)

    def result(self) -> Draft | None:
        """The format without type parameters; None if there are mistakes."""
        plain_types = {name: form for name, form in self.draft.content.types.items() if "(" not in name}
        for name, form in plain_types.items():
            self._read(name, name, form, _Site({}))
        node = changed(self.draft.document.node, "root", lambda each: self._type(each, ("root",), _Site({})))
        node = changed(node, "roots", lambda each: self._type(each, ("roots",), _Site({})))
        for head, name, site in self.waiting:  # the list grows during the loop
            self._read(name, head.key, self.draft.content.types[head.key], site)
        self._check_use()
        if self.draft.problems.found:
            return None
        types = tuple(self.nodes.values())
        node = changed(node, "types", lambda each: MappingNode(types, each.location))
        return self.draft.rewritten(node, {"types": self.types, **_read_roots(self.draft, node)})

    def _read(self, name: str, key: str, form: TypeForm, site: _Site) -> None:
        """Add a type to the format, with arguments in place of parameters."""
        place = self.draft.place / "types" / key
        head, node = find(self.draft.document.node, place.path)
        assert head is not None  # noqa: S101 - it is an entry
        new = self._type(node, ("types", key), site)
        self.types[name] = form if new == node else form_of(new, form)
        made = replace(head, value=name, text=name, written=key, stands_for=site.shown)
        self.nodes[name] = (head if name == key else made, new)

    def _check_use(self) -> None:
        """Report parameters that a type does not use, and types that nothing uses."""
        if self.draft.problems.found:
            return
        for head in self.heads.values():
            place = self.draft.place / "types" / head.key
            if not any(name == head.name for name, _ in self.made):
                self.draft.warns_entry(place, "unreachable-type", f"nothing uses {head.key}", "use it, or drop it")
                continue
            for name in head.parameters:
                if (head.name, name) not in self.used:
                    message, hint = f"{head.name} does not use its parameter {name}", "use it, or drop it"
                    self.draft.warns_entry(place, "unused-parameter", message, hint)

    # --- parts of a document ---

    def _part(self, node: Node, path: Path, site: _Site, key: str = "") -> Node:
        match node:
            case ScalarNode() if key in _TYPES:
                return self._type(node, path, site)
            case ScalarNode() if key in _EXPRESSIONS or (key == "values" and node.text.startswith("=")):
                return self._changed(node, self._substituted(_text(node), site))
            case ScalarNode():
                return node
            case SequenceNode(items) if key == "fields":
                entries = (self._entry(each, (*path, node.number(place)), site) for place, each in enumerate(items))
                return replace(node, items=tuple(entries))
            case SequenceNode(items):
                parts = (self._part(each, (*path, node.number(place)), site) for place, each in enumerate(items))
                return replace(node, items=tuple(parts))
            case MappingNode(entries=pairs):
                return replace(node, entries=tuple((k, self._value(k, v, path, site, key)) for k, v in pairs))

    def _value(self, key: ScalarNode, value: Node, path: Path, site: _Site, above: str) -> Node:
        below = (*path, key.written or key.text)
        if above in _OF_TYPES:
            return self._type(value, below, site)
        return self._part(value, below, site, "values" if above == "values" else key.text)

    def _entry(self, entry: Node, path: Path, site: _Site) -> Node:
        """An item of `fields`."""
        match entry:
            case MappingNode(entries=((key, value),)) if key.text not in STEPS:
                return replace(entry, entries=((key, self._type(value, (*path, key.text), site)),))
            case _:
                return self._part(entry, path, site)

    def _type(self, node: Node, path: Path, site: _Site) -> Node:
        """A type: a text, or a mapping that contains types."""
        if not isinstance(node, ScalarNode):
            return self._part(node, path, site)
        text = self._substituted(_text(node), site)
        return self._changed(node, self._instantiated(text, _Asked(self.draft, node, path), site))

    def _changed(self, node: ScalarNode, text: _Text) -> ScalarNode:
        if text.text == node.text:
            return node
        number = integer(text.text)
        return replace(node, value=text.text if number is None else number, text=text.text, columns=text.columns)

    def _substituted(self, text: _Text, site: _Site) -> _Text:
        """The text with arguments in place of parameters."""
        known = [match for match in _WORD.finditer(text.text) if match[0] in site.arguments]
        self.used.update((site.above[-1], match[0]) for match in known)
        return text.replaced([(*match.span(), site.arguments[match[0]]) for match in known])

    # --- uses ---

    def _instantiated(self, text: _Text, asked: "_Asked", site: _Site) -> _Text:
        """The text with the made types' names in place of uses with arguments."""
        found, end = list[tuple[int, int, str]](), 0
        for match in _WORD.finditer(text.text):
            if match[0] not in self.heads or match.start() < end:
                continue
            head, name = self.heads[match[0]], text[match.start() : match.end()]
            opening = text.text[match.end() :].find("(") + match.end()
            called = opening >= match.end() and not text.text[match.end() : opening].strip()
            close = _closing(text.text, opening) if called else None
            if called and close is None:
                continue  # not a type, which is reported elsewhere
            inner = text[opening + 1 : close - 1] if close is not None else text[:0]
            arguments = [self._instantiated(each, asked, site) for each in _arguments(inner)]
            end = match.end() if close is None else close
            found.append((match.start(), end, self._instance(head, name, arguments, asked, site)))
        return text.replaced(found)

    def _instance(self, head: _Head, name: _Text, arguments: Sequence[_Text], asked: "_Asked", site: _Site) -> str:
        """The name of the type with these arguments."""
        if len(arguments) != len(head.parameters):
            what = "1 is" if len(arguments) == 1 else f"{len(arguments) or 'none'} are"
            parameters = "1 parameter" if len(head.parameters) == 1 else f"{len(head.parameters)} parameters"
            message = f"{head.name} has {parameters}, but {what} given"
            asked.reports(name, "type-syntax", message, f"write {head.key}")
            return head.name
        before = len(self.draft.problems.found)
        values = tuple(self._argument(head, *pair, asked) for pair in zip(head.parameters, arguments, strict=True))
        if len(self.draft.problems.found) > before:
            return head.name
        if site.above.count(head.name) >= _WITHIN:
            message = f"{head.name} contains itself with new arguments each time"
            asked.reports(name, "recursive-type", message, f"use the same arguments: {head.key}")
            return head.name
        key = head.name, values
        if key not in self.made:
            if len(self.made) == _MOST:
                message = f"types with parameters are used with more than {_MOST} lists of arguments"
                asked.reports(name, "too-large", message, "use them in fewer ways")
            if len(self.made) >= _MOST:
                return head.name
            self.made[key] = self._free(re.sub(r"\W+", "_", "_".join((head.name, *values))).rstrip("_"))
            bound = _Site(dict(zip(head.parameters, values, strict=True)), (*site.above, head.name))
            self.waiting.append((head, self.made[key], bound))
        return self.made[key]

    def _free(self, name: str) -> str:
        taken = {*self.draft.content.types, *self.made.values()}
        number, new = 1, name
        while new in taken:
            number += 1
            new = f"{name}_{number}"
        return new

    def _argument(self, head: _Head, parameter: str, argument: _Text, asked: "_Asked") -> str:
        """An argument in its normalized form; reports one that does not fit its parameter."""
        number = integer(argument.text)
        if parameter[0].islower():
            if number is None:
                message = f"{parameter} of {head.name} is a number, but {argument.text or 'nothing'} is not"
                hint = "write an integer; parameters for types begin with a capital letter"
                asked.reports(argument, "type-syntax", message, hint)
            return str(number)
        if number is not None:
            message = f"{parameter} of {head.name} is a type, but {argument.text} is not"
            hint = f"if it is a number, name the parameter {parameter.lower()}"
            asked.reports(argument, "type-syntax", message, hint)
            return ""
        try:
            singles = list(_named(notation.parse(argument.text)))
        except notation.NotationError as error:
            asked.reports(argument[error.column :] or argument, "type-syntax", error.message, error.hint)
            return ""
        for single in singles:
            known = {*self.draft.content.types, *self.made.values(), *builtins.TYPE_NAMES, *builtins.SCALARS}
            if single.name not in known:
                hint = hint_of_type(single.name, self.draft.encoding, self.draft.content.types, self.draft.lent)
                asked.reports(argument[single.column :], "unknown-type", f"there is no type {single.name}", hint)
        return re.sub(r"\s+", "", argument.text) if "'" not in argument.text else argument.text


@dataclass(frozen=True, slots=True)
class _Asked:
    """The text in the file that uses a type."""

    draft: Draft
    node: ScalarNode
    path: Path

    def reports(self, text: _Text, id: str, message: str, hint: str) -> None:
        """Report a problem of a part of it."""
        location = location_in(self.node, text.columns[0] if text.columns else 0, mapped=True)
        self.draft.problems.add(Problem(id, message, hint, location, path_text(self.path)))


def _named(parsed: notation.Notation) -> Iterator[notation.Single]:
    """The names of types in a notation."""
    for single in notation.singles(parsed):
        if single.name not in ("list", "map"):
            yield single
            continue
        for argument in single.arguments:
            yield from _named(notation.parse(argument.text, argument.column))


def _read_roots(draft: Draft, node: Node) -> dict[str, Any]:
    """The roots after the change of the document."""
    content = draft.content
    if content.root is not None:
        return {"root": plain(find(node, ("root",))[1])}
    roots = {
        name: root.model_copy(update={"type": plain(find(node, ("roots", name, "type"))[1])})
        for name, root in (content.roots or {}).items()
    }
    return {"roots": roots or content.roots}
