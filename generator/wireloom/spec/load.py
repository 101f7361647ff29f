"""Load spec files: read, parse and check the shape of each, and keep what is sound in a faulty file."""

import codecs
import contextlib
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from wireloom.encodings import encodings_of_key
from wireloom.escapes import is_visible
from wireloom.numbers import respelled
from wireloom.problems import Location, Problem, nearest, words_for
from wireloom.spec import language, yaml
from wireloom.spec.documents import Content, Document, Documents
from wireloom.spec.flow import flow
from wireloom.spec.language import Document as LanguageDocument
from wireloom.spec.language import FormatDocument, LibraryDocument, SchemaDocument, StructType
from wireloom.spec.language.base import CHARSETS
from wireloom.spec.repair import Drop, Edit, Rename, edited, lacking, names_dropped
from wireloom.spec.slips import slips

_WANTED = {
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "an integer",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "too_short": "at least one entry",
    "too_long": "one entry",
    "greater_than": "a larger number than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "a smaller number than {lt}",
    "less_than_equal": "at most {le}",
    "union_tag_invalid": "a mapping",
}


_FORMAT = re.compile(r"^format\s*:", re.MULTILINE)
_NAMED = re.compile(r"^(?:library|schema)\s*:\s*['\"]?(\w+)", re.MULTILINE)
_STRUCTURED = ("list_type", "dict_type", "model_type", "model_attributes_type")
_OTHER_WORDS = words_for(
    {
        "select": "switch match",
        "when": "if condition",
        "at": "offset position pos",
        "size": "length",
        "byteOrder": "endian endianness",
        "values": "enum",
        "optional": "required",
        "doc": "description comment message",
        "count": "repeat",
        "tag": "number id",
        "const": "value contents constant fixed magic",
        "unpack": "compress compression compressed codec",
        "delimiter": "separator",
        "null": "nullvalue nodata",
        "reflected": "refin refout",
        "compute": "computed calc",
        "derive": "derived",
        "over": "covers",
        "scale": "factor multiplier",
        "bits": "bitfield flags",
        "hidden": "private",
        "charset": "encode",
        "fields": "seq members",
        "as": "rename alias",
    }
)
"""What other languages call each key."""
_OF_DOCUMENT = words_for(
    {
        "format": "name id",
        "wireloom": "version",
        "title": "description",
        "types": "structs messages definitions",
    }
)
"""What other languages call each key of the document itself."""
_OTHER_VALUES = words_for(
    {
        "little": "le lsb",
        "big": "be msb network",
        "protobuf": "proto",
        "msgpack": "messagepack",
        "deflate": "inflate",
        "zstd": "zstandard",
        "cp037": "ebcdic",
        "utf-16le": "ucs-2",
        "ipv4": "ip",
    }
)
"""What others call each value of a key."""
_MAPPINGS = {  # the mapping that a key accepts in place of a word
    "logical": "the unit of a time: {timestamp: ms}, {duration: s}",
    "framing": "a mapping, such as {prefix: uint16}",
    "unpack": "a choice: {select: codec, cases: {0: none, 1: gzip}}",
}
_PAGE = re.compile(r"(?:cp|ibm|ibm-|ccsid|windows-|ebcdic-)?0*([0-9]{1,5})")  # a code page, identified by its number
_TIME = re.compile(r"(timestamp|duration|time)[ _-]?\(?(s|ms|us|ns)\)?")  # with its unit, as others write it
_BEGUN = 3  # letters that suffice to identify a word
_CONDITIONS = ("if", "condition", "assert", "expr")
_IN_OTHER_WORDS = {  # keys of other languages, and how this language states the same
    "nullable": "for a type that may be null, write `type: 'str?'`",
    "repeated": "write `type: list(TYPE)`",
    "minLength": "write `length: 1 ..`",
    "maxLength": "write `length: .. 64`",
    "minimum": "write `range: 0 ..`",
    "maximum": "write `range: .. 100`",
    "min": "write `range: 0 ..`",
    "max": "write `range: .. 100`",
}
_NEAR_WORD = 0.8  # similarity of a misspelled word of another language
_FEW = 24  # keys are listed in a hint up to this number
_ROUNDS = 8  # rounds of removing faulty parts: a removal can make the mapping around it incomplete


def load(paths: Sequence[Path], root: Path, edited: Mapping[Path, bytes] = MappingProxyType({})) -> Documents:
    """Load the spec files.

    Paths in problems are relative to `root`. `edited` gives the content of files that an editor has not saved.
    """
    read = [_load(path, root, edited.get(path)) for path in paths]
    return Documents(
        documents=tuple(each.document for each in read if each.document is not None),
        problems=tuple(problem for each in read for problem in each.problems),
        unread=tuple(each.shared for each in read if each.problems and each.shared),
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """The result of reading a file: its sound part, its problems, and its name if formats can share it."""

    document: Document | None = None
    problems: tuple[Problem, ...] = ()
    shared: str = ""


@dataclass(frozen=True, slots=True)
class _Finding:
    """A problem that the shape check found, and the edit that removes the faulty part."""

    problem: Problem | None
    path: yaml.Path
    edit: Edit


def _load(path: Path, root: Path, edited: bytes | None) -> _Read:
    file, name = path.as_posix(), path.relative_to(root).as_posix()
    if not is_visible(name):
        message = f"{name} has control characters in its name, or bytes that are not UTF-8"
        problem = Problem("bad-name", message, "generated files name the spec; rename it", Location(file, 1, 1), "")
        return _Read(problems=(problem,))
    data = path.read_bytes() if edited is None else edited
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        problem = Problem("yaml-syntax", "the file is not UTF-8", "save it as UTF-8", Location(file, line, 1), "")
        return _Read(problems=(problem,))
    node, problems = yaml.parse(text, file)
    if node is None:
        named = None if _FORMAT.search(text) else _NAMED.search(text)
        return _Read(problems=problems, shared=named[1] if named else "")
    content, findings = _checked(node)
    slipped = [_Finding(slip.problem, slip.path, Rename(slip.meant) if slip.meant else Drop()) for slip in slips(node)]
    if slipped:
        below = tuple(each.path[:-1] if isinstance(each.edit, Rename) else each.path for each in slipped)
        others = [each for each in findings if not any(each.path[: len(path)] == path for path in below)]
        content, findings = None, [*slipped, *others]
    if content is not None and not problems:
        return _Read(Document(file, name, data, node, content))
    unread = {problem.location for problem in problems}  # a value that is not valid YAML gets no further problems
    found = (finding.problem for finding in findings)
    shape = tuple(problem for problem in found if problem is not None and problem.location not in unread)
    shared = _shared_name(yaml.plain(node))
    if shared:
        return _Read(problems=(*problems, *shape), shared=shared)
    sound = _sound_part(node, findings)
    part = None if sound is None else Document(file, name, data, sound.node, sound.content, sound.dropped)
    return _Read(part, (*problems, *shape))


@dataclass(frozen=True, slots=True)
class _Sound:
    """A document without its faulty parts, and the names that were removed with them."""

    node: yaml.Node
    content: Content
    dropped: frozenset[str]


def _sound_part(node: yaml.Node, findings: Sequence[_Finding]) -> _Sound | None:
    """Remove the parts with the wrong shape; None if the rest is still not a valid document."""
    names = set[str]()
    for _ in range(_ROUNDS):
        edits = {finding.path: finding.edit for finding in findings}
        names |= set(names_dropped(node, edits))
        rest = edited(node, edits)
        if rest is None:
            return None
        node = rest
        content, findings = _checked(node)
        if content is not None:
            return _Sound(node, content, frozenset(names))
    return None


def _checked(node: yaml.Node) -> tuple[Content | None, list[_Finding]]:
    """The checked document, or the findings of the check."""
    plain = yaml.plain(node)
    classes: dict[int, type[LanguageDocument]] = {}
    try:
        return _model(plain).model_validate(plain, context=classes), []
    except ValidationError as error:
        return None, _once(_merged(list(_Shape(node, plain, classes, error.errors(include_url=False)).findings())))


def _merged(findings: Sequence[_Finding]) -> list[_Finding]:
    """Merge findings about one value: pydantic reports one error for each form of a union."""
    merged: dict[tuple[str, yaml.Path], _Finding] = {}
    for finding in findings:
        problem = finding.problem
        key = (problem.id if problem else "", finding.path)
        first = merged.setdefault(key, finding).problem
        if problem and first and problem.id == "wrong-type" and problem.hint != first.hint:
            hint = f"{first.hint} or {problem.hint.removeprefix('write ')}"
            merged[key] = replace(finding, problem=replace(first, hint=hint))
    return [each for each in merged.values() if not _is_of_a_list(each.path, [other.path for other in merged.values()])]


def _is_of_a_list(path: yaml.Path, paths: Sequence[yaml.Path]) -> bool:
    """Whether the path is an item of a list that is itself reported."""
    return isinstance(path[-1:] and path[-1], int) and path[:-1] in paths


def _once(findings: Sequence[_Finding]) -> list[_Finding]:
    """Report several misspellings of the same key only once."""
    first: dict[tuple[yaml.Path, str], yaml.Path] = {}
    kept: list[_Finding] = []
    for finding in findings:
        others = (
            isinstance(finding.edit, Rename)
            and first.setdefault((finding.path[:-1], finding.edit.key), finding.path) != finding.path
        )
        kept.append(replace(finding, problem=None) if others else finding)
    return kept


_SHARED: Mapping[str, type[LibraryDocument | SchemaDocument]] = {"library": LibraryDocument, "schema": SchemaDocument}
"""The classes of documents that formats share, by the key that holds their name."""


def _kind(plain: object) -> str:
    """The key that decides the kind of document."""
    return _naming(plain)[0]


def _naming(plain: object) -> tuple[str, str]:
    """The key that decides the kind of document, and its spelling in the file, which may be a typo."""
    keys = [key for key in plain if isinstance(key, str)] if isinstance(plain, Mapping) else []
    kinds = ("format", *_SHARED)
    stated = next((key for key in kinds if key in keys), "")
    near = [(kind, found[0]) for kind in kinds if (found := difflib.get_close_matches(kind, keys, 1, _NEAR_WORD))]
    return (stated, stated) if stated else near[0] if near else ("format", "")


def _model(plain: object) -> type[Content]:
    return _SHARED.get(_kind(plain), FormatDocument)


def _shared_name(plain: object) -> str:
    kind, key = _naming(plain)
    name = plain.get(key) if isinstance(plain, Mapping) and kind in _SHARED else ""
    return name if isinstance(name, str) else ""


@dataclass(frozen=True)
class _Shape:
    """Translate pydantic's errors into problems with locations.

    `classes` maps the id of each mapping to the class that checked it.
    """

    node: yaml.Node
    plain: object
    classes: Mapping[int, type[LanguageDocument]]
    details: Sequence[ErrorDetails]

    def findings(self) -> Iterator[_Finding]:
        """One finding for each of pydantic's errors."""
        for each in self.details:
            path, value, rest = _walk(each["loc"], self.plain)
            match each["type"]:
                case "missing":
                    yield self._missing(path, rest, value)
                case "extra_forbidden":
                    yield self._unknown_key(path, _walk(each["loc"][:-1], self.plain)[1])
                case "entry_keys":
                    keys = len(value) if isinstance(value, Mapping) else 0
                    message = f"an item of `fields` has {keys} keys" if keys else "an item of `fields` has no key"
                    yield self._dropped(
                        path, "entry-keys", message, "write one field or step as each item: `- name: TYPE`"
                    )
                case _:
                    named = max((at for at, step in enumerate(path) if isinstance(step, str)), default=0)
                    message = f"{yaml.path_text(path[named:]) or 'the document'} is {_shown(value)}"
                    yield self._dropped(path, "wrong-type", message, self._remedy(each, path, value))

    def _dropped(self, path: yaml.Path, id: str, message: str, hint: str) -> _Finding:
        """A problem of a value that has to be removed."""
        return _Finding(self._problem(id, message, hint, path), path, Drop())

    def _problem(self, id: str, message: str, hint: str, path: yaml.Path, *, key: bool = False) -> Problem:
        """A problem located at the value of a path, or at its key."""
        at, value = yaml.find(self.node, path)
        return Problem(id, message, hint, (at or value if key else value).location, yaml.path_text(path))

    def _class(self, value: object) -> type[LanguageDocument] | None:
        """The class that checked a mapping."""
        return self.classes.get(id(value))

    @cached_property
    def _slips(self) -> dict[yaml.Path, str]:
        """Unknown keys, by path, that are probable misspellings of a missing key."""
        slips: dict[yaml.Path, str] = {}
        missing = [each["loc"] for each in self.details if each["type"] == "missing"]
        for loc in missing:
            path, value, key = _walk(loc, self.plain)
            known = self._class(value)
            if known is not None and isinstance(value, Mapping):
                strays = [stray for stray in value if stray not in known.keys()]  # noqa: SIM118 - a class method
                near = difflib.get_close_matches(key, strays, n=1, cutoff=0.75)
                lacking = [other for other in missing if other[:-1] == loc[:-1]]
                near = near or (strays if len(strays) == len(lacking) == 1 and strays[0] in _CONDITIONS else [])
                words = _OTHER_WORDS if path else _OF_DOCUMENT
                for stray in near or [each for each in strays if words.get(str(each).lower()) == key]:
                    slips[*path, stray] = key
        return slips

    def _remedy(self, details: ErrorDetails, path: yaml.Path, value: object) -> str:
        """A hint for a value of the wrong kind: what to write instead."""
        *above, key = path or ("",)
        around = _walk(above, self.plain)[1]
        if above == ["types"] and isinstance(value, list):
            return "a struct is `fields:` with these items below it"
        if above == ["types"] and value is None:
            return f"write its fields, as `{key}: {{fields: [{{length: uint8}}]}}`, or drop it"
        if value is None and above and above[-1] == "cases" and isinstance(around, Mapping):
            following = list(around)[list(around).index(key) + 1 :]
            return f"put a key with several values into quotes: '{', '.join([str(key), *following[:1]])}'"
        if details["type"] == "int_type" and isinstance(value, str) and (hint := respelled(value)):
            return hint
        field = _field(self._class(around), key)
        example = flow(field.examples[0]) if field and field.examples and details["type"] in _STRUCTURED else ""
        example = example or _in_full(details, value)
        if details["type"] == "literal_error" and not example:
            return _literal(str(key), value, _options(details))
        written = f"- {example}" if isinstance(key, int) else f"{key}: {example}"
        return f"write {_wanted(details)}" + (f", such as `{written}`" if example else "")

    def _missing(self, path: yaml.Path, key: str, value: object) -> _Finding:
        slip = next((stray for stray, meant in self._slips.items() if stray[:-1] == path and meant == key), None)
        if slip is not None:
            return _Finding(None, slip, Rename(key))  # reported at the misspelled key
        where, edit = lacking(path, key)
        known = self._class(value)
        if _is_enumeration(known, value):
            hint = "write them at the field: `- name: {type: uint8, values: {...}}`"
            problem = self._problem(
                "unknown-key", f"{path[-1]} is not a struct, and only fields have `values`", hint, path
            )
            return _Finding(problem, where, edit)
        example = _example(key, value, _field(known, key))
        hint = "" if example is None else f"write one, such as `{key}: {flow(example)}`"
        message = f"{yaml.path_text(path) or 'the document'} lacks the key {key}"
        return _Finding(self._problem("missing-key", message, hint, path, key=True), where, edit)

    def _unknown_key(self, path: yaml.Path, parent: object) -> _Finding:
        known = self._class(parent)
        if _is_enumeration(known, parent):
            return _Finding(None, path, Drop())  # reported at the type
        key, keys, meant = str(path[-1]), known.keys() if known else (), ""
        if key in _IN_OTHER_WORDS and known is language.FieldDocument:
            hint = _IN_OTHER_WORDS[key]
        else:
            other, encoding = _other_word(key, parent), _encoding(self.node, path)
            given = parent if isinstance(parent, Mapping) else ()
            left = [each for each in keys if each not in given and _has_meaning(known, each, encoding)]
            meant = self._slips.get(path) or (other if other in left else "")
            hint = f"did you mean {meant}?" if meant else _nearest_key(key, left)
            meant = hint.removeprefix("did you mean ").removesuffix("?") if hint.startswith("did") else ""
            if not hint and 0 < len(keys) <= _FEW:
                hint = f"known: {', '.join(keys)}"
        problem = self._problem("unknown-key", f"there is no key {key} here", hint, path, key=True)
        return _Finding(problem, path, Rename(meant) if meant else Drop())


def _field(known: type[LanguageDocument] | None, key: object) -> FieldInfo | None:
    """Pydantic's description of a key."""
    fields = known.model_fields.items() if known else ()
    return next((each for name, each in fields if (each.alias or name) == key), None)


def _options(details: ErrorDetails) -> tuple[str, ...]:
    """The allowed values of a key."""
    return tuple(re.findall(r"'([^']*)'", details["ctx"]["expected"])) or (str(details["ctx"]["expected"]),)


def _literal(key: str, value: object, options: Sequence[str]) -> str:
    """A hint for a word that is not allowed: the likely intended word, or the list of allowed words."""
    if value in options:
        return f"write {value}, without quotes"
    text = value.lower() if isinstance(value, str) else ""
    if key == "logical" and (time := _TIME.fullmatch(text)):
        return f"did you mean {{{time[1]}: {time[2]}}}?"
    other = _OTHER_VALUES.get(text, "") or _charset(text)
    begun = [each for each in options if len(text) >= _BEGUN and each.startswith(text)]
    near = [other] if other in options else begun or difflib.get_close_matches(text, options, n=1, cutoff=0.7)
    if near:
        return f"did you mean {near[0]}?"
    listed = ", ".join(options[:-1]) + " or " + options[-1] if len(options) > 1 else options[0]
    mapping = _MAPPINGS.get(key, "")
    return f"write {listed}{f', or {mapping}' if mapping else ''}"


def _charset(text: str) -> str:
    """The language's name of a character set that was written by another name; empty if there is none."""
    known = {codecs.lookup(each).name: each for each in CHARSETS}
    page = _PAGE.fullmatch(text)
    for each in (text, f"cp{int(page[1]):03}" if page else text):
        with contextlib.suppress(LookupError, ValueError):
            if found := known.get(codecs.lookup(each).name, ""):
                return found
    return ""


def _in_full(details: ErrorDetails, value: object) -> str:
    """The mapping that a text stands for, as in `{type: Frame}`; empty if it needs more than one key."""
    kind = getattr(language, details["ctx"]["class_name"], None) if details["type"] == "model_type" else None
    if kind is None or not isinstance(value, str):
        return ""
    fields = {field.alias or name: field for name, field in kind.model_fields.items()}
    needed = [key for key, field in fields.items() if field.is_required()]
    named = [key for key, field in fields.items() if key not in needed and value in get_args(_plain(field.annotation))]
    if len(needed) != 1:
        return ""
    if named:  # the text is a value of another key
        return f"{{{named[0]}: {value}, {needed[0]}: {flow(fields[needed[0]].examples[0])}}}"
    is_list = get_origin(fields[needed[0]].annotation) is list
    return f"{{{needed[0]}: {f'[{value}]' if is_list else value}}}"


def _plain(annotation: object) -> object:
    """The literal of `Literal[...] | None`; any other annotation unchanged."""
    return next((each for each in get_args(annotation) if get_origin(each) is Literal), annotation)


def _example(key: str, value: object, field: FieldInfo | None) -> object:
    """An example for a missing key: the first option of a parameter with options, else the language's example."""
    if key == "default" and isinstance(value, Mapping) and isinstance(value.get("oneOf"), list) and value["oneOf"]:
        return value["oneOf"][0]
    return field.examples[0] if field and field.examples else None


def _is_enumeration(known: type[LanguageDocument] | None, value: object) -> bool:
    """Whether a named type was written as an enumeration, with `values` in place of `fields`."""
    return known is StructType and isinstance(value, Mapping) and "values" in value and "fields" not in value


def _other_word(key: str, parent: object) -> str:
    """The key that other languages call `key`; empty if there is none."""
    meant = _OTHER_WORDS.get(re.sub(r"[_-]", "", key).lower(), "")
    if key == "value" and isinstance(parent, Mapping) and isinstance(parent[key], Mapping):
        return "values"
    type = parent.get("type") if isinstance(parent, Mapping) else None
    return "terminator" if meant == "delimiter" and isinstance(type, str) and type.startswith("list(") else meant


def _nearest_key(key: str, left: Sequence[str]) -> str:
    """A hint with the unused key whose name, here or in other languages, is most similar."""
    others = [word for word, meant in _OTHER_WORDS.items() if meant in left and word not in left]
    near = difflib.get_close_matches(key.lower(), others, 1, _NEAR_WORD)
    own = difflib.get_close_matches(key.lower(), [each.lower() for each in left], 1, _NEAR_WORD)
    return f"did you mean {_OTHER_WORDS[near[0]]}?" if near and not own else nearest(key, left)


def _encoding(node: yaml.Node, path: yaml.Path) -> str:
    """The stated encoding of the struct that contains a path; empty if none is stated."""
    for above in (path[:2], ()):
        key, stated = yaml.find(node, (*above, "encoding"))
        if key is not None and key.text == "encoding" and isinstance(stated, yaml.ScalarNode):
            return stated.text
    return ""


def _has_meaning(known: type[LanguageDocument] | None, key: str, encoding: str) -> bool:
    """Whether a key is allowed in an encoding."""
    return known is not language.FieldDocument or not encoding or encoding in (encodings_of_key(key) or (encoding,))


def _walk(loc: Sequence[int | str], plain: object) -> tuple[yaml.Path, Any, str]:
    """Translate a location of pydantic into the path, the value there, and the missing key."""
    path: list[int | str] = []
    value: Any = plain
    rest = ""
    for step in loc:
        if not _holds(value, step):
            rest = str(step)
            continue
        value, rest = value[step], ""
        path.append(step)
    return tuple(path), value, rest


def _holds(value: object, step: int | str) -> bool:
    match value, step:
        case Mapping(), str():
            return step in value
        case list(), int():
            return step < len(value)
        case _:
            return False


def _wanted(details: ErrorDetails) -> str:
    if details["type"] == "literal_error":
        return str(details["ctx"]["expected"]).replace("'", "")
    return _WANTED.get(details["type"], details["msg"]).format(**details.get("ctx", {}))


def _shown(value: object) -> str:
    match value:
        case None:
            return "empty"
        case dict():
            return "a mapping" if value else "empty"
        case list():
            return "a list"
        case bool():
            return "true" if value else "false"
        case _:
            return repr(value)
