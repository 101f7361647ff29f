"""The conversion of one format to another: what it would lose, and the conversion itself."""

import difflib
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from wireloom.runtime.codec import Codec
from wireloom.runtime.columns import reading
from wireloom.runtime.columns.canonical import dumps, to_canonical
from wireloom.runtime.columns.logical import Alternatives, Float, List, LogicalType, Map, Open, Record, kind_name
from wireloom.runtime.conversion import placing
from wireloom.runtime.conversion.columns import fitted
from wireloom.runtime.conversion.fitting import Difference, Side, differences
from wireloom.runtime.errors import (
    Component,
    EncodeError,
    ParameterError,
    UnplacedError,
    render_path,
)
from wireloom.runtime.root import Root
from wireloom.runtime.values import Extension, Pairs

_MOST_LOST = 256
"""The most members of one record that may be lost in building it."""
_PLACES = re.compile(r"(\[\d+\])*\.?")
_LISTED = 12
"""The most names in a message."""


class Module(Protocol):
    """A generated module."""

    FORMAT: str
    CODEC: Codec


@dataclass(frozen=True, slots=True)
class Converted:
    """Records of the target, in the order of the source.

    `data` is null if the source record is bad or null, or if the target cannot represent it; `errors` has the reason,
    null for a good record. `lost` lists the paths of the members whose values are gone: converting back does not
    restore them. `built` are the rows that were built one by one, which is slow, in either direction.
    """

    data: pa.BinaryArray
    errors: pa.StringArray
    lost: pa.ListArray
    built: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Conversion:
    """A conversion between two formats; `parameters` are for decoding, `target_parameters` for encoding.

    With `strict`, a record that would lose a value is refused, except for the members in `may_lose`.
    """

    source: Codec
    target: Codec
    root: str
    target_root: str
    parameters: Mapping[str, Any]
    target_parameters: Mapping[str, Any]
    strict: bool = False
    may_lose: frozenset[str] = frozenset()
    returns: bool = True  # whether values that converting back restores count as kept

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The source's columns that do not become the target's unchanged."""
        return tuple(differences(*self._sides))

    def explain(self) -> Iterator[str]:
        """What becomes of the members, one line each."""
        yield f"{self.source.format} ({self.root}) to {self.target.format} ({self.target_root})"
        words = {"dropped": "is lost", "null": "is null", "narrower": "may be refused"}
        for each in self.differences:
            yield f"  {each.path} {words[each.kind]}: {each.detail}"
        if not self.differences:
            yield "  every member has its place"
        yield "  a member that a single record has no place for is also lost, and reported. Computed members,"
        yield "  which converting back restores, are not lost"
        if any(_opens(self._target.logical)):
            yield "  in values of any type, bytes, extensions and keys that the target does not have become text"

    def of_messages(self, messages: "pa.Array") -> Converted:
        """Convert an Arrow array of messages, which must be single records, not lists of them."""
        if self._source.elements:
            raise ParameterError(f"root {self.root} of {self.source.format} is a list: one message is many records")
        found = self.source.decode(messages, root=self.root, **self.parameters)
        texts = [error_line(each) if each is not None else None for each in found.errors.to_pylist()]
        return self.of_columns(found.records, texts)

    def of_columns(self, records: pa.StructArray, wrong: Sequence[str | None] | None = None) -> Converted:
        """Convert the source's columns, null for null; `wrong` has the reasons for null rows."""
        fit = fitted(records, *self._sides)
        lost = [sorted(fit.lost.get(row, ())) for row in range(len(records))]
        errors: list[str | None] = list(wrong or [None] * len(records))
        for row, refusal in fit.refused.items():
            errors[row] = str(refusal)
        kept = fit.records
        data, built = self._encoded(kept, lost, errors)
        if self.returns:
            self._changed(kept, data, lost)
            built |= self._returning(records, data, lost)
        for row, paths in enumerate(lost):
            strictly = self._refusal(paths)
            if data[row] is not None and strictly is not None:
                errors[row], data[row] = strictly, None
            if data[row] is None:
                lost[row] = []
        paths = pa.list_(pa.field("element", pa.string()))
        return Converted(pa.array(data, pa.binary()), pa.array(errors, pa.string()), pa.array(lost, paths), built)

    def _refusal(self, lost: Sequence[str]) -> str | None:
        """Why a record with these losses is refused; None if it is not."""
        kept = [path for path in lost if path not in self.may_lose] if self.strict else []
        return f"loses {', '.join(kept)}, and the conversion is strict" if kept else None

    def _encoded(
        self, records: pa.StructArray, lost: list[list[str]], errors: list[str | None]
    ) -> tuple[list[bytes | None], frozenset[int]]:
        """The bytes of each record, and the rows that were built one by one because the engine gave them up."""
        goal = placing.Target(self.target, self.target_root, self.target_parameters)
        found = placing.written(records, goal, _MOST_LOST)
        for row, paths in found.lost.items():
            lost[row] += paths
        data, is_valid = found.data, records.is_valid().to_pylist()
        rest = [row for row, each in enumerate(data) if each is None and is_valid[row]]
        for row in rest:
            data[row] = self._one(records.slice(row, 1), row, lost, errors)
        return data, frozenset(rest)

    def _one(self, record: pa.StructArray, row: int, lost: list[list[str]], errors: list[str | None]) -> bytes | None:
        """The bytes of one record; its losses, or the reason if there are none, are added for its row."""
        try:
            data, more = self._built(record)
        except EncodeError as refusal:
            errors[row] = str(refusal).removeprefix("[0].")
            return None
        lost[row] += more
        return data

    def _changed(self, records: pa.StructArray, data: Sequence[bytes | None], lost: list[list[str]]) -> None:
        """Add the members that the target computes itself, with another value than they had, to the losses."""
        made = self.target.decode(pa.array(data, pa.binary()), root=self.target_root, **self.target_parameters).records
        types = {member.name: member.type for member in self._target.logical.fields}
        for place, field in enumerate(records.type):
            before, index = records.field(place), made.type.get_field_index(field.name)
            after = made.field(index)
            if before.equals(after):
                continue
            for row in _maybe_altered(before, after):
                if data[row] is not None and field.name not in lost[row]:
                    found = _altered(before[row].as_py(), after[row].as_py(), types[field.name], field.name)
                    lost[row] += [path for path in found if not any(_within(path, known) for known in lost[row])]

    def _returning(
        self, records: pa.StructArray, data: Sequence[bytes | None], lost: list[list[str]]
    ) -> frozenset[int]:
        """Remove the losses that converting back restores, such as lengths and checksums.

        Returns the rows that had to be built one by one.
        """
        rows = [row for row, paths in enumerate(lost) if paths and data[row] is not None]
        if not rows or self._source.elements:
            return frozenset()
        back = Conversion(
            self.target,
            self.source,
            self.target_root,
            self.root,
            self.target_parameters,
            self.parameters,
            returns=False,
        )
        made = back.of_messages(pa.array([data[row] for row in rows], pa.binary()))
        again = self.source.decode(made.data, root=self.root, **self.parameters).records
        given = records.take(pa.array(rows, pa.int64()))
        known = {path: _same_scalars(given, again, path) for path in {path for row in rows for path in lost[row]}}
        for place, row in enumerate(rows):
            restored = {path: found[place] for path in lost[row] if (found := known[path]) is not None}
            if len(restored) < len(lost[row]):
                before, after = given[place].as_py(), again[place].as_py()
                restored |= {path: _same(before, after, path) for path in lost[row] if path not in restored}
            lost[row] = [path for path in lost[row] if not restored[path]]
        return frozenset(rows[place] for place in made.built)

    def _built(self, row: pa.StructArray) -> tuple[bytes, list[str]]:
        """The bytes of one record without the members that it has no place for, and the paths of those."""
        (value,) = reading.from_struct_array(row, self._target.logical, extensions=self.source.extensions)
        lost: list[str] = []
        for _ in range(_MOST_LOST):
            try:
                return self.target.build(value, root=self.target_root, **self.target_parameters), lost
            except UnplacedError as error:
                if not _cleared(value, error.components):
                    raise
                lost.append(render_path(error.components))
            except EncodeError as error:
                place = _open_place(self._target.logical, error.components)
                if place is None or not _plainer(value, place):
                    raise
                lost.append(render_path(place))
        raise EncodeError(f"a record that loses at most {_MOST_LOST} members", "one that loses more")

    @property
    def _sides(self) -> tuple[Side, Side]:
        source, target = self._source, self._target
        return Side(source.logical, source.unplaced), Side(target.logical, target.unplaced)

    @property
    def _source(self) -> Root:
        return self.source.root(self.root)

    @property
    def _target(self) -> Root:
        return self.target.root(self.target_root)


def conversion(  # noqa: PLR0913 - the two sides of a conversion
    source: Module,
    target: Module,
    *,
    root: str | None = None,
    target_root: str | None = None,
    parameters: Mapping[str, object] | None = None,
    target_parameters: Mapping[str, object] | None = None,
    strict: bool = False,
    may_lose: Sequence[str] = (),
) -> Conversion:
    """The conversion of the records of one format to another.

    Raises ParameterError if they have no common column, if `may_lose` names an unknown member, or if it is given
    without `strict`.
    """
    given, wanted = source.CODEC, target.CODEC
    made = Conversion(
        given,
        wanted,
        root or given.default_root,
        target_root or wanted.default_root,
        given.settings(parameters or {}),
        wanted.settings(target_parameters or {}),
        strict,
        frozenset(may_lose),
    )
    entry, goal = given.root(made.root), wanted.root(made.target_root)
    if goal.elements:
        raise ParameterError(f"root {made.target_root} of {wanted.format} is a list; a record becomes a record")
    if not {field.name for field in entry.logical.fields} & {field.name for field in goal.logical.fields}:
        raise ParameterError(f"{given.format} and {wanted.format} have no column of the same name")
    if may_lose and not strict:
        raise ParameterError("may_lose needs strict: it names members that a strict conversion may lose")
    for path in may_lose:
        if not _is_member(entry.logical, path):
            raise ParameterError(f"may_lose {path!r}: {given.format} has no such member; {_hint(entry.logical, path)}")
    return made


def _is_member(type: LogicalType, path: str) -> bool:
    """Whether a path may lead to a value of the type, or into an open value."""
    rest = _PLACES.sub("", path, count=1)
    match type:
        case Record(fields) if rest:
            below = ((field.type, rest[len(field.name) :]) for field in fields if _within(rest, field.name))
            return any(_is_member(within, tail) for within, tail in below)
        case List(element):
            return _is_member(element, rest)
        case _:
            return True


def _hint(record: Record, path: str) -> str:
    names = [field.name for field in record.fields]
    near = difflib.get_close_matches(path, names, 1)
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names[:_LISTED])}{more}"


def error_line(error: Mapping[str, Any]) -> str:
    """A decoder's error as one line."""
    place = f" at {error['path']}" if error["path"] else ""
    detail = f": expected {error['expected']}, found {error['actual']}" if error["expected"] else ""
    meaning = f" ({error['meaning']})" if error["meaning"] else ""
    return f"{error['code']}{place}, byte {error['offset']}{detail}{meaning}"


def _within(path: str, other: str) -> bool:
    """Whether a path is another one, or leads on from it."""
    return path.startswith(other) and path[len(other) : len(other) + 1] in ("", ".", "[")


def _maybe_altered(before: pa.Array, after: pa.Array) -> Iterable[int]:
    """The rows in which a value may have changed, or be gone."""
    if before.type != after.type or kinds.is_nested(before.type):
        rows = before.is_valid()
    else:
        rows = pc.and_not(before.is_valid(), pc.fill_null(pc.equal(before, after), fill_value=False))
    return cast("list[int]", pc.indices_nonzero(rows).to_pylist())


def _altered(before: Any, after: Any, type: LogicalType, path: str) -> Iterator[str]:
    """The paths of values that are not null and have changed."""
    match type, before, after:
        case _, None, _:
            return
        case Record(fields), dict(), dict():
            for member in fields:
                own, other = before.get(member.name), after.get(member.name)
                yield from _altered(own, other, member.type, f"{path}.{member.name}")
        case Alternatives(options), dict(), dict():
            for option in options:
                name = kind_name(option)
                yield from _altered(before.get(name), after.get(name), option, path)
        case List(element), list(), list() if len(before) == len(after):
            for place, pair in enumerate(zip(before, after, strict=True)):
                yield from _altered(*pair, element, f"{path}[{place}]")
        case Map() as entries, list(), list() if len(before) == len(after):
            for place, (entry, made) in enumerate(zip(before, after, strict=True)):
                for own, other, part in zip(entry, made, (entries.key, entries.value), strict=True):
                    yield from _altered(own, other, part, f"{path}[{place}]")
        case _, float(), float() if before != before and after != after:  # noqa: PLR0124 - both are NaN
            return
        case _:
            if before != after:
                yield path


def _same_scalars(before: pa.StructArray, after: pa.StructArray, path: str) -> list[bool] | None:
    """By row, whether the values at a path are equal; None if the path is not to a scalar through structs."""
    found = [before, after]
    for name in path.split("."):
        if not all(kinds.is_struct(each.type) and each.type.get_field_index(name) >= 0 for each in found):
            return None
        found = [each.flatten()[each.type.get_field_index(name)] for each in found]
    given, read = found
    if given.type != read.type or kinds.is_nested(given.type):
        return None
    same = pc.or_(pc.and_(given.is_null(), read.is_null()), pc.fill_null(pc.equal(given, read), fill_value=False))
    return cast("list[bool]", pc.and_(same, after.is_valid()).to_pylist())


def _same(before: Any, after: Any, path: str) -> bool:
    """Whether both records have the same value at a path; through lists, in each element."""
    return after is not None and bool(_values(before, path) == _values(after, path))


def _values(value: Any, path: str) -> Any:
    """The values at a path; without an index, it leads through all elements, entries and kinds."""
    name, _, rest = path.partition(".")
    if isinstance(value, list | tuple):
        return [_values(each, path) for each in value]
    name, _, places = name.partition("[")
    if isinstance(value, dict) and name not in value:
        return [_values(each, path) for each in value.values()]
    below = value.get(name) if isinstance(value, dict) else None
    for place in map(int, places.rstrip("]").split("][") if places else ()):
        below = _placed(below, place)
    return _values(below, rest) if rest else below


def _placed(value: Any, place: int) -> Any:
    """The element at an index, or the value of an entry; of alternatives, the list is used."""
    if isinstance(value, dict):
        value = next((each for each in value.values() if isinstance(each, list)), None)
    found = value[place] if isinstance(value, list) and place < len(value) else None
    return found[1] if isinstance(found, tuple) else found


# --- one value -----------------------------------------------------------------------------------------------------


def _cleared(value: Any, path: Sequence[Component]) -> bool:
    """Set the member at a path to null; whether it had a value."""
    for component in path[:-1]:
        value = _below(value, component)
    if not path or not isinstance(value, dict) or value.get(str(path[-1])) is None:
        return False
    value[str(path[-1])] = None
    return True


def _below(value: Any, component: Component) -> Any:
    if isinstance(value, dict):
        return value.get(str(component))
    found = value[component] if isinstance(value, list) and isinstance(component, int) else None
    return found[1] if isinstance(value, Pairs) and found is not None else found


def _opens(type: LogicalType) -> Iterator[bool]:
    """True for each open value (a value of any type) within the type."""
    match type:
        case Open():
            yield True
        case Alternatives(options):
            for option in options:
                yield from _opens(option)
        case Record(fields):
            for field in fields:
                yield from _opens(field.type)
        case List(element):
            yield from _opens(element)
        case Map(key, value):
            yield from _opens(key)
            yield from _opens(value)
        case _:
            return


def _open_place(type: LogicalType, path: Sequence[Component], place: int = 0) -> tuple[Component, ...] | None:
    """The leading part of a path up to an open value; None if it leads to none."""
    match type:
        case Open():
            return tuple(path[:place])
        case Alternatives(options):
            found = (_open_place(option, path, place) for option in options)
            return next((each for each in found if each is not None), None)
        case _:
            below = _type_below(type, path[place]) if place < len(path) else None
            return _open_place(below, path, place + 1) if below is not None else None


def _type_below(type: LogicalType, component: Component) -> LogicalType | None:
    """The type of a member, of an element, or of an entry's value."""
    match type:
        case Record(fields):
            return next((field.type for field in fields if field.name == str(component)), None)
        case List(element):
            return element
        case Map(_, value):
            return value
        case _:
            return None


def _plainer(value: Any, path: Sequence[Component]) -> bool:
    """Rewrite the open value at a path with types that every encoding has; whether that changed it."""
    for component in path[:-1]:
        value = _below(value, component)
    last = path[-1]
    before = _below(value, last)
    after = _plain(before)
    if value is None or after is before:
        return False
    value[last] = (value[int(last)][0], after) if isinstance(value, Pairs) else after
    return True


def _plain(value: Any) -> Any:
    """Bytes become base64, extensions their content, map keys texts; the same object if nothing changes."""
    match value:
        case bytes() | bytearray() | memoryview():
            return b64encode(bytes(value)).decode()
        case Extension(value=content):
            return _plain(content)
        case Pairs():
            pairs = [(key if isinstance(key, str) else _text(key), _plain(item)) for key, item in value]
            same = all(a is c and b is d for (a, b), (c, d) in zip(value, pairs, strict=True))
            return value if same else Pairs(pairs)
        case list():
            items = [_plain(each) for each in value]
            return value if all(a is b for a, b in zip(value, items, strict=True)) else items
        case _:
            return value


def _text(key: Any) -> str:
    plain = _worded(_plain(key))
    return plain if isinstance(plain, str) else dumps(plain)


def _worded(value: Any) -> Any:
    """Numbers that JSON lacks, such as NaN, become the words of the canonical rendering."""
    match value:
        case float():
            return to_canonical(value, Float(64))
        case list() | tuple():
            return [_worded(each) for each in value]
        case _:
            return value
