"""What a JSON Schema says of a document: all that is wrong, each at its node, about the alternative that was meant.

Where a value is none of several alternatives, validators say just that, or give the problems by every alternative:
dozens for one element, and gigabytes for a text of some hundred kilobytes (docs/decisions/0010-validation.md). Here
each part of a document is judged once by each part of the schema, the alternative that a value means to be is found by
the members that tell alternatives apart, and only what that one lacks is said. The keywords are those that the emitter
writes.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from wireloom.runtime.errors import shown
from wireloom.runtime.parsers.json.nodes import WORDS, Kind, Member, Node

MOST = 1000
"""Problems that one part of a message is searched for."""

_Schema = Mapping[str, Any] | bool
_TYPES = {
    "null": "null",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}
_KINDS: Mapping[str, tuple[Kind, ...]] = {
    "null": ("null",),
    "boolean": ("bool",),
    "integer": ("int",),
    "number": ("int", "float"),
    "string": ("str",),
    "array": ("array",),
    "object": ("object",),
}
_CONSTANTS = ("const", "enum")
_CLOSING = "additionalProperties"
_ANNOTATIONS = frozenset(
    (
        "title",
        "description",
        "default",
        "$schema",
        "$comment",
        "$defs",
        "contentEncoding",
        "format",
    )  # patterns say the same
)
KEYWORDS = _ANNOTATIONS | frozenset(
    (
        *(
            "$ref",
            "type",
            "const",
            "enum",
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "pattern",
            "not",
            "allOf",
            "anyOf",
            "oneOf",
        ),
        *("properties", "required", "additionalProperties", "unevaluatedProperties"),
        *("prefixItems", "items", "minItems", "maxItems"),
    )
)
"""The keywords that are understood; the emitter writes no other."""


class Finding(NamedTuple):
    """Something that a schema says of a node; `name` is that of a member that must not be there.

    `tag` is whether it is of what tells alternatives apart: a text or a flag that has other values in this one.
    """

    node: Node
    rule: str
    expected: str
    actual: str
    offset: int
    allowed: tuple[str, ...] = ()
    name: str = ""
    tag: bool = False


_Findings = Sequence[Finding]
_Tag = tuple[str, Mapping[str, _Schema]]
_Required = tuple[str, str, bool]  # a member, in words, and whether it tells alternatives apart
_NOTHING: _Findings = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """What is asked of a schema again and again, looked up once."""

    kinds: frozenset[Kind] | None  # None: any
    whole: bool  # whether floats without a fraction are of its type, too
    reference: _Schema | None
    scalar: bool  # whether there is a word on values in themselves
    properties: Mapping[str, _Schema]
    others: _Schema
    required: Sequence[_Required]
    needed: frozenset[str]
    composed: bool  # whether other schemas are applied to the same value
    bounds: tuple[int, int] | None  # of integers, where they are all that is said of those
    fine: frozenset[Kind]  # of which nothing more is to be said


_COMPOSING = ("not", "allOf", "anyOf", "oneOf", "unevaluatedProperties")
_OF_SCALARS = (*_CONSTANTS, "minimum", "maximum", "minLength", "maxLength", "pattern")
_OF_KINDS: Mapping[Kind, tuple[str, ...]] = {
    "int": ("minimum", "maximum"),
    "float": ("minimum", "maximum"),
    "str": ("minLength", "maxLength", "pattern"),
    "object": ("properties", "required", _CLOSING),
    "array": ("prefixItems", "items", "minItems", "maxItems"),
}
_ALL, _NO_KINDS = frozenset(WORDS), frozenset[Kind]()


class Schema:
    """The schema of one root."""

    def __init__(self, document: Mapping[str, Any], root: str) -> None:
        self._definitions: Mapping[str, _Schema] = _shared(document["$defs"], {})
        self._root = self._definitions[f"{root}.root" if f"{root}.root" in self._definitions else root]
        self._names: dict[int, frozenset[str]] = {}
        self._parts: dict[int, _Part] = {}
        self.fine: dict[int, frozenset[Kind]] = {}  # by parts that were asked for
        self._tags: dict[int, _Tag | None] = {}

    def findings(self, document: Node) -> _Findings:
        """Everything that is wrong with a document; raises RecursionError where it is nested deeper than the stack."""
        return _Judgement(self).of(self._root, document)

    def target(self, reference: str) -> _Schema:
        """The definition that a `$ref` names."""
        return self._definitions[reference.removeprefix("#/$defs/")]

    def part(self, schema: Mapping[str, Any]) -> _Part:
        """What a schema says, ready to be asked."""
        found = self._parts.get(id(schema))
        if found is None:
            found = self._parts[id(schema)] = self._part(schema)
            self.fine[id(schema)] = found.fine
        return found

    def _part(self, schema: Mapping[str, Any]) -> _Part:
        types = _types(schema["type"]) if "type" in schema else ()
        kinds = frozenset[Kind]().union(*map(_KINDS.__getitem__, types)) if types else None
        simple = not any(each in schema for each in ("$ref", *_COMPOSING, *_CONSTANTS))
        bounded = simple and "minimum" in schema and "maximum" in schema
        return _Part(
            kinds,
            "integer" in types,
            self.target(schema["$ref"]) if "$ref" in schema else None,
            any(each in schema for each in _OF_SCALARS),
            schema.get("properties", {}),
            schema.get(_CLOSING, True),
            self._required(schema),
            frozenset(schema.get("required", ())),
            any(each in schema for each in _COMPOSING),
            (schema["minimum"], schema["maximum"]) if bounded else None,
            frozenset(
                kind for kind in kinds or _ALL if simple and not any(map(schema.__contains__, _OF_KINDS.get(kind, ())))
            ),
        )

    def _required(self, schema: Mapping[str, Any]) -> Sequence[_Required]:
        """The members that must be there."""
        properties = schema.get("properties", {})
        return tuple(
            (name, f"a member {shown(name)}", any(each in _plain(properties.get(name)) for each in _CONSTANTS))
            for name in schema.get("required", ())
        )

    def names(self, schema: _Schema) -> frozenset[str]:
        """The members that a schema has any words for."""
        if isinstance(schema, bool):
            return frozenset()
        found = self._names.get(id(schema))
        if found is None:
            self._names[id(schema)] = frozenset()  # of a schema that comes back to itself
            below = (self.names(each) for each in self.applied(schema))
            found = frozenset(schema.get("properties", ())).union(*below)
            self._names[id(schema)] = found
        return found

    def tag(self, alternatives: Sequence[_Schema]) -> "_Tag | None":
        """The member whose text tells alternatives apart, and the alternative of each text."""
        if id(alternatives) not in self._tags:
            self._tags[id(alternatives)] = self._tag(alternatives)
        return self._tags[id(alternatives)]

    def _tag(self, alternatives: Sequence[_Schema]) -> "_Tag | None":
        targets = [self._target(each) for each in alternatives]
        for name in targets[0].get("required", ()) if targets else ():
            texts = [_plain(each.get("properties", {}).get(name)).get("const") for each in targets]
            known = {text: each for text, each in zip(texts, alternatives, strict=True) if isinstance(text, str)}
            if len(known) == len(alternatives) and all(name in each.get("required", ()) for each in targets):
                return name, known
        return None

    def _target(self, schema: _Schema) -> Mapping[str, Any]:
        """The schema behind a reference that says nothing else."""
        while isinstance(schema, dict) and "$ref" in schema and "properties" not in schema:
            schema = self.target(schema["$ref"])
        return _plain(schema)

    def applied(self, schema: Mapping[str, Any]) -> Iterator[_Schema]:
        """The schemas that are applied to the same value."""
        if "$ref" in schema:
            yield self.target(schema["$ref"])
        for keyword in ("allOf", "anyOf", "oneOf"):
            yield from schema.get(keyword, ())


def _shared(part: Any, known: dict[tuple[object, ...], Any]) -> Any:
    """The same with one object for all parts that are alike, so that a node is judged once by all of them."""
    match part:
        case dict():
            found: Any = {name: _shared(below, known) for name, below in part.items()}
            key: tuple[object, ...] = ("object", *((name, _mark(below)) for name, below in found.items()))
        case list():
            found = [_shared(below, known) for below in part]
            key = ("array", *map(_mark, found))
        case _:
            return part
    return known.setdefault(key, found)


def _mark(part: object) -> object:
    """What tells a part from others, once those below it are shared."""
    return ("shared", id(part)) if isinstance(part, dict | list) else (type(part), part)


class _Judgement:
    """One document under judgement: what has been found of each node by each schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._found: dict[tuple[int, int], _Findings] = {}
        self._named: dict[int, frozenset[str]] = {}
        self._strange: dict[int, Finding] = {}  # by the values of members that must not be there
        self._missing: dict[tuple[int, str, bool], Finding] = {}

    def of(self, schema: _Schema, node: Node) -> _Findings:
        """What is wrong with a node by a schema."""
        if isinstance(schema, bool):
            return _NOTHING if schema else (_finding(node, "not", "nothing", _actual(node)),)
        key = id(schema), id(node)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._judged(schema, self._schema.part(schema), node)
        return found

    def _judged(self, schema: Mapping[str, Any], part: _Part, node: Node) -> _Findings:
        kind = node.kind
        if kind == "int" and part.bounds is not None and (part.kinds is None or kind in part.kinds):
            low, high = part.bounds
            if low <= node.value <= high:
                return _NOTHING
        if part.kinds is not None and kind not in part.kinds and not (part.whole and _is_whole(node)):
            return (_wrong_type(node, schema["type"]),)
        found = [] if part.reference is None else list(self.of(part.reference, node))
        if part.scalar:
            found += _scalar(schema, node)
        if kind == "object":
            found += self._members(part, node)
        elif kind == "array":
            found += self._elements(schema, node)
        if part.composed:
            found += self._composed(schema, node)
        return found or _NOTHING

    def _composed(self, schema: Mapping[str, Any], node: Node) -> Iterator[Finding]:
        """What is wrong by the schemas that are applied to the same value."""
        if "not" in schema and not self.of(schema["not"], node):
            yield _finding(node, "not", "another value", _actual(node))
        for part in schema.get("allOf", ()):
            yield from self.of(part, node)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield from self._alternatives(keyword, schema[keyword], node)
        others = schema.get("unevaluatedProperties", True)
        if others is not True and node.kind == "object":
            yield from self._unexpected(node, self._evaluated(schema, node), others)

    # --- containers ---

    def _members(self, part: _Part, node: Node) -> _Findings:
        if not part.properties and part.others is True and not part.required:
            return _NOTHING
        properties, others, known, fine = part.properties, part.others, self._found, self._schema.fine
        found: list[Finding] = []
        for member in node.members:
            name, _, child = member
            below = properties.get(name, others)
            if below is False:
                found.append(self._stranger(member))
            elif below is not True and child.kind not in fine.get(id(below), _NO_KINDS):
                wrong = known.get((id(below), id(child)))
                found += self.of(below, child) if wrong is None else wrong
            if len(found) >= MOST:
                return found
        there = self._there(node)
        if not part.needed <= there:
            found += [self._lacking(node, *each) for each in part.required if each[0] not in there]
        return found

    def _stranger(self, member: Member) -> Finding:
        """That a member must not be there: the same by every schema."""
        found = self._strange.get(id(member[2]))
        if found is None:
            found = self._strange[id(member[2])] = _unexpected(*member)
        return found

    def _lacking(self, node: Node, name: str, member: str, tag: bool) -> Finding:  # noqa: FBT001 - as it is listed
        """That a member is not there, the same by every schema that tells alternatives apart by it or not."""
        found = self._missing.get((id(node), name, tag))
        if found is None:
            found = _finding(node, "required", member, "no such member", tag=tag)
            self._missing[id(node), name, tag] = found
        return found

    def _there(self, node: Node) -> frozenset[str]:
        """The names of an object's members."""
        found = self._named.get(id(node))
        if found is None:
            found = self._named[id(node)] = frozenset(name for name, _, _ in node.members)
        return found

    def _elements(self, schema: Mapping[str, Any], node: Node) -> Iterator[Finding]:
        first, rest = schema.get("prefixItems", ()), schema.get("items", True)
        size = len(node.elements)
        least = schema.get("minItems", 0)
        most = min(schema.get("maxItems", size), len(first) if rest is False else size)
        if size < least:
            yield _finding(node, "minItems", f"at least {_count(least)}", _count(size))
        if size > most:
            yield _finding(node, "maxItems", f"at most {_count(most)}", _count(size))
        count, fine = 0, self._schema.fine
        for place, child in enumerate(node.elements[:most]):
            part = first[place] if place < len(first) else rest
            if child.kind in fine.get(id(part), _NO_KINDS):
                continue
            found = self.of(part, child)
            yield from found
            count += len(found)
            if count >= MOST:
                return

    def _unexpected(self, node: Node, evaluated: frozenset[str] | None, others: _Schema) -> Iterator[Finding]:
        """What is wrong with the members that nothing has judged."""
        for member in node.members:
            if evaluated is not None and member[0] not in evaluated:
                yield from [self._stranger(member)] if others is False else self.of(others, member[2])

    def _evaluated(self, schema: _Schema, node: Node) -> frozenset[str] | None:
        """The members that a schema has judged; None: all. Where no alternative holds, those that any could judge."""
        if isinstance(schema, bool):
            return frozenset()
        if schema.get(_CLOSING) is not None:
            return None
        names = frozenset(schema.get("properties", ()))
        parts = [*([self._schema.target(schema["$ref"])] if "$ref" in schema else []), *schema.get("allOf", ())]
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                holding = [each for each in schema[keyword] if not self.of(each, node)]
                if not holding:
                    names = names.union(*map(self._schema.names, schema[keyword]))
                parts += holding
        for part in parts:
            below = self._evaluated(part, node)
            if below is None:
                return None
            names |= below
        return names

    # --- alternatives ---

    def _alternatives(self, keyword: str, schemas: Sequence[_Schema], node: Node) -> _Findings:
        chosen = self._chosen(schemas, node)
        if chosen is not None:
            return self._kept(schemas, chosen, self.of(chosen, node))
        each = [self.of(schema, node) for schema in schemas]
        holding = sum(not found for found in each)
        if holding == 1 or (holding and keyword == "anyOf"):
            return _NOTHING
        if holding:
            return (_finding(node, keyword, "exactly one alternative", f"{holding} that hold"),)
        return self._meant(schemas, each, node) if each else (_finding(node, keyword, "nothing", _actual(node)),)

    def _meant(self, schemas: Sequence[_Schema], each: Sequence[_Findings], node: Node) -> _Findings:
        """The problems of the alternative that was meant: the one that the value is nearest to."""
        if all(len(found) == 1 and found[0].rule == "type" and found[0].node is node for found in each):
            return (_one_of("type", [found[0] for found in each]),)
        inside = {id(child) for child in _children(node)}
        distances = [_distance(found, node, inside) for found in each]
        best = distances.index(min(distances))
        kept = self._kept(schemas, schemas[best], each[best])
        tag = _common_tag(each, each[best])
        if tag is None:
            return kept
        known = _one_of("enum", [next(f for f in found if f.node is tag and f.rule in _CONSTANTS) for found in each])
        rest = [finding for finding in kept if finding.node is not tag and finding.rule != _CLOSING]
        return [known, *rest]

    def _chosen(self, schemas: Sequence[_Schema], node: Node) -> _Schema | None:
        """The one alternative that can hold, by the text of a member that each has another constant for."""
        tag = self._schema.tag(schemas) if node.kind == "object" else None
        if tag is None:
            return None
        values = [child for name, _, child in node.members if name == tag[0]]
        return tag[1].get(values[0].value) if len(values) == 1 and values[0].kind == "str" else None

    def _kept(self, schemas: Sequence[_Schema], best: _Schema, found: _Findings) -> _Findings:
        """The problems of an alternative, without members that others know and that are not all that is wrong.

        Members count as unexpected, too, where the alternative that has them was refused for another reason.
        """
        closing = any(finding.rule == _CLOSING for finding in found)
        if not closing or all(finding.rule == _CLOSING for finding in found):
            return found
        elsewhere = frozenset[str]().union(*(self._schema.names(other) for other in schemas if other is not best))
        return [finding for finding in found if finding.name not in elsewhere]


def _common_tag(each: Sequence[_Findings], best: _Findings) -> Node | None:
    """A member whose value no alternative has."""
    wrong = [{id(finding.node) for finding in found if finding.rule in _CONSTANTS} for found in each]
    common = set.intersection(*wrong)
    return next((finding.node for finding in best if id(finding.node) in common), None) if len(each) > 1 else None


def _distance(found: _Findings, node: Node, inside: Collection[int]) -> tuple[bool, int, int]:
    """How far a value is from an alternative: another kind, then other tags of its own, then all that is wrong."""
    kind = any(finding.rule == "type" and finding.node is node for finding in found)
    tags = sum(finding.tag and (finding.node is node or id(finding.node) in inside) for finding in found)
    return kind, tags, len(found)


def _children(node: Node) -> Iterable[Node]:
    match node.kind:
        case "object":
            return (child for _, _, child in node.members)
        case "array":
            return node.elements
        case _:
            return ()


def _one_of(rule: str, findings: Sequence[Finding]) -> Finding:
    """One finding about what several alternatives each want at one node."""
    allowed = tuple(dict.fromkeys(text for finding in findings for text in finding.allowed))
    return findings[0]._replace(rule=rule, expected=_choice(allowed), allowed=allowed)


# --- scalars -------------------------------------------------------------------------------------------------------


def _scalar(schema: Mapping[str, Any], node: Node) -> Iterator[Finding]:
    if "const" in schema and not _equal(node, schema["const"]):
        yield _another(node, "const", [schema["const"]])
    if "enum" in schema and not any(_equal(node, value) for value in schema["enum"]):
        yield _another(node, "enum", schema["enum"])
    if node.kind in ("int", "float"):
        if "minimum" in schema and node.value < schema["minimum"]:
            yield _finding(node, "minimum", f"at least {schema['minimum']}", _actual(node))
        if "maximum" in schema and node.value > schema["maximum"]:
            yield _finding(node, "maximum", f"at most {schema['maximum']}", _actual(node))
    if node.kind == "str":
        yield from _spelled(schema, node)


def _spelled(schema: Mapping[str, Any], node: Node) -> Iterator[Finding]:
    if "minLength" in schema and len(node.value) < schema["minLength"]:
        yield _finding(node, "minLength", f"at least {schema['minLength']} characters", _actual(node))
    if "maxLength" in schema and len(node.value) > schema["maxLength"]:
        yield _finding(node, "maxLength", f"at most {schema['maxLength']} characters", _actual(node))
    if "pattern" in schema and not _pattern(schema["pattern"]).search(node.value):
        base64 = schema.get("contentEncoding") == "base64"
        expected = "base64 of the right size, with padding" if base64 else f"text that matches {schema['pattern']}"
        yield _finding(node, "pattern", expected, _actual(node))


_pattern = lru_cache(maxsize=256)(re.compile)


def _types(types: str | Iterable[str]) -> tuple[str, ...]:
    return (types,) if isinstance(types, str) else tuple(types)


def _is_whole(node: Node) -> bool:
    """Whether a value is a number without a fraction, which is an integer."""
    return node.kind == "float" and node.value.is_integer()


def _equal(node: Node, value: object) -> bool:
    """Whether a node is a constant: true is no 1, and 1.0 is one."""
    match node.kind:
        case "array":
            return (
                isinstance(value, list) and len(value) == len(node.elements) and all(map(_equal, node.elements, value))
            )
        case "object":
            members = {name: child for name, _, child in node.members}
            same = isinstance(value, dict) and value.keys() == members.keys()
            return same and all(_equal(child, value[name]) for name, child in members.items())  # type: ignore[index]
        case _:
            return isinstance(node.value, bool) == isinstance(value, bool) and bool(node.value == value)


# --- words ---------------------------------------------------------------------------------------------------------


def _finding(node: Node, rule: str, expected: str, actual: str, *, tag: bool = False) -> Finding:
    return Finding(node, rule, expected, actual, node.start, tag=tag)


def _wrong_type(node: Node, types: str | Iterable[str]) -> Finding:
    allowed = tuple(_TYPES[each] for each in _types(types))
    return Finding(node, "type", _choice(allowed), WORDS[node.kind], node.start, allowed)


def _another(node: Node, rule: str, values: Sequence[object]) -> Finding:
    """A value that is none of the constants."""
    allowed = tuple(map(shown, values))
    tag = node.kind in ("str", "bool")
    return Finding(node, rule, _choice(allowed), _actual(node), node.start, allowed, tag=tag)


def _unexpected(name: str, offset: int, child: Node) -> Finding:
    return Finding(child, _CLOSING, "no such member", shown(name), offset, name=name)


def _choice(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _actual(node: Node) -> str:
    return WORDS[node.kind] if node.kind in ("array", "object") else shown(node.value)


def _count(number: int) -> str:
    return f"{number} element{'' if number == 1 else 's'}"


def _plain(schema: object) -> Mapping[str, Any]:
    return schema if isinstance(schema, dict) else {}
