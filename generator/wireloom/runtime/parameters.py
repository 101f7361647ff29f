"""The parameters of a format: what the bytes do not tell and the caller says."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wireloom.runtime.errors import ParameterError

_RANGE = re.compile(r"(\d{1,39})\.\.(\d{1,39})")


@dataclass(frozen=True, slots=True)
class Range:
    """A range of integers, both ends inclusive."""

    start: int
    end: int


ParameterValue = str | int | bool | Range | None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A keyword of parse, build and decode. `kind` is text (one of `options`), boolean, integer or range."""

    name: str
    kind: str
    default: str | int | bool | None
    options: tuple[str, ...] = ()
    doc: str = ""

    def accept(self, value: object) -> ParameterValue:
        """The value, checked; texts are read (`true`, `12`, `0..99`), so that options of a command line fit too."""
        match self.kind, value:
            case "text", str() if value in self.options:
                return value
            case "boolean", bool():
                return value
            case "boolean", "true" | "false":
                return value == "true"
            case "integer", int() if not isinstance(value, bool):
                return value
            case "integer", str() if value.removeprefix("-").isdecimal():
                return int(value)
            case "range", None | Range():
                return value
            case "range", (int(start), int(end)):
                return Range(start, end)
            case "range", str() if (ends := _RANGE.fullmatch(value)) is not None:
                return Range(int(ends[1]), int(ends[2]))
            case _:
                pass
        raise ParameterError(f"{self.name} must be {self._wanted()}, not {value!r}")

    def _wanted(self) -> str:
        match self.kind:
            case "text":
                return "one of " + ", ".join(self.options)
            case "boolean":
                return "true or false"
            case "integer":
                return "an integer"
            case _:
                return "a pair of integers (start, end), the text start..end, or None"


def option_name(parameter: str) -> str:
    """The parameter as an option, in camelCase: `on_corrupt` is `onCorrupt`, `byteOrder` stays."""
    return re.sub(r"_+([a-zA-Z0-9])", lambda found: found[1].upper(), parameter)


def accept_all(parameters: Sequence[Parameter], given: Mapping[str, object]) -> dict[str, ParameterValue]:
    """All parameters with their values, defaults where not given.

    Raises ParameterError for unknown names and bad values.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise ParameterError(f"no parameter {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return {
        name: parameter.accept(given[name]) if name in given else parameter.default for name, parameter in known.items()
    }
