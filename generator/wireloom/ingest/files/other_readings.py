"""If most records were refused, finds another framing, root, parameter or format that fits them.

The first bytes of a few files, or the first values of a column, are decoded in every other way that the format and the
package offer, most similar ways first. A way fits if all of the first records are good and the same bytes in reverse
are refused: a format that accepts anything proves nothing.
"""

import importlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from wireloom.catalog import FormatModule, Package, open_format
from wireloom.failures import MachineError, MisuseError
from wireloom.ingest.files.finding import Found, reachable
from wireloom.ingest.files.framing_hints import beginning, records
from wireloom.ingest.files.inputs import listing
from wireloom.ingest.files.parquet import row_groups, rows_of
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import Column, Files, Flow, Plan, Summary
from wireloom.runtime.errors import ParameterError
from wireloom.runtime.streams.framing_guess import LIKELIEST, fits

LOOKED_AT, TRIED = 100, 3
"""How many files or values are examined, and how many of the refused ones are tried in other ways."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The first bytes of a file, or a value of a column, and the full size if known."""

    name: str
    data: bytes
    size: int | None


def verdict(plan: Plan, source: Files | Column, found: Found, summary: Summary, *, again: str) -> str:
    """The likely reason why most records of a run were refused, and what to do.

    `again` has the options that read the files once more.
    """
    share = 100 * summary.quarantined / summary.records
    bad = f"{summary.quarantined} of {summary.records} records ({share:.3g} %) were refused"
    samples = refused(plan, source, found)
    if not samples:
        return f"{bad}; their first bytes are right, so check the codes and the last bad records with `wireloom status`"
    way = other_reading(plan, source, samples)
    if way is None:
        package = plan.module.rpartition(".")[0]
        return (
            f"{bad}; no other framing, root, parameter or format of {package} reads the first bytes of "
            f"{samples[0].name} either; compare them with the spec (`wireloom decode` shows the first error)"
        )
    options, other_format = way
    if other_format and again:
        again = "--overwrite (or another --output)"
    start = " ".join(filter(None, (again, options)))
    why = f"probably because of wrong options: {samples[0].name} fits {options}"
    return f"{bad}, {why}; start it with {start}"


def verdict_of_stream(flow: Flow, summary: Summary) -> str:
    """The same for the batches of a stream, if its files can be listed here."""
    again = f"`wireloom replay {flow.output.rstrip('/')}/quarantine`"
    if isinstance(flow.source, Files | Column) and reachable(flow.source.path):
        return verdict(flow.plan, flow.source, listing(flow.source), summary, again=again)
    share = 100 * summary.quarantined / summary.records
    bad = f"{summary.quarantined} of {summary.records} records ({share:.3g} %) of this run were refused"
    return (
        f"{bad}; look at the last bad records with `wireloom status {flow.output}`, then read them again with {again}"
    )


def refused(plan: Plan, source: Files | Column, found: Found) -> list[Sample]:
    """Samples of the input whose first record the plan refuses."""
    framing = _framing(plan, source)
    return list(islice((each for each in _samples(plan, source, found) if not _begins(plan, each, framing)), TRIED))


def other_reading(plan: Plan, source: Files | Column, samples: Sequence[Sample]) -> tuple[str, bool] | None:
    """The options of the first way that fits all samples, and whether it is another format; None if none fits."""
    for ways, of_other in ((_own_ways(plan, source), False), (_other_formats(plan, source), True)):
        for options, way, framing in ways:
            if all(_fits(way, sample, framing) for sample in samples):
                return options, of_other
    return None


Way = tuple[str, Plan, str]
"""The options of a way, the resulting plan, and its framing."""


def _own_ways(plan: Plan, source: Files | Column) -> Iterator[Way]:
    module = open_module(plan)
    now = _framing(plan, source)
    framings = [now] if isinstance(source, Column) else list(dict.fromkeys((now, module.CODEC.framing, *LIKELIEST)))
    variants = list(_variants(plan, module))
    for framing in framings[1:]:
        yield _framed("", plan, framing)
    for options, variant in variants:
        yield options, variant, now
    for framing in framings[1:]:
        for options, variant in variants:
            yield _framed(options, variant, framing)


def _framed(options: str, plan: Plan, framing: str) -> Way:
    return f"--framing {framing} {options}".strip(), replace(plan, framing=framing), framing


def _variants(plan: Plan, module: FormatModule) -> Iterator[tuple[str, Plan]]:
    """The plan with another root, or another value of one parameter."""
    root = module.CODEC.root(plan.root)
    for name, other in module.CODEC.roots.items():
        if other is not root:
            yield f"--root {name}", replace(plan, root=name)
    in_plan = dict(plan.parameters)
    for parameter in module.CODEC.parameters:
        now = in_plan.get(parameter.name, parameter.default)
        values: Iterable[Any] = parameter.options or ((True, False) if isinstance(parameter.default, bool) else ())
        for value in values:
            if value != now:
                shown = str(value).lower() if isinstance(value, bool) else value
                others = tuple({**in_plan, parameter.name: value}.items())
                yield f"-p {parameter.name}={shown}", replace(plan, parameters=others)


def _other_formats(plan: Plan, source: Files | Column) -> Iterator[Way]:
    """The other formats of the package, each with its own framing and other ones, and each of its roots."""
    package_name = plan.module.rpartition(".")[0]
    package: Package = importlib.import_module(package_name)
    for name in package.FORMATS:
        if name == plan.format:
            continue
        with suppress(ImportError, MachineError):
            module = open_format(package, name)
            other = Plan(f"{package_name}.{name}", name, module.MEANING, compression=plan.compression)
            own = _framing(other, source)
            framings = [own] if isinstance(source, Column) else dict.fromkeys((own, plan.framing or own, *LIKELIEST))
            for framing in framings:
                for at, root in enumerate(module.CODEC.roots):
                    options = f"--format {name}{f' --root {root}' if at else ''}"
                    framed = "" if framing == own else f" --framing {framing}"
                    yield options + framed, replace(other, root=root, framing=framing), framing


def _framing(plan: Plan, source: Files | Column) -> str:
    return "none" if isinstance(source, Column) else plan.framing or open_module(plan).CODEC.framing


def _begins(plan: Plan, sample: Sample, framing: str) -> bool:
    first = next(iter(records(plan, sample.data, framing)), None)
    whole = sample.size == len(sample.data)
    return first is None or first.error is None or (not whole and first.error.cut_off)


def _fits(plan: Plan, sample: Sample, framing: str) -> bool:
    with suppress(ParameterError, MisuseError):
        return fits(partial(records, plan), sample.data, sample.size, framing)
    return False


def _samples(plan: Plan, source: Files | Column, found: Found) -> Iterator[Sample]:
    match source:
        case Files():
            for file in found.files[:LOOKED_AT]:
                with suppress(OSError, MisuseError):
                    data, size = beginning(plan, file)
                    if data:
                        yield Sample(file.path, data, size)
        case Column(name=name):
            values = (
                (file, value)
                for file in found.files[:TRIED]
                for group in row_groups(file, name)
                for batch in rows_of(group, (name,))
                for value in batch.column(0)
            )
            for file, value in islice(values, LOOKED_AT):
                if data := value.as_py():
                    yield Sample(f"column {name} of {file.path}", data, len(data))
