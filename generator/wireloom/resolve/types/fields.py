"""Resolve a field: every key is read for the field's type and its encoding."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from wireloom import names
from wireloom.encodings import Form
from wireloom.expr import ast
from wireloom.expr.ast import Binary, Call, Expression, FieldRef, Kind, Literal, MarkRef, Position, Unary, references
from wireloom.expr.types import SIZE_OF_RECORDS
from wireloom.model import types
from wireloom.model.types import Delimiter, Field, Held, Type, not_null
from wireloom.model.types import Mapping as ValueMapping
from wireloom.numbers import notation_of
from wireloom.resolve.bind import builtins, constants
from wireloom.resolve.bind.expressions import BROKEN, expression_if_any
from wireloom.resolve.bind.outline import is_open, mapped_kind
from wireloom.resolve.bind.scopes import MeaningError, Scope
from wireloom.resolve.types.bits import bits_of
from wireloom.resolve.types.checksums_and_tables import checksum_of, is_table, table_reference_of
from wireloom.resolve.types.conversions import meaning_of, null_of
from wireloom.resolve.types.key_combinations import check_form, check_keys
from wireloom.resolve.types.notations import (
    UNKNOWN,
    Surroundings,
    amount_of,
    has_digits,
    has_order,
    has_size,
    is_encoded,
    plainly_named,
    prefix_of,
    type_of,
)
from wireloom.resolve.types.type_keys import GROUP, adorned, check_ending, packing_of
from wireloom.resolve.types.value_limits import (
    KEYS_OF_ELEMENTS,
    bounds_of,
    check_element_keys,
    holding,
    single_of,
    spelling_of,
    stated_value,
    with_keys,
)
from wireloom.resolve.types.value_tables import check_null, mappings_of
from wireloom.runtime.primitives.charsets import unit
from wireloom.spec.documents import Place
from wireloom.spec.language import FieldDocument

_NO_ORDER = ("no number here has several bytes", "drop `byteOrder`, or write it where the numbers are")
_NO_TEXT = ("nothing here is a text", "drop `charset`, or write it where the texts are")
_NO_PADDING = (
    "`pad` needs a text or bytes of a constant size",
    "write str(8) or bytes(8), or drop `pad`; after a computed size, add a hidden field of bytes",
)
_MOST_DELIMITERS = 8  # of one value
_LONGEST_BEHIND_DIGITS = 2  # bytes of a delimiter
_MOST_LOST = 2**31 - 1  # elements of a list; a record has at most this many bytes
_OF_VALUES = {*KEYS_OF_ELEMENTS, "charset", "logical", "const", "null", "raw", "delimiter", "pad", "byteOrder"}
_IN_NUMBERS = frozenset("+-0123456789ABCDEFabcdef")


def field_of(around: Surroundings, place: Place, name: str, document: str | FieldDocument, form: Form) -> Field:
    """The field of an item of `fields`."""
    flaw = names.field_name_flaw(name)
    if flaw:
        around.refuses(place, "bad-name", f"{name} cannot be the name of a field", flaw)
    full = FieldDocument(type=document) if isinstance(document, str) else document
    at = place if isinstance(document, str) else place / "type"
    check_keys(around, place, full)
    around = _stated(around, place, full)
    stated = _field(around, place, name, full, _type(around, place, at, full))
    check_form(around, place, stated, full, form)
    if form is not Form.OBJECT or not stated.on_wire:
        return stated
    return replace(stated, member=name if full.member is None else full.member)


def _stated(around: Surroundings, place: Place, document: FieldDocument) -> Surroundings:
    """The surroundings with what the field states about its type: byte order, charset, count, delimiter, padding."""
    if document.compute is not None or document.counted:
        return replace(around, order=types.NumberForm.OWN, charset="")
    if document.byte_order is not None:
        around = replace(around, order=types.NumberForm(document.byte_order))
    if document.charset is not None:
        around = replace(around, charset=constants.charset_of(document.charset))
    around = replace(around, count=prefix_of(around, document.count), delimiter=_delimiter(around, place, document))
    return around if document.pad is None else replace(around, fill=_fill(around, place / "pad"))


def _fill(around: Surroundings, place: Place) -> bytes:
    """The padding: one byte, or as many as a character has."""
    data, width = constants.hexadecimal(place.text), unit(around.charset)
    if isinstance(data, bytes) and len(data) == width:
        return data
    what, hint = ("one byte", "write 00, 20 ...") if width == 1 else ("two bytes", "write 0000, 2000 ...")
    around.reports(place, "bad-const", f"{place.text or 'nothing'} is not {what} in hexadecimal", hint)
    return bytes(width)


def _delimiter(around: Surroundings, place: Place, document: FieldDocument) -> Delimiter | None:
    if document.delimiter is None:
        return None
    found = [_ending(around, at) for at in _delimiter_places(place, document)] or [b""]
    delimiter = Delimiter(
        found[0], document.else_ or "", unit(around.charset), others=tuple(found[1:]), kept=document.kept
    )
    if document.escape is None:
        return delimiter
    escape, escaped = constants.escapes(around.scope.draft, place, document.escaped)
    return replace(delimiter, escape=escape, escaped=escaped)


def _delimiter_places(place: Place, document: FieldDocument) -> list[Place]:
    """The places of the delimiters: a single one, or each of a list."""
    stated = document.delimiter
    if not isinstance(stated, list):
        return [place / "delimiter"]
    return [place / "delimiter" / index for index in range(len(stated))]


def _ending(around: Surroundings, place: Place) -> bytes:
    data = constants.hexadecimal(place.text)
    if isinstance(data, bytes) and len(data) % unit(around.charset):
        message, hint = f"{place.text} is not a whole number of characters", "write 0000, 0d000a00 ..."
        around.reports(place, "bad-const", message, hint)
    return data if isinstance(data, bytes) else b""


def _check_delimiter(around: Surroundings, place: Place, document: FieldDocument, delimiter: Delimiter) -> None:
    """Report delimiters and escapes that leave the end of a value ambiguous."""
    found, places = (delimiter.data, *delimiter.others), _delimiter_places(place, document)
    for at, data in zip(places, found, strict=False):
        check_ending(around, at, data)
    if not 0 < len(places) <= _MOST_DELIMITERS:
        message, hint = f"{len(places)} delimiters", f"state 1 to {_MOST_DELIMITERS}"
        around.refuses(place / "delimiter", "wrong-shape", message, hint)
    elif all(found) and (flaw := delimiter.ending.flaw()):
        around.refuses(place / "delimiter", "conflicting-keys", *flaw)
    elif all(found) and (flaw := delimiter.ending.flaw_of_escape()):
        around.reports(place / "escape", "conflicting-keys", *flaw)


def _type(around: Surroundings, place: Place, at: Place, document: FieldDocument) -> Type:
    """The type of a field."""
    type = type_of(replace(around, partial=True), at, document.type)
    type = plainly_named(around, type, ordered=document.byte_order is not None)
    if (named := _named_value(around, document, type)) is not None:
        key, name, written = named
        message = f"{name} is a name for {written}, and a name does not accept `{key}`"
        around.refuses(place / key, "wrong-shape", message, f"write {written} here")
        return UNKNOWN
    region = prefix_of(around, document.size)
    ordered = document.byte_order is None or has_order(type) or (region is not None and has_order(region.number))
    coded = document.charset in (None, constants.UTF8) or is_encoded(type)
    for key, fine, message, hint in (
        ("byteOrder", ordered or not around.encoding.laid_out, *_NO_ORDER),
        ("charset", coded, *_NO_TEXT),
        ("pad", around.fill is None or has_size(type, types.Padded), *_NO_PADDING),
    ):
        if not fine:
            around.refuses(place / key, "wrong-shape", message, hint)
    if around.delimiter is not None:
        _check_delimiter(around, place, document, around.delimiter)
        if not has_size(type, Delimiter):
            message = "`delimiter` needs a text, bytes or digits without a size"
            hint = "a list ends at a `terminator`" if isinstance(not_null(type), types.Array) else "drop `delimiter`"
            around.refuses(place / "delimiter", "wrong-shape", message, hint)
        elif has_digits(type):
            _check_digits(around, place, around.delimiter)
    return type


def _named_value(around: Surroundings, document: FieldDocument, type: Type) -> tuple[str, str, str] | None:
    """A key that a field with a named type must not have, the type's name, and its meaning; None if all is well."""
    plain = not_null(type)
    inner = plain.element if isinstance(plain, types.Array) and document.given & {*KEYS_OF_ELEMENTS} else plain
    written = around.scope.draft.content.types.get(inner.name) if isinstance(inner, types.Reference) else None
    given = document.given & _OF_VALUES - ({"charset"} if document.charset == constants.UTF8 else set())
    if not isinstance(written, str) or not isinstance(inner, types.Reference) or not given:
        return None
    return min(given), inner.name, written


def _check_digits(around: Surroundings, place: Place, delimiter: Delimiter) -> None:
    """Report delimiters that cannot follow digits."""
    ending = delimiter.data
    if not delimiter.is_plain:
        message = "digits need one delimiter that is not a digit, without other keys"
        hint = "drop the other keys about the delimiter"
        around.refuses(place / "delimiter", "conflicting-keys", message, hint)
    elif not 0 < len(ending) <= _LONGEST_BEHIND_DIGITS or chr(ending[0]) in _IN_NUMBERS:
        message = f"{ending.hex()} cannot end digits"
        hint = "use one or two bytes, the first neither a digit nor a sign"
        around.reports(place / "delimiter", "bad-const", message, hint)


def _field(around: Surroundings, place: Place, name: str, document: FieldDocument, type: Type) -> Field:
    scope = around.scope
    late = scope.whole()
    type = adorned(around, place, document, type)
    if document.counted and type is not UNKNOWN:
        _check_counted(around, place / "counted", type)
    single = single_of(type)
    minimum, maximum = bounds_of(around, place / "range", document.range, single)
    spelling = spelling_of(around, place, document, type if document.logical else single)
    held = Held(_code(document, single), None, minimum, maximum, spelling)
    mappings = _mappings(around, place, document, single, held)
    meaning = meaning_of(around, place, document, type, held)
    held = replace(held, mappings=mappings)
    if (
        single is type
        and mappings
        and isinstance(type, types.Nullable)
        and all(each.wire is not None for each in mappings)
    ):
        message, hint = "the type allows null, but `values` has no null", "drop the `?`, or add `null: null`"
        around.refuses(place / "values", "conflicting-keys", message, hint)
    if single is not type:
        check_element_keys(around, place, document, single, mappings)
        type, held = holding(type, held), Held(_code(document, type, without=KEYS_OF_ELEMENTS))
    keyed = isinstance(not_null(type), types.Map)
    return Field(
        name=document.as_ or name,
        wire_name=name,
        type=with_keys(type, spelling, held.code) if keyed else type,
        doc=document.doc,
        unit=document.unit,
        code=held.code,
        at=expression_if_any(scope, place / "at", document.at, Kind.INTEGER),
        size=None if document.size is None else _region(around, place / "size", document.size),
        packing=packing_of(around, place / "unpack", document, type),
        when=expression_if_any(scope, place / "when", document.when, Kind.BOOLEAN),
        presence=types.Presence.OPTIONAL if document.optional or document.one_of else types.Presence.REQUIRED,
        default=_default(around, place, document, type, held, meaning),
        has_default=document.default is not None or _defaults_to_null(document, held),
        const=_known_constant(around, place / "const", document, type, held),
        mappings=held.mappings,
        meaning=meaning,
        minimum=held.minimum,
        maximum=held.maximum,
        spelling=None if keyed else held.spelling,
        bits=bits_of(around, place / "bits", document, type),
        derive=_derived(late, place / "derive", document.derive, type, document),
        compute=expression_if_any(scope, place / "compute", document.compute, _kind(type)),
        checksum=checksum_of(around, place, name, document, type),
        refers=table_reference_of(around, place / "refers", document, type),
        table=is_table(around, place / "table", document, type),
        flatten=bool(document.flatten),
        inline=document.inline,
        counted=document.counted,
        hidden=document.hidden,
        tag=document.tag or 0,
        one_of=document.one_of or "",
        group=document.wire == GROUP,
        since=document.since or "",
        until=document.until or "",
        base=_base(around, place / "from", document),
        notation=_notation(place, document),
    )


def _notation(place: Place, document: FieldDocument) -> str:
    """The notation of the field's constant or range."""
    stated = "const" if document.const is not None else "range"
    return notation_of((place / stated).text) if getattr(document, stated) is not None else ""


def _check_counted(around: Surroundings, place: Place, type: Type) -> None:
    """A counter must be an integer that can count all elements a list may lose."""
    if not (isinstance(type, types.Integer) and type.is_plain):
        message = "a counter must be an integer"
    elif type.maximum < _MOST_LOST:
        message = f"a list may lose more than {type.maximum} elements"
    else:
        return
    around.refuses(place, "wrong-shape", message, "give it the type int64")


def _base(around: Surroundings, place: Place, document: FieldDocument) -> str:
    """The mark that the offset counts from."""
    if document.base is None or not around.encoding.laid_out:
        return ""
    try:
        around.scope.check_base(document.base)
    except MeaningError as error:
        around.reports(place, error.id, error.message, error.hint)
    return document.base  # an unknown mark is not the start of the struct either


def _region(around: Surroundings, place: Place, written: object) -> types.Amount:
    """The bytes of a region, which cannot be in blocks."""
    size = amount_of(around, place, written)
    if isinstance(size, types.Blocks):
        hint = f"write bytes({written}) or str({written}), without `size`"
        around.reports(place, "wrong-shape", "a region cannot be in blocks", hint)
        return BROKEN
    return size


# --- parts ---------------------------------------------------------------------------------------------------------


def _mappings(
    around: Surroundings, place: Place, document: FieldDocument, type: Type, held: Held
) -> tuple[ValueMapping, ...] | None:
    """The allowed values and their meanings; the value of `null` means null."""
    if document.values is None or is_open(document):
        return None
    found = mappings_of(around.scope, place / "values", document.values, type)
    null = null_of(around, place, document, type, held)
    if null is not None:
        check_null(around.scope, place / "null", null, found)
        found = (*found, ValueMapping(null, Literal(None)))
    if _has_several_sizes(type, found) and any(map(_depends_on_offsets, found)):
        message = "the meaning of a value depends on an offset, and the offset on the sizes of the values"
        hint = "use a `compute` field after it"
        around.refuses(place / "values", "conflicting-keys", message, hint)
    return found


def _has_several_sizes(type: Type, mappings: Sequence[ValueMapping]) -> bool:
    """Whether the values of the field have different sizes."""
    if isinstance(type, types.Integer):
        return type.width is None
    return len({len(each.wire) for each in mappings if isinstance(each.wire, str | bytes)}) > 1


def _depends_on_offsets(mapping: ValueMapping) -> bool:
    """Whether the meaning of a value depends on an offset or the size of the record."""
    return any(isinstance(each, Position | MarkRef) for each in references(mapping.value))


def _derived(scope: Scope, place: Place, written: object, type: Type, document: FieldDocument) -> Expression | None:
    """The expression that builders derive the value from; for a value table it gives the meaning."""
    mapped = document.values is not None and not is_open(document)
    wanted = mapped_kind(document.values or {})[0] if mapped else _kind(type)
    found = expression_if_any(scope, place, written, wanted)
    if found is not None and (name := _measured_record(scope, found)):
        message = f"len takes a text or bytes, and {name} may be a record"
        scope.draft.reports(place, "expression-type", message, SIZE_OF_RECORDS)
        return BROKEN
    return found


def _measured_record(scope: Scope, expression: Expression) -> str:
    """A name in `len` that may be a record; empty if there is none."""
    match expression:
        case Call("len", (FieldRef(name=name) as field,)):
            return name if scope.may_be_record(field) else ""
        case Binary() | Unary():
            return next((name for part in ast.parts(expression) if (name := _measured_record(scope, part))), "")
        case _:
            return ""


def _kind(type: Type) -> Kind:
    """The kind of a type's values; any kind if the type has a reported mistake."""
    if type is UNKNOWN:
        return Kind.ANY
    return builtins.kind(not_null(type))


def _code(document: FieldDocument, type: Type, without: Collection[str] = ()) -> str:
    """The error code of the field's own check; empty if it has no check."""
    given = document.model_fields_set - ({"values"} if is_open(document) else set()) - set(without)
    defaults = {
        "const": "bad_constant",
        "values": "unknown_value",
        "range": "out_of_range",
        "length": "bad_text",
        "pattern": "bad_text",
        "logical": "bad_text" if isinstance(not_null(type), types.Text) else "out_of_range",
        "size": "bad_region",
    }
    own = next((code for key, code in defaults.items() if key in given), "")
    return (document.else_ or own) if own else ""


def _known_constant(
    around: Surroundings, place: Place, document: FieldDocument, type: Type, held: Held
) -> types.Scalar:
    """The constant, which must be a possible value of the field."""
    written = document.const
    if written is not None and isinstance(not_null(type), types.JsonText):
        message = "JSON has no constants, since it can be written in several ways"
        hint = "give the field the value's type"
        around.refuses(place, "bad-const", message, hint)
        return None
    if written is not None and isinstance(type, types.Nullable):
        message, hint = "the type allows null, but the constant is not null", "drop the `?`"
        around.refuses(place, "conflicting-keys", message, hint)
    return stated_value(around, place, document, written, type, held)


def _default(  # noqa: PLR0913 - the parts of a field
    around: Surroundings, place: Place, document: FieldDocument, type: Type, held: Held, meaning: types.Meaning | None
) -> types.Scalar:
    """The wire value of an absent field; for an optional constant it is the constant."""
    if document.const is not None and document.default not in (None, document.const):
        message = f"{document.default} is not the constant {document.const}"
        around.reports(place / "default", "bad-default", message, "drop `default`, or write the constant")
        return None
    if meaning is not None and meaning.minimum is not None and document.default != document.null:
        held = replace(held, minimum=meaning.minimum, maximum=meaning.maximum)
    return stated_value(around, place / "default", document, document.default, type, held, "bad-default")


def _defaults_to_null(document: FieldDocument, held: Held) -> bool:
    """Whether an absent field counts as a null on the wire that has a meaning."""
    return "default" in document.model_fields_set and any(each.wire is None for each in held.mappings or ())
