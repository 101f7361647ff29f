"""Parses the JSON of an Avro schema, with locations, and checks it by the rules of the Avro specification."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from wireloom.importing.files import bounded
from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.importing.naming import one_line
from wireloom.problems import Location
from wireloom.spec.yaml import MappingNode, Node, ScalarNode, SequenceNode, child, parse

LARGEST = 1 << 20  # bytes of a file
_DEEPEST = 60  # deepest nesting of schemas
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_MOST_BYTES = 1 << 20  # most bytes of a `fixed` type
_INTEGERS = {"precision", "scale"}
_TEXT_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"?|/\*.*?(?:\*/|\Z)|//[^\n]*', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Logical:
    """A logical type; the numbers are those of a decimal."""

    name: str
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type without parts."""

    name: str
    logical: Logical | None = None


@dataclass(frozen=True, slots=True)
class Fixed:
    """A named type of a fixed number of bytes."""

    name: str
    size: int
    logical: Logical | None = None


@dataclass(frozen=True, slots=True)
class Enum:
    """A named type whose words are numbered in order."""

    name: str
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """Elements of one type, in blocks."""

    items: "Schema"


@dataclass(frozen=True, slots=True)
class Map:
    """A map from texts to values of one type, in blocks."""

    values: "Schema"


@dataclass(frozen=True, slots=True)
class Union:
    """One of several types; its number precedes the value."""

    branches: tuple["Schema", ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A field of a record."""

    name: str
    type: "Schema"
    doc: str
    location: Location


@dataclass(eq=False, slots=True)
class Record:
    """A named type with fields in order; it may contain itself."""

    name: str
    doc: str
    location: Location
    fields: list[Member] = field(default_factory=list)


Schema = Primitive | Fixed | Enum | Array | Map | Union | Record


def read(file: Path) -> Schema:
    """Read the schema of a file; raises ImportRefusedError with everything that is wrong with it."""
    start = Location(str(file), 1, 1)
    node = _node(bounded(file, file, LARGEST), start)
    reading = _Reading(start)
    found = reading.schema(node, "", 0)
    if reading.findings or found is None:
        raise ImportRefusedError(*reading.findings)
    return found


def _node(data: bytes, start: Location) -> Node:
    """Parse JSON with locations."""
    try:
        text = _TEXT_OR_COMMENT.sub(_blank, data.decode("utf-8-sig"))
        json.loads(text)
    except UnicodeDecodeError as error:
        raise ImportRefusedError(
            Finding(start, "file", f"the file is not UTF-8 at byte {error.start}", "save it as UTF-8")
        ) from error
    except json.JSONDecodeError as error:
        place = replace(start, line=error.lineno, column=error.colno)
        raise ImportRefusedError(Finding(place, "syntax", f"the file is not JSON: {error.msg}", "")) from error
    except (RecursionError, ValueError) as error:
        raise ImportRefusedError(
            Finding(start, "syntax", "the JSON is nested too deep, or a number too long", "")
        ) from error
    node, problems = parse(text.replace("\t", " "), start.file)  # apart from tabs, JSON is YAML
    if node is None or problems:
        raise ImportRefusedError(*(Finding(each.location, "syntax", each.message, each.hint) for each in problems))
    return node


def _blank(found: re.Match[str]) -> str:
    """Replace a comment by spaces, as Avro's own parser ignores comments; texts stay unchanged."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])


@dataclass(slots=True)
class _Reading:
    """The state of parsing: the names defined so far, and the problems."""

    start: Location
    named: dict[str, Record | Enum | Fixed] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def schema(self, node: Node | None, namespace: str, depth: int) -> Schema | None:
        """Parse a schema, with names relative to a namespace; None, and a finding, if it is invalid."""
        if depth > _DEEPEST:
            return self._wrong(node, f"schemas are nested more than {_DEEPEST} deep")
        match node:
            case ScalarNode() if node.quoted:
                return self._by_name(node, namespace)
            case SequenceNode():
                return self._union(node, namespace, depth)
            case MappingNode():
                return self._stated(node, namespace, depth)
            case _:
                return self._wrong(
                    node, "this is not a schema", "write a name, an object with a `type`, or a list of these"
                )

    def _wrong(self, node: Node | None, message: str, hint: str = "") -> Schema | None:
        """Report an invalid schema."""
        self.findings.append(Finding(node.location if node else self.start, "schema", message, hint))
        return None

    def _by_name(self, node: ScalarNode, namespace: str) -> Schema | None:
        if node.text in PRIMITIVES:
            return Primitive(node.text)
        full = node.text if "." in node.text or not namespace else f"{namespace}.{node.text}"
        if (found := self.named.get(full)) is not None:
            return found
        hint = "define each type in this file, before its first use"
        return self._wrong(node, f"there is no type {node.text}", hint)

    def _union(self, node: SequenceNode, namespace: str, depth: int) -> Schema | None:
        branches = [self.schema(each, namespace, depth + 1) for each in node.items]
        if not branches:
            return self._wrong(node, "a union has no branches", "list its types")
        if any(isinstance(each, Union) for each in branches):
            return self._wrong(node, "a union contains a union", "list all branches in one union")
        kinds = [branch_name(each) for each in branches if each is not None]
        if len(set(kinds)) < len(kinds):
            return self._wrong(
                node, "two branches of a union have the same type", "each type or name may appear once in a union"
            )
        return None if None in branches else Union(tuple(each for each in branches if each is not None))

    def _stated(self, node: MappingNode, namespace: str, depth: int) -> Schema | None:
        kind = child(node, "type")
        if isinstance(kind, MappingNode | SequenceNode):
            return self.schema(kind, namespace, depth + 1)
        if not isinstance(kind, ScalarNode) or not kind.quoted:
            return self._wrong(node, "the schema has no `type`", "add `type`")
        match kind.text:
            case "record" | "error":
                return self._record(node, namespace, depth)
            case "enum":
                return self._enum(node, namespace)
            case "fixed":
                return self._fixed(node, namespace)
            case "array":
                items = self.schema(child(node, "items") or _none(node), namespace, depth + 1)
                return None if items is None else Array(items)
            case "map":
                values = self.schema(child(node, "values") or _none(node), namespace, depth + 1)
                return None if values is None else Map(values)
            case _:
                found = self._by_name(kind, namespace)
                return replace(found, logical=self._logical(node)) if isinstance(found, Primitive) else found

    def _record(self, node: MappingNode, namespace: str, depth: int) -> Schema | None:
        name = self._name(node, namespace)
        members = child(node, "fields")
        if not isinstance(members, SequenceNode):
            return self._wrong(
                node, "`fields` of the record is missing, or is not a list", "list the fields under `fields`"
            )
        if name is None:
            return None
        record = Record(name, _doc(node), node.location)
        self.named[name] = record
        inner = name.rpartition(".")[0]
        seen = set[str]()
        for each in members.items:
            label = child(each, "name") if isinstance(each, MappingNode) else None
            if (
                not isinstance(each, MappingNode)
                or not isinstance(label, ScalarNode)
                or not _NAME.fullmatch(label.text)
            ):
                self._wrong(
                    each,
                    "the `name` of the field is missing, or Avro does not allow it",
                    "use letters, digits and underscores",
                )
                continue
            if label.text in seen:
                self._wrong(label, f"two fields are called {label.text}")
            seen.add(label.text)
            type = self.schema(child(each, "type") or _none(each), inner, depth + 1)
            if type is not None:
                record.fields.append(Member(label.text, type, _doc(each), each.location))
        return record

    def _enum(self, node: MappingNode, namespace: str) -> Schema | None:
        name = self._name(node, namespace)
        symbols = child(node, "symbols")
        words = [each.text for each in getattr(symbols, "items", ()) if isinstance(each, ScalarNode) and each.quoted]
        if (
            not words
            or not isinstance(symbols, SequenceNode)
            or len(words) < len(symbols.items)
            or len(set(words)) < len(words)
        ):
            return self._wrong(
                node, "`symbols` of the enum is not a list of different texts", "list the symbols under `symbols`"
            )
        if name is None:
            return None
        self.named[name] = Enum(name, tuple(words))
        return self.named[name]

    def _fixed(self, node: MappingNode, namespace: str) -> Schema | None:
        name = self._name(node, namespace)
        size = child(node, "size")
        value = size.value if isinstance(size, ScalarNode) else None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_BYTES:
            return self._wrong(
                node, f"the `size` is not a number from 0 to {_MOST_BYTES}", "state how many bytes it has"
            )
        if name is None:
            return None
        self.named[name] = Fixed(name, value, self._logical(node))
        return self.named[name]

    def _name(self, node: MappingNode, namespace: str) -> str | None:
        """The full name of a type; reports a name that is invalid or used twice."""
        name, space = child(node, "name"), child(node, "namespace")
        if not isinstance(name, ScalarNode) or not all(map(_NAME.fullmatch, name.text.split("."))):
            self._wrong(
                node,
                "the `name` of the type is missing, or Avro does not allow it",
                "use letters, digits and underscores",
            )
            return None
        if isinstance(space, ScalarNode):
            namespace = space.text
        full = name.text if "." in name.text or not namespace else f"{namespace}.{name.text}"
        if full in self.named or full in PRIMITIVES:
            self._wrong(name, f"two types are called {full}", "rename one of them")
            return None
        return full

    def _logical(self, node: MappingNode) -> Logical | None:
        """The logical type; an invalid one is ignored, as the Avro specification requires."""
        name = child(node, "logicalType")
        if not isinstance(name, ScalarNode):
            return None
        numbers = {key: getattr(child(node, key), "value", 0) for key in _INTEGERS}
        if not all(isinstance(each, int) and 0 <= each <= 1000 for each in numbers.values()):
            return None
        return Logical(name.text, **numbers)


def _none(node: Node) -> Node:
    """The node to report if a part is missing."""
    return ScalarNode(None, "", node.location)


def _doc(node: MappingNode) -> str:
    found = child(node, "doc")
    return one_line(found.text) if isinstance(found, ScalarNode) and found.quoted else ""


def branch_name(schema: Schema) -> str:
    """The name of a union's branch."""
    match schema:
        case Primitive() | Record() | Enum() | Fixed():
            return schema.name
        case Array():
            return "array"
        case Map():
            return "map"
        case Union():
            return "union"


def parts(schema: Schema) -> Sequence[Schema]:
    """The schemas directly inside a schema."""
    match schema:
        case Record():
            return [each.type for each in schema.fields]
        case Array():
            return [schema.items]
        case Map():
            return [schema.values]
        case Union():
            return schema.branches
        case Primitive() | Fixed() | Enum():
            return []
