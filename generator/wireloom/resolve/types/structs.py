"""Resolve the named types of a format, and structs: their container, their steps and their versions."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from wireloom import names
from wireloom.encodings import Form
from wireloom.expr.ast import Binary, Call, Expression, FieldRef, Kind, Literal
from wireloom.model import types
from wireloom.model.types import Array, Check, Discard, Field, Need, Step, Struct, Type, Verify, Version
from wireloom.problems import nearest
from wireloom.resolve.bind import constants
from wireloom.resolve.bind.draft import Draft, TypeForm, entries_of
from wireloom.resolve.bind.expressions import expression, expression_if_any, first_field
from wireloom.resolve.bind.outline import Member, Outlines, all_mentioned
from wireloom.resolve.bind.scopes import AHEAD, Scope
from wireloom.resolve.bind.wording import ONLY_LAID_OUT
from wireloom.resolve.types.bit_runs import runs
from wireloom.resolve.types.fields import field_of
from wireloom.resolve.types.notations import Surroundings, attempt_of, one_of_of, select_of, type_of_text
from wireloom.resolve.types.type_keys import require_counted
from wireloom.spec import language
from wireloom.spec.documents import Place
from wireloom.spec.language import StructType


def struct_of(around: Surroundings, place: Place, name: str, document: StructType) -> Struct:
    """The struct of a named type."""
    form = _form(around, place / "form", document)
    if document.byte_order is not None:
        _require_binary(around, place / "byteOrder", "byteOrder")
        around = replace(around, order=types.NumberForm(document.byte_order))
    if document.charset is not None:
        if around.encoding.text:
            around.reports(place / "charset", "wrong-encoding", "texts of JSON are UTF-8", "drop `charset`")
        around = replace(around, charset=constants.charset_of(document.charset))
    steps = tuple(
        _step(replace(around, scope=around.scope.at(position)), place / "fields" / position, entry, form, document)
        for position, entry in enumerate(document.fields)
    )
    _require_one_frame(around, place / "fields", document)
    if around.encoding.laid_out:
        steps = with_written_ends(steps)
        is_whole = around.scope.draft.document.dropped is None
        steps = runs(around, place / "fields", document, steps) if is_whole else steps
    return Struct(name, around.encoding, form, steps, _versions(around, place / "versions", document), document.doc)


def _form(around: Surroundings, place: Place, document: StructType) -> Form:
    forms = around.encoding.forms
    if document.form is None:
        return forms[0]
    form = Form(document.form)
    if form not in forms:
        message = f"a struct of {around.encoding.name} cannot be an {form.value}"
        around.reports(place, "wrong-encoding", message, "drop `form`")
        return forms[0]
    return form


def _versions(around: Surroundings, place: Place, document: StructType) -> tuple[Version, ...]:
    scope = around.scope.at(AHEAD)
    return tuple(
        Version(
            name,
            version.arity,
            None if version.when is None else expression(scope, place / name / "when", version.when, Kind.BOOLEAN),
        )
        for name, version in (document.versions if isinstance(document.versions, dict) else {}).items()
    )


def _step(around: Surroundings, place: Place, entry: language.Entry, form: Form, struct: StructType) -> Step:
    where = place / entry.key
    if entry.is_field:
        return field_of(around, where, entry.key, entry.field, form)
    if entry.check is not None:
        return _check(around, where, entry.check)
    _require_binary(around, where, entry.key)
    if entry.verify is not None:
        return _verify(around, where, entry.verify, struct)
    if entry.mark is not None:
        if flaw := names.name_flaw(entry.mark):
            around.reports(where, "bad-name", f"{entry.mark} cannot be the name of a mark", flaw)
        return types.Mark(entry.mark)
    if entry.need is not None:
        return _need(around, where, entry.need)
    if entry.discard is not None:
        return _discard(around, where, entry.discard)
    if entry.end is not None:
        return types.End(entry.end)
    size = expression(around.scope, where, entry.frame, Kind.INTEGER)
    return types.Frame(size, first_field(size))


def _require_binary(around: Surroundings, place: Place, word: str) -> None:
    if not around.encoding.laid_out:
        message = f"`{word}` has no meaning in {around.encoding.name}"
        around.refuses(place, "wrong-encoding", message, ONLY_LAID_OUT)


def _require_one_frame(around: Surroundings, place: Place, document: StructType) -> None:
    """Report a second `frame`, which would end a struct that the first one already ends."""
    frames = [position for position, entry in enumerate(document.fields) if entry.key == "frame"]
    for position in frames[1:]:
        message, hint = "a `frame` before this one already ends the struct", "drop one, or `check` that both are equal"
        around.refuses(place / position / "frame", "conflicting-keys", message, hint)


def _check(around: Surroundings, place: Place, document: language.CheckStep) -> Check:
    around = replace(around, scope=replace(around.scope, checks=True))
    that = expression(around.scope, place / "that", document.that, Kind.BOOLEAN)
    field = _named_field(around, place / "field", document.field, that)
    return Check(
        that, document.else_, field, expression_if_any(around.scope, place / "when", document.when), document.doc
    )


def _named_field(around: Surroundings, place: Place, name: str | None, expression: Expression) -> str:
    """The field that an error names: the stated one, or the first one in the expression."""
    if name is None:
        return first_field(expression)
    _require_field(around, place, name, lambda _: True)
    return name


def _require_field(around: Surroundings, place: Place, name: str, wanted: Callable[[str], bool]) -> None:
    known = [each for each in around.scope.outlines.types[around.scope.type].members if wanted(each)]
    if name not in known and not around.scope.is_open:
        around.reports(place, "unknown-field", f"there is no field {name} here", nearest(name, known))


def _verify(around: Surroundings, place: Place, document: language.VerifyStep, struct: StructType) -> Verify:
    def holds_checksum(name: str) -> bool:
        return any(entry.key == name and entry.full.checksum is not None for entry in struct.fields)

    own = any(entry.is_field and entry.key == document.field for entry in struct.fields)
    if own and not holds_checksum(document.field):
        message = f"{document.field} has no `checksum`"
        hint = "give it `checksum` and `over`, or name the field that has them"
        around.reports(place / "field", "unknown-field", message, hint)
    else:
        _require_field(around, place / "field", document.field, holds_checksum)
    return Verify(document.field, expression_if_any(around.scope, place / "when", document.when))


def _need(around: Surroundings, place: Place, document: language.NeedStep) -> Need:
    size = expression(around.scope, place / "bytes", document.bytes, Kind.INTEGER)
    return Need(size, _named_field(around, place / "field", document.field, size))


def _may_be_list(member: Member) -> bool:
    return member.kind is Kind.LIST or member.broken


def _discard(around: Surroundings, place: Place, document: language.DiscardStep) -> Discard:
    members = around.scope.outlines.types[around.scope.type].members
    listed = members.get(document.list_)
    _require_field(around, place / "list", document.list_, lambda name: _may_be_list(members[name]))
    entries = entries_of(around.scope.draft.content.types[around.scope.type])
    if sum(entry.is_field and entry.key == document.list_ for entry in entries) > 1:
        message = f"{document.list_} is the name of several fields, one for each version"
        hint = f"give each list its own name, and `as: {document.list_}` for readers"
        around.reports(place / "list", "wrong-shape", message, hint)
    elif listed is not None and listed.position > around.scope.position:
        message = f"{document.list_} is read after this step"
        around.reports(place / "list", "later-name", message, "move the step after the list")
    require_counted(around, place / "count", document.count)
    scope = around.scope.within(listed.elements if listed is not None else ())
    if listed is None or listed.broken or listed.kind is not Kind.LIST:
        scope = replace(scope, blind=True)
    keep = expression(scope, place / "keep", document.keep, Kind.BOOLEAN)
    return Discard(document.list_, keep, document.count, expression_if_any(around.scope, place / "when", document.when))


_ALWAYS = Literal(True)  # noqa: FBT003 - a value


def with_written_ends(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps of a struct, where lists with an optional terminator know when builders write it."""
    return tuple(_with_written_end(step, steps[place + 1 :]) for place, step in enumerate(steps))


def _with_written_end(step: Step, behind: Sequence[Step]) -> Step:
    match step:
        case Field(type=Array(count=types.Terminator(behind=known) as terminator) as listed) if known is not None:
            changed = replace(terminator, behind=_is_end_written(behind))
            return replace(step, type=replace(listed, count=changed))
        case _:
            return step


def _is_end_written(behind: Sequence[Step]) -> Expression:
    """Whether builders write an optional terminator: unless only visible remaining bytes follow and are empty."""
    match [step for step in behind if isinstance(step, Field) and step.in_struct]:
        case [Field(at=None, size=None, hidden=False, mappings=None, const=None, derive=None, meaning=None) as rest]:
            match rest.type:
                case types.Text(size=None) | types.Bytes(size=None):
                    return Binary(">", Call("len", (FieldRef(0, rest.wire_name, kind=Kind.BYTES),)), Literal(0))
                case Array(count=None):
                    return Binary(">", Call("count", (FieldRef(0, rest.wire_name, kind=Kind.LIST),)), Literal(0))
                case _:
                    return _ALWAYS
        case _:
            return _ALWAYS


def named_types(draft: Draft, outlines: Outlines) -> tuple[tuple[str, Type], ...]:
    """Every named type, in the order of the spec."""
    used = all_mentioned(draft, outlines.roots)
    return tuple(
        (name, _named_type(Scope(draft, outlines, name, blind=name not in used), name, form))
        for name, form in draft.content.types.items()
    )


def _named_type(scope: Scope, name: str, form: TypeForm) -> Type:
    around, place = Surroundings(scope, scope.outlines.encodings[name]), scope.draft.place / "types" / name
    match form:
        case str():
            return type_of_text(around, place, form)
        case language.SelectType():
            return select_of(around, place, form)
        case language.OneOfType():
            return one_of_of(around, place, form, open=name in scope.outlines.recursive)
        case language.AttemptType():
            return attempt_of(around, place, form)
        case StructType():
            return struct_of(around, place, name, form)
