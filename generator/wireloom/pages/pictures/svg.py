"""The parts of SVG pictures: boxes, texts, lines and arrows, and the frame around them.

A picture has a background and two palettes, so it is readable on light and dark pages. Every text of a spec goes
through `label`, which escapes it and cuts it to the space that it has.
"""

import re
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from wireloom.emit.frames import framed
from wireloom.escapes import visible
from wireloom.model.format import Format

WIDTH = 780
_CHARACTER = {"name": 7.3, "small": 6.7}
"""Pixels of a character of each kind of text, which are all of one width."""


_NO_XML = re.compile("[\ufffe\uffff]")
"""What XML cannot say, beside what is made visible."""


@dataclass(slots=True)
class Drawing:
    """A picture in the making: its elements, and how far down it reaches."""

    parts: list[str] = field(default_factory=list)
    bottom: float = 14

    def box(  # noqa: PLR0913 - a place, a size, and how it looks
        self, x: float, y: float, width: float, height: float, kind: str, title: str = ""
    ) -> None:
        """A box; `kind` is its style."""
        hint = f"<title>{_escaped(title)}</title>" if title else ""
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}">{hint}</rect>'
        )
        self.bottom = max(self.bottom, y + height)

    def text(self, x: float, y: float, said: str, kind: str = "name", anchor: str = "start") -> None:
        """A line of text whose base is at `y`."""
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{_escaped(said)}</text>')
        self.bottom = max(self.bottom, y + 4)

    def path(self, steps: str, kind: str = "line") -> None:
        """A line through points."""
        self.parts.append(f'<path class="{kind}" d="{steps}"/>')

    def svg(self, format: Format, title: str, description: str) -> str:
        """The whole picture."""
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
    """The pixels of a text."""
    return len(said) * _CHARACTER[kind]


def cut(said: str, room: float, kind: str = "name") -> str:
    """The text as far as it has room."""
    most = max(int(room / _CHARACTER[kind]), 1)
    return said if len(said) <= most else said[: most - 1] + "…"


def halves(said: str, room: float) -> tuple[str, ...]:
    """A name in one line, or in two where that is all it takes: broken before a capital letter or after a `_`."""
    if width_of(said) <= room:
        return (said,)
    breaks = [found.start() for found in re.finditer(r"(?<=[a-z0-9])(?=[A-Z])|(?<=_)(?=.)", said)]
    fitting = [place for place in breaks if max(width_of(said[:place]), width_of(said[place:])) <= room]
    return (said[: fitting[-1]], said[fitting[-1] :]) if fitting else (cut(said, room),)


def _escaped(said: str) -> str:
    return escape(_NO_XML.sub("\ufffd", visible(said)))
