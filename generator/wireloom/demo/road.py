"""The whole road, for every format at once: specs -> package -> sample files -> ingest -> tables."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wireloom import pipeline
from wireloom.catalog import FormatModule, open_format, open_package
from wireloom.demo.samples import Samples, samples, stream
from wireloom.failures import MisuseError
from wireloom.ingest.plan import QUARANTINE, RECORDS, Job, Plan, Summary
from wireloom.model.format import Format
from wireloom.project import Project
from wireloom.runtime.streams.framing import Framing, Whole
from wireloom.spark.ingest.batch import ingest
from wireloom.spark.preview import Preview, preview
from wireloom.spark.session import session

SHOWN = 4  # rows of each table
SAMPLE = re.compile(r"(good|damaged)(-\d+)?\.bin")
"""How files of samples are called."""
BEFORE = 2  # good records in front of a damaged one

Ingest = Callable[[Job], Summary]
Show = Callable[[str, int], Preview]


@dataclass(frozen=True, slots=True)
class Shown:
    """One format's tables, ready to show: a few rows of each."""

    format: str
    title: str
    framing: str
    input: Path
    summary: Summary
    output: Path
    records: Preview
    quarantine: Preview


def run(project: Project, output: Path) -> Iterator[Shown]:
    """Generate the project's package, then make samples of every format and ingest them, one Spark session for all.

    Raises MisuseError where other files than samples lie among them.
    """
    formats = pipeline.formats(project.specs)
    for format in formats:
        _refuse_others(output / "input" / format.name)
    pipeline.generate(project)
    package = open_package(project.package, project.out)
    with session((project.out,)) as spark:
        for format in formats:
            module = open_format(package, format.name)
            source = output / "input" / format.name
            _write_samples(source, format, module)
            plan = Plan(f"{project.package}.{format.name}", format.name, module.MEANING, framing=format.framing.text)
            job = Job(plan, str(source.resolve()), str((output / "tables" / format.name).resolve()), overwrite=True)
            yield _shown(format, job, output, partial(ingest, spark), partial(preview, spark))


def _shown(format: Format, job: Job, output: Path, ingest: Ingest, show: Show) -> Shown:
    summary = ingest(job)
    return Shown(
        format.name,
        format.title,
        job.plan.framing or "none",
        output / "input" / format.name,
        summary,
        output / "tables" / format.name,
        show(f"{job.output}/{RECORDS}", SHOWN),
        show(f"{job.output}/{QUARANTINE}", 2 * SHOWN),
    )


def _refuse_others(folder: Path) -> None:
    others = [path for path in sorted(folder.glob("[!._]*")) if not SAMPLE.fullmatch(path.name)]
    if others:
        raise MisuseError(f"{others[0]}: not written by wireloom; choose another --output, or move it away")


def _write_samples(folder: Path, format: Format, module: FormatModule) -> None:
    """Files as the format's framing has them, so that every command reads them as they are."""
    made = samples(format, module)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.bin"):
        if SAMPLE.fullmatch(old.name):
            old.unlink()
    for name, records in files(format.framing, made):
        (folder / f"{name}.bin").write_bytes(stream(format.framing, records, made.header))


def files(framing: Framing, made: Samples) -> Iterator[tuple[str, tuple[bytes, ...]]]:
    """One stream of good records, and short ones that each end in a damaged record; without a framing, a file each."""
    if isinstance(framing, Whole):
        yield from ((f"good-{number:03d}", (data,)) for number, data in enumerate(made.good))
        yield from ((f"damaged-{number}", (data,)) for number, data in enumerate(made.damaged))
        return
    yield "good", made.good
    yield from ((f"damaged-{number}", (*made.good[:BEFORE], data)) for number, data in enumerate(made.damaged))
