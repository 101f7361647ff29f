"""Elements of SVG pictures: boxes, texts, lines and arrows, and the frame around them.

A picture has a background and two palettes, so it is readable on light and dark pages. Every text of a spec goes
through `label`, which escapes it and cuts it to the available space.
"""

import re
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from wireloom.emit.frames import framed
from wireloom.escapes import visible
from wireloom.model.format import Format

WIDTH = 780
_CHARACTER = {"name": 7.3, "small": 6.7}
"""Width of a character in pixels, by kind of text; the fonts are monospaced."""


_NO_XML = re.compile("[\ufffe\uffff]")
"""Characters that XML forbids, besides those that are escaped anyway."""


@dataclass(slots=True)
class Drawing:
    """A picture being drawn: its elements, and its height so far."""

    parts: list[str] = field(default_factory=list)
    bottom: float = 14

    def box(  # noqa: PLR0913 - a place, a size, and how it looks
        self, x: float, y: float, width: float, height: float, kind: str, title: str = ""
    ) -> None:
        """Draw a box with the style `kind`."""
        hint = f"<title>{_escaped(title)}</title>" if title else ""
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}">{hint}</rect>'
        )
        self.bottom = max(self.bottom, y + height)

    def text(self, x: float, y: float, said: str, kind: str = "name", anchor: str = "start") -> None:
        """Draw a line of text with its baseline at `y`."""
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{_escaped(said)}</text>')
        self.bottom = max(self.bottom, y + 4)

    def path(self, steps: str, kind: str = "line") -> None:
        """Draw a line through points."""
        self.parts.append(f'<path class="{kind}" d="{steps}"/>')

    def svg(self, format: Format, title: str, description: str) -> str:
        """The complete picture."""
        return framed(
            __file__,
            "diagram.svg.jinja",
            format,
            width=WIDTH,
            height=f"{self.bottom + 12:g}",
            title=_escaped(title),
            description=_escaped(description),
            parts=self.parts,
        )


def width_of(said: str, kind: str = "name") -> float:
    """The width of a text in pixels."""
    return len(said) * _CHARACTER[kind]


def cut(said: str, room: float, kind: str = "name") -> str:
    """The text, cut to a width."""
    most = max(int(room / _CHARACTER[kind]), 1)
    return said if len(said) <= most else said[: most - 1] + "…"


def halves(said: str, room: float) -> tuple[str, ...]:
    """A name on one line or, if it fits then, on two: broken before a capital letter or after a `_`."""
    if width_of(said) <= room:
        return (said,)
    breaks = [found.start() for found in re.finditer(r"(?<=[a-z0-9])(?=[A-Z])|(?<=_)(?=.)", said)]
    fitting = [place for place in breaks if max(width_of(said[:place]), width_of(said[place:])) <= room]
    return (said[: fitting[-1]], said[fitting[-1] :]) if fitting else (cut(said, room),)


def _escaped(said: str) -> str:
    return escape(_NO_XML.sub("\ufffd", visible(said)))
