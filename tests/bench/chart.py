"""Draws the chart of docs/internals/benchmarks.md: messages per hundred that the engine reads in the same time.

The scale is logarithmic. The colours follow the reader's theme: text is grey on both.
"""

import math
from collections.abc import Iterator, Sequence
from html import escape

from contest import Result, Work

_WIDTH, _LEFT, _RIGHT = 860, 330, 90
_ROW, _GAP, _TOP, _BOTTOM = 24, 46, 62, 40
_DECADES = (-3, 0)  # a thousandth of the engine's speed, up to the engine's speed
_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #57606a }
  .title { font-size: 16px; font-weight: 600; fill: #24292f }
  .work { font-weight: 600; fill: #24292f }
  .number { font-variant-numeric: tabular-nums }
  .grid { stroke: #8c959f; stroke-opacity: .35 }
  .ours { fill: #2f6fdb } .theirs { fill: #9aa4af } .limit { fill: #c98a1b }
  @media (prefers-color-scheme: dark) {
    text { fill: #9da7b3 } .title, .work { fill: #e6edf3 }
    .ours { fill: #5b9bff } .theirs { fill: #6e7783 } .limit { fill: #e0a63c }
  }
"""


def drawn(measured: Sequence[tuple[Work, Sequence[Result]]]) -> str:
    """The chart as SVG."""
    rows = sum(len(_shown(found)) for _, found in measured)
    height = _TOP + len(measured) * _GAP + rows * _ROW + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img">',
        "<title>Speed of the engine and its peers</title>",
        f"<style>{_STYLE}</style>",
        '<text class="title" x="16" y="28">Speed, as parts of the engine\'s (logarithmic)</text>',
        *_grid(height),
        *_groups(measured),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _shown(found: Sequence[Result]) -> list[Result]:
    """The results of reading; encoding, partial work and the memory limit are only in the table."""
    return [each for each in found if each.contestant.most is None and "memcpy" not in each.contestant.name]


def _grid(height: int) -> Iterator[str]:
    for decade in range(_DECADES[0], _DECADES[1] + 1):
        x = _x(10.0**decade)
        name = f"1/{10**-decade}" if decade else "1"
        yield f'<line class="grid" x1="{x:.0f}" x2="{x:.0f}" y1="{_TOP - 8}" y2="{height - _BOTTOM + 4}"/>'
        yield f'<text x="{x:.0f}" y="{height - _BOTTOM + 24}" text-anchor="middle">{name}</text>'


def _groups(measured: Sequence[tuple[Work, Sequence[Result]]]) -> Iterator[str]:
    y = _TOP
    for work, found in measured:
        y += _GAP
        title = f"{work.title}, {work.messages} of {work.size:.0f} bytes"
        yield f'<text class="work" x="16" y="{y - 12}">{escape(title)}</text>'
        for place, result in enumerate(_shown(found)):
            yield from _bar(
                result, y, "ours" if not place else "limit" if "alone" in result.contestant.name else "theirs"
            )
            y += _ROW


def _bar(result: Result, y: float, kind: str) -> Iterator[str]:
    speed = 1 / result.ratio
    name = result.contestant.name.split(";")[0].split(" (")[0]
    left, right = _x(10.0 ** _DECADES[0]), max(_x(speed), _x(10.0 ** _DECADES[0]) + 2)
    yield f'<text x="{_LEFT - 10}" y="{y + 14}" text-anchor="end">{escape(name)}</text>'
    yield f'<rect class="{kind}" x="{left:.0f}" y="{y + 2}" width="{right - left:.1f}" height="{_ROW - 7}" rx="3"/>'
    text = f"{speed:.2g}" if speed >= 0.1 else f"1/{result.ratio:.0f}"
    yield f'<text class="number" x="{right + 6:.0f}" y="{y + 14}">{text}</text>'


def _x(speed: float) -> float:
    """The x coordinate of a speed; a contestant that is faster than the engine extends beyond its line."""
    low, high = _DECADES
    return _LEFT + (math.log10(speed) - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT - 90)
