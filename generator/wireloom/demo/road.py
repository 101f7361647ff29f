"""The whole path of the demonstration, for all formats: specs -> package -> sample files -> ingest -> tables."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wireloom.demo.files import opened, write
from wireloom.demo.samples import samples
from wireloom.ingest.plan import QUARANTINE, RECORDS, Job, Plan, Summary
from wireloom.model.format import Format
from wireloom.project import Project
from wireloom.spark.ingest.batch import ingest
from wireloom.spark.preview import Preview, preview
from wireloom.spark.session import session

SHOWN = 4  # rows of each table

Ingest = Callable[[Job], Summary]
Show = Callable[[str, int], Preview]


@dataclass(frozen=True, slots=True)
class Shown:
    """The first rows of one format's tables."""

    format: str
    title: str
    framing: str
    input: Path
    summary: Summary
    output: Path
    records: Preview
    quarantine: Preview


def run(project: Project, output: Path) -> Iterator[Shown]:
    """Generate the package, make samples of every format, and ingest them all in one Spark session.

    Raises MisuseError if a folder for samples contains other files.
    """
    found = opened(project, output / "input")
    with session((project.out,)) as spark:
        for format, module in found:
            source = output / "input" / format.name
            write(source, format, samples(format, module))
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
