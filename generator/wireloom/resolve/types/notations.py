"""Resolve types to wire types: notations, unions and their cases."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TypeVar

from wireloom.encodings import Encoding
from wireloom.expr.ast import Binary, Conditional, Expression, Kind, Literal, Membership
from wireloom.expr.types import a_kind
from wireloom.expr.types import kind as expression_kind
from wireloom.model import types
from wireloom.model.traversal import parts
from wireloom.model.types import Array, Blocks, Bytes, Integer, Nullable, PeekTag, Prefix, Scalar, Text, Type
from wireloom.names import type_name_flaw
from wireloom.numbers import integer, notation_of, respelled, respelled_ends
from wireloom.problems import nearest
from wireloom.resolve.bind import builtins, constants, notation
from wireloom.resolve.bind.draft import entries_of
from wireloom.resolve.bind.draft import written as parsed_text
from wireloom.resolve.bind.expressions import BROKEN, expression, expression_if_any
from wireloom.resolve.bind.foreign_types import hint_of_type
from wireloom.resolve.bind.named_versions import check_span, condition
from wireloom.resolve.bind.outline import reach
from wireloom.resolve.bind.scopes import Scope, word_named
from wireloom.resolve.bind.wording import ONLY_LAID_OUT
from wireloom.runtime.values import ENTRY
from wireloom.spec.documents import Place
from wireloom.spec.language import AttemptType, CaseOfVersions, OneOfType, SelectType
from wireloom.spec.language import MemberTag as MemberTagDocument
from wireloom.spec.language import PeekTag as PeekTagDocument
from wireloom.spec.language import Refusal as RefusalDocument

_BYTE = 8  # bits of a number that has no byte order
_NEAR = 0.75  # similarity of an unknown type to a misspelled name of one
_WIDEST = 64  # bits of a number on the wire
_HINT_OF_BLOCKS = "write blocks(uint8), or of a list whose blocks may have sizes, blocks(zigzag64, zigzag64)"
_RANGE = 256  # values of one range of cases
_SELECT_NOTHING = (Kind.FLOAT, Kind.LIST, Kind.RECORD, Kind.RANGE)
_PEEKED = re.compile(r"bytes\(([1-8])\)").fullmatch
_FITTING = ("nil", "json", "uint128")  # scalars whose use in a wrong encoding is reported elsewhere
_JSON_KINDS = ("object", "array", "any")
UNKNOWN = types.Null()  # in place of a type with a reported problem


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The context of a type: what names refer to, and how values are written."""

    scope: Scope
    encoding: Encoding
    order: types.NumberForm = types.NumberForm.OWN  # the byte order of numbers, if a struct or field states it
    count: Prefix | None = None  # the count before a list's elements, if the field states it
    delimiter: types.Delimiter | None = None  # after texts and bytes without a size
    fill: bytes | None = None  # the padding of texts and bytes of a constant size
    charset: str = ""  # of texts, if it is not UTF-8
    partial: bool = False  # whether types that are not whole bytes are allowed

    def reports(self, place: Place, id: str, message: str, hint: str = "", *, column: int = 0) -> None:
        """Report a problem of a value."""
        self.scope.draft.reports(place, id, message, hint, column=column)

    def refuses(self, place: Place, id: str, message: str, hint: str = "") -> None:
        """Report a problem of an entry, located at its key."""
        self.scope.draft.reports_entry(place, id, message, hint)


def type_of(around: Surroundings, place: Place, form: str | SelectType | OneOfType) -> Type:
    """The wire type of a field, a case or a root."""
    match form:
        case str():
            return type_of_text(around, place, form)
        case SelectType():
            return select_of(replace(around, partial=False), place, form)
        case OneOfType():
            return one_of_of(replace(around, partial=False), place, form, open=False)


# --- notation ------------------------------------------------------------------------------------------------------


def type_of_text(around: Surroundings, place: Place, text: str, column: int = 0) -> Type:
    """The wire type of a notation."""
    try:
        parsed = notation.parse(text, column)
    except notation.NotationError as error:
        around.reports(place, "type-syntax", error.message, error.hint, column=error.column)
        return UNKNOWN
    return _type(around, place, parsed)


def _type(around: Surroundings, place: Place, parsed: notation.Notation) -> Type:
    match parsed:
        case notation.Union(options):
            _require_form(around, place, "union", "a union", options[0])
            alternatives = tuple(
                types.Alternative(_alternative_name(option), _type(around, place, option)) for option in options
            )
            return types.OneOf(alternatives)
        case notation.Optional(type=single):
            return _optional(around, place, single)
        case notation.Single():
            return _single(around, place, parsed)


def _optional(around: Surroundings, place: Place, single: notation.Single) -> Type:
    """A type or null; in binary, a size or count prefix of -1 means null."""
    inner = _single(around, place, single)
    match inner:
        case Text(size=Prefix() as prefix) | Bytes(size=Prefix() as prefix) | Array(count=Prefix() as prefix):
            if prefix.number.signed:
                return Nullable(_with_null(inner, replace(prefix, null=True)))
            message = "null would be a size of -1, but this number is never negative"
            hint = "use a signed number: str(int16)?"
            around.reports(place, "wrong-shape", message, hint, column=single.column)
        case _:
            _require_form(around, place, "nil", "null", single)
    return Nullable(inner)


def _with_null(type: Text | Bytes | Array, prefix: Prefix) -> Type:
    return replace(type, count=prefix) if isinstance(type, Array) else replace(type, size=prefix)


def _alternative_name(option: notation.Single | notation.Optional) -> str:
    single = option.type if isinstance(option, notation.Optional) else option
    match single.name, single.arguments:
        case "ext", (code, *_):
            return f"ext {code.text.strip()}"
        case "json", (kind,):
            return f"json({kind.text.strip()})"
        case name, _:
            return name


def _require_form(
    around: Surroundings, place: Place, name: str, what: str, at: notation.Single | notation.Optional
) -> None:
    """Report a built-in type that the encoding lacks."""
    if flaw := builtins.flaw_of_form(name, what, around.encoding):
        column = at.type.column if isinstance(at, notation.Optional) else at.column
        around.reports(place, "wrong-encoding", *flaw, column=column)


def _single(around: Surroundings, place: Place, single: notation.Single) -> Type:
    name, arguments = single.name, single.arguments
    match name, arguments:
        case "list", (element,):
            inner = replace(around, count=None, partial=True)  # elements follow each other without gaps
            return Array(type_of_text(inner, place, element.text, element.column), around.count)
        case "map", (entry,):
            key = _key(around, entry)
            return Array(_argument(around, place, entry), around.count, key, "duplicate_key", entries=True)
        case "map", (key, value):
            _require_form(around, place, "map", "a map", single)
            return types.Map(_argument(replace(around, charset=""), place, key), _argument(around, place, value))
        case "ext", (code, content):
            return _extension(around, place, single, code, content)
        case "json", ():
            return types.JsonText()
        case "json", (word,):
            return _json_text(around, place, word)
        case "str" | "bytes", (size,):
            return _sized(around, place, name, size)
        case builtins.EXTENDED, _:
            return _extended(around, place, single)
        case (("list" | "map" | "ext"), _):
            forms = {"list": "list(TYPE)", "map": "map(KEY, VALUE) or map(ENTRY)", "ext": "ext(CODE, TYPE)"}
            message, hint = f"{name} with {len(arguments)} arguments", f"write {forms[name]}"
            around.reports(place, "type-syntax", message, hint, column=single.column)
            return UNKNOWN
        case _, ():
            return _named(around, place, single)
        case _ if name in builtins.TYPE_NAMES or name in around.scope.draft.content.types:
            around.reports(place, "type-syntax", f"{name} takes no arguments", f"write {name}", column=single.column)
            return UNKNOWN
        case _:
            return _named(around, place, single)


def _key(around: Surroundings, entry: notation.Argument) -> str:
    """The name that expressions use for the member that readers see as `key`."""
    fields = entries_of(around.scope.draft.content.types.get(entry.text.strip()))
    named = (each.key for each in fields if each.full.as_ == ENTRY[0])
    return next(named, ENTRY[0])


def _extended(around: Surroundings, place: Place, single: notation.Single) -> Type:
    _require_form(around, place, builtins.EXTENDED, builtins.EXTENDED, single)
    try:
        return _ordered(around, builtins.extended_of(single))
    except notation.NotationError as error:
        around.reports(place, "type-syntax", error.message, error.hint, column=error.column)
        return UNKNOWN


def _argument(around: Surroundings, place: Place, argument: notation.Argument) -> Type:
    return type_of_text(replace(around, partial=False), place, argument.text, argument.column)


def _named(around: Surroundings, place: Place, single: notation.Single) -> Type:
    draft = around.scope.draft
    forms = draft.content.types
    if single.name in builtins.SCALARS:
        if (name := builtins.builtin_of(single.name)) not in _FITTING:
            _require_form(around, place, name, single.name, single)
        if name == "bits" and around.encoding.laid_out and not around.partial:
            message = f"{single.name} is not a whole number of bytes"
            hint = "use it for fields next to others that fill its bytes, or for the elements of a list"
            around.reports(place, "wrong-shape", message, hint, column=single.column)
        if name == "digits" and around.encoding.laid_out:
            return _digits(around, place, single)
        return _delimited(around, _ordered(around, encoded(around.charset, builtins.SCALARS[single.name])))
    if single.name in forms:
        return types.Reference(single.name)
    if get_close_matches(single.name.lower(), [name.lower() for name in forms if type_name_flaw(name)], 1, _NEAR):
        draft.marks(place)  # the name is reported where it is defined
        return UNKNOWN
    if single.name == "any":
        message, hint = "only shared schemas have the type any", "name the alternatives in a `oneOf`"
        around.reports(place, "unknown-type", message, hint, column=single.column)
        return UNKNOWN
    if single.name == notation.BLOCKS:
        message, hint = f"{single.name} is not a type, but a kind of length", "write bytes(blocks(uint8))"
        around.reports(place, "unknown-type", message, hint, column=single.column)
        return UNKNOWN
    hint = hint_of_type(single.name, around.encoding, draft.content.types, draft.lent)
    around.reports(place, "unknown-type", f"there is no type {single.name}", hint, column=single.column)
    return UNKNOWN


def _ordered(around: Surroundings, type: Type) -> Type:
    """A built-in type with the current byte order, if it has a fixed size of several bytes or is a bit field."""
    match type:
        case types.Float() | Integer(form=types.NumberForm.OWN) if type.bits > _BYTE and around.encoding.laid_out:
            return replace(type, form=around.order)
        case Integer(is_partial=True) | types.Boolean(bit=True) if around.encoding.laid_out:
            return replace(type, form=around.order)
        case _:
            return type


def _delimited(around: Surroundings, type: Type) -> Type:
    """A text or bytes that end at the current delimiter, if there is one."""
    return replace(type, size=around.delimiter) if isinstance(type, Text | Bytes) and around.delimiter else type


def _digits(around: Surroundings, place: Place, single: notation.Single) -> Type:
    """Digits of variable length, which end at the current delimiter."""
    type = builtins.SCALARS[single.name]
    ending = b"" if around.delimiter is None else around.delimiter.data
    if not ending:
        if around.delimiter is None:
            message, hint = f"the digits of {single.name} have no end", "give it a `delimiter`"
            hint = f"{hint}, or a width: {single.name}4"
            around.reports(place, "wrong-shape", message, hint, column=single.column)
        return UNKNOWN
    return replace(type, ending=ending) if isinstance(type, Integer) else type


def _sized(around: Surroundings, place: Place, name: str, size: notation.Argument) -> Type:
    indent = len(size.text) - len(size.text.lstrip())
    amount = amount_of(around, place, size.text.strip(), size.column + indent)
    if isinstance(amount, Blocks) and amount.size is not None:
        message, hint = "bytes already have their size before them", "drop `count`, which is for elements"
        around.reports(place, "wrong-shape", message, hint, column=size.column + indent)
    if name == "str" and not around.charset and not around.encoding.laid_out:
        _refuse_size(around, place, size, amount)
        return Text()
    if around.fill is not None and isinstance(amount, Literal) and isinstance(amount.value, int) and amount.value >= 0:
        amount = types.Padded(amount.value, around.fill)
    return encoded(around.charset, Text(amount)) if name == "str" else Bytes(amount)


def _refuse_size(around: Surroundings, place: Place, size: notation.Argument, amount: types.Amount) -> None:
    """Report a size in bytes of a UTF-8 text whose encoding has its own lengths, unless the size is itself wrong."""
    if isinstance(amount, Prefix | Blocks) or amount is BROKEN:
        return
    stated = size.text.strip()
    message = f"str({stated}) has a size in bytes, but a text of {around.encoding.name} has its own length"
    length = f"{stated} .. {stated}" if stated.isdecimal() else "1 .. 80"
    hint = f"write str; to limit its characters, add `length: {length}`"
    around.reports(place, "wrong-encoding", message, hint, column=size.column)


def encoded(charset: str, type: Type) -> Type:
    """The bytes of a text that is in a character set."""
    return Bytes(type.size, charset=charset) if isinstance(type, Text) and charset else type


def is_encoded(type: Type) -> bool:
    """Whether texts of the type use the character set; true if a reported problem hides that."""
    match type:
        case Bytes(charset=str(charset)) if charset:
            return True
        case types.Map(value=value):
            return is_encoded(value)
        case _:
            return type is UNKNOWN or any(is_encoded(part) for part in parts(type))


def amount_of(around: Surroundings, place: Place, written: object, column: int = 0) -> types.Amount:
    """A size or count: an expression, or the integer type of a prefix."""
    if isinstance(written, str) and (blocks := notation.blocks(written, column)) is not None:
        return _blocks(around, place, blocks)
    found = prefix_of(around, written)
    if found is None:
        if isinstance(written, str) and written.startswith(f"{builtins.EXTENDED}("):
            type_of_text(around, place, written, column)
            return BROKEN
        if _names_a_type(around, written):
            message = f"{written} is not an integer of whole bytes"
            hint = "write one, such as uint8 or varint, or a field"
            around.reports(place, "wrong-shape", message, hint, column=column)
            return BROKEN
        if hint := _nearly_a_number(around, written):
            around.reports(place, "unknown-type", f"there is no type {written}", hint, column=column)
            return BROKEN
        return expression(around.scope, place, written, Kind.INTEGER, column)
    _require(around, place, f"a number in front ({written})", fits=around.encoding.laid_out)
    if around.scope.names_field(str(written)):
        message = f"{written} is both a type and a field here"
        around.reports(place, "ambiguous-name", message, "rename the field", column=column)
    return found


def _nearly_a_number(around: Surroundings, written: object) -> str:
    """A hint for a misspelled integer type in place of a size; empty if the word is not one."""
    if not isinstance(written, str) or around.scope.knows(written):
        return ""
    return builtins.nearly(written)


def _blocks(around: Surroundings, place: Place, single: notation.Single) -> types.Amount:
    """A value in blocks: each has a length prefix; for elements, a negative count is followed by the block's size."""
    _require(around, place, f"a number in front ({notation.BLOCKS})", fits=around.encoding.laid_out)
    number, *sizes = (_number_of_blocks(around, place, each) for each in single.arguments)
    size = sizes[0] if sizes else None
    if len(sizes) > 1:
        message = f"{notation.BLOCKS} with {len(single.arguments)} arguments"
        around.reports(place, "type-syntax", message, _HINT_OF_BLOCKS, column=single.column)
    if number is None or None in sizes:
        return BROKEN
    if size is not None and not number.signed:
        message = "a size follows a negative count, but this number is never negative"
        hint = "write zigzag64, int32 ..."
        around.reports(place, "wrong-shape", message, hint, column=single.arguments[0].column)
    return Blocks(number, size)


def _number_of_blocks(around: Surroundings, place: Place, argument: notation.Argument) -> Integer | None:
    found = prefix_of(around, argument.text.strip())
    if found is None:
        message = f"{argument.text.strip() or 'nothing'} is not an integer of whole bytes"
        around.reports(place, "wrong-shape", message, _HINT_OF_BLOCKS, column=argument.column)
    return None if found is None else found.number


def _names_a_type(around: Surroundings, written: object) -> bool:
    content = around.scope.draft.content
    if not isinstance(written, str) or around.scope.names_field(written) or written in content.parameters:
        return False
    return written in builtins.SCALARS or written in content.types


def prefix_of(around: Surroundings, written: object) -> Prefix | None:
    """The prefix if an integer type stands in place of a size or count; None for an expression."""
    type = _integer(around, written, frozenset()) if isinstance(written, str) else None
    if type is None or type.is_partial or type.bits > _WIDEST or type.is_endless:
        return None
    ordered = _ordered(around, type)
    return Prefix(ordered) if isinstance(ordered, Integer) else None


def plainly_named(around: Surroundings, type: Type, *, ordered: bool) -> Type:
    """Replace a name for an integer type by that type, with the current byte order if `ordered`."""
    match type:
        case Nullable(type=inner):
            return replace(type, type=plainly_named(around, inner, ordered=ordered))
        case types.Reference(name=name):
            found = _integer(around, name, frozenset())
            if found is None or found.digits or found.is_partial or found.is_endless:
                return type
            return _ordered(around, found) if ordered else found
        case _:
            return type


def _integer(around: Surroundings, text: str, seen: frozenset[str]) -> Integer | None:
    """The integer type of a text, or of a named type that only renames one."""
    match parsed_text(text):
        case notation.Single(builtins.EXTENDED, _) as single:
            try:
                return builtins.extended_of(single)
            except notation.NotationError:
                return None
        case notation.Single(name, ()) if name in builtins.SCALARS:
            type = builtins.SCALARS[name]
            return type if isinstance(type, Integer) else None
        case notation.Single(name, ()) if name in around.scope.draft.content.types and name not in seen:
            form = around.scope.draft.content.types[name]
            return _integer(around, form, seen | {name}) if isinstance(form, str) else None
        case _:
            return None


def _json_text(around: Surroundings, place: Place, word: notation.Argument) -> Type:
    kind = word.text.strip()
    if kind not in _JSON_KINDS:
        message, hint = f"json({kind}) is not a type", f"write json({'), json('.join(_JSON_KINDS)})"
        around.reports(place, "type-syntax", message, hint, column=word.column)
        return UNKNOWN
    return types.JsonText(kind)


def _extension(
    around: Surroundings, place: Place, single: notation.Single, code: notation.Argument, content: notation.Argument
) -> Type:
    _require_form(around, place, "ext", "ext", single)
    number = integer(code.text.strip())
    if number is None or not -128 <= number <= 127:
        hint = "begin with an integer from -128 to 127: ext(5, bytes)"
        around.reports(place, "type-syntax", f"{code.text.strip()} is not an ext type", hint, column=code.column)
        return UNKNOWN
    inner = _argument(around, place, content)
    if inner is UNKNOWN:
        return UNKNOWN
    if not isinstance(inner, Text | Bytes):
        message, hint = "the content of ext must be str or bytes", "write ext(CODE, bytes)"
        around.reports(place, "type-syntax", message, hint, column=content.column)
        return UNKNOWN
    return types.Extension(number, inner)


def _made_of(type: Type) -> Iterator[Type]:
    """A type and all parts of it, including prefixes, but not the types that names refer to."""
    yield type
    amount = getattr(type, "count", getattr(type, "size", None))
    numbers: tuple[types.Integer | None, ...] = ()
    if isinstance(amount, Blocks):
        numbers = amount.number, amount.size
    numbers = (amount.number,) if isinstance(amount, Prefix) else numbers
    if isinstance(type, types.Select) and isinstance(type.tag, PeekTag) and not type.tag.octets:
        numbers = (type.tag.type,)
    yield from (each for each in numbers if each is not None)
    for part in parts(type):
        yield from _made_of(part)


def has_order(type: Type) -> bool:
    """Whether the type contains a number with a stated byte order; true if a reported problem hides that."""
    ordered = Integer | types.Float | types.Boolean
    return any(each is UNKNOWN or (isinstance(each, ordered) and each.form in types.ORDERED) for each in _made_of(type))


def has_size(type: Type, kind: type[types.Delimiter | types.Padded]) -> bool:
    """Whether the type contains a text or bytes with this kind of size; true if a reported problem hides that."""
    sized = any(each is UNKNOWN or isinstance(getattr(each, "size", None), kind) for each in _made_of(type))
    return sized or (kind is types.Delimiter and has_digits(type))


def has_digits(type: Type) -> bool:
    """Whether the type contains digits of variable length."""
    return any(isinstance(each, Integer) and bool(each.ending) for each in _made_of(type))


# --- unions --------------------------------------------------------------------------------------------------------

_Case = TypeVar("_Case", bound=str | CaseOfVersions | RefusalDocument)


@dataclass(frozen=True, slots=True)
class _Keys:
    """The allowed keys of cases: values of the tag's kind, only the `known` ones if these are listed."""

    kind: Kind
    known: tuple[Scalar, ...] | None = None
    charset: str = ""
    names: tuple[tuple[int, str], ...] = ()  # names of numbers; other numbers are allowed too
    words: tuple[tuple[str, str], ...] = ()  # names of texts; other texts are allowed too


def one_of_of(around: Surroundings, place: Place, form: OneOfType, *, open: bool) -> types.OneOf:
    """A union whose alternatives are told apart by the kind of the wire value."""
    if not around.encoding.tells_kinds:
        hint = "use `select`"
        around.reports(place, "wrong-encoding", f"values of {around.encoding.name} do not show their type", hint)
    alternatives = tuple(
        types.Alternative(name, type_of_text(around, place / "oneOf" / name, text))
        for name, text in form.one_of.items()
    )
    return types.OneOf(alternatives, open, form.else_ or "type_mismatch", form.ext_else or "type_mismatch")


def select_of(around: Surroundings, place: Place, form: SelectType) -> types.Select:
    """A union selected by a tag."""
    tag, tag_type = _tag(around, place / "select", form)
    keys = _keys(around, tag.expression) if isinstance(tag, types.FieldTag) else _Keys(tag_type)
    cases = list[types.Case]()
    of_versions: dict[Expression, tuple[Scalar, ...]] = {}
    peeked = tag if isinstance(tag, PeekTag) else None
    for where, case, values in _listed(around, place, form.cases, keys, peeked):
        if isinstance(case, CaseOfVersions) and (has := _has_case(around, where, case, tag)) is not None:
            of_versions[has] = (*of_versions.get(has, ()), *values)
        cases.append(types.Case(values, _case_type(around, where, case)))
    if form.otherwise is not None:
        _check_otherwise(around, place, form)
        cases.append(types.Case((), type_of_text(around, place / "otherwise", form.otherwise)))
    tag = _of_versions(tag, of_versions) if isinstance(tag, types.FieldTag) else tag
    notation = keys.charset or notation_of(" ".join(form.cases))
    return types.Select(tag, tuple(cases), form.else_ or "unknown_case", notation)


def _listed(
    around: Surroundings, place: Place, cases: Mapping[str, _Case], keys: _Keys, peeked: PeekTag | None = None
) -> Iterator[tuple[Place, _Case, tuple[Scalar, ...]]]:
    """The cases with their places and tag values; reports values that select two cases."""
    taken: dict[tuple[type, Scalar], str] = {}
    for text, case in cases.items():
        where = place / "cases" / text
        values = _case_values(around, where, _renamed(text, keys.names), keys)
        values = values if peeked is None else _peeked(around, where, values, peeked)
        for value in values:
            if (type(value), value) in taken:
                message = f"{value!s} already selects {taken[type(value), value]}"
                around.refuses(where, "duplicate-case", message, "list each value once")
            taken[type(value), value] = case.type if isinstance(case, CaseOfVersions) else str(case)
        yield where, case, values


def _has_case(
    around: Surroundings, place: Place, case: CaseOfVersions, tag: types.FieldTag | PeekTag | types.MemberTag
) -> Expression | None:
    """The condition for the versions that have a case; None if all have it, or a mistake was reported."""
    draft = around.scope.draft
    order = () if draft.versions is None else draft.versions.names
    if not check_span(draft, place, order, case.since, case.until) or draft.versions is None:
        return None
    if not isinstance(tag, types.FieldTag):
        message, hint = "only cases that a field selects can have versions", "make the tag a field, and `select` by it"
        draft.reports_entry(place, "conflicting-keys", message, hint)
        return None
    text = condition(draft.versions, case.since, case.until)
    if not text or tag.expression is BROKEN:
        return None
    return expression(around.scope, place / ("since" if case.since else "until"), text, Kind.BOOLEAN)


def _of_versions(tag: types.FieldTag, cases: Mapping[Expression, tuple[Scalar, ...]]) -> types.FieldTag:
    """The tag, which is null for a case that the record's version does not have."""
    found = tag.expression
    for has, values in cases.items():
        listed = tuple(value for value in values if not isinstance(value, float))
        is_of_case = (
            Binary("==", tag.expression, Literal(listed[0])) if len(listed) == 1 else Membership(tag.expression, listed)
        )
        found = Conditional(Conditional(has, Literal(value=False), is_of_case), Literal(None), found)
    return types.FieldTag(found)


def chosen_by(
    around: Surroundings, place: Place, select: object, cases: Mapping[str, str]
) -> tuple[Expression, tuple[tuple[tuple[Scalar, ...], str], ...]]:
    """A tag, and the words with the tag values that select them."""
    tag = _selecting(around, place / "select", select)
    keys = _keys(around, tag)
    return tag, tuple((values, word) for _, word, values in _listed(around, place, cases, keys))


def hint_of_member(name: str) -> str:
    """A hint to select by a field in place of a member."""
    return f"make the member a field, and the union a second field: `select: {name}` with `inline` and `flatten`"


def _check_otherwise(around: Surroundings, place: Place, form: SelectType) -> None:
    if isinstance(form.select, MemberTagDocument):
        name = form.select.member
        around.refuses(
            place / "otherwise", "wrong-encoding", "a union by `member` has no `otherwise`", hint_of_member(name)
        )
    if form.else_ is not None:
        around.refuses(place / "else", "conflicting-keys", "`else` beside `otherwise`", "drop one of them")


def _case_type(
    around: Surroundings, place: Place, case: str | CaseOfVersions | RefusalDocument
) -> Type | types.Refusal:
    match case:
        case RefusalDocument(error=code):
            return types.Refusal(code)
        case CaseOfVersions(type=text):
            return type_of_text(around, place / "type", text)
        case _:
            return type_of_text(around, place, case)


def _tag(
    around: Surroundings, place: Place, form: SelectType
) -> tuple[types.FieldTag | PeekTag | types.MemberTag, Kind]:
    """The tag and the kind of its values."""
    match form.select:
        case PeekTagDocument(peek=name):
            _require(around, place, "`peek`", around.encoding.choice, fits=around.encoding.laid_out)
            if (width := _PEEKED(name)) is not None:
                return PeekTag(
                    Integer(_BYTE * int(width[1]), signed=False, form=types.NumberForm.BIG), octets=True
                ), Kind.BYTES
            peeked = _ordered(around, builtins.SCALARS.get(name, UNKNOWN))
            if not isinstance(peeked, Integer) or not peeked.is_plain or peeked.is_partial or peeked.bits > 64:
                message, hint = f"{name} is not an integer type", "write int8, uint16, bytes(4) ..."
                around.reports(place / "peek", "unknown-type", message, hint)
                peeked = Integer(8, signed=True)
            return PeekTag(peeked), Kind.INTEGER
        case MemberTagDocument() as member:
            _require(around, place, "`member`", around.encoding.choice, fits=around.encoding.text)
            if member.presence and "default" in member.model_fields_set:
                message, hint = "`default` beside `presence`", "drop it: a missing member selects `false`"
                around.refuses(place / "default", "conflicting-keys", message, hint)
            kind = Kind.BOOLEAN if member.presence else constants.kind(member.default)
            required = not member.presence and "default" not in member.model_fields_set
            return types.MemberTag(member.member, member.presence, member.default, required), kind
        case written:
            resolved = _selecting(around, place, written)
            return types.FieldTag(resolved), Kind.ANY if resolved is BROKEN else expression_kind(resolved)


def _selecting(around: Surroundings, place: Place, written: object) -> Expression:
    """An expression that is allowed as a tag."""
    tag = expression(around.scope, place, written, Kind.ANY)
    found = Kind.ANY if tag is BROKEN else expression_kind(tag)
    if found in _SELECT_NOTHING:
        hint = "select by an integer, a boolean, a text or bytes"
        message = f"{written} is {a_kind(found)}, which cannot select a case"
        around.reports(place, "expression-type", message, hint)
        return BROKEN
    return tag


def _require(around: Surroundings, place: Place, what: str, hint: str = ONLY_LAID_OUT, *, fits: bool) -> None:
    if not fits:
        around.reports(place, "wrong-encoding", f"{what} has no meaning in {around.encoding.name}", hint)


def _keys(around: Surroundings, tag: Expression) -> _Keys:
    """The allowed keys of cases for a tag."""
    scope = around.scope
    if tag is BROKEN or not scope.is_sound(tag):
        return _Keys(Kind.ANY)
    known = scope.known(tag)
    return _Keys(expression_kind(tag), scope.values(tag), scope.charset(tag), known.names, known.words)


_OTHERWISE = ("default", "_", "*", "else", "other", "others", "any")
_DASHED = re.compile(r"([0-9]+|0x[0-9a-fA-F]+)\s*(?:-|\.\.\.|to)\s*([0-9]+|0x[0-9a-fA-F]+)")


_TRUTHS = dict.fromkeys(("yes", "on", "1", "true"), "true") | dict.fromkeys(("no", "off", "0", "false"), "false")


def _instead(word: str, kind: Kind) -> str:
    """A hint for a key of `cases` that is not a value of the tag."""
    if word in _OTHERWISE:
        return "for all other values, write `otherwise` beside `cases`"
    if kind is Kind.BOOLEAN and word.lower() in _TRUTHS:
        return f"write {_TRUTHS[word.lower()]}"
    if kind is Kind.INTEGER and (ends := _DASHED.fullmatch(word)) is not None:
        return f"write a range as {ends[1]} .. {ends[2]}"
    return respelled(word) if kind is Kind.INTEGER else ""


def _case_values(around: Surroundings, place: Place, text: str, keys: _Keys) -> tuple[Scalar, ...]:
    """The tag values of a key of `cases`."""
    values: list[Scalar] = []
    if place.key is None and (keys.kind is Kind.TEXT or keys.charset):
        message, hint = "null selects no case", 'put it into quotes for the text "null"'
        around.refuses(place, "bad-case", message, hint)
    for word in _words(around, place, text, keys):
        if ".." in word and keys.kind in (Kind.INTEGER, Kind.ANY):
            values += _range_values(around, place, word)
            continue
        value = constants.value(word, keys.kind, keys.charset)
        if value is constants.NONE:
            hint = _instead(word, keys.kind)
            if keys.kind is Kind.BYTES and not keys.charset:
                hint = "write bytes in hexadecimal, without 0x"
            message = f"{word} is not {keys.charset or keys.kind.value}, but the tag is"
            if keys.names:
                message, hint = f"{word} is not a name of the tag", nearest(word, (name for _, name in keys.names))
            around.refuses(place, "bad-case", message, hint)
        elif keys.known is not None and value not in keys.known:
            texts = [str(each) for each in keys.known]
            around.refuses(place, "bad-case", f"the tag is never {word}", nearest(word, texts))
        elif hint := word_named(word, keys.words):
            around.refuses(place, "bad-case", f"'{word}' is the name that readers see for the tag", hint)
        else:
            values.append(value)  # type: ignore[arg-type]
    return tuple(values)


def _words(around: Surroundings, place: Place, text: str, keys: _Keys) -> Iterator[str]:
    """The words of a key, separated by commas; blanks are significant only in a key that is a single text."""
    texts = keys.kind is Kind.TEXT or bool(keys.charset)
    if texts and ("," not in text or text in (keys.known or ())):
        yield text
        return
    for position, part in enumerate(text.split(",")):
        word = part.strip()
        if texts and word != (part.lstrip() if position else part):
            hint = "give it its own key, which keeps the blanks, or drop them"
            around.refuses(place, "bad-case", f"{part!r} begins or ends with blanks", hint)
        yield word


def _peeked(around: Surroundings, place: Place, values: tuple[Scalar, ...], tag: PeekTag) -> tuple[Scalar, ...]:
    """Convert peeked bytes to big-endian numbers."""
    width = tag.type.bits // _BYTE
    for value in values:
        if isinstance(value, bytes) and len(value) != width:
            message, hint = f"{value.hex()} has {len(value)} bytes", f"the tag is bytes({width})"
            around.refuses(place, "bad-case", message, hint)
        elif isinstance(value, int) and not tag.type.minimum <= value <= tag.type.maximum:
            hint = f"it is {tag.type.minimum} to {tag.type.maximum}"
            around.refuses(place, "bad-case", f"the tag is never {value}", hint)
    return tuple(int.from_bytes(value, "big") if isinstance(value, bytes) else value for value in values)


def _renamed(text: str, names: tuple[tuple[int, str], ...]) -> str:
    """Replace names in a key of `cases` by their numbers."""
    words = [text] if text in {name for _, name in names} else [word.strip() for word in text.split(",")]
    found = ([str(number) for number, name in names if name == word] or [word] for word in words)
    return ", ".join(each for numbers in found for each in numbers) if names else text


def _range_values(around: Surroundings, place: Place, word: str) -> range:
    """The values of `1 .. 9`."""
    low, high = (integer(part.strip()) for part in word.split("..", 1))
    if low is None or high is None or not low <= high < low + _RANGE:
        hint = respelled_ends(word) or f"write `1 .. 9`, with at most {_RANGE} values, or use `otherwise`"
        around.refuses(place, "bad-case", f"{word} is not a range of cases", hint)
        return range(0)
    return range(low, high + 1)


def attempt_of(around: Surroundings, place: Place, form: AttemptType) -> types.Attempt:
    """Alternatives for the same bytes, with unique names."""
    names = [trial.name for trial in form.attempt]
    for index, name in enumerate(names):
        if name in names[:index]:
            message = f"two alternatives are named {name}"
            hint = "rename one: the name shows which one a record has"
            around.reports(place / "attempt" / index / "name", "duplicate-case", message, hint)
    return types.Attempt(
        tuple(_trial(around, place / "attempt" / index, form, index) for index in range(len(form.attempt))),
        form.kind or "",
        form.reason or "",
    )


def _trial(around: Surroundings, place: Place, form: AttemptType, index: int) -> types.Trial:
    trial = form.attempt[index]
    structs = reach(around.scope.draft, trial.type).structs
    fallbacks = tuple(
        types.Fallback(
            tuple(fallback.codes),
            expression_if_any(around.scope.parameters_only(), place / "fallback" / number / "when", fallback.when),
        )
        for number, fallback in enumerate(trial.fallback)
    )
    build_when = expression_if_any(
        around.scope.parameters_only().within(structs), place / "buildWhen", trial.build_when
    )
    return types.Trial(trial.name, type_of_text(around, place / "type", trial.type), fallbacks, build_when)


# --- changes to a type ---------------------------------------------------------------------------------------------

_Changed = TypeVar("_Changed", Integer, Bytes, Array)


def with_inner(type: Type, wanted: type[_Changed], change: Callable[[_Changed], Type]) -> Type | None:
    """Change the innermost `wanted` type, through null and lists; None if there is none."""
    match type:
        case Nullable(inner):
            changed = with_inner(inner, wanted, change)
            return None if changed is None else Nullable(changed)
        case _ if isinstance(type, wanted):
            return change(type)
        case Array(element=inner):
            changed = with_inner(inner, wanted, change)
            return None if changed is None else replace(type, element=changed)
        case _:
            return None
