"""Collects the values that peers read from Aerospike writes into one Arrow array, the same for every peer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa


@dataclass
class Writes:
    """A list for each column, to which a peer appends."""

    kinds: list[str] = field(default_factory=list)
    namespaces: list[str] = field(default_factory=list)
    sets: list[str | None] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    generations: list[int | None] = field(default_factory=list)
    expiries: list[int | None] = field(default_factory=list)
    updates: list[int | None] = field(default_factory=list)
    offsets: list[int] = field(default_factory=lambda: [0])
    names: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)

    def array(self, users: Mapping[str, pa.Array], values: Mapping[str, pa.Array]) -> pa.StructArray:
        """The columns, with those of each kind of user key and of each kind of value."""
        texts = (pa.array(cells, pa.string()) for cells in (self.names, self.types))
        element = _struct(
            ("name", "type", "flags", "value"), [*texts, pa.array(self.flags, pa.int64()), _kinds(values)]
        )
        names = (pa.array(cells, pa.string()) for cells in (self.namespaces, self.sets))
        key = _struct(
            ("namespace", "set", "digest", "userKey"), [*names, pa.array(self.digests, pa.binary()), _kinds(users)]
        )
        numbers = (pa.array(cells, pa.int64()) for cells in (self.generations, self.expiries, self.updates))
        bins = pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), element)
        return _struct(
            ("msg", "key", "generation", "expiry", "lut", "bins"),
            [pa.array(self.kinds, pa.string()), key, *numbers, bins],
        )


def _kinds(arrays: Mapping[str, pa.Array]) -> pa.StructArray:
    return _struct(tuple(arrays), list(arrays.values()))


def _struct(names: Sequence[str], arrays: Sequence[Any]) -> pa.StructArray:
    return pa.StructArray.from_arrays(arrays, list(names))
