"""The work of the process behind the page: an edited spec and bytes in, problems and the decoded record out.

The texts of the page replace files of the folder, in memory. Only the chosen spec and the files that specs share
(libraries, schemas) are read. The documents and the generated module are kept until a text changes. So new bytes need
no generation, and an edit generates one format.
"""

import base64
import binascii
import gc
import io
import json
import os
import re
import resource
import signal
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wireloom.catalog import FormatModule, parameter_values
from wireloom.escapes import visible
from wireloom.examples import opened
from wireloom.failures import MisuseError, refuse_unknown
from wireloom.inspection.lines import SpecLines
from wireloom.inspection.page import viewed
from wireloom.inspection.records import Found, Wanted, record, records
from wireloom.inspection.rows import fault_of
from wireloom.inspection.text import summary
from wireloom.model.format import Example, Format
from wireloom.pipeline import emit
from wireloom.problems import Problem, SpecProblems
from wireloom.resolve import Resolved, resolve_all
from wireloom.runtime.errors import ParameterError
from wireloom.runtime.parameters import Parameter, parameter_text
from wireloom.serving import folder
from wireloom.spec import Document, Documents, load
from wireloom.spec.yaml import child, items, scalar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

IDLE = 0.5
"""Seconds without a request after which the garbage collector runs."""
OUT_OF_MEMORY = 3
"""The exit code of a process that exceeds its limit of memory."""
UNCOLLECTED = 1_000_000
"""Number of new objects after which it runs earlier."""
LISTED = 200
"""Records of a stream that are listed; later ones are shown on request, by number."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the process: seconds for a request, and bytes of memory in all."""

    seconds: float
    memory: int


class Work:
    """The format that was generated last, and the documents that it was generated from."""

    def __init__(self, specs: Path) -> None:
        self._specs = specs
        self._read: dict[tuple[Path, bytes], Documents] = {}
        self._made: tuple[dict[Path, bytes], _Made] | None = None
        self._open = ExitStack()

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What the page shows for a spec, its edited texts, and bytes."""
        try:
            made = self._format(request["spec"], request["texts"])
        except SpecProblems as error:
            return {"problems": [self._problem(each, "error") for each in error.problems]}
        except MisuseError as error:
            return {"problems": [], "failure": str(error)}
        return {
            "problems": [
                *(self._problem(each, "error") for each in made.mistaken),
                *(self._problem(each, "warning") for each in made.warnings),
            ],
            "format": _described(made),
            "shared": made.shared,
            "folder": f"{self._specs.as_posix()}/",
            **_decoded(made, request),
        }

    def close(self) -> None:
        """Forget the generated module."""
        self._open.close()

    def _format(self, name: str, texts: Mapping[str, str]) -> "_Made":
        """The format of a spec; raises SpecProblems."""
        known = folder.paths(self._specs)
        refuse_unknown("spec", [name], known)
        data = {
            path: texts[each].encode(errors="surrogatepass") if each in texts else path.read_bytes()
            for each, path in known.items()
        }
        chosen = known[name]
        used = {path: text for path, text in data.items() if path == chosen or _is_shared(text)}
        if self._made is None or self._made[0] != used:
            self._open.close()
            self._made = None
            self._made = used, self._generated(chosen, used)
        return self._made[1]

    def _generated(self, chosen: Path, used: dict[Path, bytes]) -> "_Made":
        self._read = {key: self._read.get(key) or load([key[0]], self._specs, dict([key])) for key in used.items()}
        documents = _together(list(self._read.values()))
        resolved, mistaken = _resolved(documents)
        made = next((each for each in resolved.formats if self._specs / each.spec == chosen), None)
        if made is None:
            raise MisuseError(f"{chosen.name} has no `format`")
        module = self._open.enter_context(opened({made.name: emit(made)}))[made.name]
        lines = SpecLines(self._specs, made.name, [each.node for each in documents.documents])
        shared = [each.path for each in _used(documents, self._specs, chosen)]
        return _Made(made, cast(FormatModule, module), lines, mistaken, resolved.warnings, shared)

    def _problem(self, problem: Problem, level: str) -> dict[str, Any]:
        location = problem.location
        return {
            "level": level,
            "id": problem.id,
            "text": problem.text,
            "file": Path(location.file).relative_to(self._specs).as_posix(),
            "line": location.line,
            "column": location.column,
            "picture": list(problem.picture),
        }


@dataclass(frozen=True, slots=True)
class _Made:
    format: Format
    module: FormatModule
    lines: SpecLines
    mistaken: tuple[Problem, ...]  # problems of examples, which do not matter here
    warnings: tuple[Problem, ...]
    shared: list[str]


_FORMAT = re.compile(rb"^format\s*:", re.MULTILINE)


def _is_shared(data: bytes) -> bool:
    """Whether a file may be a library or a schema."""
    return _FORMAT.search(data) is None


def _resolved(documents: Documents) -> tuple[Resolved, tuple[Problem, ...]]:
    """The formats, and the problems of examples alone: an edit may remove the error that an example states."""
    try:
        return resolve_all(documents), ()
    except SpecProblems as error:
        if not all(each.path.startswith("examples") for each in error.problems):
            raise
        return resolve_all(documents.without_outcomes()), error.problems


def _used(documents: Documents, specs: Path, chosen: Path) -> list[Document]:
    """The libraries and schemas that a spec names, and those that these name."""
    waiting = [each for each in documents.documents if specs / each.path == chosen]
    found = list[Document]()
    while waiting:
        node = waiting.pop().node
        names = {
            scalar(each) for each in (child(node, "imports"), child(node, "schema"), *items(child(node, "imports")))
        }
        for document in documents.documents:
            own = child(document.node, "library") or child(document.node, "schema")
            if scalar(own) in names and document not in found and specs / document.path != chosen:
                found.append(document)
                waiting.append(document)
    return found


def _together(read: list[Documents]) -> Documents:
    return Documents(
        tuple(document for each in read for document in each.documents),
        tuple(problem for each in read for problem in each.problems),
        tuple(name for each in read for name in each.unread),
    )


def _described(made: _Made) -> dict[str, Any]:
    """The data for the page's menus about a format."""
    format = made.format
    return {
        "name": format.name,
        "title": visible(format.title),
        "isText": format.encoding.text,
        "framing": made.module.CODEC.framing,
        "roots": [root.name for root in format.roots],
        "parameters": [_parameter(each) for each in made.module.CODEC.parameters],
        "examples": [_example(each) for each in format.examples],
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "doc": visible(parameter.doc),
        "default": "" if parameter.default is None else parameter_text(parameter.default),
        "options": ["true", "false"] if parameter.kind == "boolean" else list(parameter.options),
    }


def _example(example: Example) -> dict[str, Any]:
    return {
        "name": visible(example.name),
        "data": base64.b64encode(example.data).decode(),
        "root": example.root,
        "parameters": {name: parameter_text(value) for name, value in example.parameters},
        "error": example.error,
    }


def _decoded(made: _Made, request: Mapping[str, Any]) -> dict[str, Any]:
    """The records of the bytes, and the requested one; without a request, the first bad one, or the first."""
    number = request["record"]
    try:
        data = base64.b64decode(request["data"])
        if not data:
            return {}
        given = parameter_values(made.module, request["parameters"])
        wanted = Wanted(made.module, request["root"] or None, request["framing"] or None, given)
        found = list(islice(records(wanted, "the input", io.BytesIO(data)), LISTED + 1))
        if number is None or number < len(found):
            bad = (index for index, each in enumerate(found[:LISTED]) if each.error is not None)
            chosen = found[next(bad, 0) if number is None else number] if found else None
        else:
            chosen = record(wanted, "the input", io.BytesIO(data), number)
    except (MisuseError, ParameterError, binascii.Error) as error:
        return {"failure": str(error)}
    listing = [
        [each.index, each.offset, len(each.data), each.error.code if each.error else ""] for each in found[:LISTED]
    ]
    return {
        "records": listing,
        "more": len(found) > LISTED,
        "record": None if chosen is None else _shown(made, chosen),
    }


def _shown(made: _Made, found: Found) -> dict[str, Any]:
    explained = made.module.CODEC.explain_bytes(found.data, root=found.root, **found.parameters)
    return {
        "number": found.index,
        "summary": visible(summary(found, made.format.name)),
        **viewed(explained, fault_of(explained, made.lines), made.lines),
    }


def serve(connection: "Connection[bytes, bytes]", specs: Path, limits: Limits) -> None:
    """Answer the requests of the connection until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    _bound(limits)
    gc.disable()  # garbage is collected while no request waits
    gc.freeze()
    with closing(Work(specs)) as work, suppress(EOFError):
        try:
            while True:
                _answer(connection, work, limits)
        except (MemoryError, SystemError):  # compiled code may raise SystemError without memory
            os._exit(OUT_OF_MEMORY)  # a normal exit needs memory, too


def _answer(connection: "Connection[bytes, bytes]", work: Work, limits: Limits) -> None:
    request = json.loads(connection.recv_bytes())
    signal.setitimer(signal.ITIMER_REAL, 2 * limits.seconds)  # if no parent is left to kill the process
    answer = work.answer(request)
    signal.setitimer(signal.ITIMER_REAL, 0)
    connection.send_bytes(json.dumps(answer, separators=(",", ":")).encode())
    if not connection.poll(IDLE) or gc.get_count()[0] > UNCOLLECTED:
        gc.collect()


def _bound(limits: Limits) -> None:
    """Limit the memory of this process, and forbid it to write files."""
    for kind, bound in ((resource.RLIMIT_AS, limits.memory), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0)):
        with suppress(OSError, ValueError):  # the system lacks the limit, or has a lower one
            resource.setrlimit(kind, (bound, bound))
