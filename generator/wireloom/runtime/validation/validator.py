"""The functions `validate` and `validate_many` of a generated module."""

import json
from array import array as packed
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

from wireloom.runtime.codec import Codec
from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom.runtime.parameters import ParameterValue, refuse_single
from wireloom.runtime.pickling import Reduced, by_name
from wireloom.runtime.validation import documents
from wireloom.runtime.validation.problems import Problem, of_error, problem
from wireloom.runtime.validation.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

_TOGETHER = 4096
"""The most messages to decode at once."""
_BYTES_TOGETHER = 64 << 20
"""The most bytes of messages to decode at once, unless one message has more."""
_ABOVE = 1 << 30
"""Above so many bytes, Arrow needs wide offsets."""
COLUMNS = ("path", "rule", "message", "expected", "actual", "pointer")
"""The members of a problem in a column."""


@dataclass(frozen=True)
class Validator:
    """The validation of one format; `package` holds its schemas, which describe documents if the format is JSON.

    `files` are the package's files if they are not on disk.
    """

    codec: Codec
    package: str
    of_documents: bool
    files: Mapping[str, str] | None = None

    def __reduce__(self) -> Reduced:
        """A pickle names the generated module."""
        return by_name(self, "VALIDATOR")

    def validate(self, message: object, /, *, root: str | None = None, **parameters: object) -> list[Problem]:
        """Everything that is wrong with a message: bytes, JSON text, or a parsed value; raises ParameterError."""
        task = self._task(root, parameters)
        data = task.bytes_of(message)
        return next(task.of_bytes([data])) if isinstance(data, bytes) else data

    def validate_many(
        self, messages: "Iterable[object] | pa.Array", /, *, root: str | None = None, **parameters: object
    ) -> "Iterator[list[Problem]] | pa.ListArray":
        """The problems of each message; for an Arrow array, as a column of the same length, null for null.

        Other messages are taken in batches, as the results are consumed.
        """
        task = self._task(root, parameters)
        if hasattr(messages, "type") and hasattr(messages, "is_valid"):  # a test for Arrow without importing it
            return _column(*task.faults(messages))
        refuse_single("messages", messages, "a list or an iterator of messages, or an Arrow array")
        return task.of_messages(messages)

    def _task(self, root: str | None, parameters: Mapping[str, object]) -> "_Task":
        self.codec.root(root)
        return _Task(self, root or self.codec.default_root, self.codec.settings(parameters))

    def judge(self, text: bytes, /, *, root: str | None = None, **parameters: object) -> list[Problem]:
        """The problems by the schema alone, of a text that the decoder accepts, or of a canonical rendering."""
        task = self._task(root, parameters)
        return documents.judged(text, self.schema(task.root, task.settings))

    def schema(self, root: str, parameters: Mapping[str, ParameterValue]) -> Schema:
        """The JSON Schema of a root under these parameters, which must be complete."""
        variant = self._variant(parameters)
        if (variant, root) not in self._schemas:
            document = self._default if variant is None else self._variants["variants"][variant]
            self._schemas[variant, root] = Schema(document, root)
        return self._schemas[variant, root]

    def _variant(self, parameters: Mapping[str, ParameterValue]) -> int | None:
        """The index of the schema for these parameters; None: the default schema."""
        defaults = {parameter.name: parameter.default for parameter in self.codec.parameters}
        names = self._variants["parameters"]
        if all(_same(parameters[name], defaults[name]) for name in names):
            return None
        for place, variant in enumerate(self._variants["variants"]):
            if all(_same(parameters[name], value) for name, value in variant["when"].items()):
                return place
        raise AssertionError("the emitted variants are of all parameters")

    @cached_property
    def _default(self) -> dict[str, Any]:
        return self._read("schema.json")

    @cached_property
    def _variants(self) -> dict[str, Any]:
        return self._read("variants.json") if self.of_documents else {"parameters": [], "variants": []}

    @cached_property
    def _schemas(self) -> dict[tuple[int | None, str], Schema]:
        return {}

    def _read(self, name: str) -> dict[str, Any]:
        text = (
            resources.files(self.package).joinpath(name).read_text("utf-8") if self.files is None else self.files[name]
        )
        document: dict[str, Any] = json.loads(text)
        return document


def _same(one: ParameterValue, other: ParameterValue) -> bool:
    return type(one) is type(other) and one == other


@dataclass(frozen=True, slots=True)
class _Task:
    """The validation of messages of one root, with checked parameters."""

    validator: Validator
    root: str
    settings: Mapping[str, Any]

    @property
    def _codec(self) -> Codec:
        return self.validator.codec

    def bytes_of(self, given: object) -> bytes | list[Problem]:
        """The bytes of a message; for a value that is not bytes, its problems, without offsets."""
        match given:
            case bytes() | bytearray() | memoryview():
                return bytes(given)
            case str() if self.validator.of_documents:
                return given.encode("utf-8", "surrogatepass")
            case _ if self.validator.of_documents:
                written = documents.text(given)
                if isinstance(written, Problem):
                    return [written]
                return list(map(_unplaced, self.problems(written)))
            case _:
                return self._of_value(given)

    def problems(self, data: bytes) -> list[Problem]:
        """Everything that is wrong with bytes; empty if the decoder accepts them."""
        refusal = self._codec.refusal(data, self.root, self.settings, documents.regular)
        if refusal is None:
            return []
        error, document = refusal
        if self.validator.of_documents:
            schema = self.validator.schema(self.root, self.settings)
            return documents.problems(data, error, schema, document)
        return [of_error(error)]

    def _of_value(self, value: object) -> list[Problem]:
        """The problems of a value as `parse` returns it: a value that can be built is valid."""
        try:
            self._codec.build(value, root=self.root, **self.settings)
        except EncodeError as error:
            refusal = error
        except Exception as error:  # noqa: BLE001 - whatever a caller's value is, the answer is a list
            refusal = EncodeError("a value of the format", f"{type(error).__name__}: {error}")
        else:
            return []
        return self._of_rendering(value, refusal)

    def _of_rendering(self, value: object, refusal: EncodeError) -> list[Problem]:
        """The schema's problems for the rendering of a value that cannot be built, or the builder's reason."""
        own = problem(refusal.components, "value", refusal.expected, refusal.actual)
        try:
            written = documents.text(self._codec.to_canonical(value, root=self.root))
        except Exception:  # noqa: BLE001 - the same; `own` has the reason
            return [own]
        if isinstance(written, Problem):
            return [own]
        error = DecodeError("value", offset=0, expected=refusal.expected, actual=refusal.actual)
        error.path_from(refusal)
        judged = documents.problems(written, error, self.validator.schema(self.root, self.settings))
        return [_unplaced(each) for each in judged]

    # --- many ---

    def of_messages(self, given: Iterable[object]) -> Iterator[list[Problem]]:
        """The problems of each message."""
        messages = iter(given)
        while taken := list(_taken(messages)):
            read = [self.bytes_of(each) for each in taken]
            known = iter(self.of_bytes([each for each in read if isinstance(each, bytes)]))
            for each in read:
                yield next(known) if isinstance(each, bytes) else each

    def of_bytes(self, read: Sequence[bytes]) -> Iterator[list[Problem]]:
        """The problems of each message; the engine checks the messages first."""
        if not read:
            return
        import pyarrow as pa

        wide = sum(map(len, read)) > _ABOVE
        _, found = self.faults(pa.array(read, pa.large_binary() if wide else pa.binary()))
        yield from (found.get(row, []) for row in range(len(read)))

    def faults(self, array: "pa.Array") -> "tuple[pa.Array, dict[int, list[Problem]]]":
        """The array in one chunk, and by row the problems of each bad value."""
        from wireloom.runtime.columns import soundness

        whole = soundness.records_of(array)
        found: dict[int, list[Problem]] = {}
        for start in range(0, len(whole), _TOGETHER):
            part = whole.slice(start, _TOGETHER)
            for row in sorted(self._refused(part)):
                value = part[row]
                problems = self.problems(value.as_buffer().to_pybytes()) if value.is_valid else []
                if problems:
                    found[start + row] = problems
        return whole, found

    def _refused(self, part: "pa.Array") -> set[int]:
        """The rows that the decoder refuses, or that the engine leaves to the parser."""
        doubtful = self._codec.given_up(part, self.root, self.settings)
        if doubtful is not None:
            return doubtful
        found = self._codec.decode(part, (), root=self.root, **self.settings)
        if found.errors.null_count == len(found.errors):
            return set()
        rows = range(len(part)) if found.parents is None else found.parents.to_pylist()
        return {row for row, wrong in zip(rows, found.errors.is_valid().to_pylist(), strict=True) if wrong}


def _taken(messages: Iterator[object]) -> Iterator[object]:
    """The next messages to decode together."""
    size = 0
    for each in islice(messages, _TOGETHER):
        yield each
        size += len(each) if isinstance(each, bytes | bytearray | str) else 0
        if size > _BYTES_TOGETHER:
            return


def _unplaced(problem: Problem) -> Problem:
    """The problem without its position, as the value has no text."""
    return replace(problem, offset=None, line=None, column=None)


def _column(messages: "pa.Array", found: Mapping[int, list[Problem]]) -> "pa.ListArray":
    """The problems of each message as a column."""
    import pyarrow as pa

    type = pa.list_(pa.field("element", pa.struct([pa.field(name, pa.string()) for name in COLUMNS])))
    offsets, total, here = packed("i"), 0, 0
    for row, problems in found.items():
        offsets.extend(repeat(total, row + 1 - here))
        here, total = row + 1, total + len(problems)
    offsets.extend(repeat(total, len(messages) + 1 - here))
    values = pa.array([_row(each) for problems in found.values() for each in problems], type.value_type)
    places = pa.Array.from_buffers(pa.int32(), len(offsets), [None, pa.py_buffer(offsets)])
    nulls = messages.is_null() if messages.null_count else None
    return pa.ListArray.from_arrays(places, values, type, mask=nulls)


def _row(problem: Problem) -> dict[str, str]:
    return {name: getattr(problem, name) for name in COLUMNS}
