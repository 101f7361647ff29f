"""What expressions can refer to: the fields of each struct, their kinds, and where each type is used.

Outlines are made from the document before any expression is resolved. A name is looked up in its struct, then outward
along every use of that struct; if the uses disagree, the name has no meaning. The members of a flattened struct count
as members of the struct around it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from wireloom.encodings import Encoding
from wireloom.expr.ast import Call, Expression, Kind, Literal, leaves
from wireloom.expr.parse import ExpressionError, parse
from wireloom.expr.types import literal_kind
from wireloom.model.traversal import closure
from wireloom.model.types import Scalar
from wireloom.names import EXPRESSION_WORDS
from wireloom.numbers import integer
from wireloom.resolve.bind import builtins, constants, notation
from wireloom.resolve.bind.draft import Draft, TypeForm, entries_of, written
from wireloom.resolve.bind.renamings import Renamings, renamed, renaming_of
from wireloom.spec.language import (
    AttemptType,
    Bits,
    FieldDocument,
    MappedValue,
    NamedRange,
    OneOfType,
    SelectType,
    StructType,
)

_SIZED = ("str", "bytes")
_SPAN = re.compile(r"\s*[0-9]+\s*(\.\.\s*[0-9]+\s*)?")
_MEANING = {"values", "null", "logical", "epoch", "scale", "offset", "raw", "default"}
_NOT_GIVEN = {"as", "hidden", "derive", "compute", "const", "counted", "checksum", "refers", "flatten", "bits", "table"}
"""Keys that make the value that builders receive differ from the wire value, in form or name, or be missing."""
_OBSTACLES = (*sorted(_MEANING), *sorted(_NOT_GIVEN))
_WITHOUT_VALUES = (Kind.LIST, Kind.RECORD)  # kinds without single values


@dataclass(frozen=True, slots=True)
class Member:
    """A field as expressions know it.

    `values` lists its possible values, if they are known. `structs` are the structs whose members dotted names can use.
    """

    name: str
    kind: Kind
    position: int
    values: tuple[Scalar, ...] | None = None
    structs: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()  # structs of a list's elements
    counted: bool = False  # set by a salvage or a discard
    names: tuple[tuple[int, str], ...] = ()  # the names of some numbers, if others are allowed too
    words: tuple[tuple[str, str], ...] = ()  # of a text: wire values, and the names that readers see for them
    charset: str = ""  # of its text, which expressions see as bytes
    element: Kind = Kind.ANY  # of a list: the kind of its elements
    obstacle: str = ""  # the key that keeps builders from knowing the wire value, or those of a list's elements
    renamings: Renamings = ()  # of its members, which belong to the struct around it
    melts: bool = False  # whether its members belong to the struct around it
    broken: bool = False  # whether its type uses an unknown type, so that nothing is known about it


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a named type: the type that uses it, and at which of its steps."""

    user: str
    position: int


@dataclass(frozen=True, slots=True)
class Outline:
    """A named type as expressions know it; only a struct has members and marks."""

    name: str
    struct: bool
    members: Mapping[str, Member] = field(default_factory=dict)
    marks: Mapping[str, int] = field(default_factory=dict)
    uses: tuple[Use, ...] = ()
    open: bool = False  # whether an unknown type is flattened into it, so it may have any member


@dataclass(frozen=True, slots=True)
class Reach:
    """What expressions can know of a type: its kind, the structs that it may be, and those of its elements."""

    kind: Kind = Kind.ANY
    structs: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    element: Kind = Kind.ANY  # of a list: the kind of its elements
    broken: bool = False  # whether an unknown type is part of it


@dataclass(frozen=True, slots=True)
class Outlines:
    """The outlines of all named types, and which types are recursive."""

    types: Mapping[str, Outline]
    recursive: frozenset[str]
    roots: tuple[str, ...]
    encodings: Mapping[str, Encoding]
    misnamed: frozenset[str]  # fields, bits or marks whose names are words of expressions


def outlines(draft: Draft) -> Outlines:
    """Make the outlines of all named types."""
    uses = _uses(draft)
    types = {name: _outline(draft, name, form, tuple(uses.get(name, ()))) for name, form in draft.content.types.items()}
    named = {name for outline in types.values() for name in (*outline.members, *outline.marks)}
    misnamed = named.intersection(EXPRESSION_WORDS)
    return Outlines(types, _recursive(draft), _root_names(draft), _encodings(draft, uses), frozenset(misnamed))


def _outline(draft: Draft, name: str, form: TypeForm, uses: tuple[Use, ...]) -> Outline:
    if not isinstance(form, StructType):
        return Outline(name, struct=False, uses=uses)
    marks = {entry.mark: position for position, entry in enumerate(form.fields) if entry.mark is not None}
    own = frozenset({name})
    return Outline(name, True, _members(draft, form, own), marks, uses, _is_open(draft, form, own))  # noqa: FBT003


# --- where types are used ------------------------------------------------------------------------------------------


def reach(draft: Draft, form: TypeForm, seen: frozenset[str] = frozenset(), charset: str = "") -> Reach:
    """What expressions can know of a type; texts in a character set other than UTF-8 have the kind bytes."""
    match form:
        case str():
            parsed = written(form)
            return Reach(broken=True) if parsed is None else _notation_reach(draft, parsed, seen, charset)
        case SelectType() | OneOfType():
            return _any_of([reach(draft, text, seen, charset) for text in form.types])
        case AttemptType():
            return _any_of([reach(draft, text, seen) for text in form.types])
        case StructType():
            return Reach(Kind.RECORD)


def direct_names(draft: Draft, form: TypeForm) -> Iterator[tuple[str, int]]:
    """The named types that a type mentions directly, each with the step that mentions it."""
    for position, entry in enumerate(entries_of(form)):
        if entry.is_field:
            yield from ((name, position) for name in _mentioned(draft, entry.type))
            yield from ((name, position) for name in _amounts(draft, entry.full))
    yield from ((name, 0) for name in _mentioned(draft, form))


def _amounts(draft: Draft, field: FieldDocument) -> Iterator[str]:
    """The named types of length prefixes that a field's count and size mention."""
    for amount in (field.count, field.size):
        yield from _amount_names(draft, amount) if isinstance(amount, str) else ()


def _amount_names(draft: Draft, amount: str) -> Iterator[str]:
    blocks = notation.blocks(amount)
    numbers = [amount] if blocks is None else [argument.text for argument in blocks.arguments]
    return (name for number in numbers if (name := number.strip()) in draft.content.types)


def _mentioned(draft: Draft, form: TypeForm) -> tuple[str, ...]:
    match form:
        case str():
            parsed = written(form)
            return () if parsed is None else tuple(_notation_names(draft, parsed))
        case StructType():
            return ()
        case _:
            return tuple(dict.fromkeys(name for text in form.types for name in _mentioned(draft, text)))


def nesting(form: TypeForm) -> int:
    """How deep lists, maps and unions are nested in a type, not counting inside of named types."""
    match form:
        case StructType():
            return max((nesting(entry.type) for entry in form.fields if entry.is_field), default=0)
        case str():
            singles = () if (parsed := written(form)) is None else notation.singles(parsed)
            texts = [each.text for single in singles if single.name in ("list", "map") for each in single.arguments]
            return (1 + max(map(nesting, texts))) if texts else int(len(singles) > 1)
        case _:
            return 1 + max(map(nesting, form.types), default=0)


def _notation_names(draft: Draft, parsed: notation.Notation) -> Iterator[str]:
    for single in notation.singles(parsed):
        key = draft.with_parameters.get(single.name, "")  # set only while imports are resolved
        if single.name in draft.content.types:
            yield single.name
        elif single.name in _SIZED:
            yield from (name for argument in single.arguments for name in _amount_names(draft, argument.text))
        elif key or single.name in builtins.CONSTRUCTORS:
            yield from (key,) if key else ()
            yield from (name for argument in single.arguments for name in _mentioned(draft, argument.text))


def _notation_reach(draft: Draft, parsed: notation.Notation, seen: frozenset[str], charset: str = "") -> Reach:
    match parsed:
        case notation.Union() | notation.Optional():
            return _any_of([_notation_reach(draft, each, seen, charset) for each in notation.singles(parsed)])
        case notation.Single(name="str") if charset:
            return Reach(Kind.BYTES)
        case notation.Single(name="map", arguments=(_,)):
            return Reach(Kind.LIST)  # expressions cannot look into its entries
        case notation.Single(name="list" | "map" as name, arguments=arguments):
            inner = [reach(draft, argument.text, seen) for argument in arguments] or [Reach()]
            elements = tuple(dict.fromkeys(struct for each in inner for struct in each.structs))
            has_kind = name == "list" and not (charset and inner[0].kind is Kind.TEXT)
            broken = any(each.broken for each in inner)
            return Reach(Kind.LIST, (), elements, inner[0].kind if has_kind else Kind.ANY, broken)
        case notation.Single(name="ext", arguments=(_, content)):
            return reach(draft, content.text, seen, charset)
        case notation.Single(name=builtins.EXTENDED):
            return Reach(Kind.INTEGER)
        case notation.Single(name=name) if name in builtins.SCALARS:
            return Reach(builtins.kind(builtins.SCALARS[name]))
        case notation.Single(name=name) if name in draft.content.types and name not in seen:
            form = draft.content.types[name]
            return Reach(Kind.RECORD, (name,)) if isinstance(form, StructType) else reach(draft, form, seen | {name})
        case notation.Single(name=name):
            return Reach(broken=name not in draft.content.types)


def _any_of(reached: list[Reach]) -> Reach:
    kinds = {each.kind for each in reached} - {Kind.NULL}
    return Reach(
        next(iter(kinds)) if len(kinds) == 1 else Kind.ANY,
        tuple(dict.fromkeys(struct for each in reached for struct in each.structs)),
        tuple(dict.fromkeys(struct for each in reached for struct in each.elements)),
        reached[0].element if len({each.element for each in reached}) == 1 else Kind.ANY,
        any(each.broken for each in reached),
    )


def all_mentioned(draft: Draft, names: Iterable[str]) -> set[str]:
    """These types and all types that they lead to."""
    return set(closure(names, lambda name: (each for each, _ in direct_names(draft, draft.content.types[name]))))


def _uses(draft: Draft) -> dict[str, list[Use]]:
    uses: dict[str, list[Use]] = {}
    for user, form in draft.content.types.items():
        for name, position in direct_names(draft, form):
            uses.setdefault(name, []).append(Use(user, position))
    return uses


def _root_names(draft: Draft) -> tuple[str, ...]:
    roots = draft.content.root_types.values()
    return tuple(dict.fromkeys(name for root in roots for name in _mentioned(draft, root)))


def _recursive(draft: Draft) -> frozenset[str]:
    """The named types that contain themselves."""
    mentions = {name: {each for each, _ in direct_names(draft, form)} for name, form in draft.content.types.items()}
    return frozenset(name for name in mentions if name in closure(mentions[name], mentions.__getitem__))


def _encodings(draft: Draft, uses: Mapping[str, list[Use]]) -> dict[str, Encoding]:
    """The encoding of each named type: a struct has its own, another type that of its first user."""

    def encoding(name: str, seen: frozenset[str]) -> Encoding:
        form = draft.content.types[name]
        if isinstance(form, StructType):
            return draft.struct_encoding(form)
        users = [use.user for use in uses.get(name, ()) if use.user not in seen]
        return encoding(users[0], seen | {name}) if users else draft.encoding

    return {name: encoding(name, frozenset({name})) for name in draft.content.types}


# --- the members of a struct ---------------------------------------------------------------------------------------


def _members(draft: Draft, struct: StructType, seen: frozenset[str]) -> dict[str, Member]:
    members: dict[str, Member] = {}
    for position, entry in enumerate(struct.fields):
        if not entry.is_field:
            continue
        document = entry.full
        found = [_member(draft, entry.key, document, position, struct)]
        found += [_bit_member(name, bit, position) for name, bit in (document.bits or {}).items()]
        if document.flatten:
            flattened = _flattened_members(draft, entry.key, document, position, seen)
            found[0] = replace(found[0], melts=True)
            found = flattened if any(each.name == entry.key for each in flattened) else [*found, *flattened]
        for member in found:
            known = members.get(member.name)
            members[member.name] = member if known is None else joined_members(known, member)
    return members


def _is_open(draft: Draft, struct: StructType, seen: frozenset[str]) -> bool:
    """Whether a struct flattens an unknown type, and so may have any member."""
    for entry in struct.fields:
        if entry.full.flatten:
            reached = reach(draft, entry.type)
            inner = {name: draft.content.types[name] for name in reached.structs if name not in seen}
            if reached.broken or any(
                isinstance(form, StructType) and _is_open(draft, form, seen | {name}) for name, form in inner.items()
            ):
                return True
    return False


def _flattened_members(
    draft: Draft, field: str, document: FieldDocument, position: int, seen: frozenset[str]
) -> list[Member]:
    """The members that a flattened field adds to its struct."""
    renamings = renaming_of(field, document)
    flattened: dict[str, Member] = {}
    for name in reach(draft, document.type).structs:
        form = draft.content.types[name]
        if name in seen or not isinstance(form, StructType):
            continue
        for inner in _members(draft, form, seen | {name}).values():
            member = replace(inner, name=renamed(renamings, inner.name), position=position)
            known = flattened.get(member.name)
            flattened[member.name] = member if known is None else joined_members(known, member)
    return list(flattened.values())


def joined_members(first: Member, second: Member) -> Member:
    """The joint knowledge about two fields of the same name."""
    values = (
        None if first.values is None or second.values is None else tuple(dict.fromkeys(first.values + second.values))
    )
    return Member(
        first.name,
        join_kinds(first.kind, second.kind),
        min(first.position, second.position),
        values,
        tuple(dict.fromkeys(first.structs + second.structs)),
        tuple(dict.fromkeys(first.elements + second.elements)),
        first.counted or second.counted,
        first.names if first.names == second.names else (),
        first.words if first.words == second.words else (),
        first.charset if first.charset == second.charset else "",
        first.element if first.element is second.element else Kind.ANY,
        first.obstacle or second.obstacle,
        broken=first.broken or second.broken,
    )


def join_kinds(first: Kind, second: Kind) -> Kind:
    """The kind of a value that has one of two kinds."""
    if first is second or second is Kind.NULL:
        return first
    return second if first is Kind.NULL else Kind.ANY


def _member(draft: Draft, name: str, document: FieldDocument, position: int, struct: StructType) -> Member:
    charset = _charset(document, struct)
    reached = reach(draft, document.type, charset=charset)
    if document.values is not None and is_closed(document):
        if reached.kind in _WITHOUT_VALUES:  # the elements have the values, or a report says that it cannot have any
            return Member(name, reached.kind, position, broken=reached.broken)
        kind, values = mapped_kind(document.values)
        values = values if values is None or document.null is None else tuple(dict.fromkeys((*values, None)))
        return Member(name, kind, position, values, obstacle="values")
    if document.refers is not None:
        kind, charset = _entry_kind(draft, document.refers)
        return Member(name, kind, position, charset=charset, obstacle="refers")
    coded = charset and reached.kind is Kind.LIST and reached.element is Kind.ANY
    renamings = renaming_of(name, document)
    return Member(
        name,
        reached.kind,
        position,
        _computed_values(draft, document.compute),
        () if renamings else reached.structs,  # its members have other names here
        reached.elements,
        document.counted,
        tuple(_names(document)) if is_open(document) and reached.kind is Kind.INTEGER else (),
        tuple(_words(document)) if is_open(document) and _is_text(reached, charset) else (),
        charset if reached.kind is Kind.BYTES else "",
        Kind.ANY if document.given & (_MEANING - {"default"}) else reached.element,  # a list cannot have a default
        next((key for key in _OBSTACLES if key in document.given), "charset" if coded else ""),
        renamings,
        broken=reached.broken,
    )


def _is_text(reached: Reach, charset: str) -> bool:
    """Whether a field is a text, possibly in another character set."""
    return reached.kind is Kind.TEXT or (reached.kind is Kind.BYTES and bool(charset))


def _charset(document: FieldDocument, struct: StructType) -> str:
    """The character set of a field's texts; empty for UTF-8."""
    if document.compute is not None or document.counted:
        return ""
    return constants.charset_of(struct.charset if document.charset is None else document.charset)


def is_open(document: FieldDocument | Bits) -> bool:
    """Whether `values` names some values and others are allowed too."""
    return document.values is not None and document.raw is not None


def is_closed(document: FieldDocument | Bits) -> bool:
    """Whether `values` lists all allowed values, and readers see only their meanings."""
    return document.values is not None and document.raw is None


def _names(document: FieldDocument | Bits) -> Iterator[tuple[int, str]]:
    for key, name in _words(document):
        number = integer(key)
        if number is not None:
            yield number, name


def _words(document: FieldDocument | Bits) -> Iterator[tuple[str, str]]:
    """The wire values of a table and their names, as written."""
    for key, value in (document.values or {}).items():
        name = value.value if isinstance(value, MappedValue) else value
        if isinstance(name, str):
            yield key, name


def _computed_values(draft: Draft, written: object) -> tuple[Scalar, ...] | None:
    """The possible values of a computed field, if its expression lists them."""
    if not isinstance(written, str):
        return None
    try:
        return possible_values(parse(written), draft.content.ranges)
    except ExpressionError:
        return None


def possible_values(
    expression: Expression, ranges: Mapping[str, list[NamedRange]] = MappingProxyType({})
) -> tuple[Scalar, ...] | None:
    """The possible values of a choice among literals and names of ranges; None for any other expression."""
    found: list[Scalar] = []
    for each in leaves(expression):
        match each:
            case Literal(value):
                found.append(value)
            case Call("rangeName", (_, Literal(str(name)))) if name in ranges:
                found += (*dict.fromkeys(each.name for each in ranges[name]), None)
            case _:
                return None
    return tuple(found)


def _bit_member(name: str, bit: str | int | Bits, position: int) -> Member:
    if isinstance(bit, Bits) and bit.values is not None and is_closed(bit):
        kind, values = mapped_kind(bit.values)
        return Member(name, kind, position, values)
    span = str(bit.at if isinstance(bit, Bits) else bit)
    if not _SPAN.fullmatch(span):
        return Member(name, Kind.ANY, position, broken=True)
    kind = Kind.INTEGER if ".." in span else Kind.BOOLEAN
    named = tuple(_names(bit)) if isinstance(bit, Bits) and kind is Kind.INTEGER else ()
    keys = {"hidden": bit.hidden, "derive": bit.derive, "raw": bit.raw} if isinstance(bit, Bits) else {}
    return Member(name, kind, position, names=named, obstacle=next((key for key in keys if keys[key]), ""))


def mapped_kind(values: Mapping[str, object]) -> tuple[Kind, tuple[Scalar, ...] | None]:
    """The kind of a table's meanings, and all meanings if they are literals."""
    leaves: list[Scalar] = []
    closed = True
    for value in values.values():
        found = mapped_leaves(value)
        closed = closed and found is not None
        leaves += found or ()
    kinds = {literal_kind(leaf) for leaf in leaves} - {Kind.NULL}
    kind = next(iter(kinds)) if len(kinds) == 1 and closed else Kind.ANY
    return kind, tuple(leaves) if closed else None


def mapped_leaves(value: object) -> tuple[Scalar, ...] | None:
    """The possible meanings of a table's entry; None if they depend on the record."""
    plain = value.value if isinstance(value, MappedValue) else value
    if plain is None or (isinstance(plain, int | float | str) and not is_computed(plain)):
        return (plain,)
    try:
        return possible_values(parse(str(plain)[1:]))
    except ExpressionError:
        return ()


def is_computed(value: object) -> bool:
    """Whether a table's entry is an expression."""
    return isinstance(value, str) and value.startswith("=")


def _entry_kind(draft: Draft, table: str) -> tuple[Kind, str]:
    """The kind of a table's entries, and the character set of their texts; ANY if tables with that name differ."""
    found = {
        _entry(draft, entry.full, struct)
        for struct in draft.content.types.values()
        if isinstance(struct, StructType)
        for entry in struct.fields
        if entry.is_field and entry.key == table
    }
    return found.pop() if len(found) == 1 else (Kind.ANY, "")


def _entry(draft: Draft, table: FieldDocument, struct: StructType) -> tuple[Kind, str]:
    match written(table.type) if isinstance(table.type, str) else None:
        case notation.Single(name="list", arguments=(element,)):
            charset = _charset(table, struct)
            kind = reach(draft, element.text, charset=charset).kind
            return kind, charset if kind is Kind.BYTES else ""
        case _:
            return Kind.ANY, ""
