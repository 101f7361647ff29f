"""The versions of a format for builders, which get a version by its name.

`written` builds a value in a named version, in the version that the value states, or in the newest that has a place
for all of its members. `columns` sets a named version in Arrow columns.
"""

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
    """Names from the oldest to the newest, and the value of each: at `path` in a record, or of `parameter`.

    Only records of these `roots` have a version.
    """

    names: tuple[str, ...]
    values: tuple[Scalar, ...]
    path: tuple[str, ...] = ()
    parameter: str = ""
    roots: tuple[str, ...] = ()

    def checked(self, format: str, root: str, name: object) -> str:
        """The name, if records of that root have such a version; raises ParameterError otherwise."""
        if name not in self.names:
            raise ParameterError(f"{format} has no version {name!r}; there are {', '.join(self.names)}")
        if root not in self.roots:
            raise ParameterError(f"records of the root {root} have no version")
        if not self.path and not self.parameter:
            raise ParameterError(f"{format} has no column with the version; add `column` to `versions` in the spec")
        return str(name)

    def _value(self, name: str) -> Scalar:
        return self.values[self.names.index(name)]

    def settings(self, given: Mapping[str, object], name: str, default: object) -> Mapping[str, object]:
        """The parameters for a version; raises ParameterError if the caller's parameters name another version."""
        value = self._value(name)
        stated = given.get(self.parameter, default)
        if stated not in (value, default):
            raise ParameterError(f"{self.parameter} is {stated!r}, and version {name} is {value!r}; give one of them")
        return {**given, self.parameter: value}

    def written(self, value: Any, name: str | None, write: Callable[[Any], _Written]) -> _Written:
        """The value, written in that version; without a `name`, in the version that the value states.

        A value that states no version is first written as it is. If that fails, the newest version that has a place
        for it is used.
        """
        if name is not None:
            return self._in_version(value, name, write)
        if not self.path:
            return write(value)
        if self._states_version(value):
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
        """The value, written in the version that it states; an error names that version if another would have fit."""
        try:
            return write(value)
        except UnplacedError as error:
            own = self.name_of(value, {})
            if own is not None and any(self._takes(value, name, write) for name in self.names if name != own):
                raise self._missing(error, own) from None
            raise

    def _takes(self, value: Any, name: str, write: Callable[[Any], _Written]) -> bool:
        """Whether the value could be written in that version, whatever it states."""
        with suppress(EncodeError):
            self._in_version(self.without(value), name, write)
            return True
        return False

    def _missing(self, error: UnplacedError, name: str) -> UnplacedError:
        given = error.expected.removesuffix(" to be read back")
        return UnplacedError(f"null: version {name} does not have it", given).path_from(error)

    def _states_version(self, value: Any) -> bool:
        """Whether a value states its version, or is not a record."""
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return all(map(self._states_version, value))
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
        """The parameter for a version, if a parameter holds it."""
        return {self.parameter: self._value(name)} if self.parameter else {}

    def name_of(self, value: Any, parameters: Mapping[str, object]) -> str | None:
        """The version that the value states, else the one of the parameters; None if neither states one."""
        stated = parameters.get(self.parameter)
        for step in self.path:
            value = stated = value.get(step) if isinstance(value, Mapping) else None
        return next((name for name, each in zip(self.names, self.values, strict=True) if each == stated), None)

    def without(self, value: Any) -> Any:
        """A copy of the value without its version."""
        return _without(value, self.path)

    def columns(self, structs: "pa.StructArray", name: str, type: "pa.DataType") -> "pa.StructArray":
        """The columns, with that version in rows that state none; raises EncodeError at a row that states another.

        `type` is the type of the columns.
        """
        for step in self.path:
            type = type.field(step).type
        return _filled(structs, self.path, _Filling(self._value(name), name, type))


def _with(value: Any, path: Sequence[str], wanted: Scalar, name: str) -> Any:
    """The value with the wanted value at `path`; raises EncodeError if it has another value there."""
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
