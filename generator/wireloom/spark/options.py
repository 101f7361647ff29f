"""Parses options about decoding, for functions, `decode` and the data source.

Options are texts with names in camelCase, whose case does not matter, as everywhere in Spark. The format's parameters
are options too (`on_corrupt` is `onCorrupt`). A surface defines which general options and modes are allowed, and which
further options it reads itself. Unknown options are refused, with the most similar name, before a job starts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from pyspark.errors import AnalysisException, PySparkValueError

from wireloom.problems import nearest
from wireloom.runtime.codec import Codec
from wireloom.runtime.errors import ParameterError
from wireloom.runtime.parameters import Parameter, ParameterValue, option_name
from wireloom.runtime.streams.framing import NAMED

Mode = Literal["PERMISSIVE", "FAILFAST", "DROPMALFORMED"]
OpenValues = Literal["variant", "json", "binary"]
GENERAL = (
    *("mode", "columnNameOfCorruptRecord", "columnNameOfError", "root", "framing", "openValues", "explode"),
    *("columns", "fields"),
)
"""The general options; `fields` is another word for `columns`."""


@dataclass(frozen=True, slots=True)
class Surface:
    """A place that takes options: its name for messages, and what is allowed. The first mode is the default."""

    name: str
    modes: tuple[Mode, ...]
    general: tuple[str, ...] = GENERAL
    own: tuple[str, ...] = ()  # options that the surface reads itself


@dataclass(frozen=True, slots=True)
class Options:
    """What to decode, and how to treat bad records; None or empty for defaults.

    The names are those of the generated functions; `parameters` are the format's own, by their names in the spec.
    """

    mode: Mode
    column_of_corrupt_record: str | None = None
    column_of_error: str | None = None
    root: str | None = None
    framing: str | None = None
    open_values: OpenValues = "variant"
    explode: bool | None = None  # None for the default of the surface
    columns: tuple[str, ...] | None = None
    parameters: tuple[tuple[str, ParameterValue], ...] = ()


class ParseModeUnsupported(AnalysisException):
    """Spark's own error for a mode that a function lacks; Python's list of conditions does not have it."""

    def __init__(self, function: str, mode: str) -> None:
        super().__init__(
            f"The function `{function}` doesn't support the {mode} mode. Acceptable modes are PERMISSIVE and FAILFAST.",
            errorClass="PARSE_MODE_UNSUPPORTED",
            messageParameters={"funcName": f"`{function}`", "mode": mode},
        )

    def getSqlState(self) -> str:  # noqa: N802 - as PySpark has it
        """The SQLSTATE."""
        return "42601"


def function_surface(name: str) -> Surface:
    """A column function: one value per row, so rows cannot be dropped and streams cannot be split."""
    left_out = ("framing", "explode")
    return Surface(name, ("FAILFAST", "PERMISSIVE"), tuple(word for word in GENERAL if word not in left_out))


def read_options(given: Mapping[str, Any] | None, codec: Codec, surface: Surface) -> Options:
    """The options of a call, checked against the format and the surface.

    Raises ParameterError for unknown names and values, PySparkValueError for a word that is not allowed,
    ParseModeUnsupported for a mode that a function lacks.
    """
    options = _Options(_folded(given or {}), codec, surface)
    options.refuse_unknown()
    return Options(
        mode=options.mode(),
        column_of_corrupt_record=options.text("columnNameOfCorruptRecord"),
        column_of_error=options.text("columnNameOfError"),
        root=options.root(),
        framing=options.framing(),
        open_values=cast(OpenValues, options.one_of("openValues", get_args(OpenValues)) or "variant"),
        explode=options.flag("explode"),
        columns=options.columns(),
        parameters=tuple(options.parameters()),
    )


def _folded(given: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """The options by lower-case name, without null ones; raises ParameterError for one that is given twice."""
    folded: dict[str, tuple[str, Any]] = {}
    for name, value in given.items():
        if name.lower() in folded:
            raise ParameterError(f"option {name!r} is given twice, also as {folded[name.lower()][0]!r}")
        if value is not None:
            folded[name.lower()] = name, value
    return folded


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of a call, and methods to read each."""

    options: Mapping[str, tuple[str, Any]]
    codec: Codec
    surface: Surface

    def refuse_unknown(self) -> None:
        """Raise ParameterError for an unknown name."""
        known = (*self.surface.general, *map(option_name, self._names()), *self.surface.own)
        folded = {name.lower() for name in known}
        for lower, (name, _) in self.options.items():
            if lower not in folded:
                raise ParameterError(f"{self.surface.name} has no option {name!r}; {nearest(name, known)}".rstrip("; "))

    def framing(self) -> str | None:
        """The framing, in its canonical notation."""
        text = self.text("framing")
        return text.lower() if text is not None and text.lower() in NAMED else text

    def text(self, name: str) -> str | None:
        """The option's text."""
        value = self.options.get(name.lower(), (name, None))[1]
        if value is not None and not isinstance(value, str):
            raise ParameterError(f"option {name} must be a text, not {value!r}")
        return value or None

    def one_of(self, name: str, words: tuple[str, ...]) -> str | None:
        """An option with a fixed set of words, whose case does not matter."""
        value = self.text(name)
        if value is None:
            return None
        for word in words:
            if word.lower() == value.lower():
                return word
        raise PySparkValueError(
            errorClass="VALUE_NOT_ALLOWED", messageParameters={"arg_name": name, "allowed_values": ", ".join(words)}
        )

    def flag(self, name: str) -> bool | None:
        """A boolean option."""
        value = self.options.get(name.lower(), (name, None))[1]
        match str(value).lower():
            case "none":
                return None
            case "true" | "false" as word:
                return word == "true"
            case _:
                raise ParameterError(f"option {name} must be true or false, not {value!r}")

    def mode(self) -> Mode:
        """The mode, one of those of the surface."""
        mode = cast(Mode | None, self.one_of("mode", get_args(Mode))) or self.surface.modes[0]
        if mode not in self.surface.modes:
            raise ParseModeUnsupported(self.surface.name, mode)
        return mode

    def root(self) -> str | None:
        """The root, which the format must have."""
        name = self.text("root")
        self.codec.root(name)
        return name

    def columns(self) -> tuple[str, ...] | None:
        """The wanted columns: a list of names, or a text with commas."""
        found = [self.options[word] for word in ("columns", "fields") if word in self.options]
        if len(found) > 1:
            raise ParameterError("the options columns and fields mean the same; give one of them")
        if not found:
            return None
        ((name, value),) = found
        parts = value.split(",") if isinstance(value, str) else list(value)
        columns = tuple(part.strip() for part in parts if part.strip())
        if not columns:
            raise ParameterError(f"option {name} names no column")
        return columns

    def parameters(self) -> list[tuple[str, ParameterValue]]:
        """The given parameters of the format, by their names in the spec."""
        by_option = {option_name(name).lower(): parameter for name, parameter in self._names().items()}
        return [
            (parameter.name, _accepted(parameter, *self.options[option]))
            for option, parameter in by_option.items()
            if option in self.options
        ]

    def _names(self) -> dict[str, Parameter]:
        return {parameter.name: parameter for parameter in self.codec.parameters}


def _accepted(parameter: Parameter, name: str, value: object) -> ParameterValue:
    text = value.lower() if isinstance(value, str) and parameter.kind == "boolean" else value
    try:
        return parameter.accept(text)
    except ParameterError as error:
        raise ParameterError(f"option {name}: {error}") from None
