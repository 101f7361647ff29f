"""The parameters of a format: facts that the bytes do not contain and the caller states."""

import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wireloom.runtime.errors import ParameterError

_RANGE = re.compile(r"([0-9]{1,39})\.\.([0-9]{1,39})")
_INTEGER = re.compile(r"-?[0-9]{1,19}")
LONG = range(-(1 << 63), 1 << 63)
"""The integers that a parameter can take."""
LOWEST, HIGHEST = -(1 << 127), (1 << 128) - 1
"""The limits of a range that a parameter can take."""


@dataclass(frozen=True, slots=True)
class Range:
    """A range of integers, both ends inclusive."""

    start: int
    end: int


ParameterValue = str | int | bool | Range | None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A keyword of parse, build and decode. `kind` is text (one of `options`), boolean, integer or range.

    An integer must be at least `least`.
    """

    name: str
    kind: str
    default: str | int | bool | None
    options: tuple[str, ...] = ()
    doc: str = ""
    least: int = LONG[0]

    def accept(self, value: object) -> ParameterValue:
        """The checked value; texts are parsed (`true`, `12`, `0..99`), as command-line options need it."""
        match self.kind, value:
            case _, None if self.default is None:
                return value
            case "text", str() if value in self.options or not self.options:
                return value
            case "boolean", bool():
                return value
            case "boolean", str() if value in ("true", "false"):
                return value == "true"
            case "integer", int() if not isinstance(value, bool) and self._holds(int(value)):
                return int(value)
            case "integer", str() if _INTEGER.fullmatch(value) and self._holds(int(value)):
                return int(value)
            case "range", Range(int(start), int(end)) | (int(start), int(end)) if LOWEST <= start <= end <= HIGHEST:
                return Range(start, end)
            case "range", str() if (ends := _RANGE.fullmatch(value)) and int(ends[1]) <= int(ends[2]) <= HIGHEST:
                return Range(int(ends[1]), int(ends[2]))
            case _:
                pass
        wanted = self._wanted()
        error = ParameterError(f"{self.name} must be {wanted}, not {reprlib.repr(value)}")
        error.wanted = wanted
        raise error

    def _holds(self, number: int) -> bool:
        return number in LONG and number >= self.least

    def _wanted(self) -> str:
        match self.kind:
            case "text":
                return "one of " + ", ".join(self.options) if self.options else "a text"
            case "boolean":
                return "true or false"
            case "integer":
                return "an integer of 64 bits" + (f", at least {self.least}" if self.least in LONG[1:] else "")
            case _:
                return "a pair of integers (start, end), start <= end, of up to 128 bits, the text start..end, or None"


def parameter_text(value: object) -> str:
    """The value of a parameter as a text that `accept` reads; `none` for None."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case [first, last]:
            return f"{first}..{last}"
        case _:
            return str(value)


def option_name(parameter: str) -> str:
    """The parameter's name as an option, in camelCase: `on_corrupt` is `onCorrupt`, `byteOrder` stays."""
    return re.sub(r"_+([a-zA-Z0-9])", lambda found: found[1].upper(), parameter)


def accept_all(parameters: Sequence[Parameter], given: Mapping[str, object]) -> dict[str, ParameterValue]:
    """All parameters with their given values or defaults.

    Raises ParameterError for unknown names and bad values.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, known, 1)
            raise ParameterError(f"no parameter {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return {
        name: parameter.accept(given[name]) if name in given else parameter.default for name, parameter in known.items()
    }


# --- arguments that are the same for every format ------------------------------------------------------------------


def limit_of(stated: int | str | None, settings: Mapping[str, object]) -> int | None:
    """The value of a limit, which is a number or the name of a parameter; None if there is no limit."""
    limit = settings[stated] if isinstance(stated, str) else stated
    return limit if isinstance(limit, int) else None


def accept_word(name: str, given: object, words: Sequence[str]) -> None:
    """Raises ParameterError for a value that is not one of the words."""
    if not isinstance(given, str) or given not in words:
        listed = " or ".join(words) if len(words) == 2 else f"one of {', '.join(words)}"
        raise ParameterError(f"{name} must be {listed}, not {reprlib.repr(given)}")


def accept_flag(name: str, given: object) -> None:
    """Raises ParameterError for a value that is not a boolean."""
    if not isinstance(given, bool):
        raise ParameterError(f"{name} must be true or false, not {reprlib.repr(given)}")


def accept_columns(given: object) -> tuple[str, ...] | None:
    """The names of columns, None for all; raises ParameterError for anything but a list of texts."""
    if given is None:
        return None
    names = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise ParameterError(f"columns must be a list of names, or None for all of them, not {reprlib.repr(given)}")
    return names


def refuse_single(name: str, given: object, wanted: str) -> None:
    """Raises ParameterError for a value that is not iterable."""
    if not isinstance(given, Iterable):
        raise ParameterError(f"{name} must be {wanted}, not {type(given).__name__}")
