"""Tries records on two specs: from examples, from values drawn from the models, and from changed bytes.

Each record is valid by the writer's spec. The reader's spec must read the same values in the columns that both have.
The `disagreements` are the records that it refuses or reads differently.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import takewhile
from types import ModuleType
from typing import Any, TypeGuard

from wireloom.compat.findings import Witness
from wireloom.compat.structure import Difference
from wireloom.drawing.chance import Random
from wireloom.drawing.values import NoValueError, Wanted, value_of
from wireloom.escapes import json_text
from wireloom.expr.ast import Kind
from wireloom.expr.ast import Literal as Constant
from wireloom.model.format import Example, Format
from wireloom.model.types import Mapping as WireMapping
from wireloom.model.types import Spelling
from wireloom.runtime.columns.logical import List, LogicalType, Map, Record
from wireloom.runtime.errors import DecodeError, EncodeError, ParameterError, WireloomError
from wireloom.runtime.validation import Validator
from wireloom.runtime.values import sourceless

DRAWN = 40  # values of a root under its default parameters
_UNDER_OTHERS = 5  # values under each other parameter
# for each such value: whether its numbers are mostly the greatest (True) or the least
_ENDS = (True, True, True, True, True, True, False, False, False)
_TRIES = 8  # attempts to make a record with a wanted value
_EACH = 4  # records for each difference
_MUTATED = 4  # records whose bytes are changed
_CHANGED = 12  # bytes of a record that are changed
_DEEP = 12  # drawn values that are also built and validated
_LONGEST = 300  # most characters of a text that is made because a constant may be its length
_SHOWN = 60

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """A format in one of the two specs, with its generated module."""

    format: Format
    module: ModuleType
    judge: Validator
    files: Mapping[str, str]

    def document(self) -> dict[str, Any]:
        """The JSON Schemas, without the line that names their source."""
        texts = {name: self.files.get(name) for name in ("schema.json", "variants.json")}
        found = {name: json.loads(text) for name, text in texts.items() if text}
        return {name: {key: said for key, said in each.items() if key != "$comment"} for name, each in found.items()}

    def settings(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The given parameters that the format has."""
        known = {each.name for each in self.format.parameters}
        return {name: value for name, value in parameters.items() if name in known}


@dataclass(frozen=True, slots=True)
class Sample:
    """A record, and the root and parameters to read it with."""

    data: bytes
    root: str
    parameters: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A record that the two specs read differently: where, and what each reads."""

    sample: Sample
    kind: str  # refused, differs, document, incomplete, build
    path: Path  # names only, without indices
    number: int | None = field(default=None, kw_only=True)  # the index of the difference that the record was made for
    code: str
    writer: str
    reader: str

    def witness(self, *, backward: bool) -> Witness:
        """The disagreement with old and new spec instead of writer and reader."""
        old, new = (self.writer, self.reader) if backward else (self.reader, self.writer)
        return Witness(self.sample.data, self.sample.root, self.sample.parameters, old, new)


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of one direction: how many records both specs were run on, and where they disagree."""

    records: int
    disagreements: tuple[Disagreement, ...]
    exercised: frozenset[int]  # the indices of differences for whose values a record was made
    reached: frozenset[str]  # the structs that occur in records


def tried(writer: Side, reader: Side, differences: Sequence[Difference], *, backward: bool) -> Tried:
    """Read records of the writer's spec with the reader's."""
    compared, found = 0, list[Disagreement]()
    exercised, seen = set[int](), set[Sample]()
    schemas = [side.document() for side in (writer, reader)]
    maker = _Maker.of(writer, reader)
    for number, sample, deep in _samples(maker, reader, differences, backward=backward):
        if sample in seen:
            continue
        seen.add(sample)
        outcome = _outcome(writer, reader, sample, deep=deep, judged=schemas[0] != schemas[1])
        if outcome is None:
            continue
        compared += 1
        if number is not None:
            exercised.add(number)
        found += (replace(each, number=number) for each in outcome)
    structs = {site.struct for each in differences if (site := each.old if backward else each.new) is not None}
    reached = {struct for struct, _ in maker.visits}
    if structs - reached - {""}:  # examples may contain structs that random values did not reach
        reached |= {name for example in writer.format.examples for name in _structs(writer, example)}
    return Tried(compared, tuple(found), frozenset(exercised), frozenset(reached))


def _structs(side: Side, example: Example) -> set[str]:
    """The structs in a record, as far as it can be read."""
    given = side.settings(dict(example.parameters))
    spans = side.module.CODEC.explain_bytes(example.data, root=example.root, **given).span.walk()
    return {name for span in spans for name in (span.struct, span.holder) if name}


# --- records -------------------------------------------------------------------------------------------------------


def _samples(
    maker: "_Maker", reader: Side, differences: Sequence[Difference], *, backward: bool
) -> Iterator[tuple[int | None, Sample, bool]]:
    """Records to try; the writer's spec may refuse some of them.

    Each comes with the index of the difference that it was made for, and whether it is also built and validated.
    """
    writer = maker.side
    roots = [root.name for root in writer.format.roots if root.name in {each.name for each in reader.format.roots}]
    examples = [
        Sample(each.data, each.root, tuple(writer.settings(dict(each.parameters)).items()))
        for each in (*writer.format.examples, *reader.format.examples)
        if each.root in roots
    ]
    yield from ((None, each, True) for each in examples)
    drawn = list[Sample]()
    for root in roots:
        made = [maker.sample(root, {}, {}) for _ in range(DRAWN)]
        made += [maker.sample(root, given, {}) for given in _settings(writer.format) for _ in range(_UNDER_OTHERS)]
        made += [replace(maker, chance=replace(maker.chance, end=end)).sample(root, {}, {}) for end in _ENDS]
        drawn += filter(None, made)
        for number, each in enumerate(differences):
            site, values = (each.old, each.old_values) if backward else (each.new, each.new_values)
            if site is not None and values:
                wanted = {(site.struct, site.field): values}
                for one in maker.several(_EACH + 2 * min(len(values), 6), root, wanted):
                    yield number, one, True
        sites = [each.old if backward else each.new for each in differences]
        for site in dict.fromkeys(filter(None, sites)):
            for reached in dict.fromkeys(((site.struct, site.field), (site.struct, ""))):
                for one in maker.several(_EACH - maker.visits[reached], root, {}, reached):
                    yield None, one, False
    yield from ((None, each, number < _DEEP) for number, each in enumerate(drawn))
    shortest = sorted({*examples, *drawn[: _MUTATED * 2]}, key=lambda each: (len(each.data), each.data))
    for sample in shortest[:_MUTATED]:
        yield from ((None, replace(sample, data=data), False) for data in _mutants(sample.data))


@dataclass(frozen=True)
class _Maker:
    """Makes records from drawn values; always the same ones."""

    side: Side
    chance: Random
    visits: Counter[tuple[str, str]] = field(default_factory=Counter)  # how many records have each struct and field

    @staticmethod
    def of(side: Side, other: Side) -> "_Maker":
        """A maker that prefers numbers and texts that either spec compares with."""
        (numbers, texts), (others, words) = _constants(side.format), _constants(other.format)
        source = random.Random(side.format.name)  # noqa: S311 - no secrets
        return _Maker(side, Random(source, sorted({*numbers, *others}), sorted({*texts, *words})))

    def several(self, count: int, root: str, wanted: Wanted, reached: tuple[str, str] = ("", "")) -> Iterator[Sample]:
        """Up to `count` such records; stops at the first that cannot be made."""
        found = (self.sample(root, {}, wanted, reached) for _ in range(count))
        return (each for each in takewhile(lambda one: one is not None, found) if each is not None)

    def sample(
        self, root: str, parameters: Mapping[str, Any], wanted: Wanted, reached: tuple[str, str] = ("", "")
    ) -> Sample | None:
        """A record with a random value that has the `wanted` values, or contains the `reached` field.

        None if no such value was found.
        """
        for _ in range(_TRIES if wanted or any(reached) else 1):
            recorded = _Recorded(wanted)
            try:
                value = value_of(self.side.format, root, parameters, self.chance, recorded)
                if (wanted and not recorded.asked) or (any(reached) and reached not in recorded.fields):
                    continue
                data: bytes = self.side.module.CODEC.build(value, root=root, **_buildable(self.side.format, parameters))
            except (NoValueError, WireloomError, ArithmeticError):
                continue
            self.visits.update(recorded.fields)
            return Sample(data, root, tuple(parameters.items()))
        return None


class _Recorded(dict[tuple[str, str], Sequence[Any]]):
    """The wanted values of fields; records the structs and fields that were drawn."""

    def __init__(self, wanted: Wanted) -> None:
        super().__init__(wanted)
        self.fields = set[tuple[str, str]]()

    @property
    def asked(self) -> bool:
        """Whether a field with wanted values was drawn, so that the value has one of them."""
        return not self.fields.isdisjoint(self)

    def get(self, key: tuple[str, str], default: Any = None) -> Any:
        """The wanted values of a field."""
        self.fields |= {key, (key[0], "")}
        return super().get(key, default)


def _buildable(format: Format, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters for building: an unknown byte order becomes big-endian."""
    order = format.byte_order.parameter
    defaults = {each.name: each.default for each in format.parameters}
    given = dict(parameters)
    return given | {order: "big"} if order and given.get(order, defaults[order]) == "auto" else given


def _settings(format: Format) -> Iterator[dict[str, Any]]:
    """Each parameter with each of its other values, if it has few."""
    for each in format.parameters:
        options: tuple[Any, ...] = (True, False) if each.kind is Kind.BOOLEAN else each.options
        yield from ({each.name: option} for option in options if option != each.default)


def _mutants(data: bytes) -> Iterator[bytes]:
    """The bytes with one byte changed, with the last one cut off, and with one more."""
    step = max(1, len(data) // _CHANGED)
    for at in range(0, len(data), step):
        byte = data[at]
        for other in {0, 0xFF, byte ^ 1, (byte + 1) & 0xFF} - {byte}:
            yield data[:at] + bytes((other,)) + data[at + 1 :]
    yield from (data[:-1], data + b"\0", data + data[-1:])


def _constants(format: Format) -> tuple[list[int], list[str]]:
    """Numbers and texts that a spec compares with, and their neighbours."""
    numbers, texts = set[int](), set[str]()
    waiting: list[Any] = [type for _, type in format.types]
    while waiting:
        match waiting.pop():
            case Constant(bool()):
                continue
            case Constant(value) | WireMapping(wire=value):
                waiting.append(value)
            case Spelling(minimum=low, maximum=high):
                lengths = (each for each in (low, high, (high or 0) + 1) if each is not None and each <= _LONGEST)
                texts |= {"a" * each for each in lengths}
            case bool():
                continue
            case int(number):
                numbers |= {number - 1, number, number + 1}
            case str(text) if " " not in text:
                texts.add(text)
            case tuple() as parts:
                waiting += parts
            case part if is_dataclass(part):
                told = (each for each in fields(part) if each.name not in _WORDS)
                waiting += [getattr(part, each.name) for each in told]
            case _:
                continue
    texts |= {"a" * number for number in numbers if 0 < number <= _LONGEST}
    return sorted(numbers)[:200], sorted(texts, key=lambda each: (len(each), each))[:200]


_WORDS = {"name", "wire_name", "doc", "code", "unit", "low", "width", "bits", "tag", "group", "member", "notation"}


# --- outcomes ------------------------------------------------------------------------------------------------------


def _outcome(writer: Side, reader: Side, sample: Sample, *, deep: bool, judged: bool) -> list[Disagreement] | None:
    """Where the reader disagrees; None if the writer's spec refuses the record."""
    given = dict(sample.parameters)
    try:
        value = writer.module.CODEC.parse(sample.data, root=sample.root, **given)
        rendering = writer.module.CODEC.to_canonical(value, root=sample.root)
    except WireloomError:
        return None
    others = reader.settings(given)
    try:
        read = reader.module.CODEC.parse(sample.data, root=sample.root, **others)
    except DecodeError as error:
        path = tuple(filter(_is_name, error.components))
        where = f"{error.code} at {error.path or 'the record'}, byte {error.offset}"
        said = f"{where}: expected {error.expected}, found {error.actual}"
        return [Disagreement(sample, "refused", path, error.code, _line(rendering), said)]
    except ParameterError:
        return []
    other = reader.module.CODEC.to_canonical(read, root=sample.root)
    types = [side.module.CODEC.root(sample.root).type for side in (writer, reader)]
    for path, one, two in _differences(types[0], types[1], rendering, other, ()):
        names = ".".join(path)
        return [Disagreement(sample, "differs", path, "", f"{names}: {_line(one)}", f"{names}: {_line(two)}")]
    if not deep:
        return []
    documents = _documents(writer, reader, sample, rendering) if judged else ()
    return [*documents, *_built(reader, sample, value, others)]


def _documents(writer: Side, reader: Side, sample: Sample, rendering: object) -> Iterator[Disagreement]:
    """The problems of a document by the reader's JSON Schema, if the writer's accepts it."""
    text = sample.data if writer.judge.of_documents else json_text(rendering).encode()
    given = dict(sample.parameters)
    try:
        if writer.judge.judge(text, root=sample.root, **given):
            return
        problems = reader.judge.judge(text, root=sample.root, **reader.settings(given))
    except WireloomError:
        return
    for problem in problems[:1]:
        incomplete = problem.rule == "required" and not writer.judge.of_documents
        path = tuple(each for each in problem.pointer.split("/") if each and not each.isdigit())
        kind = "incomplete" if incomplete else "document"
        said = f"{problem.path}: {problem.message}" if problem.path else problem.message
        yield Disagreement(sample, kind, path, problem.rule, "valid", said)


def _built(reader: Side, sample: Sample, value: object, parameters: Mapping[str, Any]) -> Iterator[Disagreement]:
    """The problems when the reader's `build` gets the value that both specs read."""
    own = _known(value, reader.module.CODEC.root(sample.root).type)
    try:
        reader.module.CODEC.build(sourceless(own), root=sample.root, **_buildable(reader.format, parameters))
    except WireloomError as error:
        try:
            read = reader.module.CODEC.parse(sample.data, root=sample.root, **parameters)
            reader.module.CODEC.build(sourceless(read), root=sample.root, **_buildable(reader.format, parameters))
        except WireloomError:
            return  # a value that can be read but not built
        path = error.components if isinstance(error, EncodeError) else ()
        yield Disagreement(sample, "build", tuple(filter(_is_name, path)), "", "built", str(error))


def _is_name(component: object) -> TypeGuard[str]:
    return isinstance(component, str)


def _known(value: Any, type: LogicalType) -> Any:
    """A value without the members that its reader lacks."""
    match value, type:
        case dict(), Record(members):
            return {each.name: _known(value[each.name], each.type) for each in members if each.name in value}
        case list(), List(element):
            return [_known(each, element) for each in value]
        case _:
            return value


def _differences(
    one_type: LogicalType,
    other_type: LogicalType,
    one: Any,
    other: Any,
    path: Path,
) -> Iterator[tuple[Path, object, object]]:
    """Where two renderings differ, in the columns that both have."""
    match one_type, other_type:
        case Record(members), Record(others) if isinstance(one, dict) and isinstance(other, dict):
            types = {each.name: each.type for each in others}
            for each in members:
                if each.name in types:
                    name = each.name
                    yield from _differences(each.type, types[name], one.get(name), other.get(name), (*path, name))
        case List(element), List(inner) if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            for each, its in zip(one, other, strict=True):
                yield from _differences(element, inner, each, its, path)
        case Map(_, inner), Map(_, its) if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            for (key, each), (other_key, that) in zip(one, other, strict=True):
                if key != other_key:
                    yield path, key, other_key
                yield from _differences(inner, its, each, that, path)
        case _ if not _same(one, other):
            yield path, one, other
        case _:
            return


def _same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) is isinstance(other, bool)


def _line(value: object) -> str:
    text = json_text(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
