"""Files of samples in each format's own framing, so that every command reads them without options."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from wireloom import pipeline
from wireloom.catalog import FormatModule, open_format, open_package
from wireloom.demo.samples import DAMAGED, Samples, refuse_none_to_grow_from, samples, stream
from wireloom.failures import MisuseError
from wireloom.model.format import Format
from wireloom.project import Project
from wireloom.runtime.streams.framing import Framing, Whole

SAMPLE = re.compile(r"(good|damaged)(-\d+)?\.bin")
"""The names of sample files."""
BEFORE = 2  # good records before a damaged one
FEW = 20
"""Most good records of a format if only samples are written; fewer if each record is a file."""


def write_samples(project: Project, folder: Path) -> Iterator[Path]:
    """Generate the project's package, then write a few samples of every format, some damaged; yields the folders.

    Raises MisuseError if a folder for samples contains other files.
    """
    for format, module in opened(project, folder):
        write(folder / format.name, format, few(format, module))
        yield folder / format.name


def few(format: Format, module: FormatModule) -> Samples:
    """As many samples as a repository should hold."""
    made = samples(format, module, FEW // 4 if isinstance(format.framing, Whole) else FEW)
    return replace(made, damaged=made.damaged[-DAMAGED:])


def opened(project: Project, folder: Path) -> list[tuple[Format, FormatModule]]:
    """Every format of the project, with the module generated from its current spec."""
    formats = pipeline.formats(project.specs)
    refuse_none_to_grow_from(formats)
    for format in formats:
        _refuse_others(folder / format.name)
    pipeline.generate(project)
    package = open_package(project.package, project.out)
    return [(format, open_format(package, format.name)) for format in formats]


def _refuse_others(folder: Path) -> None:
    others = [path for path in sorted(folder.glob("[!._]*")) if not SAMPLE.fullmatch(path.name)]
    if others:
        raise MisuseError(f"{others[0]}: not written by wireloom; choose another --output, or move it away")


def write(folder: Path, format: Format, made: Samples) -> None:
    """Write samples as files in the format's own framing."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.bin"):
        if SAMPLE.fullmatch(old.name):
            old.unlink()
    for name, data in files(format.framing, made):
        (folder / name).write_bytes(data)


def files(framing: Framing, made: Samples) -> Iterator[tuple[str, bytes]]:
    """A file of good records, and short files that each end in a damaged record.

    Without a framing, one record per file.
    """
    for name, records in _streams(framing, made):
        yield f"{name}.bin", stream(framing, records, made.header)


def _streams(framing: Framing, made: Samples) -> Iterator[tuple[str, tuple[bytes, ...]]]:
    if isinstance(framing, Whole):
        yield from ((f"good-{number:03d}", (data,)) for number, data in enumerate(made.good))
        yield from ((f"damaged-{number}", (data,)) for number, data in enumerate(made.damaged))
        return
    yield "good", made.good
    yield from ((f"damaged-{number}", (*made.good[:BEFORE], data)) for number, data in enumerate(made.damaged))
