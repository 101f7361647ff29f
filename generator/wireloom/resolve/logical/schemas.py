"""Read shared schemas, and check whether the logical types of a format fit them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from wireloom.problems import Problems, nearest
from wireloom.resolve.bind import builtins, notation
from wireloom.resolve.facts.text_forms import LONGEST, no_such_decimal
from wireloom.resolve.logical.shapes import ColumnsClash, Shape, merged, options_of, shape
from wireloom.runtime.columns import logical
from wireloom.runtime.columns.logical import LogicalField, LogicalType, Record
from wireloom.spec.documents import Document, Documents, Place, unlike
from wireloom.spec.language import SchemaDocument, SchemaField, SchemaType

_MEANT: Mapping[str, LogicalType] = {
    "timestamp": logical.Meant(logical.Integer(64, signed=True), logical.Scaled("timestamp")),
    "date": logical.Meant(logical.Integer(32, signed=True), logical.Scaled("date")),
    "duration": logical.Meant(logical.Integer(64, signed=True), logical.Scaled("duration")),
}
_NAMES = (*(name for name in builtins.TYPE_NAMES if name not in ("ext", "extended")), *_MEANT, "decimal")
_FORMS = {
    "list": "list(TYPE)",
    "map": "map(KEY, VALUE)",
    "decimal": "decimal(DIGITS, FRACTION)",
    "bytes": "bytes, or bytes(20)",
}


@dataclass(frozen=True, slots=True)
class Schema:
    """A shared schema: its record, and its named records."""

    name: str
    document: Document
    record: Record
    types: Mapping[str, Record]
    sound: bool = True  # whether its types have no mistakes


def schemas(documents: Documents, problems: Problems) -> dict[str, Schema]:
    """The shared schemas by name."""
    return {
        content.schema_: _Reader(document, content, problems).schema()
        for document, content in unlike(documents.schemas(), "schema", problems)
    }


@dataclass(frozen=True, slots=True)
class _Reader:
    document: Document
    content: SchemaDocument
    problems: Problems

    def schema(self) -> Schema:
        before = len(self.problems.found)
        types = {
            name: self._record(self.document.place / "types" / name, each, frozenset({name}))
            for name, each in self.content.types.items()
        }
        record = self._record(self.document.place, self.content, frozenset())
        return Schema(self.content.schema_, self.document, record, types, len(self.problems.found) == before)

    def _record(self, place: Place, content: SchemaDocument | SchemaType, seen: frozenset[str]) -> Record:
        return Record(tuple(self._fields(place / "fields", content, seen)))

    def _fields(
        self, place: Place, content: SchemaDocument | SchemaType, seen: frozenset[str]
    ) -> Iterator[LogicalField]:
        names: set[str] = set()
        for index, entry in enumerate(content.fields):
            for name, field in entry.items():
                where = place / index / name
                if name in names:
                    self.problems.add(
                        where.key_problem("duplicate-field", f"two columns are named {name}", "rename one")
                    )
                names.add(name)
                document = field if isinstance(field, SchemaField) else SchemaField(type=field)
                at = where / "type" if isinstance(field, SchemaField) else where
                found = self._shape(at, document.type, 0, seen)
                yield LogicalField(name, found.type, found.nullable, document.doc, document.unit)

    def _shape(self, place: Place, text: str, column: int, seen: frozenset[str]) -> Shape:
        try:
            return self._notation_shape(place, notation.parse(text, column), seen)
        except notation.NotationError as error:
            self.problems.add(place.problem("type-syntax", error.message, error.hint, column=error.column))
            return Shape(logical.Text())

    def _notation_shape(self, place: Place, parsed: notation.Notation, seen: frozenset[str]) -> Shape:
        match parsed:
            case notation.Union(options):
                shapes = [self._notation_shape(place, option, seen) for option in options]
                closed = (
                    replace(each, nullable=False) if isinstance(each.type, logical.Open) else each for each in shapes
                )
                try:
                    return merged(closed)
                except ColumnsClash:
                    hint = "give each its own column; only null may be added"
                    self.problems.add(
                        place.problem("clashing-meanings", "a time or decimal cannot be an alternative", hint)
                    )
                    return Shape(logical.Text())
            case notation.Optional(type=single):
                return Shape(self._notation_shape(place, single, seen).type, nullable=True)
            case notation.Single(name="any", arguments=()):
                return Shape(logical.Open(), nullable=True)
            case notation.Single(name="list", arguments=(element,)):
                inner = self._shape(place, element.text, element.column, seen)
                return Shape(logical.List(inner.type, inner.nullable))
            case notation.Single(name="map", arguments=(key, value)):
                inner = self._shape(place, value.text, value.column, seen)
                return Shape(
                    logical.Map(self._shape(place, key.text, key.column, seen).type, inner.type, inner.nullable)
                )
            case notation.Single(name="bytes", arguments=(size,)) if size.text.strip().isdecimal():
                return Shape(logical.Binary(int(size.text)))
            case notation.Single(name=name, arguments=()) if name in _MEANT and name not in self.content.types:
                return Shape(_MEANT[name])
            case notation.Single(name="decimal", arguments=(digits, fraction)):
                return Shape(self._decimal(place, digits, fraction))
            case notation.Single(name=name, arguments=()) if name in builtins.SCALARS:
                return shape(builtins.SCALARS[name], {})
            case notation.Single(name=name, arguments=()) if name in self.content.types and name not in seen:
                inside = self.document.place / "types" / name
                return Shape(self._record(inside, self.content.types[name], seen | {name}))
            case notation.Single() as single:
                self._unknown(place, single)
                return Shape(logical.Text())

    def _decimal(self, place: Place, digits: notation.Argument, fraction: notation.Argument) -> LogicalType:
        texts = digits.text.strip(), fraction.text.strip()
        precision, places = (int(text) if text.isdecimal() and len(text) <= len(str(LONGEST)) else -1 for text in texts)
        if not 0 < precision <= LONGEST or not 0 <= places <= precision:
            message, hint = no_such_decimal(*texts)
            self.problems.add(place.problem("type-syntax", message, hint, column=digits.column))
            precision, places = LONGEST, 0
        shown = logical.Scaled("decimal", precision=precision, digits=places)
        return logical.Meant(logical.Integer(64, signed=True), shown)

    def _unknown(self, place: Place, single: notation.Single) -> None:
        if single.name in self.content.types:
            problem = place.problem(
                "recursive-type",
                f"{single.name} contains itself",
                "use any: a column cannot contain itself",
                column=single.column,
            )
        elif single.name in _NAMES:
            number = f"{len(single.arguments)} argument{'' if len(single.arguments) == 1 else 's'}"
            message, hint = f"{single.name} with {number}", f"write {_FORMS.get(single.name, single.name)}"
            problem = place.problem("type-syntax", message, hint, column=single.column)
        else:
            hint = nearest(single.name, (*self.content.types, *_NAMES))
            problem = place.problem("unknown-type", f"there is no type {single.name}", hint, column=single.column)
        self.problems.add(problem)


# --- fitting -------------------------------------------------------------------------------------------------------


def misfits(given: LogicalType, wanted: LogicalType, path: str = "") -> Iterator[tuple[str, str, str]]:
    """The places where a format's type does not fit the schema's: path, message and hint."""
    match given, wanted:
        case Record(), Record():
            yield from _record_misfits(given, wanted, path)
        case logical.List(), logical.List():
            yield from misfits(given.element, wanted.element, f"{path}[]")
            yield from _null_misfit(given.nullable, wanted.nullable, f"{path}[]")
        case logical.Map(), logical.Map():
            yield from misfits(given.key, wanted.key, f"{path}{{key}}")
            yield from misfits(given.value, wanted.value, f"{path}{{value}}")
            yield from _null_misfit(given.nullable, wanted.nullable, f"{path}{{value}}")
        case logical.Alternatives(options), _:
            for option in options:
                yield from misfits(option, wanted, path)
        case _, logical.Alternatives(options):
            name = logical.kind_name(given)
            same = [option for option in options if logical.kind_name(option) == name]
            if same:
                yield from misfits(given, same[0], path)
            else:
                yield path, f"{path} may be {shown(given)}", f"the schema has {shown(wanted)}"
        case _ if not _fits_scalar(given, wanted):
            yield path, f"{path} is {shown(given)}", f"the schema has {shown(wanted)}{_way_there(given, wanted)}"
        case _:
            return


def _record_misfits(given: Record, wanted: Record, path: str) -> Iterator[tuple[str, str, str]]:
    columns = {field.name: field for field in wanted.fields}
    known = {field.name for field in given.fields}
    lacking = [each.name for each in wanted.fields if each.name not in known]
    prefix = f"{path}." if path else ""
    for field in given.fields:
        column = columns.get(field.name)
        if column is None:
            hint = nearest(field.name, columns) if len(columns) < 100 else ""
            known |= {name for name in lacking if hint == f"did you mean {name}?"}  # not missing too
            yield (
                prefix + field.name,
                f"{prefix}{field.name} is not a column of the schema",
                hint or "hide it, or add it to the schema",
            )
            continue
        yield from misfits(field.type, column.type, prefix + field.name)
        yield from _null_misfit(
            field.nullable, column.nullable or isinstance(column.type, logical.Open), prefix + field.name
        )
    for column in wanted.fields:
        if column.name not in known and not column.nullable:
            yield (
                prefix + column.name,
                f"{prefix}{column.name} is missing",
                "add it, or let the schema's column be null",
            )


def unplaced(given: LogicalType, wanted: LogicalType, path: str = "") -> Iterator[str]:
    """The paths of the schema's columns that the format's own type does not have."""
    match given, wanted:
        case Record(), Record():
            own = {field.name: field.type for field in given.fields}
            for column in wanted.fields:
                below = f"{path}.{column.name}" if path else column.name
                if column.name in own:
                    yield from unplaced(own[column.name], column.type, below)
                else:
                    yield below
        case logical.List(), logical.List():
            yield from unplaced(given.element, wanted.element, path)
        case _:
            return


def _null_misfit(given: bool, wanted: bool, path: str) -> Iterator[tuple[str, str, str]]:  # noqa: FBT001 - the two sides of a comparison
    if given and not wanted:
        yield path, f"{path} may be null", "let the schema's column be null (`?`)"


def fitted(given: LogicalType, wanted: LogicalType) -> LogicalType:
    """The schema's type, with the meanings of the format's values; the columns are made from it."""
    match given, wanted:
        case Record(), Record():
            own = {field.name: field.type for field in given.fields}
            columns = (replace(each, type=fitted(own.get(each.name, each.type), each.type)) for each in wanted.fields)
            return Record(tuple(columns))
        case logical.List(), logical.List():
            return replace(wanted, element=fitted(given.element, wanted.element))
        case logical.Map(), logical.Map():
            return replace(wanted, key=fitted(given.key, wanted.key), value=fitted(given.value, wanted.value))
        case _, logical.Alternatives(options):
            own = {logical.kind_name(each): each for each in options_of(given)}
            return replace(
                wanted, options=tuple(fitted(own.get(logical.kind_name(each), each), each) for each in options)
            )
        case logical.Meant(shown=logical.Scaled("decimal") as shown), logical.Meant(shown=logical.Scaled() as scaled):
            finer = 10 ** (scaled.digits - shown.digits)
            multiplier, offset = shown.multiplier * finer, shown.offset * finer
            return replace(given, shown=replace(scaled, multiplier=multiplier, offset=offset))
        case logical.Meant(shown=logical.Said() as said), _:
            return replace(given, shown=replace(said, counted=_counted(fitted(said.plain, wanted))))
        case logical.Meant(shown=None), logical.Integer() | logical.Float() | logical.Text() | logical.Binary():
            return replace(given, wire=wanted)
        case logical.Meant(), _:
            return given
        case _:
            return wanted


def _counted(plain: LogicalType) -> logical.Integer | logical.Scaled:
    """The number that texts state, as the type of an integer with the same meaning."""
    match plain:
        case logical.Integer():
            return plain
        case logical.Meant(shown=logical.Scaled() as scaled):
            return scaled
        case _:
            raise AssertionError(f"{plain} counts nothing")


def _way_there(given: LogicalType, wanted: LogicalType) -> str:
    """A hint for a number or text that lacks the keys to fit a column of times or numbers."""
    match given, wanted:
        case logical.Text(), logical.Integer(8 | 16 | 32 | 64) | logical.Meant(
            shown=logical.Scaled("timestamp" | "date" | "decimal")
        ):
            return f"; for a text, write `logical: {shown(wanted)}`"
        case logical.Integer(), logical.Meant(shown=logical.Scaled("decimal")):
            return "; set its unit with `scale`"
        case logical.Integer(), logical.Meant():
            return "; set its unit with `logical`"
        case _:
            return ""


def _fits_scalar(given: LogicalType, wanted: LogicalType) -> bool:
    match given, wanted:
        case logical.Meant(), _:
            return _fits_meaning(given, wanted)
        case logical.Integer(), logical.Integer():
            if given.signed == wanted.signed:
                return given.bits <= wanted.bits
            return not given.signed and given.bits < wanted.bits
        case ((logical.Integer() | logical.BigInteger()), logical.BigInteger()):
            return True
        case logical.Float(), logical.Float():
            return given.bits <= wanted.bits
        case logical.Text(), logical.Text():
            return not wanted.symbols or (bool(given.symbols) and set(given.symbols) <= set(wanted.symbols))
        case logical.Binary(), logical.Binary():
            return wanted.size is None or given.size == wanted.size
        case _:
            return given == wanted


def _fits_meaning(given: logical.Meant, wanted: LogicalType) -> bool:
    """Whether the meaning of a value fits a schema's type."""
    match given.shown, wanted:
        case None, _:
            return _fits_scalar(given.wire, wanted)
        case logical.Said(logical.Integer() as integer), _:
            return isinstance(wanted, logical.Integer) and _fits_scalar(integer, wanted)
        case logical.Said() as said, _:
            return _fits_scalar(said.plain, wanted)
        case logical.Scaled("decimal") as own, logical.Meant(shown=logical.Scaled("decimal") as scaled):
            whole = own.precision - own.digits <= scaled.precision - scaled.digits
            return whole and own.digits <= scaled.digits
        case logical.Scaled(kind), logical.Meant(shown=logical.Scaled(other)):
            return kind == other
        case logical.Scaled("integer"), _:
            return wanted == logical.Integer(64, signed=True)
        case logical.Measured(), _:
            return wanted == logical.Float(64)
        case ((logical.Written() | logical.Encoded() | logical.Named()), _):
            return wanted == logical.Text()
        case _:
            return False


def shown(type: LogicalType) -> str:
    """A logical type in the notation of specs."""
    match type:
        case logical.Boolean():
            return "bool"
        case logical.Integer(bits=65):
            return "int64 | uint64"
        case logical.Integer(bits, signed):
            return f"{'int' if signed else 'uint'}{bits}"
        case logical.BigInteger():
            return "uint128"
        case logical.Float(bits):
            return f"float{bits}"
        case logical.Text():
            return "str"
        case logical.Binary(size):
            return "bytes" if size is None else f"bytes({size})"
        case logical.List(element):
            return f"list({shown(element)})"
        case logical.Map(key, value):
            return f"map({shown(key)}, {shown(value)})"
        case logical.Record():
            return "a record"
        case logical.Alternatives(options):
            return " | ".join(shown(option) for option in options)
        case logical.Open():
            return "any"
        case logical.Meant():
            return _meaning_text(type)


def _meaning_text(type: logical.Meant) -> str:
    """The meaning of values in the notation of specs."""
    match type.shown:
        case None:
            return shown(type.wire)
        case logical.Scaled("decimal", precision=precision, digits=digits):
            return f"decimal({precision}, {digits})"
        case logical.Scaled("integer"):
            return "int64"
        case logical.Scaled(kind):
            return kind
        case logical.Said():
            return shown(type.shown.plain)
        case logical.Measured():
            return "float64"
        case logical.Written(kind):
            return kind
        case logical.Encoded(charset):
            return f"str in {charset}"
        case logical.Named():
            return f"{shown(type.wire)} by name"
        case _:
            assert_never(type.shown)
