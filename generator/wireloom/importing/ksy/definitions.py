"""Makes definitions from YAML nodes: types, attributes and enums, each with its location, and resolves their names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wireloom.importing.ksy.reading import Files, text
from wireloom.problems import Location
from wireloom.spec.yaml import MappingNode, Node, ScalarNode, SequenceNode, child, entries, items, plain

_ID = re.compile(r"[a-z][a-z0-9_]*")
_KNOWN = {
    *("id", "type", "size", "size-eos", "repeat", "repeat-expr", "repeat-until", "if", "contents", "terminator"),
    *("include", "consume", "eos-error", "pad-right", "encoding", "enum", "process", "valid", "doc", "doc-ref"),
    *("pos", "io", "value", "parent", "orig-id"),
}
DEEPEST = 20  # deepest nesting of types


@dataclass(frozen=True, eq=False)
class Attribute:
    """An item of `seq`, `instances` or `params`: its name and its keys."""

    name: str
    node: MappingNode
    is_named: bool = True

    @property
    def location(self) -> Location:
        """The location of its name."""
        return self.node.location

    def get(self, *keys: str) -> Node | None:
        """The value of a key."""
        return child(self.node, *keys)

    def text(self, *keys: str) -> str | None:
        """The text of a key."""
        return text(self.get(*keys))

    def says(self, key: str, default: bool = False) -> bool:  # noqa: FBT001, FBT002 - what it is without the key
        """Whether a boolean key is true."""
        found = self.text(key)
        return default if found is None else found == "true"

    @property
    def doc(self) -> str:
        """Its documentation."""
        return (self.text("doc") or "").strip()


@dataclass(frozen=True, eq=False)
class Enum:
    """Numbers and their words."""

    name: str
    words: dict[int, tuple[str, str]]
    location: Location

    def number(self, word: str) -> int | None:
        """The number of a word; None if the enum lacks it."""
        return next((number for number, (each, _) in self.words.items() if each == word), None)


@dataclass(eq=False)
class Definition:
    """A type: its attributes, and the types and enums defined in it."""

    name: str
    node: MappingNode
    around: "Definition | None"
    seq: list[Attribute] = field(default_factory=list)
    instances: dict[str, Attribute] = field(default_factory=dict)
    params: list[Attribute] = field(default_factory=list)
    types: dict[str, "Definition"] = field(default_factory=dict)
    enums: dict[str, Enum] = field(default_factory=dict)
    imported: dict[str, "Definition"] = field(default_factory=dict)
    looks_outward: bool | None = None
    bits: int | None = -1
    """Its size in bits, None if that depends on the record; -1 until it is computed."""

    @property
    def location(self) -> Location:
        """The location of the type."""
        return self.node.location

    def meta(self, key: str) -> Node | None:
        """A key of its `meta`, or of the `meta` of an outer type."""
        found = child(self.node, "meta", key)
        return found if found is not None or self.around is None else self.around.meta(key)

    @property
    def doc(self) -> str:
        """Its documentation."""
        return (text(child(self.node, "doc")) or "").strip()

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Its attributes and instances."""
        return (*self.seq, *self.instances.values())

    @property
    def names(self) -> set[str]:
        """The names of all its members."""
        return {each.name for each in (*self.params, *self.seq)} | set(self.instances)

    def named(self, path: tuple[str, ...]) -> "Definition | None":
        """Resolve the name of a type, seen from this one."""
        scope: Definition | None = self
        while scope is not None:
            found = scope if scope.name == path[0] else scope.types.get(path[0]) or scope.imported.get(path[0])
            for step in path[1:]:
                found = found.types.get(step) if found else None
            if found:
                return found
            scope = scope.around
        return None

    def enum(self, path: tuple[str, ...]) -> Enum | None:
        """Resolve the name of an enum, seen from this type."""
        if len(path) > 1:
            holder = self.named(path[:-1])
            return holder.enums.get(path[-1]) if holder else None
        scope: Definition | None = self
        while scope is not None:
            if path[0] in scope.enums:
                return scope.enums[path[0]]
            scope = scope.around
        return None


def define(files: Files) -> Definition:
    """The definition of the main file, from which the imported types can be reached."""
    known: dict[int, Definition] = {}
    return _document(files, files.root(), known)


def _document(files: Files, node: MappingNode, known: dict[int, Definition]) -> Definition:
    if id(node) in known:
        return known[id(node)]
    name = text(child(node, "meta", "id")) or "unnamed"
    found = known[id(node)] = _definition(files, name, node, None, 0)
    for each in items(child(node, "meta", "imports")):
        if isinstance(each, ScalarNode):
            imported = files.imported(each, each.location.file)
            if imported is not None:
                other = _document(files, imported, known)
                found.imported[other.name] = other
    return found


def _definition(files: Files, name: str, node: MappingNode, around: Definition | None, depth: int) -> Definition:
    found = Definition(name, node, around)
    found.seq = list(_attributes(files, child(node, "seq")))
    found.params = list(_attributes(files, child(node, "params")))
    found.enums = {
        key.text: enum for key, each in entries(child(node, "enums")) if (enum := _enum(files, key.text, each))
    }
    for key, each in entries(child(node, "instances")):
        if isinstance(each, MappingNode) and _ID.fullmatch(key.text):
            found.instances[key.text] = _checked(files, Attribute(key.text, each))
        else:
            files.find("shape", key, f"the instance {key.text} is not a mapping with a name", "write it by hand")
    for key, each in entries(child(node, "types")):
        if not isinstance(each, MappingNode) or not _ID.fullmatch(key.text):
            files.find("shape", key, f"the type {key.text} is not a mapping with a name", "write it by hand")
        elif depth == DEEPEST:
            files.find("shape", key, f"types are nested more than {DEEPEST} deep", "move it to an outer type")
        else:
            found.types[key.text] = _definition(files, key.text, each, found, depth + 1)
    return found


def _attributes(files: Files, node: Node | None) -> Iterator[Attribute]:
    if node is not None and not isinstance(node, SequenceNode):
        files.find("shape", node, "this is not a list", "write each attribute after a hyphen")
    for number, each in enumerate(items(node)):
        if not isinstance(each, MappingNode):
            files.find("shape", each, "the attribute is not a mapping", "write it by hand")
            continue
        name = text(child(each, "id"))
        if name is not None and not _ID.fullmatch(name):
            files.find("shape", each, f"{name} is not a valid name", "use lower-case letters, digits and underscores")
            name = None
        yield _checked(files, Attribute(name or f"unnamed{number}", each, is_named=name is not None))


def _checked(files: Files, attribute: Attribute) -> Attribute:
    for key, _ in attribute.node.entries:
        if key.text not in _KNOWN and not key.text.startswith("-"):
            files.find("unknown-key", key, f"{key.text} of {attribute.name} is not imported", "write its rule by hand")
    return attribute


def _enum(files: Files, name: str, node: Node) -> Enum | None:
    words: dict[int, tuple[str, str]] = {}
    for key, each in entries(node):
        number = _number(key)
        word = text(each) if isinstance(each, ScalarNode) else text(child(each, "id"))
        if number is None or word is None:
            files.find("enum", key, f"{key.text} of the enum {name} is not a number with a name", "write it by hand")
            continue
        words[number] = (word, (text(child(each, "doc")) or "").strip())
    if not words:
        files.find("enum", node, f"the enum {name} has no words", "fields with this enum become numbers")
        return None
    return Enum(name, words, node.location)


def _number(key: ScalarNode) -> int | None:
    if isinstance(key.value, int) and not isinstance(key.value, bool):
        return key.value
    written = key.text.replace("_", "")
    base = {"0x": 16, "0o": 8, "0b": 2}.get(written.lstrip("-")[:2].lower(), 10)
    try:
        return int(written, base) if len(written) <= 80 else None
    except ValueError:
        return None


def described(node: Node) -> str:
    """A node in words, for messages."""
    found = str(plain(node))
    return found if len(found) <= 60 else f"{found[:57]}..."
