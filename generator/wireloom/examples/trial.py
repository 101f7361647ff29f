"""Checks one example against all functions of the generated code.

The checks run in the order of the data flow: parse gives the stated value or error; the rendering reads back as the
value; build gives the bytes; decode and encode agree with parse and build; the JSON Schema accepts the record. The
first failure is reported. An undocumented exception of the runtime is reported as a bug of wireloom.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from wireloom.escapes import visible
from wireloom.examples import recording
from wireloom.examples.differences import Difference, Path, differences, shown
from wireloom.examples.memory import opened
from wireloom.examples.recording import Recorded, Revision
from wireloom.model.format import Example, Format
from wireloom.problems import Location
from wireloom.runtime.codec import Codec
from wireloom.runtime.engine import Request, available
from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom.runtime.validation import Validator
from wireloom.runtime.values import sourceless
from wireloom.spec import yaml
from wireloom.spec.documents import Document, Place
from wireloom.spec.yaml import MappingNode

if TYPE_CHECKING:
    import pyarrow as pa

_MOST = 12  # most differences shown for one example


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed example: its place, a message, and details, one per line."""

    location: Location
    format: str
    example: str
    message: str
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        """`specs/x.yaml:41:9: x: two readings: parse gives another value`, followed by the details."""
        head = f"{self.location}: {self.format}: {self.example}: {self.message}"
        return "\n".join(map(visible, (head, *(f"    {line}" for line in self.details))))


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a run of examples."""

    count: int
    failures: tuple[Failure, ...] = ()
    without_engine: bool = False  # the engine is not compiled; decode and encode used the parser

    @property
    def failed(self) -> int:
        """The number of failed examples."""
        return len(self.failures)


@dataclass(frozen=True, slots=True)
class Subject:
    """A format to run examples of: its model, its spec document, and the texts of its generated files."""

    format: Format
    document: Document
    files: Mapping[str, str]


def run(subjects: Sequence[Subject]) -> Report:
    """Run every example of the formats."""
    engine = available()  # called first, so that a missing engine is reported once
    with opened({subject.format.name: subject.files for subject in subjects}) as modules:
        failures = tuple(
            failure for subject in subjects for failure in _failures(subject, modules[subject.format.name])
        )
    return Report(sum(len(subject.format.examples) for subject in subjects), failures, not engine)


def record(subjects: Sequence[Subject]) -> list[Recorded]:
    """Write the actual results into examples that state none; raises DataError if a file cannot be edited."""
    done: list[Recorded] = []
    with opened({subject.format.name: subject.files for subject in subjects}) as modules:
        for subject in subjects:
            codec: Codec = modules[subject.format.name].CODEC
            examples = enumerate(subject.format.examples)
            new = {index: _result_of(codec, each) for index, each in examples if not each.stated}
            recording.revise(subject.document, new).write()
            done += [_recorded(subject, index, entries) for index, entries in new.items()]
    return done


def revisions(subjects: Sequence[Subject]) -> list[Revision]:
    """The revised text of each spec whose examples state other results; raises DataError if one cannot be edited."""
    with opened({subject.format.name: subject.files for subject in subjects}) as modules:
        new = [(each.document, _news(modules[each.format.name].CODEC, each)) for each in subjects]
    return [recording.revise(document, entries) for document, entries in new if entries]


def _news(codec: Codec, subject: Subject) -> dict[int, recording.Entries]:
    """The new results, by index, of the examples that state others."""
    found = {}
    for index, example in enumerate(subject.format.examples):
        stated = yaml.plain((subject.document.place / "examples" / index).node)
        assert isinstance(stated, dict)  # noqa: S101 - a spec that was read
        with suppress(Exception):  # a bug of wireloom, which `run` reports
            entries = _news_of(stated, _result_of(codec, example))
            if entries:
                found[index] = entries
    return found


def _news_of(stated: Mapping[str, object], came: recording.Entries) -> recording.Entries:
    """What to change in an example; empty if it is right. Of an error, only the members that it states."""
    outcome = dict(came)
    if ("value" in stated, "error" in stated) != ("value" in outcome, "error" in outcome):
        return came
    if "value" in outcome:
        same = not any(differences(stated["value"], outcome["value"]))
        return () if same and ("rebuilds" not in outcome or stated.get("rebuilds") is False) else came
    known = outcome["error"] == stated["error"]
    kept = tuple((name, value) for name, value in came if not known or name in stated)
    names = {"error", "path", "offset"} & stated.keys()
    return () if all(stated[name] == outcome.get(name, "") for name in names) else kept


def _recorded(subject: Subject, index: int, entries: recording.Entries) -> Recorded:
    location = (subject.document.place / "examples" / index).value_location()
    return Recorded(location, subject.format.name, subject.format.examples[index].name, entries)


def _result_of(codec: Codec, example: Example) -> recording.Entries:
    """The actual result of an example: the error, or the rendering and whether building gives other bytes."""
    parameters = dict(example.parameters)
    try:
        value = codec.parse(example.data, root=example.root, **parameters)
    except DecodeError as error:
        return recording.entries(error)
    found = recording.entries(codec.to_canonical(value, root=example.root))
    try:
        rebuilds = codec.build(sourceless(value), root=example.root, **parameters) == example.data
    except EncodeError:
        rebuilds = False
    return found if rebuilds or not example.rebuilds else (*found, ("rebuilds", False))


def _failures(subject: Subject, module: ModuleType) -> Iterator[Failure]:
    codec: Codec = module.CODEC
    judge: Validator = replace(module.VALIDATOR, files=subject.files)
    for index, example in enumerate(subject.format.examples):
        trial = _Trial(codec, judge, example, subject.document.place / "examples" / index)
        try:
            trial.hold()
        except _Broken as broken:
            yield Failure(broken.location, subject.format.name, example.name, broken.message, broken.details)
        except Exception as error:  # noqa: BLE001 - a bug of wireloom; a traceback would hide the other examples
            message = f"{trial.doing} ends in {type(error).__name__}: {error}; this is a bug of wireloom"
            yield Failure(trial.place.value_location(), subject.format.name, example.name, message)


class _Broken(Exception):  # noqa: N818 - a failure to report, not an error
    """The code does not behave as an example states."""

    def __init__(self, location: Location, message: str, details: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.location, self.message = location, message
        self.details = (*details[:_MOST], *([f"and {len(details) - _MOST} more"] if len(details) > _MOST else []))


@dataclass(slots=True)
class _Trial:
    """The check of one example; `doing` is the current step."""

    codec: Codec
    judge: Validator
    example: Example
    place: Place
    doing: str = "parse"

    def hold(self) -> None:
        """Run all checks; raises _Broken."""
        example = self.example
        try:
            value = self.codec.parse(example.data, root=example.root, **self._parameters)
        except DecodeError as error:
            self._refused(error)
            self._decoded_error(error)
            return
        rendering = self.codec.to_canonical(value, root=example.root)
        self._check_value(rendering)
        self._reads_back(value, rendering)
        built = self._built(sourceless(value))
        self._columns(built)
        self._schema(rendering)

    @property
    def _parameters(self) -> dict[str, Any]:
        return dict(self.example.parameters)

    @property
    def _request(self) -> Request:
        return Request(self.example.root, self.codec.settings(self._parameters))

    # --- parse -----------------------------------------------------------------------------------------------------

    def _refused(self, error: DecodeError) -> None:
        example = self.example
        if not example.stated:
            raise self._unstated(f"the error {error}")
        if example.error is None:
            raise self._broken("parse refuses it", [str(error)], "value")
        stated = {"error": example.error, "path": example.path, "offset": example.offset}
        came = {"error": error.code, "path": error.path, "offset": error.offset}
        found = [
            Difference((name,), value, came[name])
            for name, value in stated.items()
            if value is not None and value != came[name]
        ]
        if found:
            raise self._broken("parse gives another error", [*map(str, found), str(error)], *found[0].path)

    def _check_value(self, rendering: object) -> None:
        example = self.example
        if not example.stated:
            raise self._unstated(shown(rendering))
        if example.error is not None:
            raise self._broken(f"parse accepts it, and the example says {example.error}", [shown(rendering)], "error")
        found = list(differences(example.value, rendering))
        if found:
            raise self._broken("parse gives another value", [self._line(each) for each in found], *_at(found[0].path))

    def _unstated(self, came: str) -> _Broken:
        message = "it states neither a value nor an error; `wireloom test --record` writes what comes"
        return self._broken(message, [f"came {came}"])

    def _line(self, found: Difference) -> str:
        """The difference, with the line of the member."""
        return f"line {self._location(*_at(found.path)).line}: {found}"

    # --- rendering, build ------------------------------------------------------------------------------------------

    def _reads_back(self, value: object, rendering: object) -> None:
        self.doing = "from_canonical"
        again = self.codec.from_canonical(rendering, root=self.example.root)
        if again != value and repr(again) != repr(value):  # NaN is equal to itself only as text
            raise self._broken("the JSON rendering reads back as another value; this is a bug of wireloom", [])

    def _built(self, value: object) -> bytes | None:
        """The bytes built from the value; None if build refuses it and the example has `rebuilds: false`."""
        self.doing = "build"
        try:
            built = self.codec.build(value, root=self.example.root, **self._parameters)
        except EncodeError as error:
            if self.example.rebuilds:
                raise self._broken("build refuses the value", [str(error), _REBUILDS]) from error
            return None
        if self.example.rebuilds and built != self.example.data:
            details = [_first_difference(self.example.data, built), _REBUILDS]
            raise self._broken("build gives other bytes", details, self._bytes)
        return built

    @property
    def _bytes(self) -> str:
        """The key that holds the example's bytes."""
        return "hex" if isinstance(self.place.node, MappingNode) and self.place.node.entry("hex") else "text"

    # --- columns ---------------------------------------------------------------------------------------------------

    def _columns(self, built: bytes | None) -> None:
        """Compare decode and encode with the construct parser."""
        self.doing = "decode"
        codec, example = self.codec, self.example
        array, request = self._array(), self._request
        decoded = codec.decode_request(array, request)
        if decoded.errors.null_count < len(decoded.errors):
            details = [str(error) for error in decoded.errors.to_pylist() if error]
            raise self._broken("decode refuses what parse accepts; this is a bug of wireloom", details)
        if codec.covers(request):
            self._agree(codec.decode_parsed(array, request).records, decoded.records)
        if not codec.root(example.root).elements:
            self._encoded(decoded.records, built)

    def _agree(self, parsed: "pa.Array", decoded: "pa.Array") -> None:
        if parsed.equals(decoded):
            return
        one, other = parsed.to_pylist(), decoded.to_pylist()
        if repr(one) != repr(other):  # NaN is equal to itself only as text
            found = list(map(str, differences(one, other)))
            raise self._broken("decode gives another value than parse; this is a bug of wireloom", found)

    def _encoded(self, records: "pa.StructArray", built: bytes | None) -> None:
        self.doing = "encode"
        try:
            (encoded,) = self.codec.encode(records, root=self.example.root, **self._parameters).to_pylist()
        except EncodeError:
            encoded = None
        if encoded != built:
            details = [f"built   {_hex(built)}", f"encoded {_hex(encoded)}"]
            raise self._broken("encode gives other bytes than build; this is a bug of wireloom", details)

    def _decoded_error(self, error: DecodeError) -> None:
        self.doing = "decode"
        if not self.codec.covers(self._request):
            return  # decode uses the parser
        (found,) = self.codec.decode_request(self._array(), self._request).errors.to_pylist()
        came = found and {name: found[name] for name in ("code", "path", "offset")}
        if came != {"code": error.code, "path": error.path, "offset": error.offset}:
            details = [f"parse:  {error}", f"decode: {came or 'no error'}"]
            raise self._broken("decode and parse differ; this is a bug of wireloom", details)

    def _array(self) -> "pa.Array":
        import pyarrow as pa  # noqa: PLC0415 - not before there is an example to run

        return pa.array([self.example.data], pa.binary())

    # --- schema ----------------------------------------------------------------------------------------------------

    def _schema(self, rendering: object) -> None:
        self.doing = "JSON_SCHEMA"
        text = self.example.data if self.judge.of_documents else json.dumps(rendering).encode()
        found = self.judge.judge(text, root=self.example.root, **self._parameters)
        if found:
            details = [f"{each.path or 'the whole'}: {each.message}" for each in found]
            raise self._broken("the JSON Schema refuses it; this is a bug of wireloom", details)

    # --- where -----------------------------------------------------------------------------------------------------

    def _broken(self, message: str, details: Sequence[str], *path: str | int) -> _Broken:
        return _Broken(self._location(*path), message, details)

    def _location(self, *path: str | int) -> Location:
        """The location of a part of the example, or of the nearest part around a missing one."""
        place = self.place
        for step in path:
            place = place / step
        return place.value_location()


_REBUILDS = "where other bytes say the same, the example says `rebuilds: false`"


def _at(path: Path) -> Path:
    """The path in an example that leads to a member of its value."""
    return ("value", *path)


def _first_difference(stated: bytes, built: bytes) -> str:
    place = next((at for at, (one, other) in enumerate(zip(stated, built, strict=False)) if one != other), None)
    if place is None:
        return f"expected {len(stated)} bytes, came {len(built)}"
    return f"at byte {place}: expected {_hex(stated[place:])}, came {_hex(built[place:])}"


def _hex(data: bytes | None) -> str:
    return "nothing" if data is None else data[:16].hex() + (f" ... ({len(data)} bytes)" if len(data) > 16 else "")
