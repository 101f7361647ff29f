"""The documented guarantees, checked for any accepted spec with many records and values.

Nothing here knows a particular spec. A violation has a class (the property, and a message without names of the spec),
so that one cause is one class in any number of specs.
"""

import json
import math
import re
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError

from proof.chance import Chance
from proof.derived import checked
from proof.examples import example, with_examples
from proof.judging import Outcome, misconverted, misjudged
from proof.modules import Made, Spec, documents, generated, resolved
from proof.records import altered, little, mutants, nonsense, rewritten, texts_written, thinned
from proof.values import NoValueError, Values, settings
from proof.walks import (
    chooses_widths,
    counts,
    derives_in_a_version,
    fields,
    has_several_writings,
    hides_what_it_derives,
    leaves_bits_unnamed,
    leaves_bytes_unnamed,
    looks_at_lengths,
    maps_or_records,
    null_or_absent,
    nulls,
)
from support.spans import flaws
from wireloom.emit.jsonschema.beyond import gaps
from wireloom.emit.jsonschema.document import root_name
from wireloom.encodings.binary import BINARY
from wireloom.encodings.json import JSON
from wireloom.encodings.msgpack import MSGPACK
from wireloom.model.format import ByteOrder, Format, Root
from wireloom.model.types import Attempt, Presence, Struct
from wireloom.problems import SpecProblems
from wireloom.runtime.columns import arrow, reading
from wireloom.runtime.columns.logical import Measured
from wireloom.runtime.columns.rows import row_record
from wireloom.runtime.errors import DecodeError, EncodeError, ParameterError
from wireloom.runtime.streams.framing import framing_of
from wireloom.runtime.streams.writing import ending, frame
from wireloom.runtime.values import Pairs, Parsed, float16, float32, same, sourceless

OPEN_VALUES: tuple[arrow.OpenValues, ...] = ("variant", "json", "binary")
OTHERS = (
    *("prefix:uint8", "prefix:uint16:little", "prefix:int24:itself", "prefix:varint32", "prefix:zigzag64:plus=-3"),
    *("size:1", "size:5", "slip", "cobs", "delimiter:00", "delimiter:01ff", "delimiter:7e:escape=7d:xor=20"),
)
"""Framings that any format may be read with."""
_MADE = 24  # values per root and setting of parameters
_MUTANTS = 36
_EXPLAINED = 8  # explained records per reading
_NONSENSE = 10
_ALTERED = 14
_THINNED = 6
_REWRITTEN = 24
_TELLING = 6  # records, so many that they are not all irregular by chance
_BEYOND = ("<<", ">>", "//", "%")  # operators that soon exceed the engine's 64 bits, or give null
_VALIDATED = 12
_LITTLE = 1000


@dataclass(frozen=True)
class Violation:
    """A broken guarantee. `kind` and `what` are its class, the rest is an instance."""

    kind: str
    what: str
    detail: str = ""
    root: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    record: bytes | None = None
    value: Any = None

    @property
    def name(self) -> str:
        """The class as text."""
        return f"{self.kind}: {self.what}" if self.what else self.kind

    @property
    def size(self) -> int:
        """The size of the violation."""
        return len(self.record) if self.record is not None else len(repr(self.value))


@dataclass
class Report:
    """The result for a spec: its problems, or its violations, one of each class."""

    problems: tuple[str, ...] = ()
    violations: dict[str, Violation] = field(default_factory=dict)
    records: int = 0
    good: int = 0
    built: int = 0

    @property
    def accepted(self) -> bool:
        """Whether the generator accepted the spec."""
        return not self.problems

    def add(self, violation: Violation) -> None:
        """Add a violation; of a class, the smallest is kept."""
        known = self.violations.get(violation.name)
        if known is None or violation.size < known.size:
            self.violations[violation.name] = violation


class TooSlowError(BaseException):
    """The time for a spec is over. A BaseException, so that no handler on the way catches it."""


def examined(spec: Spec, seed: int, only: "Instance | None" = None, effort: float = 1) -> Report:
    """Check a spec for all properties. `only` is a single record or value; with a small `effort`, fewer are checked."""
    report = Report()
    try:
        format = resolved(documents(spec))
    except SpecProblems as problems:
        return Report(problems=tuple(problem.id for problem in problems.problems))
    except Exception as error:  # noqa: BLE001 - whatever comes is the violation
        report.add(Violation("generate", crash(error), trace(error)))
        return report
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "wireloom: no native engine")
            with generated(format) as made:
                made.complete()
                examinations = [_Examination(made, root, Chance(seed), report, only, effort) for root in format.roots]
                for examination in examinations:
                    examination.run()
                work_out(spec, examinations)
                exemplify(spec, made, [each for examination in examinations for each in examination.examples], report)
    except TooSlowError:
        raise
    except Exception as error:  # noqa: BLE001 - the same
        report.add(Violation("generate", crash(error), trace(error)))
    return report


def work_out(spec: Spec, examinations: Sequence["_Examination"]) -> None:
    """Check that derived members may be left out of values in which they are right."""
    stricter = checked(spec)
    if stricter is None:
        return
    try:
        format = resolved(documents(stricter))
    except SpecProblems:
        return  # `derive` has an expression that checks may not use
    with generated(format) as made:
        for examination in examinations:
            for record, parameters in examination.candidates():
                with suppress(DecodeError):
                    root = examination.root.name
                    value = made.module.parse(record, root=root, **parameters)
                    # only with a known byte order
                    if same(value, examination.module.parse(record, root=root, **parameters)):
                        examination.worked_out(record, parameters)


def exemplify(spec: Spec, made: Made, examples: list[dict[str, Any]], report: Report) -> None:
    """Check that the loader accepts examples made from the parser's results."""
    (name, content), *others = spec.items()
    numbered = [each | {"name": f"{each['name']} {place}"} for place, each in enumerate(examples)]
    if not numbered or "examples" in content:
        return
    try:
        resolved(documents({name: with_examples(content, numbered), **dict(others)}))
    except SpecProblems as problems:
        report.add(Violation("true examples are refused", problems.problems[0].id, str(problems)))


@dataclass(frozen=True)
class Instance:
    """A single record or value, kept beside a minimal spec."""

    root: str
    parameters: Mapping[str, Any]
    record: bytes | None = None
    value: Any = None


_NO_COLUMNS = (ValueError, TypeError, OverflowError, AttributeError, KeyError)
"""Exceptions for values whose members are of kinds that columns lack (including Arrow's)."""
_CRASHED = DecodeError("crashed", offset=0)  # stands for an exception that is no error of a record

# --- messages without names of the spec -----------------------------------------------------------------------------


def crash(error: BaseException) -> str:
    """The exception and its place, without names and numbers of the spec."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "wireloom" in frame.filename]
    last = frames[-1] if frames else None
    place = "generated code" if last and last.filename.startswith("<") else Path(last.filename).name if last else ""
    function = last.name if last and not last.filename.startswith("<") else ""
    return f"{type(error).__name__} in {place} {function}: {plain(str(error))}".strip()


def plain(text: str) -> str:
    """A message without names and values of its spec."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "_", text.split("\n", maxsplit=1)[0][:160])
    text = re.sub(r"\b([0-9a-f]{2} )+[0-9a-f]{2}\b", "#", text)
    return re.sub(r"\b(0x)?[0-9a-f]*[0-9][0-9a-f.]*\b|\b[A-Za-z]?\d+\b", "#", text)[:70]


def trace(error: BaseException) -> str:
    """The last lines of a traceback."""
    return "".join(traceback.format_exception(error)[-4:])[-1500:]


def difference(left: Any, right: Any) -> str:
    """The difference of two values, by the kinds of the first different leaves."""
    if isinstance(left, dict) and isinstance(right, dict):
        if left.keys() != right.keys():
            return "members"
        return next((difference(left[key], right[key]) for key in left if not same_text(left[key], right[key])), "")
    if isinstance(left, list) and isinstance(right, list) and not isinstance(left, Pairs):
        if len(left) != len(right):
            return "length of list"
        return next((difference(a, b) for a, b in zip(left, right, strict=True) if not same_text(a, b)), "")
    kinds = [type(each).__name__ for each in (left, right)]
    return f"{kinds[0]} against {kinds[1]}" if kinds[0] != kinds[1] else f"two of {kinds[0]}"


def same_text(left: Any, right: Any) -> bool:
    """Whether two plain values are equal, including NaN and signs of zero."""
    return repr(left) == repr(right)


def agrees(given: Any, parsed: Any) -> bool:
    """Whether every given member came back."""
    match given:
        case dict():
            return isinstance(parsed, dict) and all(
                value is None or (name in parsed and agrees(value, parsed[name])) for name, value in given.items()
            )
        case list() | tuple():
            alike = isinstance(parsed, list | tuple) and isinstance(given, tuple | Pairs) == isinstance(
                parsed, tuple | Pairs
            )
            return alike and len(given) == len(parsed) and all(map(agrees, given, parsed))
        case int() if isinstance(parsed, float) and not isinstance(given, bool):
            return parsed in (float(given), float32(float(given)))
        case float() if given == 0:
            return bool(parsed == 0)  # scaled integers have no negative zero; with floats builders keep the sign
        case _:
            return same(given, parsed)


def _narrowed(to: Callable[[float], float], value: Any) -> Any:
    """The value with floats of another width."""
    match value:
        case float():
            try:
                return to(value)
            except OverflowError:
                return math.copysign(math.inf, value)
        case dict():
            return {name: _narrowed(to, each) for name, each in value.items()}
        case Pairs():
            return Pairs((_narrowed(to, key), _narrowed(to, each)) for key, each in value)
        case list():
            return [_narrowed(to, each) for each in value]
        case tuple():
            return tuple(_narrowed(to, each) for each in value)
        case _:
            return value


NARROWED = (partial(_narrowed, float32), partial(_narrowed, float16))


def is_float_for_integer(error: EncodeError) -> bool:
    """Whether the error is about an integer derived from what may be a float: the record has the equal integer."""
    return error.expected == "an integer" and re.fullmatch(r"-?[0-9]+\.0", error.actual) is not None


def forgotten(value: Any) -> Any:
    """The value as plain members, without what a parser remembers of the record."""
    match value:
        case dict():
            return {name: forgotten(each) for name, each in value.items()}
        case Pairs():
            return Pairs((forgotten(key), forgotten(each)) for key, each in value)
        case list():
            return [forgotten(each) for each in value]
        case _:
            return value


def without(value: Any, names: Collection[str]) -> Any:
    """The value without members of these names."""
    match value:
        case dict():
            return {name: without(each, names) for name, each in value.items() if name not in names}
        case list() if not isinstance(value, Pairs):
            return [without(each, names) for each in value]
        case _:
            return value


def _within(layout: Any) -> Iterator[Any]:
    """All tuples, lists and mappings in a layout."""
    if isinstance(layout, tuple | list | dict):
        yield layout
        for each in layout.values() if isinstance(layout, dict) else layout:
            yield from _within(each)


def _mentions(layout: Any, operators: Collection[str]) -> bool:
    """Whether an expression in a layout has one of the operators."""
    return any(isinstance(each, tuple) and each[:1] and each[0] in operators for each in _within(layout))


def _places_at_offsets(layout: Any) -> bool:
    """Whether a field in a layout has an offset, which may lead back before written bytes."""
    return any(isinstance(each, dict) and "at" in each for each in _within(layout))


def mappings(value: Any) -> Iterator[str]:
    """The names of members that are mappings."""
    match value:
        case dict():
            for name, each in value.items():
                if isinstance(each, dict):
                    yield name
                yield from mappings(each)
        case list() | tuple():
            for each in value:
                yield from mappings(each)
        case _:
            return


def remembers(value: Any) -> bool:
    """Whether a part of the value came from a parser."""
    match value:
        case dict():
            return isinstance(value, Parsed) or any(map(remembers, value.values()))
        case list() | tuple():
            return any(map(remembers, value))
        case _:
            return False


# --- one root ------------------------------------------------------------------------------------------------------


@dataclass
class _Examination:
    made: Made
    root: Root
    chance: Chance
    report: Report
    only: Instance | None = None
    effort: float = 1
    parameters: dict[str, Any] = field(default_factory=dict)
    examples: list[dict[str, Any]] = field(default_factory=list)
    good: list[tuple[bytes, dict[str, Any]]] = field(default_factory=list)  # parsed records, with their parameters

    @property
    def format(self) -> Format:
        return self.made.format

    @property
    def module(self) -> Any:
        return self.made.module

    @cached_property
    def validator(self) -> Draft202012Validator:
        name = root_name(self.format, self.root)
        return Draft202012Validator({**self.made.schema, "$ref": f"#/$defs/{name}"})

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of every call."""
        return {"root": self.root.name, **self.parameters}

    def note(self, kind: str, what: str, detail: str = "", *, record: bytes | None = None, value: Any = None) -> None:
        self.report.add(Violation(kind, what, detail, self.root.name, dict(self.parameters), record, value))

    def some(self, count: int) -> int:
        """`count`, scaled by the effort."""
        return max(2, round(count * self.effort))

    def run(self) -> None:
        """Check everything, with default parameters and with others."""
        self.columns_alike()
        if self.only is not None:
            if self.only.root == self.root.name:
                self.parameters = dict(self.only.parameters)
                self.instance(self.only)
            return
        for turn in range(2 if self.format.parameters else 1):
            self.parameters = settings(self.format, self.chance) if turn else {}
            self.turn()

    def instance(self, only: Instance) -> None:
        """Check one record or one value."""
        if only.record is not None:
            self.read([only.record, b"", only.record])
            self.natively([only.record] * _TELLING)
        else:
            self.write([only.value])

    def turn(self) -> None:
        """Check one setting of the parameters."""
        self.programs()
        source = Values(self.format, self.chance, self.parameters)
        values: list[Any] = []
        for _ in range(self.some(_MADE)):
            try:
                values.append(source.value(self.root))
            except NoValueError:
                continue
        built = self.write(values)
        encoding = self.format.encoding.name
        records = [
            *built,
            *mutants(built, self.some(_MUTANTS), self.chance, encoding),
            *self.with_other_texts(values),
            *nonsense(self.some(_NONSENSE), self.chance),
        ]
        records += [b"{}", b"[]"] if encoding == "json" else []
        parsed = self.read(records)
        self.natively(built)
        for record in self.chance.sample(records, min(2, len(records))):
            self.exemplify(record)
        self.streams(records, built)
        if parsed:
            changed = [altered(self.chance.one(parsed), self.chance) for _ in range(self.some(_ALTERED))]
            self.write(changed)
            self.write([forgotten(value) for value in changed])
            self.write([thinned(forgotten(self.chance.one(parsed)), self.chance) for _ in range(self.some(_THINNED))])

    def with_other_texts(self, values: Sequence[Any]) -> Iterator[bytes]:
        """Records whose JSON bodies look like another writer's."""
        if not values or "bodies" not in (self.module.CODEC.layout or {}):
            return
        root, full = self.module.CODEC.root(self.root.name), self.module.CODEC.settings(self.parameters)
        with texts_written(lambda text: rewritten(text, self.chance)):
            for _ in range(self.some(_REWRITTEN)):
                with suppress(Exception):  # checked elsewhere if it does not build
                    yield root.construct.build(root.wired(self.chance.one(values)), **full)

    def programs(self) -> None:
        """The engine's validator accepts the compilers' programs, except for calls that are too deep."""
        for path in (self.module.CODEC.decode_path(**self.options), self.module.CODEC.encode_path(**self.options)):
            if "malformed" in path.reason and "nested too deep" not in path.reason:
                self.note("a program that the engine refuses", plain(path.reason), path.reason)

    def exemplify(self, record: bytes) -> None:
        """Make an example of a record."""
        try:
            made = example(self.made, self.root, "some bytes", record, self.parameters, self.chance)
        except Exception:  # noqa: BLE001 - said where records are read
            return
        if made is not None:
            self.examples.append(made)

    def natively(self, built: Sequence[bytes]) -> None:
        """If a request should run on the engine, it does not leave every record to the parser or the builders."""
        codec, named = self.module.CODEC, [type for _, type in self.format.types]
        if not codec.decode_path(**self.options).native or len(built) < _TELLING or self.root.elements:
            return
        packed = any(isinstance(type, Struct) and type.encoding == MSGPACK for type in named)
        if packed and any(isinstance(type, Attempt) for type in named):
            return  # for MessagePack the engine leaves all errors to the parser
        if _mentions(codec.layout, _BEYOND):
            return
        engine, reread, before = codec.engine, 0, codec.engine.rebuilt
        path, rows = codec.encode_path(**self.options), 0
        for record in built:
            decoded = self.module.decode(pa.array([record], pa.binary()), **self.options)
            if decoded.errors.null_count == 0:
                return
            reread += decoded.reread
            with suppress(EncodeError):  # reported with the values
                rows += len(self.module.encode(decoded.records, **self.options)) if path.native else 0
        if reread >= len(built):
            self.note("decode: every record is left to the parser", "", f"{reread} records", record=built[0])
        if _places_at_offsets(codec.layout):
            return  # rows with a field before written bytes are left to the builders (docs/internals/engine.md)
        if rows >= _TELLING and not path.reason and engine.rebuilt - before >= rows:
            self.note("encode: every record is left to the builders", "", f"{rows} rows", record=built[0])

    # --- columns ---

    def columns_alike(self) -> None:
        """The generated Arrow schema equals the runtime's, and Spark's types equal Arrow's."""
        try:
            Draft202012Validator.check_schema(self.made.schema)
        except SchemaError as error:
            self.note("schema is no schema", plain(error.message))
        record = self.module.CODEC.root(self.root.name).logical
        emitted = self.made.arrow.SCHEMAS[self.root.name]
        if not emitted.equals(arrow.schema(record)):
            self.note("emitted Arrow schema", "differs from the runtime's")
        for shown in OPEN_VALUES:
            try:
                spark = self.made.spark.struct_type(root=self.root.name, open_values=shown)
                wanted = arrow.schema(record, open_values=shown)
                _require_alike(spark, pa.struct(list(wanted)))
            except Exception as error:  # noqa: BLE001 - whatever comes is the violation
                self.note("Spark type", crash(error), trace(error))

    # --- spans ---

    def explain(self, records: Sequence[bytes]) -> None:
        """Every byte of a record has one span, and the explanation agrees with the parser."""
        for record in self.chance.sample(records, min(self.some(_EXPLAINED), len(records))):
            try:
                for flaw in flaws(self.module.CODEC, record, **self.options):
                    self.note("explain_bytes", plain(flaw), flaw, record=record)
            except Exception as error:  # noqa: BLE001 - whatever comes is the violation
                self.note("explain_bytes crashes", crash(error), trace(error), record=record)

    # --- reading ---

    def read(self, records: Sequence[bytes]) -> list[Any]:
        """Parse and decode agree; parsed values can be built and rendered. Returns the parsed values."""
        self.report.records += len(records)
        outcomes = [self.parsed(record) for record in records]
        sound = [place for place, (_, error) in enumerate(outcomes) if error is not _CRASHED]
        records, outcomes = [records[place] for place in sound], [outcomes[place] for place in sound]
        good = [(record, value) for record, (value, error) in zip(records, outcomes, strict=True) if error is None]
        self.report.good += len(good)
        self.good += [(record, dict(self.parameters)) for record, _ in good]
        self.decode(records, outcomes)
        self.explain(records)
        refused = [(record, error) for record, (_, error) in zip(records, outcomes, strict=True) if error is not None]
        self.judged(refused[-2 * _VALIDATED :])
        answers = [(record, value, error) for record, (value, error) in zip(records, outcomes, strict=True)]
        self.validate(self.chance.sample(answers, min(_VALIDATED, len(answers))))
        self.convert(self.chance.sample(answers, min(_VALIDATED, len(answers))))
        for place, (record, value) in enumerate(good):
            self.rebuild(record, value)
            self.canonical(record, value, validated=place < _VALIDATED)
        return [value for _, value in good]

    def parsed(self, record: bytes, **more: Any) -> tuple[Any, DecodeError | None]:
        """The value, or the error."""
        try:
            return self.module.parse(record, **self.options, **more), None
        except DecodeError as error:
            self.look(error, record)
            return None, error
        except Exception as error:  # noqa: BLE001 - whatever comes is the violation
            self.note("parse raises", crash(error), trace(error), record=record)
            return None, _CRASHED

    def look(self, error: DecodeError, record: bytes) -> None:
        """An error has a code of the format, and its offset is in the record."""
        if error.code not in self.module.CODES:
            self.note("code is not in CODES", error.code if error.code.islower() else "", str(error), record=record)
        if not 0 <= error.offset <= len(record):
            self.note("offset beyond the record", error.code, str(error), record=record)

    def decode(self, records: Sequence[bytes], outcomes: Sequence[tuple[Any, DecodeError | None]]) -> None:
        """Columns equal the parsed values, for any selection; no row depends on another."""
        codec = self.module.CODEC
        tabulation = codec.root(self.root.name).tabulation
        array = pa.array(records, pa.binary())
        for view in self.views(tabulation):
            values: list[Any] = [value for value, _ in outcomes]
            errors = [error for _, error in outcomes]
            try:
                if view.open_values == "binary":
                    values = [self.open_bytes(record) for record in records]
                wanted = arrow.decoded(values, errors, tabulation, view)
            except DecodeError as error:
                self.note("open bytes refused", error.code, str(error))
                continue
            except Exception as error:  # noqa: BLE001 - whatever comes is the violation
                self.column_misfit(error, records, outcomes, tabulation, view)
                continue
            self.compare(records, array, view, wanted)
        self.alone(records)

    def column_misfit(self, error: Exception, records: Any, outcomes: Any, tabulation: Any, view: arrow.View) -> None:
        """A column that cannot hold a value: the first record with such a value."""
        culprit = None
        for record, (value, wrong) in zip(records, outcomes, strict=True):
            try:
                arrow.decoded([value], [wrong], tabulation, view)
            except Exception:  # noqa: BLE001 - that is the one
                culprit = record
                break
        self.note("columns cannot hold a value", crash(error), trace(error), record=culprit)

    def open_bytes(self, record: bytes) -> Any:
        codec = self.module.CODEC
        try:
            return codec.parse_with(
                codec.root(self.root.name), record, codec.settings(self.parameters), open_bytes=True
            )
        except DecodeError:
            return None

    def views(self, tabulation: Any) -> Iterator[arrow.View]:
        yield arrow.View()
        names = [member.name for member in tabulation.record.fields]
        for shown in OPEN_VALUES[1:]:
            yield arrow.View(open_values=shown)
        for _ in range(2):
            chosen = self.chance.some(names)
            self.chance.shuffle(chosen)
            yield arrow.View(columns=chosen)
        if tabulation.rows:
            yield arrow.View(explode=True)
            flat = [member.name for member in row_record(tabulation.record, tabulation.rows).fields]
            yield arrow.View(columns=self.chance.some(flat, 1), explode=True)

    def decoded(self, array: pa.Array, view: arrow.View) -> Any:
        options = {"explode": view.explode, "open_values": view.open_values}
        try:
            found = self.module.decode(array, view.columns, **options, **self.options)
            for each in (found.records, found.errors):
                each.validate(full=True)
            return found
        except Exception as error:  # noqa: BLE001 - whatever comes is the violation
            record = array[0].as_py() if len(array) == 1 else None
            self.note("decode raises", crash(error), trace(error), record=record)
            return None

    def compare(self, records: Sequence[bytes], array: pa.Array, view: arrow.View, wanted: arrow.Decoded) -> None:
        found = self.decoded(array, view)
        if found is None:
            for record in records[:40]:
                self.decoded(pa.array([record], pa.binary()), view)
            return
        what = "" if view == arrow.View() else " exploded" if view.explode else f" as {view.open_values}"
        what = f"{what} projected" if view.columns is not None else what
        if found.records.type != wanted.records.type:
            self.note(f"decode{what}: type of columns", "", f"{found.records.type} against {wanted.records.type}")
            return
        if _rows(found) == _rows(wanted):
            return
        parents = range(len(records)) if wanted.parents is None else wanted.parents.to_pylist()
        if len(found.records) != len(wanted.records):
            self.note(f"decode{what}: number of rows", "", f"{len(found.records)} against {len(wanted.records)}")
            return
        for parent, ours, theirs in zip(parents, _rows(found), _rows(wanted), strict=True):
            if ours != theirs:
                self.note(
                    f"decode{what}", _apart(ours, theirs), f"decode {ours}\nparse {theirs}", record=records[parent]
                )

    def alone(self, records: Sequence[bytes]) -> None:
        """Some records alone give the same rows as among others."""
        whole = self.decoded(pa.array(records, pa.binary()), arrow.View())
        if whole is None or whole.parents is not None:
            return
        rows = _rows(whole)
        for place in self.chance.sample(range(len(records)), min(6, len(records))):
            single = self.decoded(pa.array([records[place]], pa.binary()), arrow.View())
            if single is not None and _rows(single) != [rows[place]]:
                detail = f"alone {_rows(single)}\namong others {rows[place]}"
                self.note("a row depends on others", "", detail, record=records[place])

    # --- building ---

    def rebuild(self, record: bytes, value: Any) -> None:
        """A parsed value can be built, and parses to the same value; mostly also without the memory of the record."""
        data = self.rebuilt(record, sourceless(value))
        if data is not None:
            again, refusal = self.parsed(data)
            if refusal is None and same(again, value):
                return
        try:
            data = self.module.build(value, **self.options)
        except EncodeError as error:
            what = plain(f"{error.expected} / {error.actual}")
            self.note("build refuses what parse gave", what, str(error), record=record)
            return
        except Exception as error:  # noqa: BLE001 - whatever comes is the violation
            self.note("build raises", crash(error), trace(error), record=record, value=value)
            return
        again, refusal = self.parsed(data)
        if refusal is None and not same(again, value):
            detail = f"{value}\nbuilt {data.hex()}\nreads {again}"
            self.note("build(parse(b)) is not parse(b)", difference(value, again), detail, record=record)

    def rebuilt(self, record: bytes, value: Any) -> bytes | None:
        """The bytes built from the members of a parsed value.

        Readers do not check members that are hidden and derived. If one is wrong in the record, a copy of the value may
        have no bytes; `worked_out` uses records in which they are right.
        """
        try:
            data: bytes = self.module.build(value, **self.options)
        except EncodeError as error:
            excused = self.lost(value) or self.too_large(error) or self.too_short(error)
            if not excused and not hides_what_it_derives(self.format):
                what = plain(f"{error.expected} / {error.actual}")
                self.note("build refuses what parse gives", what, str(error), record=record)
            return None
        except Exception as error:  # noqa: BLE001 - whatever comes is the violation
            self.note("build raises", crash(error), trace(error), record=record, value=value)
            return None
        again, refusal = self.parsed(data)
        if refusal is _CRASHED:
            return None
        if refusal is not None:
            self.note("build writes what parse refuses", refusal.code, f"{data.hex()}: {refusal}", record=record)
        elif not same(self.settled(again, value), self.settled(value, value)) and not self.lost(value):
            detail = f"{value}\nbuilt {data.hex()}\nreads {again}"
            self.note("build(parse(b)) reads as another value", difference(value, again), detail, record=record)
        return data

    def candidates(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Records in which all derived values may be right, with their parameters."""
        yield from self.good
        if self.format.encoding == BINARY and self.only is None:
            yield from ((record, {}) for record in little(self.some(_LITTLE), self.chance))

    def worked_out(self, record: bytes, parameters: Mapping[str, Any]) -> None:
        """A record with right derived values can be built from its other members."""
        self.parameters = dict(parameters)
        given = forgotten(self.module.parse(record, **self.options))
        if self.lost(given) or has_several_writings(self.format) or self.names_of_both:
            return
        if derives_in_a_version(self.format):
            return
        if self.order == "auto" and leaves_bits_unnamed(self.format):  # unnamed bits may decide on the byte order
            return
        if null_or_absent(self.format) & {*nulls(given)}:  # only a flag tells what a null member means
            return
        value = without(given, self.derived)
        try:
            data = self.module.build(value, **self.options)
        except EncodeError as error:
            # without hidden values, another alternative may read the built bytes; a float may not equal an integer
            is_other = error.expected.startswith("a value that reads back as") or is_float_for_integer(error)
            if not self.too_large(error) and not is_other:
                what = plain(f"{error.expected} / {error.actual}")
                self.note("build does not work out what is derived", what, f"{value}\n{error}", record=record)
            return
        again, _ = self.parsed(data)
        if data != record and not same(self.settled(again, given), self.settled(given, given)):
            detail = f"{value}\nbuilt {data.hex()}\nreads {again}"
            self.note("what is derived is worked out otherwise", difference(given, again), detail, record=record)

    @property
    def order(self) -> Any:
        """The requested byte order, if a parameter sets it."""
        parameter = self.format.byte_order.parameter
        return parameter and self.module.CODEC.settings(self.parameters)[parameter]

    @cached_property
    def names_of_both(self) -> bool:
        """Whether a derived and another field have the same name for readers."""
        seen = [(field.name, field.derive is None) for field in fields(self.format) if not field.flatten]
        seen += [(bit.title, bit.derive is None) for field in fields(self.format) for bit in field.bits]
        return any(given and name in self.derived for name, given in seen)

    @cached_property
    def counters(self) -> frozenset[str]:
        """The names for readers of fields that count lost elements."""
        return frozenset(field.name for field in fields(self.format) if field.counted)

    @cached_property
    def decided_by_what_is_lost(self) -> bool:
        """Whether hidden facts may decide what a record is: its form, unnamed bytes, a hidden field."""
        by_lengths = has_several_writings(self.format) and looks_at_lengths(self.format)
        return by_lengths or leaves_bytes_unnamed(self.format)

    def lost(self, value: Any) -> bool:
        """Whether reading dropped or replaced something, so that the record cannot be written again."""
        if self.decided_by_what_is_lost:
            return True
        match value:
            case str():
                return self.format.invalid_text is not None and "\ufffd" in value
            case float():  # NaN has many forms, which another field may read as well
                return math.isnan(value) and any(each.at is not None for each in fields(self.format))
            case dict():
                return any((name in self.counters and bool(each)) or self.lost(each) for name, each in value.items())
            case Pairs():
                return any(self.lost(each) for _, each in value)
            case list():
                return any(map(self.lost, value))
            case _:
                return False

    def too_large(self, error: EncodeError) -> bool:
        """Whether the built record exceeds the format's limit, as shorter forms of the value might not."""
        return self.format.size is not None and "(size_limit)" in str(error.actual)

    def too_short(self, error: EncodeError) -> bool:
        """Whether another alternative refuses the built bytes because trailing defaults are omitted."""
        unnamed = any(isinstance(type, Attempt) and not type.kind_field for _, type in self.format.types)
        is_other = error.expected.startswith("a value that reads back as") or (
            unnamed and error.expected.endswith("to be read back")
        )
        return is_other and any(field.presence is Presence.OPTIONAL for field in fields(self.format))

    @cached_property
    def following(self) -> frozenset[str]:
        """The names for readers of derived fields; if they disagree with other members, builders compute them again."""
        found = {
            field.name
            for field in fields(self.format)
            if (field.compute is not None and not field.given) or field.checksum is not None or field.counted
        }
        reasons = {type.reason_field for _, type in self.format.types if isinstance(type, Attempt)}
        return self.derived | found | reasons

    def independent(self, value: Any) -> Any:
        """The value without derived members."""
        match value:
            case dict():
                return {name: self.independent(each) for name, each in value.items() if name not in self.following}
            case list() if not isinstance(value, Pairs):
                return [self.independent(each) for each in value]
            case Pairs():
                return Pairs((key, self.independent(each)) for key, each in value)
            case _:
                return value

    @cached_property
    def derived(self) -> frozenset[str]:
        """The names for readers of derived fields and of constants of one version; the read value may lack them."""
        found = {field.name for field in fields(self.format) if field.derive is not None}
        versioned = (field for field in fields(self.format) if field.since or field.until)
        found |= {field.name for field in versioned if field.const is not None}
        return frozenset(
            found | {bit.title for field in fields(self.format) for bit in field.bits if bit.derive is not None}
        )

    @cached_property
    def read_only(self) -> frozenset[str]:
        """The names for readers of values that are not written back: error information, some lengths and checksums.

        Values with several forms are written in the shortest; lengths that count them change, and checksums over them.
        """
        reasons = {type.reason_field for _, type in self.format.types if isinstance(type, Attempt)}
        told = fields(self.format) if has_several_writings(self.format) else ()
        following = {each.name for each in told if each.checksum or (each.derive is not None and counts(each.derive))}
        return frozenset(reasons | following)

    def settled(self, value: Any, read: Any) -> Any:
        """The value without derived members that the read value lacked: builders add them."""
        match value, read:
            case dict(), dict():
                left = {name for name in value if not (name in self.derived and read.get(name) is None)}
                left -= self.read_only
                return {name: self.settled(each, read.get(name)) for name, each in value.items() if name in left}
            case list(), list() if len(value) == len(read) and not isinstance(value, Pairs):
                return [self.settled(each, there) for each, there in zip(value, read, strict=True)]
            case Pairs(), Pairs() if len(value) == len(read):
                entries = zip(value, read, strict=True)
                return Pairs((key, self.settled(each, there)) for (key, each), (_, there) in entries)
            case _:
                return value

    def write(self, values: Sequence[Any]) -> list[bytes]:
        """Build and encode agree, and built records read back. Returns the built records."""
        built: list[bytes] = []
        good: list[tuple[Any, bytes]] = []
        bad: list[Any] = []
        for value in values:
            try:
                data = self.module.build(value, **self.options)
            except EncodeError:
                bad.append(value)
                continue
            except Exception as error:  # noqa: BLE001 - whatever comes is the violation
                self.note("build raises", crash(error), trace(error), value=value)
                continue
            self.report.built += 1
            built.append(data)
            if any(name in self.maps_or_records for name in mappings(value)):
                continue
            good.append((value, data))
            self.read_back(value, data)
        self.encode(good, bad)
        return built

    @cached_property
    def maps_or_records(self) -> frozenset[str]:
        """The names for readers of fields that are a map in one version and a record in another; both are dicts."""
        return maps_or_records(self.format)

    def read_back(self, value: Any, data: bytes) -> None:
        parsed, error = self.parsed(data)
        if error is _CRASHED:
            return
        if error is not None:
            self.note("build writes what parse refuses", error.code, f"{data.hex()}: {error}", value=value)
        elif not (
            agrees(given := self.independent(value), parsed)
            or agrees(self.nearest(given), parsed)
            or (chooses_widths(self.format) and any(agrees(*map(to, (given, parsed))) for to in NARROWED))
        ):
            what = difference(*_first_apart(given, parsed))
            self.note("parse(build(v)) is not v", what, f"{value}\nbuilt {data.hex()}\nreads {parsed}", value=value)

    def nearest(self, value: Any) -> Any:
        """The value with scaled floats replaced by those of the nearest wire integers; unchanged if there are none."""
        read = list(fields(self.format))
        meanings = [field.meaning for field in read] + [bit.meaning for field in read for bit in field.bits]
        if not any(meaning is not None and isinstance(meaning.shown, Measured) for meaning in meanings):
            return value
        root = self.module.CODEC.root(self.root.name)
        return root.complete(root.wired(value))

    def encode(self, good: Sequence[tuple[Any, bytes]], bad: Sequence[Any]) -> None:
        if self.root.elements:
            return
        record = self.module.CODEC.root(self.root.name).logical
        for value, data in good:
            self.encode_one(record, value, data)
        for value in bad:
            self.encode_one(record, value, None)
        self.encode_together(record, good)

    def encode_one(self, record: Any, value: Any, wanted: bytes | None) -> None:
        if remembers(value):  # columns lose what the value remembers besides its members
            return
        try:
            structs = arrow.to_struct_array([value], record)
            (shown,) = reading.from_struct_array(structs, record, extensions=self.module.CODEC.extensions)
        except (EncodeError, *_NO_COLUMNS):
            return
        if not agrees(value, shown):
            return
        try:
            (found,) = self.module.encode(structs, **self.options).to_pylist()
        except EncodeError as error:
            if wanted is not None:
                self.note("encode refuses what build writes", plain(error.expected), str(error), value=value)
            return
        except Exception as error:  # noqa: BLE001 - whatever comes is the violation
            self.note("encode raises", crash(error), trace(error), value=value)
            return
        if wanted is None:
            self.note("encode writes what build refuses", "", f"{found.hex()}", value=value)
        elif found != wanted:
            self.note("encode and build write different bytes", "", f"{found.hex()}\nbuild {wanted.hex()}", value=value)

    def encode_together(self, record: Any, good: Sequence[tuple[Any, bytes]]) -> None:
        good = [(value, data) for value, data in good if not remembers(value)]
        try:
            structs = arrow.to_struct_array([value for value, _ in good], record)
            found = self.module.encode(structs, **self.options).to_pylist()
        except (EncodeError, *_NO_COLUMNS):  # single rows were checked before
            return
        for (value, wanted), data in zip(good, found, strict=True):
            if data != wanted:
                self.note("encode of many rows", "", f"{data.hex()}\nbuild {wanted.hex()}", value=value)

    # --- renderings ---

    def canonical(self, record: bytes, value: Any, *, validated: bool) -> None:
        """The canonical rendering is the same on all paths, reads back, and fits the schema."""
        try:
            rendering = json.loads(json.dumps(self.module.to_canonical(value, root=self.root.name), allow_nan=False))
            back = self.module.from_canonical(rendering, root=self.root.name)
        except Exception as error:  # noqa: BLE001 - whatever comes is the violation
            self.note("canonical raises", crash(error), trace(error), record=record)
            return
        if not same(back, value):
            self.note(
                "from_canonical(to_canonical(v)) is not v", difference(value, back), f"{value}\n{back}", record=record
            )
        if not validated or (self.parameters and self.format.encoding == JSON):
            return
        document = rendering
        if self.format.encoding == JSON:
            document = json.loads(record)
        try:
            self.validator.validate(document)
        except ValidationError as error:
            if not _beyond_schema(document):
                self.note(
                    "schema refuses what parse accepts", _rule(error), f"{document}\n{error.message}", record=record
                )
        except Exception as error:  # noqa: BLE001 - whatever comes is the violation
            self.note("schema raises", crash(error), trace(error), record=record)

    def judged(self, refused: Sequence[tuple[bytes, DecodeError]]) -> None:
        """Records that the parser refuses and the schema accepts are listed on the format's page."""
        if self.format.encoding != JSON or self.parameters:
            return
        for record, error in refused:
            try:
                document = json.loads(record)
            except ValueError:
                continue
            if error.code not in self.unsaid and self.validator.is_valid(document):
                self.note("schema takes what parse refuses", error.code, str(error), record=record)

    @cached_property
    def unsaid(self) -> set[str]:
        """The error codes that the schema cannot express, from the format's page."""
        codes = self.module.CODES
        return {code for gap in gaps(self.format) for code in (codes if gap.codes is None else gap.codes)}

    # --- validation and conversion ---

    def validate(self, answers: Sequence[Outcome]) -> None:
        """`validate` agrees with the parser, for one record and for many."""
        try:
            for what, detail, record in misjudged(self.made, answers, self.options):
                self.note("validate", what, detail, record=record)
        except Exception as error:  # noqa: BLE001 - whatever comes is the violation
            self.note("validate raises", crash(error), trace(error))

    def convert(self, answers: Sequence[Outcome]) -> None:
        """Records converted to their own format read as the same values, unless refused or reported as lossy."""
        if self.root.elements:
            return
        try:
            made = list(misconverted(self.made, answers, self.root.name, self.parameters))
        except ParameterError:  # a format without members has nothing in common with itself
            return
        except Exception as error:  # noqa: BLE001 - whatever comes is the violation
            self.note("convert raises", crash(error), trace(error))
            return
        for record, data, value in made:
            if data is None or value is None:
                self.note("convert", "a record that is neither made nor refused", f"{data!r}", record=record)
                continue
            again, wrong = self.parsed(data)
            if wrong is not None:
                self.note("convert", "what parse refuses", f"{data.hex()} {wrong}", record=record)
            elif not agrees(given := self.independent(value), again):
                what = difference(*_first_apart(given, again))
                self.note("convert", what, f"{value}\nmade {data.hex()}\nreads {again}", record=record)

    # --- streams ---

    def streams(self, records: Sequence[bytes], built: Sequence[bytes]) -> None:
        """Both ways of reading a stream give the same records, values and errors."""
        framings = {self.format.framing.text, "length-prefixed", self.chance.one(OTHERS)} - {"none"}
        if self.format.encoding == JSON:
            framings.add("array")
        for framing in sorted(framings):
            chosen = self.chance.sample(built, min(5, len(built)))
            chosen += self.chance.sample(list(records), min(4, len(records)))
            begun = b""
            with suppress(EncodeError):
                begun, _ = self.module.CODEC.beginning(framing_of(framing), self.parameters)
            self.stream(begun + _framed(chosen, framing), framing)

    def stream(self, data: bytes, framing: str) -> None:
        options = {"framing": framing, "on_error": "skip", **self.options}
        try:
            singles = list(self.module.iter_parse(data, **options))
            parts = list(self.module.decode_stream(data, **options))
        except ParameterError:
            return
        except Exception as error:  # noqa: BLE001 - whatever comes is the violation
            self.note("stream raises", crash(error), trace(error), record=data)
            return
        tabulation = self.module.CODEC.root(self.root.name).tabulation
        try:
            wanted = arrow.decoded(
                [each.value for each in singles], [each.error for each in singles], tabulation, arrow.View()
            )
        except Exception:  # noqa: BLE001 - said of the record alone
            return
        rows = [row for part in parts for row in _rows(part)]
        if rows != _rows(wanted):
            self.note("streams differ", f"{framing}", f"decode_stream {rows}\niter_parse {_rows(wanted)}", record=data)
        offsets = [each.as_py() for part in parts for each in part.offsets]
        if offsets != [each.offset for each in singles]:
            self.note("streams differ", f"{framing} offsets", f"{offsets}", record=data)


def _framed(records: Sequence[bytes], framing: str) -> bytes:
    """The records as a stream, without those that the framing cannot hold."""
    if framing == "lines":
        records = [each.replace(b"\n", b" ") for each in records]
    written: list[bytes] = []
    for each in records:
        with suppress(EncodeError):
            written.append(frame(framing_of(framing), each, first=not written))
    return b"".join((*written, ending(framing_of(framing), len(written))))


def _rows(found: arrow.Decoded) -> list[str]:
    """Each row as text: its record, and code, path and offset of its error."""
    return [
        f"{record!r} {(error['code'], error['path'], error['offset']) if error else None}"
        for record, error in zip(found.records.to_pylist(), found.errors.to_pylist(), strict=True)
    ]


_ERROR = re.compile(r"(.*) (None|\('([a-z0-9_]+)', (.*), (-?\d+)\))", re.DOTALL)


def _apart(ours: str, theirs: str) -> str:
    """The difference of two rows: of their errors, otherwise of their values."""
    found = [_ERROR.fullmatch(each) for each in (ours, theirs)]
    assert all(found)
    codes = [match[3] or "no error" for match in found if match]
    if codes[0] != codes[1]:
        good = [code == "no error" for code in codes]
        return "accepts what parse refuses" if good[0] else "refuses what parse accepts" if good[1] else "another code"
    places = [(match[4], match[5]) for match in found if match]
    if places[0] != places[1]:
        return "another path or offset"
    return "another value"


def _first_apart(given: Any, parsed: Any) -> tuple[Any, Any]:
    """The first leaves that differ."""
    if isinstance(given, dict) and isinstance(parsed, dict):
        for name, value in given.items():
            if value is not None and (name not in parsed or not agrees(value, parsed[name])):
                return _first_apart(value, parsed.get(name))
    if isinstance(given, list) and isinstance(parsed, list) and len(given) == len(parsed):
        for left, right in zip(given, parsed, strict=True):
            if not agrees(left, right):
                return _first_apart(left, right)
    return given, parsed


def _rule(error: ValidationError) -> str:
    best = error
    while best.context:
        best = min(best.context, key=lambda each: -len(each.absolute_path))
    return str(best.validator)


def _beyond_schema(document: Any) -> bool:
    """Integers that JSON Schema validators with floats cannot tell apart."""
    match document:
        case float():
            return math.isinf(document)
        case dict():
            return any(map(_beyond_schema, document.values()))
        case list():
            return any(map(_beyond_schema, document))
        case _:
            return False


def _require_alike(spark: Any, type: pa.DataType) -> None:
    """Raise if Spark's type differs from Arrow's."""
    name = spark.typeName()
    if pa.types.is_struct(type):
        if name == "variant":
            return
        assert name == "struct", f"{name} for a struct"
        assert [each.name for each in spark.fields] == [each.name for each in type], "names of a struct"
        for ours, theirs in zip(spark.fields, type, strict=True):
            _require_alike(ours.dataType, theirs.type)
        return
    if pa.types.is_map(type):
        assert name == "map", f"{name} for a map"
        _require_alike(spark.keyType, type.key_type)
        _require_alike(spark.valueType, type.item_type)
        return
    if pa.types.is_list(type):
        assert name == "array", f"{name} for a list"
        _require_alike(spark.elementType, type.value_type)
        return
    wanted = {
        "byte": "int8",
        "short": "int16",
        "integer": "int32",
        "long": "int64",
        "boolean": "bool",
        "tinyint": "int8",
    }
    wanted |= {
        "smallint": "int16",
        "int": "int32",
        "bigint": "int64",
        "decimal": str(type) if str(type) == f"decimal128({spark.simpleString()[8:-1].replace(',', ', ')})" else "",
        "timestamp": "timestamp[us, tz=UTC]",
        "date": "date32[day]",
        "interval day to second": "duration[us]",
        "daytimeinterval": "duration[us]",
        "variant": "struct",
    }
    assert wanted.get(name.split("(")[0], name) == str(type), f"{name} for {type}"


__all__ = ["ByteOrder", "Instance", "Report", "TooSlowError", "Violation", "examined", "replace"]
