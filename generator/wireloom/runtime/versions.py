"""The versions of a format, as builders are told them: by name, from the oldest to the newest."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from wireloom.runtime.errors import EncodeError, ParameterError, UnplacedError, shown

if TYPE_CHECKING:
    import pyarrow as pa

Scalar = int | str
_Written = TypeVar("_Written")


@dataclass(frozen=True, slots=True)
class Versions:
    """Names, and the value that tells each: at `path` in a record, or as a parameter; in records of these roots."""

    names: tuple[str, ...]
    values: tuple[Scalar, ...]
    path: tuple[str, ...] = ()
    parameter: str = ""
    roots: tuple[str, ...] = ()

    def checked(self, format: str, root: str, name: object) -> str:
        """The name of a version, which records of that root have; raises ParameterError."""
        if name not in self.names:
            raise ParameterError(f"{format} has no version {name!r}; there are {', '.join(self.names)}")
        if root not in self.roots:
            raise ParameterError(f"records of the root {root} have no version")
        if not self.path and not self.parameter:
            raise ParameterError(f"no column of {format} says the version; give `versions` a `column` in the spec")
        return str(name)

    def _value(self, name: str) -> Scalar:
        return self.values[self.names.index(name)]

    def settings(self, given: Mapping[str, object], name: str, default: object) -> Mapping[str, object]:
        """The parameters of a version; raises ParameterError where the one that tells it says another."""
        value = self._value(name)
        told = given.get(self.parameter, default)
        if told not in (value, default):
            raise ParameterError(f"{self.parameter} is {told!r}, and version {name} is {value!r}; give one of them")
        return {**given, self.parameter: value}

    def written(self, value: Any, name: str | None, write: Callable[[Any], _Written]) -> _Written:
        """What is written of a value in that version, or in the one that it says itself.

        Of a value that says none, and cannot be written so, in the newest version that has a place for it.
        """
        if name is not None:
            return self._in_version(value, name, write)
        if not self.path:
            return write(value)
        if self._told(value):
            return self._as_told(value, write)
        try:
            return write(value)
        except EncodeError as error:
            for each in reversed(self.names):
                with suppress(EncodeError):
                    return self._in_version(value, each, write)
            raise error from None

    def _in_version(self, value: Any, name: str, write: Callable[[Any], _Written]) -> _Written:
        try:
            return write(self._of(value, name) if self.path else value)
        except UnplacedError as error:
            raise self._missing(error, name) from None

    def _as_told(self, value: Any, write: Callable[[Any], _Written]) -> _Written:
        """What is written in the version that a value says; its name is in the error if another version has a place."""
        try:
            return write(value)
        except UnplacedError as error:
            own = self.name_of(value, {})
            if own is not None and any(self._takes(value, name, write) for name in self.names if name != own):
                raise self._missing(error, own) from None
            raise

    def _takes(self, value: Any, name: str, write: Callable[[Any], _Written]) -> bool:
        """Whether a value is written in another version than it says."""
        with suppress(EncodeError):
            self._in_version(self.without(value), name, write)
            return True
        return False

    def _missing(self, error: UnplacedError, name: str) -> UnplacedError:
        given = error.expected.removesuffix(" to be read back")
        return UnplacedError(f"null: version {name} does not have it", given).path_from(error)

    def _told(self, value: Any) -> bool:
        """Whether a value says its version, or is no record."""
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return all(map(self._told, value))
        for step in self.path:
            if not isinstance(value, Mapping):
                return value is not None
            value = value.get(step)
        return value is not None

    def _of(self, value: Any, name: str) -> Any:
        """The value with its version, or each of a list of values."""
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return [self._of(each, name) for each in value]
        return _with(value, self.path, self._value(name), name)

    def stated(self, name: str) -> Mapping[str, Scalar]:
        """The parameter that says the version, where one does."""
        return {self.parameter: self._value(name)} if self.parameter else {}

    def name_of(self, value: Any, parameters: Mapping[str, object]) -> str | None:
        """The version that a value says, or else the parameters; None where neither does."""
        told = parameters.get(self.parameter)
        for step in self.path:
            value = told = value.get(step) if isinstance(value, Mapping) else None
        return next((name for name, each in zip(self.names, self.values, strict=True) if each == told), None)

    def without(self, value: Any) -> Any:
        """A copy of a value that does not say its version."""
        return _without(value, self.path)

    def columns(self, structs: "pa.StructArray", name: str, type: "pa.DataType") -> "pa.StructArray":
        """The columns with that version in rows that say none; raises EncodeError at a row that says another.

        `type` is the type of the columns.
        """
        for step in self.path:
            type = type.field(step).type
        return _filled(structs, self.path, _Filling(self._value(name), name, type))


def _with(value: Any, path: Sequence[str], wanted: Scalar, name: str) -> Any:
    """The value with a member that has the wanted value, if it has another none."""
    if not isinstance(value, Mapping):
        return value
    first, *rest = path
    own = value.get(first)
    if rest:
        try:
            made = _with({} if own is None else own, rest, wanted, name)
        except EncodeError as error:
            raise error.at(first) from None
        return value if made is own else {**value, first: made}
    if own is None:
        return {**value, first: wanted}
    if own != wanted:
        raise EncodeError(f"{wanted!r}, as version {name} has it", shown(own)).at(first)
    return value


def _without(value: Any, path: Sequence[str]) -> Any:
    if not path or not isinstance(value, Mapping) or path[0] not in value:
        return value
    kept = {key: each for key, each in value.items() if key != path[0]}
    return {**kept, path[0]: _without(value[path[0]], path[1:])} if path[1:] else kept


@dataclass(frozen=True, slots=True)
class _Filling:
    value: Scalar
    name: str
    type: "pa.DataType"


def _filled(structs: "pa.StructArray", path: Sequence[str], filling: _Filling) -> "pa.StructArray":
    import pyarrow as pa
    import pyarrow.compute as pc

    first, *rest = path
    names, children = [each.name for each in structs.type], structs.flatten()
    place = names.index(first) if first in names else len(names)
    own = children[place] if first in names else None
    if rest and own is not None:
        try:
            made = _filled(own, rest, filling)
        except EncodeError as error:
            row = error.inward()
            raise error.at(first).at(row) from None
    elif rest:
        raise EncodeError(f"the column {first}, which has the version", "none")
    else:
        constant = pa.scalar(filling.value, filling.type)
        made = pa.repeat(constant, len(structs)) if own is None else pc.fill_null(own.cast(filling.type), constant)
        other = pc.index(pc.not_equal(made, constant), value=True).as_py()
        if other >= 0:
            actual = shown(made[other].as_py())
            raise EncodeError(f"{filling.value!r}, as version {filling.name} has it", actual).at(first).at(other)
    names[place : place + 1], children[place : place + 1] = [first], [made]
    mask = structs.is_null() if structs.null_count else None
    return pa.StructArray.from_arrays(children, names=names, mask=mask)
