"""Collect every error code that decoding may report, in the order of first use."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from wireloom.encodings import Encoding, Form
from wireloom.expr.ast import Expression, FieldRef, Literal
from wireloom.expr.extents import Extents, extent
from wireloom.expr.types import makes_text
from wireloom.model import types
from wireloom.model.extents import field_extents, may_misfit
from wireloom.model.format import ErrorCode
from wireloom.model.meanings import calculates, repeating
from wireloom.model.traversal import encodings_around, reads_again
from wireloom.model.types import Amount, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.values import listed_values
from wireloom.runtime.codes import CODES
from wireloom.runtime.primitives.packing import CODECS

_PROTOBUF_BITS = (32, 64)  # of integers on the wire


def error_codes(draft: Draft, named: tuple[tuple[str, Type], ...], roots: Sequence[Type]) -> tuple[ErrorCode, ...]:
    """The codes with their meanings."""
    encodings = dict.fromkeys(type.encoding for _, type in named if isinstance(type, types.Struct)) or {
        draft.encoding: None
    }
    general = [code for encoding in encodings for code in encoding.codes]
    general += ["size_limit"] if draft.content.limits.size is not None or reads_again(dict(named), roots) else []
    written = encodings_around(dict(named), roots, draft.encoding)
    placed = [(type, encoding) for name, type in named for encoding in written.get(name, (draft.encoding,))]
    placed += [(type, draft.encoding) for type in roots]
    special = [code for type, encoding in placed for code in type_codes(type, encoding)]
    return tuple(
        ErrorCode(code, draft.content.errors.get(code) or CODES.get(code, ""))
        for code in dict.fromkeys((*general, *special))
        if code
    )


def type_codes(type: Type, encoding: Encoding) -> Iterator[str]:
    """The codes that reading a value of the type may report."""
    match type:
        case types.Integer():
            cut = encoding.laid_out and not type.is_plain and type.share is None
            cut = cut or (encoding.numbered and type.bits not in _PROTOBUF_BITS)
            yield from ("int_range",) if encoding.tells_kinds or cut else ()
        case types.Float():
            yield from ("json_nonfinite",) if encoding.text else ()
        case types.Boolean():
            yield from ("unknown_value",) if encoding.laid_out and not type.bit else ()
        case types.Null() | types.Reference():
            return
        case types.JsonText():
            yield "invalid_utf8"
        case types.Text(size=size):
            yield from _amount_codes(size, encoding)
            yield "invalid_utf8"
        case types.Bytes(size=size, code=code):
            yield from ("invalid_text",) if type.charset else ()
            yield from ("bad_base64",) if encoding.text else ()
            yield from (code,) if _may_misfit(size, encoding) else ()
            yield from _amount_codes(size, encoding) if encoding.laid_out else ()
        case types.Array(element=element, count=count):
            yield from ("bad_region",) if encoding.laid_out and _may_be_empty(type) else ()
            yield from _amount_codes(count, encoding)
            yield from type_codes(element, encoding)
            yield from () if type.held is None else (type.held.code,)
            yield from (type.unique_code,) if type.unique is not None else ()
        case types.Map(key=key, value=value, misspelled=code):
            yield from (code,) if encoding.numbered else (code, "duplicate_key")
            yield from type_codes(key, encoding)
            yield from type_codes(value, encoding)
        case types.Extension(content=content):
            yield from type_codes(content, encoding)
        case types.Nullable(type=inner):
            yield from type_codes(inner, encoding)
        case types.OneOf(alternatives=alternatives):
            for alternative in alternatives:
                yield from type_codes(alternative.type, encoding)
            yield from (type.code, type.extension_code)
            yield from ("depth_limit",) if type.open else ()
        case types.Select(cases=cases):
            yield from _select_codes(type, encoding)
            for case in cases:
                yield from () if isinstance(case.type, types.Refusal) else type_codes(case.type, encoding)
        case types.Attempt(trials=trials):
            for trial in trials:
                yield from type_codes(trial.type, encoding)
        case types.Struct(encoding=own):
            yield from () if own == encoding else _body_codes(encoding)
            yield from _struct_codes(type)
        case _:
            assert_never(type)


def _body_codes(around: Encoding) -> tuple[str, ...]:
    """The codes for the bytes around a struct of another encoding."""
    return () if around.laid_out else ("bad_base64", "bad_region") if around.text else ("bad_region",)


def _may_be_empty(type: types.Array) -> bool:
    """Whether the elements of a list that fills its region may have no bytes."""
    return type.is_open and isinstance(type.element, types.Bytes | types.Text | types.Reference)


def _amount_codes(amount: Amount | None, encoding: Encoding) -> Iterator[str]:
    """The codes of a size or count, and of its prefix or delimiter."""
    match amount:
        case types.Prefix(number=number):
            yield from type_codes(number, encoding)
        case types.Blocks(number, size):
            yield from type_codes(number, encoding)
            yield from () if size is None else type_codes(size, encoding)
        case types.Delimiter(code=code):
            yield code
        case types.Terminator(jump=types.Jump(most=most)):
            yield from ("bad_pointer",) if most is None else ("bad_pointer", "bad_size")
        case _:
            pass
    yield from ("bad_size",) if _may_misfit(amount, encoding) else ()


def _may_misfit(amount: Amount | None, encoding: Encoding) -> bool:
    """Whether an amount can be wrong: in binary, if it is computed or may be negative; elsewhere always."""
    match amount:
        case None | types.Delimiter() | types.Padded() | types.Last() | types.Terminator():
            return False
        case types.Prefix(number=number) | types.Blocks(number=number):
            return number.signed
        case _:
            return not (encoding.laid_out and isinstance(amount, Literal))


def _select_codes(select: types.Select, encoding: Encoding) -> Iterator[str]:
    if encoding.text and isinstance(select.tag, types.MemberTag) and select.tag.required:
        yield "missing_key"
    yield from ("truncated",) if isinstance(select.tag, types.PeekTag) else ()  # for cases in any encoding
    yield from (select.code,) if select.otherwise is None else ()
    yield from (case.type.code for case in select.cases if isinstance(case.type, types.Refusal))


def _without_impossible(type: Type, struct: types.Struct) -> Type:
    """The type; a select loses its code for unknown values if all values of its tag have cases."""
    match type:
        case types.Select(tag=types.FieldTag(FieldRef(up=0, name=name, members=()))):
            values = listed_values(struct, name)
            selected = {value for case in type.cases for value in case.values}
            return replace(type, code="") if values is not None and values <= selected else type
        case _:
            return type


def _struct_codes(struct: types.Struct) -> Iterator[str]:
    if struct.form is Form.ARRAY:
        yield "bad_arity"
    if struct.form is Form.OBJECT:
        yield from ("missing_key", "unexpected_property")
        yield from () if struct.encoding.text else ("duplicate_key", "invalid_utf8")
    if struct.encoding.numbered:
        yield "missing_required"
    known = field_extents(struct, {})
    for step in struct.steps:
        yield from _step_codes(step, struct, known)


def _computed_codes(field: types.Field, compute: Expression, known: Extents) -> Iterator[str]:
    """The codes of a computed value that does not fit its type."""
    type = types.not_null(field.type)
    found = extent(compute, known)
    if isinstance(type, types.Integer) and (found.low < type.minimum or found.high > type.maximum):
        yield "int_range"
    if makes_text(compute):
        yield "size_limit"
    if may_misfit(compute, type):
        yield "type_mismatch"


def _packing_codes(packing: types.Packing | None) -> Iterator[str]:
    """The codes of an unpacked region."""
    if packing is None:
        return
    codecs = sorted({codec for _, codec in packing.cases} - {"none"})
    yield from (packing.code or CODECS[codec].damaged for codec in codecs)
    yield from ("size_limit",) if codecs else ()
    yield from (packing.unknown,) if packing.tag is not None else ()


def _step_codes(step: types.Step, struct: types.Struct, known: Extents) -> Iterator[str]:
    match step:
        case types.Field():
            if step.compute is not None:
                yield from _computed_codes(step, step.compute, known)
            elif not step.counted:
                yield from type_codes(_without_impossible(step.type, struct), struct.encoding)
            if isinstance(step.size, types.Prefix):
                yield from type_codes(step.size.number, struct.encoding)
            yield step.code
            yield from ("bad_pointer",) if step.base else ()
            yield from _packing_codes(step.packing)
            tables = (step.mappings, *(bit.mappings for bit in step.bits))
            yield from ("int_range",) if any(table is not None and calculates(table) for table in tables) else ()
            yield from ("size_limit",) if any(table is not None and repeating(table) for table in tables) else ()
            yield from (bit.code for bit in step.bits if bit.mappings is not None)
            yield from (step.refers.code, "size_limit") if step.refers is not None else ()
        case types.Check(code=code) | types.End(code=code):
            yield code
        case types.Verify(field=name):
            yield from (each.checksum.code for each in struct.fields if each.wire_name == name and each.checksum)
        case types.Need():
            yield "truncated"
        case types.Frame():
            yield from ("truncated", "bad_region")
        case types.Mark() | types.Discard():
            return
        case _:
            assert_never(step)
