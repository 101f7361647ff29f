"""`drift`: compare a spec with real records."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.cli.commands.records.transcode import request_of
from wireloom.cli.commands.records.validate import Sources
from wireloom.cli.files.open_files import opened
from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import SPECS, Format, Framing, Parameters, Root, Specs, refuse_no_folder
from wireloom.cli.terminal.console import note, refuse_closed_output, say, waiting
from wireloom.cli.terminal.record_counter import end_progress, progress
from wireloom.escapes import json_text
from wireloom.failures import refuse_unknown
from wireloom.records import validating

if TYPE_CHECKING:
    from wireloom.drift import Observed, Refused, Values

_SHOWN = 8  # values, words or codes on one line


def drift(
    format: Format,
    samples: Sources,
    patch: Annotated[
        Path | None, typer.Option("--patch", metavar="FILE", help="Write the suggested changes as a patch.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for tools.")] = False,
    framing: Framing = None,
    root: Root = None,
    parameter: Parameters = None,
    specs: Specs = SPECS,
) -> None:
    """Compare a spec with real records: what the spec does not know, and what the records never have.

    Shows the errors by code, each with its first record; numbers without a word in `values`; bytes that no column
    shows (ignored, or hidden and not zero), for the first records of each file; columns that never vary or are never
    there; words that never occur; and the range of every column.

    Suggests changes of the spec that are safe: new words, new members, and null. Suggested names are only
    placeholders. --patch writes them as a patch for `git apply` or `patch -p1`.

    The exit code is 1 if there are errors, or numbers without a word.

    \b
    Examples:
      wireloom drift heartbeat landing/
      wireloom drift heartbeat landing/*.gz --patch heartbeat.patch
      wireloom drift heartbeat events.bin --json
    """
    refuse_closed_output()
    refuse_no_folder(specs)
    from wireloom import drift as drifting  # imported here: the generator's libraries are slow
    from wireloom import pipeline
    from wireloom.examples import opened as in_memory

    with waiting(f"reading {specs}"):
        read = pipeline.read(specs)
    known = {each.name: (each, document) for each, document in zip(read.formats, read.documents, strict=True)}
    refuse_unknown("format", [format], known)
    model, document = known[format]
    observed = drifting.Observed()
    with in_memory({format: read.modules[format]}) as modules:
        request = request_of(modules[format], root, framing, parameter)
        for file in opened(samples):
            own = validating.framing_of_text(request, file.head)
            reading = request if own is None else replace(request, framing=own)
            for count in drifting.observe(observed, model, reading, file.source, file.name):
                progress(count, observed.bad)
            drifting.trace(observed, reading, file.head)
        end_progress()
        symbols = drifting.words(model, root)
        changes = list(drifting.suggestions(observed, modules[format].CODEC, root, document))
    if as_json:
        say(json_text(_document(observed, symbols, [each.text for each in changes])))
    else:
        for line in _lines(observed, symbols):
            say(line)
        for change in changes:
            say(f"suggestion: {change.text}")
    if patch is not None:
        patch.write_text("\n".join([*drifting.patch(changes), ""]), encoding="utf-8")
        note(
            f"wrote {patch}: {len(changes)} change{'' if len(changes) == 1 else 's'}; `patch -p1 < {patch}` applies it"
        )
    if observed.refused or observed.words:
        raise typer.Exit(PROBLEMS)


def _document(observed: "Observed", symbols: Mapping[str, tuple[str, ...]], changes: list[str]) -> dict[str, object]:
    return {
        "records": observed.records,
        "bad": observed.bad,
        "errors": [_error(code, path, each) for (code, path), each in observed.refused.items()],
        "unknown": {path: {str(word): n for word, n in words.items()} for path, words in observed.words.items()},
        "unnamed": [
            {"path": path, "kind": kind, "records": found.total(), "example": found.most_common(1)[0][0].hex()}
            for (path, kind), found in observed.unnamed.items()
        ],
        "columns": {path: _column(each, symbols.get(path, ())) for path, each in observed.columns.items()},
        "suggestions": changes,
    }


def _error(code: str, path: str, refused: "Refused") -> dict[str, object]:
    return {
        "code": code,
        "path": path,
        "count": refused.count,
        "file": refused.file,
        "record": refused.record,
        "offset": refused.error.offset,
        "expected": refused.error.expected,
        "found": dict(refused.found.most_common(_SHOWN)),
    }


def _column(values: "Values", words: tuple[str, ...]) -> dict[str, object]:
    return {
        "present": values.present,
        "null": values.null,
        "constant": values.constant,
        "measured": "size" if values.sized else "value",
        "minimum": _plain(values.least),
        "maximum": _plain(values.greatest),
        "unseen": [word for word in words if word not in values.distinct],
    }


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, int | float) else str(value)


def _lines(observed: "Observed", symbols: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    yield f"{observed.records:,} records, {observed.bad:,} bad"
    for (code, path), refused in sorted(observed.refused.items(), key=lambda entry: -entry[1].count):
        first = f"first {refused.file}, record {refused.record}, byte {refused.error.offset}"
        yield f"error: {code} at {path or 'the record'}: {refused.count:,} records; {first}"
        found = ", ".join(text for text, _ in refused.found.most_common(_SHOWN) if text)
        if refused.error.expected:
            yield f"    expected {refused.error.expected}{f', found {found}' if found else ''}"
    for path, words in observed.words.items():
        listed = ", ".join(f"{word} ({count:,})" for word, count in words.most_common(_SHOWN))
        yield f"unknown: {path} has no word for {listed}"
    for (path, kind), spans in observed.unnamed.items():
        example = spans.most_common(1)[0][0].hex(" ")
        yield f"{kind}: bytes of {path} that no column shows, in {spans.total():,} records, such as {example}"
    never = [path for path, each in observed.columns.items() if not each.present]
    if never:
        yield f"never there: {', '.join(never)}"
    for path, each in observed.columns.items():
        if each.constant:
            yield f"never varies: {path} is always {_short(next(iter(each.distinct)))}"
        unseen = [word for word in symbols.get(path, ()) if word not in each.distinct]
        if unseen and each.present and not each.overflow:
            yield f"never seen: {path} is never {', '.join(unseen[:_SHOWN])}{' ...' if len(unseen) > _SHOWN else ''}"
    for path, each in observed.columns.items():
        if each.least is not None and not each.constant and path not in symbols:
            null = f", {each.null:,} null" if each.null else ""
            yield f"range: {path}: {'size ' if each.sized else ''}{each.least} to {each.greatest}{null}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
