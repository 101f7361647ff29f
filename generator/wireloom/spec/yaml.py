"""Parse YAML into nodes with positions.

Only plain YAML is accepted: mappings with unique scalar keys, sequences and scalars, but no anchors, aliases or tags.
Plain scalars have their meaning of YAML 1.2 (`true`, `null`, decimal and hexadecimal integers, floats), so `on` and
`no` are texts. `012` is a text as well, because YAML 1.1 and 1.2 read it as different numbers.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import assert_never

import yaml
from yaml.events import AliasEvent

from wireloom.numbers import MOST_DIGITS, integer
from wireloom.problems import Location, Problem

Scalar = int | float | bool | str | None


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A scalar: its value, its text, and the location of its first character.

    Copies of a document may change a key: `written` is then the key in the file, and `stands_for` the name of this copy
    if one key of the file became several. `columns` are the file's columns of each character, if the text was changed.
    """

    value: Scalar
    text: str
    location: Location
    quoted: bool = False
    written: str = ""
    stands_for: str = ""
    columns: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class SequenceNode:
    """Items in order; `numbers` are their indexes in the file, if some items were removed."""

    items: tuple["Node", ...]
    location: Location
    numbers: tuple[int, ...] | None = None

    def number(self, index: int) -> int:
        """The index of an item in the file."""
        return index if self.numbers is None else self.numbers[index]


@dataclass(frozen=True)
class MappingNode:
    """Entries in order; keys are unique as texts."""

    entries: tuple[tuple[ScalarNode, "Node"], ...]
    location: Location

    def entry(self, key: str) -> tuple[ScalarNode, "Node"] | None:
        """The entry with this key."""
        return self._by_key.get(key)

    @cached_property
    def _by_key(self) -> Mapping[str, tuple[ScalarNode, "Node"]]:
        return {entry[0].text: entry for entry in self.entries}


Node = ScalarNode | SequenceNode | MappingNode
Entries = Sequence[tuple[ScalarNode, Node]]
Path = tuple[str | int, ...]

_PLAIN = (
    (re.compile(r"true|false"), lambda text: text == "true"),
    (re.compile(r"null|~|"), lambda _: None),
    (re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"), float),
    (re.compile(r"[-+]?[0-9]+[eE][-+][0-9]+"), float),
)


_DEPTH = 100
_DIGITS = re.compile(r"[-+]?[0-9]+|-?0x[0-9a-fA-F]+")
_BREAK = re.compile(r"\r\n|\r|\n")
_NO_BREAKS = {0x85: 0xF0085, 0x2028: 0xF2028, 0x2029: 0xF2029}
"""Characters that break lines in YAML 1.1, so for PyYAML; private characters replace them while it reads."""
_BREAKS = {stand_in: character for character, stand_in in _NO_BREAKS.items()}
_HALF = re.compile("[\ud800-\udfff]")  # half of a character that was escaped as a surrogate pair
_BEYOND_UNICODE = re.compile(r"^[^#\n]*?(\\U(?!000|0010)[0-9A-Fa-f]{8})", re.MULTILINE)


class _Loader(yaml.SafeLoader):
    """PyYAML's composer without aliases, and with `?` inside plain scalars of flow mappings, as YAML 1.2 allows."""

    _inside_plain = False
    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event, flaw = self.peek_event(), ""  # type: ignore[no-untyped-call]
        if self.check_event(AliasEvent):
            flaw = "an alias; specs have no aliases and anchors; write the value here"
        elif getattr(event, "anchor", None) is not None:
            flaw = "an anchor; specs have no aliases and anchors; write the value here"
        elif getattr(event, "tag", None) is not None:
            flaw = "a tag; the key says what its value is, and `not` negates"
        elif self._depth == _DEPTH:
            flaw = f"nested deeper than {_DEPTH} levels"
        if flaw:
            raise yaml.composer.ComposerError(None, None, flaw, event.start_mark)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def scan_plain(self) -> yaml.ScalarToken:
        self._inside_plain = True
        try:
            return super().scan_plain()
        finally:
            self._inside_plain = False

    def peek(self, index: int = 0) -> str:
        character: str = super().peek(index)
        return "x" if self._inside_plain and character == "?" else character


_BEYOND = re.compile(r"(?m)(^|[\s\[{,])[*&!][^\s=]")  # aliases, anchors and tags, which libyaml accepts silently


def compose(text: str) -> yaml.Node | None:
    """Compose PyYAML's nodes: by libyaml, which is faster, or by `_Loader` if that fails or is not installed."""
    fast = getattr(yaml, "CSafeLoader", None)
    if fast is not None and not _BEYOND.search(text):
        with contextlib.suppress(yaml.YAMLError, RecursionError):
            composed = yaml.compose(text, Loader=fast)
            if composed is None or _is_shallow(composed):
                return composed
    return yaml.compose(text, Loader=_Loader)


def _is_shallow(node: yaml.Node) -> bool:
    """Whether no node is nested deeper than specs may be."""
    level = [node]
    for _ in range(_DEPTH):
        level = [part for each in level for part in _parts(each)]
        if not level:
            return True
    return False


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for entry in node.value for part in entry]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def parse(text: str, file: str) -> tuple[Node | None, tuple[Problem, ...]]:
    """The document's node, and its problems as YAML; the node is None if the text cannot be parsed."""
    try:
        composed = compose(text.translate(_NO_BREAKS))
    except yaml.MarkedYAMLError as error:
        return None, (_syntax_problem(error, text, file),)
    except (OverflowError, ValueError):  # raised by `chr`
        message, hint = "a character beyond Unicode", r"the last character is \U0010FFFF"
        found = _BEYOND_UNICODE.search(text)
        return None, (Problem("yaml-syntax", message, hint, _located(text, found.start(1) if found else 0, file), ""),)
    except yaml.reader.ReaderError as error:
        message, hint = f"the character U+{error.character:04X}", 'in quotes, control characters are escaped: "\\x07"'
        return None, (Problem("yaml-syntax", message, hint, _located(text, error.position, file), ""),)
    except yaml.YAMLError as error:
        return None, (Problem("yaml-syntax", f"not YAML: {error}", "", Location(file, 1, 1), ""),)
    if composed is None:
        return None, (Problem("yaml-syntax", "the file is empty", "", Location(file, 1, 1), ""),)
    problems: list[Problem] = []
    return _node(composed, file, (), problems), tuple(problems)


def _located(text: str, index: int, file: str) -> Location:
    """The location of a character of the text."""
    ends = [found.end() for found in _BREAK.finditer(text, 0, index)]
    return Location(file, len(ends) + 1, index - (ends[-1] if ends else 0) + 1)


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, file: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    location = Location(file, mark.line + 1, mark.column + 1) if mark else Location(file, 1, 1)
    lines = _BREAK.split(text)
    line = lines[mark.line] if mark and mark.line < len(lines) else ""
    if found := _NO_COLON.match(line):
        message, hint = f"a colon and a space must follow {found[1]}", f"write `- {found[1]}: {{...}}`"
        return Problem("yaml-syntax", message, hint, replace(location, column=found.start(1) + 1), "")
    if (bare := _without_colon(error, lines)) is not None:
        number, text = bare
        name, _, rest = text.strip().removeprefix("- ").partition(" ")
        message, hint = f"a colon and a space must follow {name}", f"write `{f'{name}: {rest.strip()}'.rstrip()}`"
        column = len(text) - len(text.lstrip()) + 1
        return Problem("yaml-syntax", message, hint, Location(file, number + 1, column), "")
    if (error.problem or "").startswith("expected '<document start>'") and lines[0][:1] in (" ", "\t"):
        message, hint = "the first line is indented", "begin the keys of the document in the first column"
        return Problem("yaml-syntax", message, hint, Location(file, 1, 1), "")
    message, hint = _in_own_words(error, line)
    return Problem("yaml-syntax", message, hint, location, "")


def _without_colon(error: yaml.MarkedYAMLError, lines: list[str]) -> tuple[int, str] | None:
    """The number and text of the line with a key without a colon; PyYAML reports the line after it."""
    problem, mark, opened = error.problem or "", error.problem_mark, error.context_mark
    if problem.startswith("could not find expected ':'") and opened is not None:
        found = opened.line
    elif problem.startswith("mapping values are not allowed") and mark is not None:
        before = range(mark.line - 1, -1, -1)
        found = next((each for each in before if _BARE.sub("", lines[each]).strip()), -1)
    else:
        return None
    text = _BARE.sub("", lines[found]) if 0 <= found < len(lines) else ""
    return (found, text.rstrip()) if _KEY_ALONE.fullmatch(text) else None


_BARE = re.compile(r"(^|\s)#.*$")  # a comment
_KEY_ALONE = re.compile(r"\s*(- )?[A-Za-z]\w*( +[\w.-]+)?\s*")  # a key, and perhaps one word after it
_NO_COLON = re.compile(r"\s*- (\w+)(?: +|:)\{")  # an item whose name is directly followed by the brace of a mapping
_COLON = re.compile(r":(\s|$)")
_QUOTES = "put text into quotes if it contains `: ` or ` #`, or, inside of braces, a comma or a bracket"
_COLUMN = "keys of one mapping and items of one list begin in the same column; a colon and a space follow each key"


def _in_own_words(error: yaml.MarkedYAMLError, line: str) -> tuple[str, str]:
    """A message and a hint in place of PyYAML's error, which speaks of parser tokens."""
    problem = error.problem or str(error)
    mark, opened = error.problem_mark, error.context_mark
    within = line[: mark.column] if mark else line
    if problem.startswith("mapping values are not allowed"):
        return (
            ("a second colon in one line", _QUOTES) if _COLON.search(within) else ("a key is not allowed here", _COLUMN)
        )
    if problem.startswith("expected <block end>"):
        return "the indentation of this line does not fit the lines around it", _COLUMN
    if problem.startswith(("expected ',' or '}'", "expected ',' or ']'")):
        if mark and opened and opened.line < mark.line:
            return f"the brace or bracket in line {opened.line + 1} is not closed", f"close it; {_QUOTES}"
        return "a comma is missing, or quotes around a text", _QUOTES
    if "while scanning a tag" in str(error.context):
        return "a tag", "specs have no YAML tags; drop it, or write `not` for a negation"
    if "while scanning an alias" in str(error.context):
        return "an alias", "put a text that begins with * into quotes; use `otherwise` for all other cases"
    if problem.startswith(("a tag;", "an alias;", "an anchor;")):
        what, _, hint = problem.partition("; ")
        return what, hint
    if "'\\t'" in problem:
        return "a tab in the indentation", "indent with spaces"
    if "another document" in problem:
        return "a second YAML document", "write one format or schema in each file"
    return f"not YAML: {problem}", error.note or ""


def _node(node: yaml.Node, file: str, path: Path, problems: list[Problem]) -> Node:
    location = Location(file, node.start_mark.line + 1, node.start_mark.column + 1)
    match node:
        case yaml.ScalarNode():
            return _scalar(node, location, path, problems)
        case yaml.SequenceNode():
            items = tuple(_node(item, file, (*path, place), problems) for place, item in enumerate(node.value))
            return SequenceNode(items, location)
        case yaml.MappingNode():
            return MappingNode(_entries(node, file, path, problems), location)
        case _:
            raise AssertionError(node)


def _joined(text: str) -> str:
    """Join the two halves of characters that were escaped as surrogate pairs, as JSON writes them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") if _HALF.search(text) else text


def _scalar(node: yaml.ScalarNode, location: Location, path: Path, problems: list[Problem]) -> ScalarNode:
    written = node.value.translate(_BREAKS)
    if node.style:
        text = _joined(written)
        if path[:1] != ("examples",) and _HALF.search(text):
            message, hint = "half of a surrogate pair", "escape both halves, or write the character"
            problems.append(Problem("yaml-syntax", message, hint, location, path_text(path)))
            text = text.encode("utf-8", "replace").decode()
        return ScalarNode(text, text, location, quoted=True)
    if len(written) > MOST_DIGITS and _DIGITS.fullmatch(written):
        message, hint = f"a number of {len(written)} digits", "put a text of digits into quotes"
        problems.append(Problem("yaml-syntax", message, hint, location, path_text(path)))
        return ScalarNode(0, written, location)
    number = integer(written)
    if number is not None:
        return ScalarNode(number, written, location)
    for pattern, value in _PLAIN:
        if pattern.fullmatch(written):
            return ScalarNode(value(written), written, location)
    return ScalarNode(written, written, location)


def _entries(
    node: yaml.MappingNode, file: str, path: Path, problems: list[Problem]
) -> tuple[tuple[ScalarNode, Node], ...]:
    entries: dict[str, tuple[ScalarNode, Node]] = {}
    for key_node, value_node in node.value:
        key = _node(key_node, file, path, problems)
        if not isinstance(key, ScalarNode):
            message, hint = "a key is not a scalar", "write `key: value`"
            problems.append(Problem("yaml-syntax", message, hint, key.location, path_text(path)))
            continue
        if key.text in entries:
            message, hint = f"{key.text} is given twice", f"the first is in line {entries[key.text][0].location.line}"
            where = path_text((*path, key.text))
            problems.append(Problem("duplicate-yaml-key", message, hint, key.location, where))
            continue
        entries[key.text] = (key, _node(value_node, file, (*path, key.text), problems))
    return tuple(entries.values())


def child(node: Node | None, *keys: str) -> Node | None:
    """The node below these keys; None if it is missing."""
    for key in keys:
        entry = node.entry(key) if isinstance(node, MappingNode) else None
        node = entry[1] if entry else None
    return node


def scalar(node: Node | None) -> str:
    """The text of a scalar; empty for any other node."""
    return node.text if isinstance(node, ScalarNode) else ""


def items(node: Node | None) -> tuple[Node, ...]:
    """The items of a sequence; empty for any other node."""
    return node.items if isinstance(node, SequenceNode) else ()


def entries(node: Node | None) -> tuple[tuple[ScalarNode, Node], ...]:
    """The entries of a mapping; empty for any other node."""
    return node.entries if isinstance(node, MappingNode) else ()


def entries_below(node: Node | None) -> Iterator[tuple[ScalarNode, Node]]:
    """All entries below a node, at any depth."""
    for key, inner in entries(node):
        yield key, inner
        yield from entries_below(inner)
    for inner in items(node):
        yield from entries_below(inner)


def plain(node: Node) -> object:
    """Convert the node to plain values, with keys as texts."""
    match node:
        case ScalarNode():
            return node.value
        case SequenceNode():
            return [plain(item) for item in node.items]
        case MappingNode():
            return {key.text: plain(value) for key, value in node.entries}
        case _:
            assert_never(node)


def find(node: Node, path: Path) -> tuple[ScalarNode | None, Node]:
    """The key (None for items and the root) and node at `path`, or at the last step of it that exists."""
    key: ScalarNode | None = None
    for step in path:
        match node, step:
            case MappingNode(), str():
                entry = node.entry(step)
                if entry is None:
                    break
                key, node = entry
            case SequenceNode(), int() if step < len(node.items):
                key, node = None, node.items[step]
            case _:
                break
    return key, node


def texts(node: Node, besides: str = "") -> Iterator[str]:
    """All scalars below a node, except those under the key `besides`."""
    match node:
        case ScalarNode(text=text):
            yield text
        case SequenceNode(items=items):
            yield from (text for item in items for text in texts(item, besides))
        case MappingNode(entries=entries):
            yield from (text for key, value in entries if key.text != besides for text in texts(value, besides))


def changed(node: Node, key: str, change: Callable[[Node], Node]) -> Node:
    """Apply a change to the value of one key of a mapping."""
    if not isinstance(node, MappingNode):
        return node
    return replace(node, entries=tuple((k, change(value) if k.text == key else value) for k, value in node.entries))


def with_entries(node: Node, key: str, added: Entries) -> Node:
    """Add entries to the mapping at a key, which is created if it is missing."""
    if not added or not isinstance(node, MappingNode):
        return node
    if node.entry(key) is None:
        inner = MappingNode((), added[0][0].location)
        node = replace(node, entries=(*node.entries, (ScalarNode(key, key, node.location), inner)))
    return changed(node, key, lambda each: MappingNode((*entries(each), *added), each.location))


def path_in_file(node: Node, path: Path) -> Path:
    """Translate a path into the file's own indexes and keys, which differ if the document was changed."""
    steps: list[str | int] = []
    for depth, step in enumerate(path):
        match find(node, path[:depth])[1], step:
            case SequenceNode() as above, int() if step < len(above.items):
                steps.append(above.number(step))
            case MappingNode() as above, str() if (entry := above.entry(step)) is not None:
                steps.append(entry[0].written or step)
            case _:
                steps.append(step)
    return tuple(steps)


def path_text(path: Path) -> str:
    """Format a path: `types.Event.fields[2]`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def raw_examples(text: str) -> list[yaml.MappingNode]:
    """The examples of a spec as PyYAML's nodes, which know their positions; the text must be valid."""
    examples = _below(yaml.compose(text.translate(_NO_BREAKS), Loader=_Loader), "examples")
    found = [node for node in examples.value if isinstance(node, yaml.MappingNode)]
    assert len(found) == len(examples.value)  # noqa: S101 - it was checked when the spec was read
    return found


def _below(node: yaml.Node | None, key: str) -> yaml.Node:
    assert isinstance(node, yaml.MappingNode)  # noqa: S101 - it was checked when the spec was read
    found: yaml.Node = next(value for entry, value in node.value if entry.value == key)
    return found


def raw_end(node: yaml.Node, text: str) -> int:
    """The index after the last character of a value; PyYAML's own end of a block is the start of the next node."""
    match node:
        case (
            yaml.MappingNode(flow_style=False, value=[*_, (_, last)])
            | yaml.SequenceNode(flow_style=False | None, value=[*_, last])  # None: a list that is not indented
        ):
            return raw_end(last, text)
        case yaml.ScalarNode(style="|" | ">"):
            return len(text[: node.end_mark.index].rstrip())
        case _:
            end: int = node.end_mark.index
            return end
