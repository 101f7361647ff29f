"""Updates docs/internals/benchmarks.md, whose measured parts are between marks."""

from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "internals" / "benchmarks.md"


def put(command: str, text: str) -> None:
    """Replace the measurements of a command."""
    start, end = f"<!-- measured: {command} -->\n", "<!-- end of what is measured -->\n"
    before, mark, rest = PAGE.read_text("utf-8").partition(start)
    _, close, after = rest.partition(end)
    if not mark or not close:
        raise LookupError(f"{PAGE} has no part between {start.strip()} and {end.strip()}")
    PAGE.write_text(f"{before}{start}\n{text}\n{end}{after}", "utf-8")
