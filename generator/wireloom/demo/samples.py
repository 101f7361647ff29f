"""Sample records of any format, made from the examples in its spec.

Good samples are valid examples in which a few values were changed, built with the format's own encoder; changes that
the format does not allow are dropped. Damaged samples are the invalid examples of the spec, and good samples cut short
or with one bit flipped. The random seed is the format's name, so every run makes the same bytes.
"""

import copy
import io
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wireloom.catalog import FormatModule
from wireloom.failures import MisuseError
from wireloom.model.format import Example, Format
from wireloom.runtime.errors import DecodeError, EncodeError, WireloomError
from wireloom.runtime.parameters import ParameterValue
from wireloom.runtime.streams.elements import Limits, elements
from wireloom.runtime.streams.framing import Array, Framing, Headed, Lines
from wireloom.runtime.streams.writing import frame, pieces

GOOD = 120
DAMAGED = 4
CHANGES = 3  # values changed in one sample
ATTEMPTS = 12

Setter = Callable[[object], None]
Leaf = tuple[object, Setter]


@dataclass(frozen=True, slots=True)
class Samples:
    """Good and damaged records, the file header before them, and the parameters that the header states."""

    good: tuple[bytes, ...]
    damaged: tuple[bytes, ...]
    header: bytes = b""
    said: Mapping[str, ParameterValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Parses and builds records of one root, under given parameters."""

    module: FormatModule
    root: str
    parameters: Mapping[str, ParameterValue]

    def parse(self, data: bytes) -> Any:  # noqa: ANN401 - whatever the format has
        """Parse a record."""
        return self.module.CODEC.parse(data, root=self.root, **self.parameters)

    def build(self, value: object) -> bytes:
        """Build a record."""
        return self.module.CODEC.build(value, root=self.root, **self.parameters)


def refuse_none_to_grow_from(formats: Sequence[Format]) -> None:
    """Raise MisuseError if the specs have no examples to make samples from."""
    if bare := [format.name for format in formats if not _valid(_usable(format))]:
        raise MisuseError(
            f"samples are grown from the valid examples of a spec, and there are none in {', '.join(bare)}",
            "add one to the spec, and let `wireloom test --record` write what its bytes mean:",
            "  examples:",
            "    - name: the first record",
            "      hex: 00 01 02",
        )


def _usable(format: Format) -> list[Example]:
    """The examples of the first root, under default parameters or those that a header states."""
    wanted = format.roots[0].name, _parameters(format)
    return [example for example in format.examples if (example.root, dict(example.parameters)) == wanted]


def _valid(examples: Sequence[Example]) -> list[bytes]:
    """The bytes of the valid examples."""
    return [example.data for example in examples if example.stated and example.error is None]


def samples(format: Format, module: FormatModule, count: int = GOOD) -> Samples:
    """`count` good samples and some damaged, under default parameters or those that an example's header states."""
    chance = random.Random(format.name)  # noqa: S311 - samples, not secrets
    root = format.roots[0].name
    parameters = _parameters(format)
    usable = _usable(format)
    valid = _valid(usable)
    if not valid:
        return Samples((), tuple(example.data for example in usable))
    header, settings = module.CODEC.beginning(format.framing, parameters)
    maker = _Maker(module, root, settings)
    good = [_varied(maker, valid[number % len(valid)], chance) for number in range(count)]
    bad = [example.data for example in usable if example.error is not None]
    bad += [_damaged(maker, chance.choice(good), chance) for _ in range(DAMAGED)]
    if isinstance(format.framing, Lines):
        bad = [data.replace(b"\n", b" ") for data in bad]
    if isinstance(format.framing, Array):
        bad = [data for data in bad if _stands_alone(data)]
    given = format.framing.gives if isinstance(format.framing, Headed) else ()
    said = {name: settings[name] for name, _ in given}
    return Samples(tuple(good), tuple(data for data in bad if _can_stand(format.framing, data)), header, said)


def _parameters(format: Format) -> dict[str, Any]:
    """The parameters of the samples: those of the first good record, if a header states them."""
    if not isinstance(format.framing, Headed):
        return {}
    found = (each for each in format.examples if each.root == format.roots[0].name and each.error is None)
    return next((dict(each.parameters) for each in found), {})


def stream(framing: Framing, records: tuple[bytes, ...], header: bytes = b"") -> bytes:
    """The records as one stream."""
    return b"".join((header, *pieces(framing, records)))


def _can_stand(framing: Framing, data: bytes) -> bool:
    """Whether a stream can hold the record. It cannot be empty, a blank line, or of a size other than the fixed one."""
    try:
        frame(framing, data, first=True)
    except EncodeError:
        return False
    return True


def _stands_alone(data: bytes) -> bool:
    """Whether the record is a JSON value that ends with its own bracket or quote, so that arrays can hold it."""
    read = io.BytesIO(b"[" + data + b"]").read
    found = list(elements(read, Limits(len(data), len(data))))
    return len(found) == 1 and not found[0].problem and found[0].data == data


# --- good records --------------------------------------------------------------------------------------------------


def _varied(maker: _Maker, data: bytes, chance: random.Random) -> bytes:
    """The record with some values changed; unchanged if the format allows no change."""
    original = maker.parse(data)
    for _ in range(ATTEMPTS):
        value = copy.deepcopy(original)
        leaves = list(_leaves(value))
        for leaf, put in chance.sample(leaves, min(CHANGES, len(leaves))):
            put(_changed(leaf, chance))
        try:
            built = maker.build(value)
            maker.parse(built)
        except WireloomError:
            continue
        return built
    return data


def _leaves(value: object) -> Iterator[Leaf]:
    """Every scalar in records and lists, and a way to replace it."""
    entries: Iterator[tuple[object, object]]
    match value:
        case dict():
            entries = iter(value.items())
        case list():
            entries = iter(enumerate(value))
        case _:
            return
    for key, member in entries:
        if isinstance(member, dict | list):
            yield from _leaves(member)
        elif isinstance(member, int | float | str | bytes):
            yield member, _setter(value, key)


def _setter(holder: object, key: object) -> Setter:
    def put(new: object) -> None:
        holder[key] = new  # type: ignore[index]

    return put


def _changed(leaf: object, chance: random.Random) -> object:
    match leaf:
        case bool():
            return not leaf
        case int():
            return leaf + chance.randint(1, 999)
        case float():
            return leaf + chance.randint(1, 99) / 4
        case str():
            return f"{leaf}{chance.randint(1, 99)}"
        case bytes():
            return leaf[:-1] + bytes([chance.randrange(256)]) if leaf else leaf
        case _:
            return leaf


# --- damaged records -----------------------------------------------------------------------------------------------


def _damaged(maker: _Maker, data: bytes, chance: random.Random) -> bytes:
    """The record cut short or with a bit flipped, so that the decoder refuses it if the format can detect that."""
    for _ in range(ATTEMPTS):
        broken = _cut(data, chance) if chance.random() < 0.5 else _flipped(data, chance)
        try:
            maker.parse(broken)
        except DecodeError:
            return broken
    return _cut(data, chance)


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(1, len(data))] if len(data) > 1 else data


def _flipped(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]
