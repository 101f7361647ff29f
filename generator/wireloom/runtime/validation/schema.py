"""A JSON Schema as judges: they report all that is wrong, each problem at its node, by the intended alternative.

If a value fits none of several alternatives, other validators say only that, or list the problems by every alternative:
dozens for one element, and gigabytes for a text of some hundred kilobytes (docs/decisions/0010-validation.md). Here
each part of a document is judged once by each part of the schema. The intended alternative is found by the members that
distinguish them, and only its problems are reported. The keywords are those that the emitter writes.

Each part of the schema is turned into judges once, one for each kind of value that it meets: for most kinds that is
just a type or a range, and often nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from wireloom.runtime.parsers.json.nodes import Kind, Node
from wireloom.runtime.validation.alternatives import Alternatives, Tag
from wireloom.runtime.validation.containers import elements, members, missing, names
from wireloom.runtime.validation.findings import (
    CLOSING,
    CONSTANTS,
    NOTHING,
    Demand,
    Finding,
    Findings,
    Judge,
    Known,
    found_by,
    once,
    together,
)
from wireloom.runtime.validation.scalars import of_type, refuses, scalars

_ANNOTATIONS = ("title", "description", "default", "$schema", "$comment", "$defs", "contentEncoding", "format")
KEYWORDS = frozenset(
    (
        *_ANNOTATIONS,  # the emitter also writes a pattern for the last two
        *("$ref", "type", "const", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern"),
        *("not", "allOf", "anyOf", "oneOf"),
        *("properties", "required", "additionalProperties", "propertyNames"),
        *("prefixItems", "items", "minItems", "maxItems"),
    )
)
"""The keywords that are understood; the emitter writes no other."""

_Schema = Mapping[str, Any] | bool
_CHOOSING = ("anyOf", "oneOf")


class Schema:
    """The schema of one root."""

    def __init__(self, document: Mapping[str, Any], root: str) -> None:
        self._definitions: Mapping[str, _Schema] = _shared(document["$defs"], {})
        self._parts: dict[int, Part] = {}
        self._root = self.part(self._definitions[f"{root}.root" if f"{root}.root" in self._definitions else root])

    def findings(self, document: Node) -> Findings:
        """Everything that is wrong with a document; raises RecursionError if it is too deep for the stack."""
        return found_by(self._root, document, {})

    def part(self, keywords: _Schema) -> "Part":
        """The part for these keywords; the definitions keep the keywords alive, so their id is unique."""
        found = self._parts.get(id(keywords))
        if found is None:
            found = self._parts[id(keywords)] = Part(keywords, self)
        return found

    def target(self, reference: str) -> "Part":
        """The definition of a `$ref`."""
        return self.part(self._definitions[reference.removeprefix("#/$defs/")])


class Part(dict[Kind, Judge | None]):
    """One part of a schema, as the judges for each kind of value.

    A judge is made for the first value of its kind, since parts refer to one another in circles.
    """

    def __init__(self, keywords: _Schema, schema: Schema) -> None:
        super().__init__()
        self._keywords = _plain(keywords)
        self._never = keywords is False
        self._schema = schema

    def __missing__(self, kind: Kind) -> Judge | None:
        judge, types = together(self._judges(kind)), self._keywords.get("type")
        if types is not None:
            judge = of_type([types] if isinstance(types, str) else types, kind, judge)
        self[kind] = judge
        return judge

    def _judges(self, kind: Kind) -> Iterator[Judge | None]:
        if self._never:
            yield refuses(Demand("not", "nothing"))
            return
        yield from (each[kind] for each in self._referred)
        yield from scalars(self._keywords, kind)
        if kind == "object":
            yield self._of_members()
            yield self._of_names()
        if kind == "array":
            yield self._of_elements()
        yield from self._composed(kind)

    # --- containers ---

    def _of_members(self) -> Judge | None:
        keywords = self._keywords
        if not any(each in keywords for each in ("properties", "required", CLOSING)):
            return None
        required = {name: missing(name, tag=self._is_tag(name)) for name in self.required}
        properties = {name: self._below(each) for name, each in self._properties.items()}
        return once(members(properties, self._below(keywords.get(CLOSING, True)), required))

    def _of_names(self) -> Judge | None:
        keywords = self._keywords
        return once(names(self._schema.part(keywords["propertyNames"]))) if "propertyNames" in keywords else None

    def _of_elements(self) -> Judge | None:
        keywords = self._keywords
        if not any(each in keywords for each in ("prefixItems", "items", "minItems", "maxItems")):
            return None
        first = [self._schema.part(each) for each in keywords.get("prefixItems", ())]
        rest = self._below(keywords.get("items", True))
        return once(elements(first, rest, keywords.get("minItems", 0), keywords.get("maxItems")))

    def _below(self, keywords: _Schema) -> "Part | None":
        """The part for inner values; None if there must be none."""
        return None if keywords is False else self._schema.part(keywords)

    def _is_tag(self, name: str) -> bool:
        """Whether a member tells alternatives apart."""
        return any(each in _plain(self._properties.get(name)) for each in CONSTANTS)

    # --- other schemas of the same value ---

    def _composed(self, kind: Kind) -> Iterator[Judge | None]:
        keywords = self._keywords
        if "not" in keywords:
            yield _unlike(self._schema.part(keywords["not"])[kind])
        yield from (each[kind] for each in self._listed("allOf"))
        yield from (self._choice(keyword, self._listed(keyword), kind) for keyword in _CHOOSING if keyword in keywords)

    def _choice(self, keyword: str, parts: "Sequence[Part]", kind: Kind) -> Judge:
        if not parts:
            return refuses(Demand(keyword, "nothing"))
        tag = _tag(parts) if kind == "object" else None
        return once(Alternatives(keyword, parts, [each.names for each in parts], tag).judge)

    @cached_property
    def names(self) -> frozenset[str]:
        """The members that this part mentions."""
        applied = [*self._referred, *(part for keyword in ("allOf", *_CHOOSING) for part in self._listed(keyword))]
        return frozenset(self._properties).union(*(each.names for each in applied))

    def _listed(self, keyword: str) -> "Sequence[Part]":
        return [self._schema.part(each) for each in self._keywords.get(keyword, ())]

    @property
    def target(self) -> "Part":
        """The part after a reference that itself mentions no members."""
        return self._referred[0].target if self._referred and not self._properties else self

    @property
    def required(self) -> Sequence[str]:
        """The required members."""
        required: Sequence[str] = self._keywords.get("required", ())
        return required

    def constant(self, name: str) -> object:
        """The constant of a member; None if it has none."""
        return _plain(self._properties.get(name)).get("const")

    @property
    def _referred(self) -> "Sequence[Part]":
        return [self._schema.target(self._keywords["$ref"])] if "$ref" in self._keywords else []

    @property
    def _properties(self) -> Mapping[str, _Schema]:
        properties: Mapping[str, _Schema] = self._keywords.get("properties", {})
        return properties


def _shared(part: Any, known: dict[tuple[object, ...], Any]) -> Any:
    """The same schema with one object for all equal parts, so that they judge a node only once."""
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
    """An identity of a part; its own parts are already shared."""
    return ("shared", id(part)) if isinstance(part, dict | list) else (type(part), part)


def _tag(parts: Sequence[Part]) -> Tag | None:
    """The member whose text tells alternatives apart."""
    targets = [part.target for part in parts]
    for name in targets[0].required:
        texts = [target.constant(name) for target in targets if name in target.required]
        places = {text: place for place, text in enumerate(texts) if isinstance(text, str)}
        if len(places) == len(parts):
            return Tag(name, places)
    return None


def _unlike(judge: Judge | None) -> Judge:
    demand = Demand("not", "another value")

    def other(node: Node, known: Known) -> Findings:
        return NOTHING if judge is not None and judge(node, known) else (Finding(node, demand, node.start),)

    return other


def _plain(keywords: object) -> Mapping[str, Any]:
    return keywords if isinstance(keywords, dict) else {}
