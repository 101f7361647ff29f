"""Checks the promises of `validate` and of conversion against the parser, for records of any spec.

`validate` and the parser agree about validity. If the bytes are no JSON document, the decoder's error is the only
problem. For a document, some problem reports the error, and unreadable text has it at its place. Many messages have the
problems that each has alone. A format is converted to itself: each record is refused, or reports a loss, or reads as
the same value.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from proof.modules import Made
from wireloom.encodings.json import JSON
from wireloom.runtime.conversion import conversion
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.validation.problems import Problem, pointer

_OF_TEXTS = ("truncated", "trailing_bytes", "json_syntax", "json_nonfinite", "invalid_utf8", "size_limit")
Outcome = tuple[bytes, Any, DecodeError | None]


def misjudged(made: Made, outcomes: Sequence[Outcome], options: dict[str, Any]) -> Iterator[tuple[str, str, bytes]]:
    """Records for which `validate` and the parser disagree: the disagreement, short and long, and the record."""
    validator = replace(made.module.VALIDATOR, files=made.files)
    document = made.format.encoding == JSON
    found = []
    for record, _, error in outcomes:
        problems = validator.validate(record, **options)
        found.append(problems)
        wrong = _wrong(record, problems, error, document=document)
        if wrong:
            yield wrong, f"{problems}\n{error}", record
    records = [record for record, _, _ in outcomes]
    for record, alone, among in zip(records, found, validator.validate_many(records, **options), strict=True):
        if alone != among:
            yield "differs among many", f"{alone}\n{among}", record
    column = validator.validate_many(pa.array(records, pa.binary()), **options).to_pylist()
    for record, alone, row in zip(records, found, column, strict=True):
        if [(each.path, each.rule) for each in alone] != [(each["path"], each["rule"]) for each in row]:
            yield "differs in a column", f"{alone}\n{row}", record


def _wrong(record: bytes, problems: list[Problem], error: DecodeError | None, *, document: bool) -> str:
    """What is wrong with the problems of a record; empty if nothing."""
    if error is None:
        return "refuses what parse accepts" if problems else ""
    if not problems:
        return f"accepts what parse refuses: {error.code}"
    if any(each.offset is None or not 0 <= each.offset <= len(record) for each in problems):
        return "no place in the record"
    said = [(each.rule, each.offset) for each in problems]
    if not document:
        own = [(each.pointer, *place) for each, place in zip(problems, said, strict=True)]
        return "" if own == [(pointer(error.components), error.code, error.offset)] else "not the decoder's error"
    if error.code in _OF_TEXTS and (error.code, error.offset) not in said:
        return f"does not say what no schema can: {error.code}"
    return ""


def misconverted(
    made: Made, outcomes: Sequence[Outcome], root: str, parameters: dict[str, Any]
) -> Iterator[tuple[bytes, bytes | None, Any]]:
    """Each record that conversion to the same format changes: the record, the result, and its value."""
    records = pa.array([record for record, _, _ in outcomes], pa.binary())
    to_itself = conversion(
        made.module, made.module, root=root, target_root=root, parameters=parameters, target_parameters=parameters
    )
    found = to_itself.of_messages(records)
    rows = zip(outcomes, found.data.to_pylist(), found.errors.to_pylist(), found.lost.to_pylist(), strict=True)
    for (record, value, error), data, refusal, lost in rows:
        if (
            (data is None) != (refusal is not None)
            or (error is not None and refusal is None)
            or (data is not None and not lost)
        ):
            yield record, data, value
