"""Resolve names at one place of a spec: a field of this struct or an enclosing one, a mark, or a parameter.

The nearest meaning counts, in this order: fields that the struct has read so far, its marks, fields of enclosing
structs, parameters. For a struct with several uses, all uses must give the same meaning.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from wireloom.expr import ast
from wireloom.expr.ast import Call, Expression, FieldRef, Kind, Literal, MarkRef, Name, ParameterRef, fields_in
from wireloom.expr.types import a_kind
from wireloom.model.traversal import closure
from wireloom.model.types import Scalar
from wireloom.names import POSITIONS
from wireloom.problems import nearest
from wireloom.resolve.bind import constants
from wireloom.resolve.bind.draft import Draft, parameter_kind
from wireloom.resolve.bind.outline import Member, Outline, Outlines, Use, joined_members, possible_values
from wireloom.resolve.bind.renamings import renamed
from wireloom.spec.language import AttemptType, Bits, StructType

_RANGE_MEMBERS = ("start", "end")
_UNKNOWN = Member("", Kind.ANY, 0)
USES = {
    "sum": "write `sum(sizes)` for a list of integers, `sum(parts.length)` for an integer in a list of structs",
    "join": "write `join(labels, '.')` for a list of texts, `join(labels.text, '.')` for a text in a list of structs",
}
_CHECKED = ("compute", "hidden")
"""Keys that hide a member from builders' input, but not from the checks of the bytes they wrote."""
_MEANINGS = ("scale", "offset", "logical")
_HEXADECIMAL = "to compare with bytes, write hexadecimal without 0x"
_MARK = "put `- mark: NAME` there, and use the mark"


_WORD = re.compile(r"[A-Za-z]\w*")
AHEAD = -1
"""The step of expressions that are evaluated before the struct is read, to choose its version."""


class MeaningError(Exception):
    """A name has no meaning here; the id is empty if the cause was already reported at its type.

    `of` is the type whose uses disagree; such a problem is reported once for the type, not for every name.
    """

    def __init__(self, id: str, message: str, hint: str, of: str = "") -> None:
        super().__init__(message)
        self.id, self.message, self.hint, self.of = id, message, hint, of


@dataclass(frozen=True, slots=True)
class Found:
    """A field that a name refers to, `up` structs outward."""

    up: int
    member: Member


@dataclass(frozen=True, slots=True)
class Scope:
    """The names at one step of a named type; `late` expressions are evaluated when the whole struct is known."""

    draft: Draft
    outlines: Outlines
    type: str = ""  # the named type; if empty, only parameters have a meaning
    position: int = 0
    late: bool = False
    inside: tuple[str, ...] = ()  # structs of the elements that the expression is about, one level further in
    blind: bool = False  # whether it refers to a value of unknown type
    checks: bool = False  # whether it belongs to a check, which builders apply to the record they wrote

    def at(self, position: int) -> "Scope":
        """The names at another step."""
        return replace(self, position=position)

    def whole(self) -> "Scope":
        """The names when the whole struct is known."""
        return replace(self, late=True)

    def within(self, structs: tuple[str, ...]) -> "Scope":
        """The names inside of an element that is one of these structs."""
        return replace(self, inside=structs)

    @property
    def is_open(self) -> bool:
        """Whether the struct may have any member, since it flattens an unknown type."""
        return self.outlines.types[self.type].open

    def parameters_only(self) -> "Scope":
        """A scope that has only parameters."""
        return Scope(self.draft, self.outlines)

    # --- meaning ---

    def meaning(self, name: Name) -> Expression:
        """Resolve a name; raises MeaningError."""
        first, *members = name.parts
        if first in POSITIONS:
            return self._position(first, members)
        if self._is_mark(first) and not members:
            return MarkRef(first)
        fields = self._fields(first)
        if fields:
            found = self._agreed(first, fields)
            kind = self._reached(found.member, first, members).kind
            if found.member.melts and found.up == 0:
                if self.inside:
                    raise _flattened_error(first, "an element", "MEMBER")
                if members:
                    return self.meaning(Name(tuple(members)))
            return FieldRef(found.up, first, tuple(members), kind)
        if first in self.draft.content.parameters:
            return self._parameter(first, tuple(members))
        raise self._unknown(first, tuple(members))

    def over_list(self, call: Call, name: Name) -> Call:
        """Resolve `sum` or `join` over a list, or over a member of its elements; raises MeaningError."""
        between: tuple[Expression, ...] = call.arguments[1:]
        if call.function == "sum":
            listed, member = self._listed("sum", name, (Kind.INTEGER,), _CHECKED if self.checks else ())
        else:
            listed, member = self._listed("join", name, (Kind.TEXT, Kind.BYTES))
            kind = self.known(listed).element if member is None else member.kind
            charset = "" if member is None else member.charset
            if kind is Kind.BYTES:
                texts = (each.value for each in between if isinstance(each, Literal))
                between = tuple(Literal(self._octets(str(text), charset)) for text in texts)
        return Call(call.function, (listed, *between, *(() if member is None else (Literal(member.name),))))

    def _octets(self, text: str, charset: str) -> bytes:
        """Convert a literal beside bytes to bytes."""
        found = constants.value(text, Kind.BYTES, charset)
        if not isinstance(found, bytes):
            what = f"'{text}' cannot be written in {charset}" if charset else f"'{text}' is not hexadecimal"
            raise MeaningError("impossible-value", what, "" if charset else _HEXADECIMAL)
        return found

    def _listed(
        self, function: str, name: Name, kinds: Sequence[Kind], allowed: Sequence[str] = ()
    ) -> tuple[FieldRef, Member | None]:
        """The list that a function's argument names, and the member of its elements, if one is named.

        The elements, or the member, must have one of the kinds, and builders must know their wire values.
        """
        first, *members = name.parts
        fields = [] if first in POSITIONS else self._fields(first)
        if not fields:
            self.meaning(name)
            raise _misused(function, f"{first} is not a list")
        found = self._agreed(first, fields)
        member, path = found.member, list[str]()
        while members and member.kind is not Kind.LIST:
            path.append(members.pop(0))
            member = self._inner(member, path[-1], (first, *path)[-2])
        if member.kind is not Kind.LIST:
            raise _misused(function, f"{'.'.join((first, *path))} is {a_kind(member.kind)}")
        listed = FieldRef(found.up, first, tuple(path), Kind.LIST)
        if not members:
            if member.element not in kinds:
                with_key = f"with `{member.obstacle}` " if member.obstacle else ""
                raise _misused(
                    function, f"{with_key}an element of {'.'.join((first, *path))} is {a_kind(member.element)}"
                )
            return listed, None
        if len(members) > 1 or len(member.elements) != 1 or member.element is not Kind.RECORD:
            raise _misused(function, f"the elements of {'.'.join((first, *path))} are not all of one struct")
        known = self.outlines.types[member.elements[0]].members
        if members[0] not in known:
            message = f"the elements of {'.'.join((first, *path))} have no {members[0]}"
            raise MeaningError("unknown-name", message, nearest(members[0], known))
        inner = known[members[0]]
        if inner.obstacle and inner.obstacle not in allowed:
            what = f"with `{inner.obstacle}` builders cannot take {inner.name} from the value"
            raise _misused(function, what, _hint_of_meaning(inner) if inner.obstacle in _MEANINGS else "")
        if inner.kind not in kinds:
            raise _misused(function, f"{inner.name} is {a_kind(inner.kind)}")
        return listed, inner

    def check_base(self, name: str) -> None:
        """Raise MeaningError unless the name is a mark that always comes before this step, here or in a struct around.

        Everything between must share the bytes of the struct that has the mark.
        """
        found = list(self._marked(self.type, name, self.position, frozenset()))
        if not any(found):
            known = [each for outline in self._around() for each in outline.marks]
            hint = nearest(name, known) or f"add `- mark: {name}`, in this struct or in one around it"
            raise MeaningError("unknown-name", f"there is no mark {name} here", hint)
        if not all(found):
            hint = f"set the mark before {self.type} in each struct that has it, or use another type there"
            raise MeaningError("unknown-name", f"{self.type} is also used where there is no mark {name}", hint)

    def _marked(self, type: str, name: str, position: int, seen: frozenset[str]) -> Iterator[bool]:
        """Whether each way outward finds the mark."""
        outline = self.outlines.types.get(type)
        if outline is None or type in seen:
            return
        if name in outline.marks:
            if outline.marks[name] >= position:
                message = f"the mark {name} comes later in the file"
                raise MeaningError("later-name", message, "put the mark before the fields that use it")
            yield True
            return
        if type in self.outlines.roots or not outline.uses:
            yield False
        for use in outline.uses:
            if obstacle := self._obstacle(use):
                hint = "set the mark inside of it"
                raise MeaningError("wrong-shape", f"{obstacle}, so it has other bytes than the mark", hint)
            yield from self._marked(use.user, name, use.position, seen | {type})

    def _obstacle(self, use: Use) -> str:
        """What separates a type from the bytes of its user; empty if nothing does."""
        form = self.draft.content.types[use.user]
        if isinstance(form, AttemptType):
            return f"{self.type} is an alternative of the attempt {use.user}"
        if not self.outlines.encodings[use.user].laid_out:
            return f"{self.type} is inside of {use.user}, in {self.outlines.encodings[use.user].name}"
        if isinstance(form, StructType) and form.fields[use.position].full.unpack not in (None, "none"):
            return f"{self.type} is inside of an unpacked region"
        return ""

    def knows(self, name: str) -> bool:
        """Whether a name has a meaning here, or is a field or mark that comes earlier or later."""
        return name in (*POSITIONS, *self._visible(), *self.draft.content.parameters) or self._is_mark(name)

    def is_misnamed(self, text: str) -> bool:
        """Whether an expression uses a reserved word that is also, wrongly, the name of a field or mark here."""
        words = self.outlines.misnamed and self.outlines.misnamed.intersection(_WORD.findall(text))
        return bool(words) and not words.isdisjoint(self._visible())

    def names_field(self, name: str) -> bool:
        """Whether the name refers to a field here."""
        return bool(self._fields(name))

    def values(self, expression: Expression) -> tuple[Scalar, ...] | None:
        """The possible values of a field or parameter, if they are listed."""
        match expression:
            case FieldRef():
                return self.known(expression).values
            case ParameterRef(name=name, members=()):
                options = self.draft.content.parameters[name].one_of
                return None if options is None else tuple(options)
            case _:
                return possible_values(expression, self.draft.content.ranges)

    def octets(self, expression: Expression, text: str) -> bytes:
        """Convert a literal beside bytes to bytes: by their character set, or from hexadecimal if they have none."""
        return self._octets(text, self.charset(expression))

    def charset(self, expression: Expression) -> str:
        """The character set of a text that expressions see as bytes; empty for anything else."""
        if isinstance(expression, Call) and expression.function == "slice":
            return self.charset(expression.arguments[0])
        return self.known(expression).charset

    def is_sound(self, expression: Expression) -> bool:
        """Whether the fields of this struct that an expression refers to have no reported problems."""
        place = self.draft.place / "types" / self.type / "fields"
        names = [each.name for each in fields_in(expression) if not each.up]
        members = self.outlines.types[self.type].members if names else {}
        return not any(self.draft.has_problem(place / members[name].position) for name in names if name in members)

    def may_be_record(self, expression: Expression) -> bool:
        """Whether the field may be a record in any use of the type."""
        return any(member.structs for member in self._possible(expression))

    def known(self, expression: Expression) -> Member:
        """The member of a field in the outlines.

        An unknown member if the type's uses disagree, or it is not a field.
        """
        found = self._possible(expression)
        return found[0] if len(found) == 1 else _UNKNOWN

    def _possible(self, expression: Expression) -> list[Member]:
        """The member of a field for each use of the type; empty if the expression is not a field."""
        match expression:
            case FieldRef(name=name, members=path):
                found = [each.member for each in self._fields(name) if each is not None]
                return [self._reached(each, name, path) for each in found]
            case _:
                return []

    def _position(self, fact: str, members: list[str]) -> Expression:
        what, hint = f"{fact} has no meaning here", ""
        if members:
            what, hint = f"{fact} has no members", "it is an integer"
        elif not self.type or self.inside:
            hint = (
                "an expression of an element sees only its fields"
                if self.inside
                else "this expression sees only parameters"
            )
        elif fact != "index" and not self.outlines.encodings[self.type].laid_out:
            what = f"{fact} has no meaning in {self.outlines.encodings[self.type].name}"
            hint = "only binary has offsets"
        elif fact == "here" and self.late:
            what, hint = "`here` has no meaning in an expression about the whole struct", _MARK
        else:
            return ast.Position(fact)
        raise MeaningError("unknown-name", what, hint)

    def _parameter(self, name: str, members: tuple[str, ...]) -> Expression:
        kind = parameter_kind(self.draft.content.parameters[name])
        if members and (kind is not Kind.RANGE or len(members) > 1 or members[0] not in _RANGE_MEMBERS):
            raise MeaningError(
                "unknown-name", f"{name} has no member {'.'.join(members)}", "a range has the members start and end"
            )
        nullable = self.draft.content.parameters[name].default is None
        return ParameterRef(name, members, Kind.INTEGER if members else kind, nullable)

    def _is_mark(self, name: str) -> bool:
        marks = self.outlines.types[self.type].marks if self.type in self.outlines.types else {}
        return name in marks and not self.inside and (self.late or marks[name] < self.position)

    def _reached(self, member: Member, name: str, path: Sequence[str]) -> Member:
        """The member that a path reaches from the field `name`."""
        for step in path:
            member, name = self._inner(member, step, name), step
        return member

    def _inner(self, member: Member, step: str, name: str) -> Member:
        """A direct member of the field `name`, joined over all structs that the field may be."""
        if member.broken or any(self.outlines.types[struct].open for struct in member.structs):
            raise _already_reported()
        inner = [self.outlines.types[struct].members for struct in member.structs]
        if not inner or any(step not in members for members in inner):
            known = list(dict.fromkeys(each for members in inner for each in members))
            message, hint = f"{name} has no member {step}", nearest(step, known) or _function(member.kind, step, name)
            if step in known:
                lacking = next(each for each in member.structs if step not in self.outlines.types[each].members)
                message = f"{name} may be a {lacking}, which has no {step}"
                hint = "use a member that all its types have, or compare the tag, or move the expression into the type"
            elif member.renamings:
                hint = f"it is flattened: write {renamed(member.renamings, step)}"
            raise MeaningError("unknown-name", message, hint)
        if any(members[step].melts for members in inner):
            raise _flattened_error(step, name, f"{name}.MEMBER")
        return reduce(joined_members, (members[step] for members in inner))

    # --- search ---

    def _fields(self, name: str) -> list[Found | None]:
        """The field that each way outward finds, or None where one finds nothing; empty if none finds any."""
        up = 0
        if self.inside:
            members = [self.outlines.types[struct].members for struct in self.inside]
            if all(name in each for each in members):
                return [Found(0, reduce(joined_members, (each[name] for each in members)))]
            up = 1
        found = list(self._outward(self.type, name, self.position, up, frozenset()))
        return found if any(each is not None for each in found) else []

    def _outward(self, type: str, name: str, position: int, up: int, seen: frozenset[str]) -> Iterator[Found | None]:
        outline = self.outlines.types.get(type)
        if outline is None or type in seen:
            return
        member = outline.members.get(name)
        if outline.struct and member is not None and (self.late or member.position < position):
            yield Found(up, member)
            return
        if type in self.outlines.roots or not outline.uses:
            yield None
        for use in outline.uses:
            yield from self._outward(use.user, name, use.position, up + (1 if outline.struct else 0), seen | {type})

    def _agreed(self, name: str, found: list[Found | None]) -> Found:
        fields = [each for each in found if each is not None]
        if any(each.member.broken for each in fields):
            raise _already_reported()
        if len(fields) < len(found) or len({each.up for each in fields}) > 1:
            what = "means different fields" if len(fields) == len(found) else "is missing"
            message = f"{name} {what} in some of the places where {self.type} is used"
            hint = "use a different type in each place, or move the field into this struct"
            raise MeaningError("ambiguous-name", message, hint, self.type)
        return Found(fields[0].up, reduce(joined_members, (each.member for each in fields)))

    def _unknown(self, name: str, members: tuple[str, ...] = ()) -> MeaningError:
        if self.blind or any(outline.open for outline in self._around()):
            return _already_reported()
        outline = self.outlines.types.get(self.type)
        known = [*self._visible(), *self.draft.content.parameters]
        if name in known:
            own = None if outline is None or self.inside else outline.members.get(name)
            hint = f"expressions see only fields before them, in their struct or around it; move {name} up"
            message = f"{name} comes later in the file"
            if not any(name in each.members for each in self._around()) and (holder := self._marks_of_others(name)):
                message = f"{name} is a mark of {holder}; only expressions in {holder} see it"
                hint = f"give {holder} a field that inner structs see: `- NAME: {{compute: {name}, type: uint64}}`"
                return MeaningError("unknown-name", message, hint)
            if self.position == AHEAD:
                message = f"{name} is not known before the struct is read"
                hint = "use a parameter, a field around the struct, or `arity`"
            elif own is None and (container := self._enclosing_field(name)):
                message = f"{name} contains this expression, so it is not known yet"
                hint = f"write {'.'.join(members)}" if members else "use fields before it"
                hint = _ELEMENTS if container.kind is Kind.LIST else hint
            elif own is not None and own.position == self.position:
                message, hint = f"an expression of {name} cannot use {name} itself", "use fields before it"
            return MeaningError("later-name", message, hint)
        usable = [each for each in dict.fromkeys(known) if self._is_usable(each)]
        near = nearest(name, usable, words=(*POSITIONS, *known))
        hint = f"put a text into quotes: '{name}'" if name in self._texts() else near
        hint = _foreign(name, members) or hint
        field = self._named_to_readers(name)
        hint = (
            f"readers see {field} under this name; expressions use {field}"
            if field
            else self._hint_of_holder(name) or hint
        )
        return MeaningError("unknown-name", f"there is no {name} here", hint)

    def _enclosing_field(self, name: str) -> Member | None:
        """The enclosing field that contains the type, if the name means that field."""
        types = self.outlines.types
        around = [(types[use.user].members.get(name), use) for each in self._around() for use in each.uses]
        return next((field for field, use in around if field is not None and field.position == use.position), None)

    def _is_usable(self, name: str) -> bool:
        """Whether an expression here can use the name."""
        return name in self.draft.content.parameters or self._is_mark(name) or self.names_field(name)

    def _marks_of_others(self, name: str) -> str:
        """An enclosing struct that has a mark of this name, visible only to its own expressions.

        Empty if there is none.
        """
        types = self.outlines.types
        return next((each for each, of in types.items() if each != self.type and name in of.marks), "")

    def _hint_of_holder(self, name: str) -> str:
        """A hint: the visible field that has a member of this name; empty if there is none."""
        for holder in self._visible():
            structs = [struct for found in self._fields(holder) if found is not None for struct in found.member.structs]
            if structs and all(name in self.outlines.types[struct].members for struct in structs):
                return f"it is a member of {holder}: {holder}.{name}"
        return ""

    def _named_to_readers(self, name: str) -> str:
        """The visible field or bit field whose readers' name this is; empty if there is none."""
        visible = set(self._visible())
        for _, _, entry in self.draft.entries:
            if entry.key in visible and name in (entry.full.as_, entry.full.raw):
                return entry.key
            for key, bit in (entry.full.bits or {}).items():
                if key in visible and isinstance(bit, Bits) and bit.raw == name:
                    return key
        return ""

    def _texts(self) -> set[object]:
        """The possible texts of fields and parameters, and the names of ranges."""
        texts = set[object](self.draft.content.ranges)
        for parameter in self.draft.content.parameters.values():
            texts |= set(parameter.one_of or ())
        for type in {self.type, *self.inside} & self.outlines.types.keys():
            for member in self.outlines.types[type].members.values():
                texts |= set(member.values or ())
        return texts

    def _visible(self) -> Iterator[str]:
        """Every field and mark that some way outward finds."""
        for outline in self._around():
            yield from outline.members
            yield from outline.marks

    def _around(self) -> Iterator[Outline]:
        """The outlines that names are looked up in: this type, the elements, and all their users."""
        types = self.outlines.types
        starts = [name for name in (*self.inside, self.type) if name in types]
        return (types[name] for name in closure(starts, lambda name: [each.user for each in types[name].uses]))


_CONSTANTS = {"true": "true", "false": "false", "none": "null", "nil": "null", "undefined": "null", "null": "null"}
_NEIGHBOURS = ("previous", "prev", "preceding", "next")
_ELEMENTS = "an element sees no other element of its list: compute it from the column, after decoding"
_SELVES = ("this", "self", "_parent", "_root", "_", "parent", "root", "super")
_SIZES = ("length", "len", "size", "count", "Length", "Count")


def _foreign(name: str, members: tuple[str, ...]) -> str:
    """A hint for a word of other languages; empty if it is none."""
    if constant := _CONSTANTS.get(name.lower()):
        return f"write {constant}"
    if name in _NEIGHBOURS:
        return _ELEMENTS
    if name in _SELVES and members:
        return f"write {'.'.join(members)}: expressions look in their struct, then in those around it"
    return ""


def _function(kind: Kind, step: str, name: str) -> str:
    """A hint for a member of other languages that is a function here; empty if there is none."""
    if kind is Kind.ANY:
        return (
            f"expressions see the value of a union, not its alternative: `present({name} + 0)` says that it is a number"
        )
    if step not in _SIZES or kind not in (Kind.TEXT, Kind.BYTES, Kind.LIST):
        return ""
    return f"write {'count' if kind is Kind.LIST else 'len'}({name})"


def _already_reported() -> MeaningError:
    """A problem that is not reported, since it follows from an unknown type, which was reported."""
    return MeaningError("", "", "")


def word_named(text: str, words: tuple[tuple[str, str], ...]) -> str:
    """A hint for a text that is the readers' name of a wire value; empty for any other text."""
    if text in dict(words):
        return ""
    named = " or ".join(f"'{word}'" for word, name in words if name == text)
    return named and f"expressions use the value on the wire: write {named}"


def _flattened_error(name: str, into: str, instead: str) -> MeaningError:
    """The error for a name of a flattened field, whose members readers see in its place."""
    message = f"{name} is flattened: its members are members of {into}"
    return MeaningError("unknown-name", message, f"write {instead}")


def _misused(function: str, what: str, hint: str = "") -> MeaningError:
    """The error for a wrong argument of a function over a list."""
    message = f"{function} takes a list of {'integers' if function == 'sum' else 'texts or bytes'}, but {what}"
    return MeaningError("expression-type", message, hint or USES[function])


def _hint_of_meaning(member: Member) -> str:
    """A hint for a number with a meaning: compute a column that has the meaning beside it."""
    computed = f"{{compute: {member.name}, type: int64, {member.obstacle}: ...}}"
    return f"drop `{member.obstacle}` there, and add what readers see beside it: `- NAME: {computed}`"
