"""Generate JSON Schemas of the canonical rendering of records, from their wire types.

A value is rendered as its logical type, which may be wider than its wire type: the column of a union holds the values
of all cases. The schema describes each value by its own wire type, in the form of the wider logical type. It states
what holds for all values of the parameters, and leaves open what depends on one.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, count

from wireloom.emit.jsonschema import rendering
from wireloom.emit.jsonschema.conditions import Constant, Unknown, same, seen
from wireloom.emit.jsonschema.constants import NEVER, Schema, one_of, values
from wireloom.emit.jsonschema.members import ABSENT, OTHER, SOMETHING, Member, Members, Option, Scope, Scoped
from wireloom.emit.jsonschema.objects import objects
from wireloom.emit.jsonschema.scopes import (
    Checks,
    Conditions,
    cases,
    chosen,
    exhausted,
    hidden_tag,
    told,
    under,
    version_tag,
)
from wireloom.expr.ast import Binary, Call, Expression, FieldRef, Literal, Membership, Unary, constants
from wireloom.model.format import Format, Root
from wireloom.model.presence import presence_condition
from wireloom.model.traversal import bare, parts, plain
from wireloom.model.types import (
    Array,
    Attempt,
    Boolean,
    Bytes,
    Check,
    Discard,
    Extension,
    Field,
    FieldTag,
    Float,
    Held,
    Integer,
    JsonText,
    Map,
    Null,
    Nullable,
    OneOf,
    Presence,
    Reference,
    Select,
    Struct,
    Text,
    Type,
)
from wireloom.model.types import Mapping as ValueMapping
from wireloom.runtime.columns import logical
from wireloom.runtime.columns.logical import LogicalType
from wireloom.runtime.values import ENTRY

Found = tuple[list[Member], Checks]
_SCALARS = (Integer, Float, Boolean, Null, Text, Bytes, JsonText, Extension)


class Records:
    """Generates the schemas of a format's rendered records, and the definitions that they refer to.

    Each named type that is not a scalar has a definition of its name. If a wider column changes its rendering, there is
    a further definition with a number added to the name.
    """

    def __init__(self, format: Format) -> None:
        self.format = format
        self._said: dict[
            str, dict[str, tuple[str, Schema]]
        ] = {}  # for each named type: its definitions' names and schemas, by the schema's text
        self._taken = {rendering.OPEN, *format.named, *(root.name for root in format.roots)}
        self._made: dict[tuple[str, int], tuple[LogicalType, Schema]] = {}  # by type and id of the logical type

    def root(self, root: Root) -> Schema:
        """The schema of a root's rendered records."""
        match bare(root.type, self.format.named):
            case Array(element=element) if root.elements:
                return {"type": "array", "items": self.schema(element, root.logical)}
            case _:
                return self.schema(root.type, root.logical)

    @property
    def definitions(self) -> dict[str, Schema]:
        """The definitions so far, in the order of the spec."""
        return dict(each for name, _ in self.format.types for each in self._said.get(name, {}).values())

    def schema(self, type: Type, shown: LogicalType) -> Schema:
        """The schema of a value of a wire type that is not null, rendered as the logical type `shown`."""
        match type:
            case Nullable(inner):
                return self.schema(inner, shown)
            case Reference() if isinstance(shown, logical.Alternatives) and not self._is_union(type):
                return self._in_kind(type, _kind(bare(type, self.format.named)), shown)
            case Reference(name):
                place = (name, id(shown))
                if place not in self._made:
                    self._made[place] = shown, self._named(name, self.schema(self.format.type(name), shown))
                return self._made[place][1]
            case _:
                return self._unnamed(type, shown)

    def _is_union(self, type: Type) -> bool:
        return isinstance(bare(type, self.format.named), OneOf | Select | Attempt | Extension)

    def _named(self, name: str, schema: Schema) -> Schema:
        """A reference to the named type's definition with this schema; scalars and references stay as they are."""
        if schema.keys() == {"$ref"} or isinstance(bare(Reference(name), self.format.named), _SCALARS):
            return schema
        known, text = self._said.setdefault(name, {}), json.dumps(schema)
        if text not in known:
            known[text] = self._free(name) if known or name == rendering.OPEN else name, schema
        return {"$ref": f"#/$defs/{known[text][0]}"}

    def _free(self, name: str) -> str:
        """The name with the first number that makes it unique."""
        found = next(each for each in (f"{name}{number}" for number in count(2)) if each not in self._taken)
        self._taken.add(found)
        return found

    def _unnamed(self, type: Type, shown: LogicalType) -> Schema:
        match type:
            case OneOf(open=True):
                return rendering.schema(shown)
            case OneOf() | Select():
                return self._any(parts(type), shown)
            case Attempt() as attempt:
                return self._in_kind(attempt, "record", shown)
            case Extension(content=content):
                return self.schema(content, shown) if not _open(shown) else rendering.schema(shown)
            case single:
                return self._in_kind(single, _kind(single), shown)

    def nullable(self, type: Type) -> bool:
        """Whether a value of the type may be null."""
        match type:
            case Null() | Nullable():
                return True
            case Reference(name):
                return self.nullable(self.format.type(name))
            case OneOf() | Select():
                return any(map(self.nullable, parts(type)))
            case _:
                return False

    def _any(self, types: Sequence[Type], shown: LogicalType) -> Schema:
        not_null = (type for type in types if not isinstance(bare(type, self.format.named), Null))
        return one_of((self.schema(type, shown) for type in not_null), "anyOf")

    def _in_kind(self, type: Type, kind: str, shown: LogicalType) -> Schema:
        """The schema of a value in a place that may have alternatives, which are tagged with the kind of the value."""
        if not isinstance(shown, logical.Alternatives):
            return self._plain(type, shown)
        option = next((each for each in shown.options if logical.kind_name(each) == kind), None)
        return rendering.schema(shown) if option is None else rendering.tagged(kind, self.schema(type, option))

    def _plain(self, type: Type, shown: LogicalType) -> Schema:
        match type, shown:
            case Array(element=element), logical.List(element=logical.Meant()):
                return {**rendering.schema(shown), **_sized(type)}
            case _, logical.Meant(wire=wire, shown=None):
                return self._plain(type, wire)
            case Integer(), logical.Integer():
                return rendering.integer(type.minimum, type.maximum)
            case Float(), logical.Float():
                return rendering.schema(shown)
            case Bytes(size=Literal(int(size))), logical.Binary():
                return rendering.binary(size)
            case Array(element=element), logical.List():
                items = (
                    self._item(element, shown.element) if type.held is None else self._element(type.held, type, shown)
                )
                return {"type": "array", "items": items, **_sized(type)}
            case Array(element=element, entries=True), logical.Map():
                return {"type": "array", "items": self._entry(element, shown), **_sized(type)}
            case Map(key=key, value=value, spelling=spelling), logical.Map():
                names = {} if spelling is None else rendering.spelled(spelling)
                pair = rendering.pair({**self._item(key, shown.key), **names}, self._item(value, shown.value))
                return {"type": "array", "items": pair}
            case Struct(), logical.Record():
                return _object(self._struct(type, shown, (), ()))
            case Attempt(), logical.Record():
                return self._trials(type, shown)
            case _:
                return rendering.schema(shown)

    def _trials(self, attempt: Attempt, record: logical.Record) -> Schema:
        """The schema of an attempt: one object for each alternative, with the alternative's name."""
        schemas = []
        for place, trial in enumerate(attempt.trials):
            if isinstance(bare(trial.type, self.format.named), Attempt):
                return rendering.schema(record)
            kind = [Member(((), "="), attempt.kind_field, values([trial.name]))] if attempt.kind_field else []
            reason = [_refused(attempt, place, (), ())] if place and attempt.reason_field else []
            members, checks = self._flattened_members(trial.type, f"#{place}", record, (), ())
            schemas.append(_object(([*kind, *reason, *members], checks)))
        keyword = (
            "oneOf" if attempt.kind_field else "anyOf"
        )  # without the name, an object may match several alternatives
        return one_of(schemas, keyword)

    def _item(self, type: Type, shown: LogicalType) -> Schema:
        if isinstance(bare(type, self.format.named), Null):
            return {"type": "null"}
        return rendering.perhaps_null(self.schema(type, shown), nullable=self.nullable(type))

    def _entry(self, type: Type, shown: logical.Map) -> Schema:
        """The key and the value of a struct that is an entry of a map."""
        struct = plain(type, self.format.named)
        fields = struct.fields if isinstance(struct, Struct) else ()
        shown_fields = {each.name: each for field in fields for each in (field, *self._bits(field)) if not each.hidden}
        key, value = (
            self._value(shown_fields[name], shown_fields[name].type, each)
            for name, each in zip(ENTRY, (shown.key, shown.value), strict=True)
        )
        return rendering.pair(key, rendering.perhaps_null(value, nullable=shown.nullable))

    def _element(self, held: Held, type: Array, shown: logical.List) -> Schema:
        """The schema of an element with checks."""
        if held.mappings is None:
            schema = self._checked(held, type.element, shown.element)
        else:
            schema = _meanings(held.mappings, shown.element)
        return rendering.perhaps_null(schema, nullable=shown.nullable)

    # --- members ---------------------------------------------------------------------------------------------------

    def _struct(self, struct: Struct, record: logical.Record, scope: Scope, conditions: Conditions) -> Found:
        """The members of a struct and the checks on them, including those of flattened structs."""
        members = list(version_tag(struct, scope))
        checks: Checks = []
        emptied = {step.field for step in struct.steps if isinstance(step, Discard)}
        for step in struct.steps:
            match step:
                case Check(that=that, when=when):
                    checks.append((*under(conditions, when, scope), Scoped(that, scope)))
                case Field():
                    conditioned = under(conditions, presence_condition(step, struct), scope)
                    found = self._field(step, record, scope, conditioned, emptied=step.wire_name in emptied)
                    members += found[0]
                    checks += found[1]
                case _:
                    pass  # other steps do not affect members
        return members, [*checks, *((Scoped(that, scope),) for that in _groups(struct))]

    def _field(
        self, field: Field, record: logical.Record, scope: Scope, conditions: Conditions, *, emptied: bool
    ) -> Found:
        if field.compute is not None:
            return [self._computed(field, field.compute, record, scope, conditions)], []
        if field.counted:
            counted = {**rendering.schema(_type(record, field.name)), "minimum": 0}
            return [Member((scope, field.wire_name), _name(field), _described(field, counted), conditions)], []
        if field.flatten:
            return self._flattened(field, record, scope, conditions)
        type = plain(field.type, self.format.named)
        members = [
            self._member(field, case, record, scope, (*conditions, *extra), emptied=emptied)
            for case, extra in cases(type, field.type, scope)
        ]
        checks = exhausted(type, conditions, scope) if field.presence is Presence.REQUIRED else []
        bits = (self._member(bit, bit.type, record, scope, conditions) for bit in self._bits(field))
        return [*members, *bits], checks

    def _member(  # noqa: PLR0913 - a field and its place
        self,
        field: Field,
        type: Type,
        record: logical.Record,
        scope: Scope,
        conditions: Conditions,
        *,
        emptied: bool = False,
    ) -> Member:
        shown = _type(record, field.name)
        options, constant = self._options(field, type, shown)
        absent = field.presence is Presence.OPTIONAL and self._default(field) is None
        nullable = absent or self._null(field, type)
        schema: Schema = {} if field.hidden else self._value(field, type, shown)
        if emptied:
            schema.pop("minItems", None)
        number = bare(type, self.format.named)
        least, greatest = (number.minimum, number.maximum) if isinstance(number, Integer) else (None, None)
        return Member(
            (scope, field.wire_name),
            _name(field),
            _described(field, schema),
            conditions,
            not nullable,
            (*options, _nothing(field)) if nullable else options,
            constant,
            least,
            greatest,
            field.spelling,
        )

    def _null(self, field: Field, type: Type) -> bool:
        """Whether the value may be null although the field is present."""
        if field.meaning is not None and not isinstance(type, Array):
            meaning = field.meaning
            if meaning.null is not None or isinstance(meaning.shown, logical.Named):
                return True
        if field.mappings is not None:
            known = [constants(each.value) for each in field.mappings]
            return any(each is None or None in each for each in known)
        return field.const is None and self.nullable(type)

    def _default(self, field: Field) -> Constant | Unknown | bytes | float:
        """The value that expressions see for an absent field; SOMETHING if it is mapped to a value other than null."""
        if field.mappings is None or field.default is None:
            return field.default
        entry = next((each for each in field.mappings if same(each.wire, field.default)), None)
        known = None if entry is None else constants(entry.value)
        return None if known is None or None in known else Unknown.SOMETHING

    def _value(self, field: Field, type: Type, shown: LogicalType) -> Schema:
        """The schema of a field's value."""
        if field.mappings is not None:
            return _meanings(field.mappings, shown)
        if field.refers is not None:
            return rendering.schema(shown)
        if field.const is None:
            return self._checked(field, type, shown)
        return values([rendering.constant(field.const, _plain(shown))])

    def _checked(self, said: Field | Held, type: Type, shown: LogicalType) -> Schema:
        """The schema of a value with a range or a spelling."""
        shown = _plain(shown)
        is_said = isinstance(shown, logical.Meant) and isinstance(shown.shown, logical.Said)
        if said.spelling is not None and not is_said:
            schema, spelled = self.schema(type, shown), rendering.spelled(said.spelling)
            match schema.get("properties"):
                case {"str": dict(text)} if isinstance(shown, logical.Alternatives):
                    return rendering.tagged("str", {**text, **spelled})
                case _:
                    return {**schema, **spelled}
        number = bare(type, self.format.named)
        if not isinstance(number, Integer) or not isinstance(shown, logical.Integer):
            return self.schema(type, shown)
        return rendering.integer(number.minimum, number.maximum, said.minimum, said.maximum)

    def _options(self, field: Field, type: Type, shown: LogicalType) -> tuple[tuple[Option, ...], type | None]:
        """The possible values of a member, and the type of the constants that tell its values apart."""
        if isinstance(shown, logical.Meant) and shown.shown is not None:
            return (SOMETHING,), None  # conditions compare the wire value
        shown = shown.wire if isinstance(shown, logical.Meant) else shown
        if field.refers is not None:
            return (SOMETHING,), None
        if field.mappings is not None:
            return _mapped_options(field.mappings, shown), None
        if field.presence is Presence.OPTIONAL and field.default is not None:
            return (SOMETHING,), None
        if field.const is not None:
            return (Option(rendering.constant(field.const, shown), seen(field.const)),), None
        match bare(type, self.format.named):
            case Boolean():
                return tuple(Option(rendering.constant(each, shown), each) for each in (True, False)), None
            case Integer() if field.hidden or isinstance(shown, logical.Integer):
                return (OTHER,), int
            case Text() if field.hidden or isinstance(shown, logical.Text):
                return (OTHER,), str
            case Null():
                return (), None
            case _:
                return (SOMETHING,), None

    def _bits(self, field: Field) -> Iterator[Field]:
        """The bits of a field as fields of their own, present whenever the field is."""
        absent = field.presence is Presence.OPTIONAL or self.nullable(field.type)
        for bit in field.bits:
            yield Field(
                bit.title,
                bit.name,
                Boolean() if bit.flag else Integer(bit.width, bit.signed),
                bit.doc,
                bit.unit,
                presence=Presence.OPTIONAL if absent else Presence.REQUIRED,
                mappings=bit.mappings,
                meaning=bit.meaning,
                hidden=bit.hidden,
            )

    def _computed(
        self, field: Field, compute: Expression, record: logical.Record, scope: Scope, conditions: Conditions
    ) -> Member:
        """A computed value, which is present if it is not null."""
        shown = _type(record, field.name)
        known = self._outcomes(compute)
        if field.hidden:
            schema: Schema = {}
        elif field.mappings is not None:
            schema = _meanings(field.mappings, shown)
        elif field.meaning is None and known is not None and any(each is not None for each in known):
            schema = values([rendering.constant(each, shown) for each in dict.fromkeys(known) if each is not None])
        else:
            schema = self.schema(field.type, shown)
        is_present = Scoped(Call("present", (compute,)), scope)
        return Member(
            (scope, field.wire_name),
            _name(field),
            _described(field, schema),
            (*conditions, is_present),
            required=not self._null(field, field.type),
            compute=told(field, compute, scope, conditions),
        )

    def _outcomes(self, expression: Expression) -> tuple[Constant, ...] | None:
        """All possible values of an expression, or None if they are not a short list."""
        match expression:
            case Call("rangeName", (_, Literal(name))):
                ranges = next((each.ranges for each in self.format.ranges if each.name == name), ())
                return (None, *(each.name for each in ranges))
            case _:
                return constants(expression)

    # --- flattened -------------------------------------------------------------------------------------------------

    def _flattened(self, field: Field, record: logical.Record, scope: Scope, conditions: Conditions) -> Found:
        """The members of a flattened struct, or of each struct that a flattened union may be."""
        members: list[Member] = []
        if field.presence is Presence.OPTIONAL or self.nullable(field.type):
            tag = hidden_tag(scope, f"{field.wire_name}?", (False, True))
            members.append(tag)
            conditions = (*conditions, chosen(tag, (True,)))
        found = self._flattened_members(field.type, field.wire_name, record, scope, conditions)
        return [*members, *found[0]], found[1]

    def _flattened_members(
        self, type: Type, name: str, record: logical.Record, scope: Scope, conditions: Conditions
    ) -> Found:
        match bare(type, self.format.named):
            case Struct() as struct:
                return self._struct(struct, record, (*scope, name), conditions)
            case Attempt() as attempt:
                return self._attempt(attempt, name, record, scope, conditions)
            case Select(tag=FieldTag()) as select:
                found = self._flattened_cases(cases(select, select, scope), name, record, scope, conditions)
                return found[0], [*found[1], *exhausted(select, conditions, scope)]
            case Select() | OneOf() as union:
                types = [each for each in parts(union) if not isinstance(bare(each, self.format.named), Null)]
                return self._flattened_choice(types, name, record, scope, conditions)
            case _:
                return [], []

    def _flattened_choice(
        self, types: list[Type], name: str, record: logical.Record, scope: Scope, conditions: Conditions
    ) -> Found:
        """The members of one of several types, chosen by something that the rendering does not show."""
        tag = hidden_tag(scope, f"{name}|", tuple(range(len(types))))
        each = [(type, (chosen(tag, (place,)),)) for place, type in enumerate(types)]
        members, checks = self._flattened_cases(each, name, record, scope, conditions)
        return [tag, *members], checks

    def _flattened_cases(
        self,
        types: Iterable[tuple[Type, Conditions]],
        name: str,
        record: logical.Record,
        scope: Scope,
        conditions: Conditions,
    ) -> Found:
        members: list[Member] = []
        checks: Checks = []
        for place, (type, extra) in enumerate(types):
            found = self._flattened_members(type, f"{name}#{place}", record, scope, (*conditions, *extra))
            members += found[0]
            checks += found[1]
        return members, checks

    def _attempt(
        self, attempt: Attempt, name: str, record: logical.Record, scope: Scope, conditions: Conditions
    ) -> Found:
        """The alternative's name, the code that refused the previous one, and the members of every alternative."""
        names = tuple(trial.name for trial in attempt.trials)
        if any(isinstance(bare(trial.type, self.format.named), Attempt) for trial in attempt.trials):
            return self._loose(record, scope, conditions)
        kinds = tuple(Option(each, each) for each in names)
        inside = (*scope, name)
        hidden = Member((inside, "|"), None, {}, options=kinds)
        members = [hidden]
        if attempt.kind_field:
            schema: Schema = rendering.schema(_type(record, attempt.kind_field))
            kind = Member((inside, attempt.kind_field), attempt.kind_field, schema, conditions, options=kinds)
            hidden = hidden if conditions else kind
            if conditions:  # a member with conditions cannot be a tag
                kind = Member((inside, attempt.kind_field), attempt.kind_field, schema, conditions)
            members = [kind, hidden] if conditions else [kind]
        checks: Checks = []
        for place, trial in enumerate(attempt.trials):
            held = (*conditions, Scoped(Membership(FieldRef(0, hidden.key[1]), (trial.name,)), inside))
            if place and attempt.reason_field:
                members.append(_refused(attempt, place, held, inside))
            found = self._flattened_members(trial.type, f"{name}#{place}", record, scope, held)
            members += found[0]
            checks += found[1]
        return members, checks

    def _loose(self, record: logical.Record, scope: Scope, conditions: Conditions) -> Found:
        """The members as readers see them, all optional."""
        return [
            Member((scope, f"={each.name}"), each.name, rendering.schema(each.type), conditions, required=False)
            for each in record.fields
        ], []


def _object(found: Found) -> Schema:
    return objects(Members(tuple(found[0]), tuple(found[1])))


def _plain(shown: LogicalType) -> LogicalType:
    """The visible type; if only null has a special meaning, the wire type."""
    return shown.wire if isinstance(shown, logical.Meant) and shown.shown is None else shown


def _refused(attempt: Attempt, place: int, held: Conditions, scope: Scope) -> Member:
    """The error code that refused the previous alternative."""
    fallbacks = attempt.trials[place - 1].fallbacks
    codes = dict.fromkeys(code for fallback in fallbacks for code in fallback.codes)
    return Member((scope, f"{attempt.reason_field}#{place}"), attempt.reason_field, values([*codes]), held)


# --- values --------------------------------------------------------------------------------------------------------


def _meanings(mappings: tuple[ValueMapping, ...], shown: LogicalType) -> Schema:
    """The possible results of a value table; any value if one of them is computed."""
    known: list[Constant] = []
    for each in mappings:
        found = constants(each.value)
        if found is None:
            return rendering.schema(shown)
        known += [value for value in found if value is not None]
    distinct = [rendering.constant(each, shown) for each in dict.fromkeys(known)]
    return values(distinct) if distinct else NEVER


def _mapped_options(mappings: tuple[ValueMapping, ...], shown: LogicalType) -> tuple[Option, ...]:
    """The results of a value table as options of a tag; SOMETHING if one of them is computed."""
    known = [constants(each.value) for each in mappings]
    if any(each is None or len(each) != 1 for each in known):
        return (SOMETHING,)
    single = dict.fromkeys(each[0] for each in known if each is not None and each[0] is not None)
    return tuple(Option(rendering.constant(each, shown), each) for each in single)


_KINDS: dict[type, str] = {
    Integer: "int",
    Float: "float",
    Boolean: "bool",
    Text: "str",
    JsonText: "str",
    Bytes: "bytes",
    Map: "map",
    Struct: "record",
    Attempt: "record",
}


def _kind(type: Type) -> str:
    """The kind of a value that is not null, by its wire type."""
    if isinstance(type, Array):
        return "map" if type.entries else "list"
    return _KINDS.get(type.__class__, "variant")


def _open(shown: LogicalType) -> bool:
    return isinstance(shown, logical.Open) or (
        isinstance(shown, logical.Alternatives) and any(isinstance(each, logical.Open) for each in shown.options)
    )


def _type(record: logical.Record, name: str) -> LogicalType:
    """The logical type of a member; open for hidden members."""
    return next((each.type for each in record.fields if each.name == name), logical.Open())


def _name(field: Field) -> str | None:
    return None if field.hidden else field.name


def _nothing(field: Field) -> Option:
    """The option that a member is absent; a sentinel for null keeps its wire value in expressions."""
    if field.meaning is None or field.meaning.null is None:
        return ABSENT
    return Option(None, seen(field.meaning.null), absent=True)


def _described(field: Field, schema: Schema) -> Schema:
    return schema if field.hidden else rendering.described_schema(schema, field.doc, field.unit)


def _sized(array: Array) -> Schema:
    """The number of elements, if it is fixed; fewer are possible if bad elements are dropped."""
    match array.count:
        case Literal(int(count)):
            return {"maxItems": count} if array.salvage else {"minItems": count, "maxItems": count}
        case _:
            return {}


def _groups(struct: Struct) -> Iterator[Expression]:
    """The conditions that no two fields of a `oneof` group are present."""
    for first, second in combinations((field for field in struct.fields if field.one_of), 2):
        if first.one_of == second.one_of:
            present = (Call("present", (FieldRef(0, field.wire_name),)) for field in (first, second))
            yield Unary("not", Binary("and", *present))
