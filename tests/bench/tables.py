"""The tables of docs/internals/benchmarks.md."""

from collections.abc import Iterator, Sequence

from contest import Result, Work
from scaling import Peak, Point

Measured = Sequence[tuple[Work, Sequence[Result]]]


def page(
    measured: Measured,
    growth: tuple[Sequence[Point], Sequence[Point], Sequence[Peak]],
    carried: tuple[float, float, int],
    conditions: str,
) -> str:
    """All measurements as Markdown."""
    by_count, by_size, peaks = growth
    arrow, first, wheel = carried
    return "\n".join(
        [
            f"Measured with {conditions}.\n",
            "## The engine and its peers, to Arrow\n",
            *contests(measured),
            "",
            "## Cost against number and size\n",
            *_points(by_count, "Databus events"),
            "",
            *_points(by_size, "Aerospike messages of one bin"),
            "",
            "## Memory at the peak of a decode\n",
            *_peaks(peaks),
            "",
            "## Start and size\n",
            f"A fresh interpreter imports pyarrow in {arrow * 1000:.0f} ms; {first * 1000:.0f} ms later a format is",
            "imported, its program compiled and a first record decoded.",
            f"The wheel with the engine has {wheel / 1e6:.2f} MB.",
            "",
        ]
    )


def contests(measured: Measured) -> Iterator[str]:
    """A row for each contestant."""
    yield "| work | contestant | time | times | the time of | wanted | |"
    yield "|---|---|---|---|---|---|---|"
    for work, found in measured:
        title = f"{work.title}: {work.messages} of {work.size:.0f} bytes"
        for result in found:
            part = "" if result.contestant.share == 1 else f" ({result.contestant.share:.2%} of the messages, scaled)"
            held = "| |" if result.base == result.contestant.name else f"{result.ratio:.3g} | {result.base} |"
            yield (
                f"| {title} | {result.contestant.name}{part} | {_duration(result.seconds)} | {held}"
                f" {result.wanted} | {result.verdict} |"
            )
            title = ""


def _points(points: Sequence[Point], what: str) -> Iterator[str]:
    yield f"| {what} | bytes each | time | ns each | MB/s |"
    yield "|---|---|---|---|---|"
    for point in points:
        speed = point.bytes / point.seconds / 1e6
        size = point.bytes / point.messages
        yield f"| {point.messages} | {size:.0f} | {_duration(point.seconds)} | {point.each:.0f} | {speed:.0f} |"


def _peaks(peaks: Sequence[Peak]) -> Iterator[str]:
    yield "| format | input | output | at the peak | input + 2 outputs | |"
    yield "|---|---|---|---|---|---|"
    for peak in peaks:
        sizes = " | ".join(f"{each / 1e6:.0f} MB" for each in (peak.input, peak.output, peak.peak, peak.limit))
        verdict = "met" if peak.peak <= peak.limit else f"missed by {100 * (peak.peak / peak.limit - 1):.0f} %"
        yield f"| {peak.format} | {sizes} | {verdict} |"


def _duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1000:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"
