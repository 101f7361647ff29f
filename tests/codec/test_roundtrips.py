"""Building and parsing are inverse, for every root of every format, on values drawn from its model."""

import importlib
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from conftest import case_formats, shipped_formats
from support.drawing import drawn
from support.format_values import values
from wireloom.model.format import Format
from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom.runtime.values import Pairs, same

pytestmark = pytest.mark.drawing
LIMITS = settings(max_examples=drawn(3), suppress_health_check=list(HealthCheck))

OTHERS = ("(int_range)", "_limit)", "a value that reads back as", "which ends", "the padding")
"""What errors say of values that are none of the format's."""


def variants(format: Format) -> list[dict[str, str]]:
    """Default parameters, and each byte order if that is a parameter."""
    orders = [parameter for parameter in format.parameters if parameter.name == format.byte_order.parameter]
    return [{}, *({order.name: option} for order in orders for option in order.options if option != order.default)]


ROOTS = [
    pytest.param(package, format, root.name, variant, id="-".join([format.name, root.name, *variant.values()]))
    for package, formats in (("wireloom_formats", shipped_formats()), ("wireloom_cases", case_formats()))
    for format in formats
    for root in format.roots
    for variant in variants(format)
]


COUPLED = {
    "directories",
    "elsewhere",
    "list_sums",
    "logged_upload",
    "noted_message",
    "packet",
    "packed_notes",
    "some_elements",
    "track_report",
    "tried_note",
    "words_of_members",
}
"""Formats in which a check, a condition or a length couples members, so that values of the right types alone are none.

The makers of tests/proof know how; `tests/proof/test_random_specs.py` holds these formats to all that is promised.
"""
RULED = {"dns_message", "kafka_record_batch", "mqtt_packet", "pgoutput_message", "pointers", "scaled_parts"}
"""Formats whose rules (of lengths, kinds of packets, bytes that tell alternatives) few values of the right types keep.

`test_dns_rules.py`, `test_mqtt_rules.py`, `test_captures.py` and the examples of each hold them to it.
"""
FREE = [each for each in ROOTS if each.values[1].name not in COUPLED | RULED]


@pytest.fixture
def module(package: str, format: Format, case_package):
    return importlib.import_module(f"{package}.{format.name}")


def building(format: Format, root: str, variant: Mapping[str, str]) -> dict[str, str]:
    """The parameters to build with: no one writes in a byte order that he does not know."""
    return {name: value for name, value in variant.items() if value != "auto"}


def agrees(given: Any, parsed: Any) -> bool:
    """Whether what was given came back; what was left out may have come from elsewhere."""
    if isinstance(given, dict):
        return isinstance(parsed, dict) and all(
            value is None or agrees(value, parsed[name]) for name, value in given.items()
        )
    if isinstance(given, list) and not isinstance(given, Pairs):
        return isinstance(parsed, list) and len(given) == len(parsed) and all(map(agrees, given, parsed))
    if isinstance(given, Pairs) and isinstance(parsed, Pairs) and any(isinstance(value, dict) for _, value in given):
        keys = [key for key, _ in given]
        values = ([value for _, value in each] for each in (given, parsed))
        return same(keys, [key for key, _ in parsed]) and agrees(*values)
    return same(given, parsed)


def bytes_of(module: Any, value: Any, root: str, parameters: Mapping[str, str]) -> bytes:
    """The bytes of a value.

    One of which a computed member, once lengths are known, does not fit its type is none, nor one of a later way whose
    bytes an earlier way reads, nor one beyond a limit or with bytes that end it.
    """
    try:
        data: bytes = module.build(value, root=root, **parameters)
    except EncodeError as error:
        assume(not any(words in str(error) for words in OTHERS))
        raise
    return data


def empty_aggregate(value: Any) -> bool:
    """An aggregate of nothing has no message, and without one its bytes are a plain record."""
    return isinstance(value, dict) and value.get("kind") == "aggregated" and value.get("records") == []


@pytest.mark.parametrize(("package", "format", "root", "variant"), FREE)
def test_what_is_built_is_parsed_and_built_again(package, format: Format, root, variant, module):
    @LIMITS
    @given(values(format, root, variant))
    def check(value: Any) -> None:
        assume(not empty_aggregate(value))
        data = bytes_of(module, value, root, building(format, root, variant))
        parsed = module.parse(data, root=root, **variant)
        assert agrees(value, parsed), parsed
        assert module.build(parsed, root=root, **building(format, root, variant)) == data
        rendering = json.loads(json.dumps(module.to_canonical(parsed, root=root)))
        assert same(module.from_canonical(rendering, root=root), parsed)

    check()


@pytest.mark.parametrize(("package", "format", "root", "variant"), FREE)
def test_damaged_bytes_are_refused_or_read_and_never_crash(package, format: Format, root, variant, module):
    places = st.integers(0, 1 << 16)

    @LIMITS
    @given(values(format, root, variant), st.lists(st.tuples(places, st.integers(0, 255)), max_size=3), places)
    def check(value: Any, changes: list[tuple[int, int]], cut: int) -> None:
        assume(not empty_aggregate(value))
        data = bytearray(bytes_of(module, value, root, building(format, root, variant)))
        for place, byte in changes:
            if data:
                data[place % len(data)] = byte
        if cut % 4 == 0:
            del data[cut % (len(data) + 1) :]
        try:
            parsed = module.parse(bytes(data), root=root, **variant)
        except DecodeError as error:
            assert 0 <= error.offset <= len(data)
            assert any(known.code == error.code for known in format.errors), error
            return
        assume(not empty_aggregate(parsed))
        built = module.build(parsed, root=root, **building(format, root, variant))
        assert same(module.parse(built, root=root, **variant), parsed) or variant

    check()
