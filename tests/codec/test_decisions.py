"""Builders let the value decide exactly what the write plan says."""

import importlib
from typing import Any

import pytest

from conftest import CASE_PACKAGE, case_formats, shipped_formats
from wireloom.model.format import Format
from wireloom.model.types import Struct
from wireloom.resolve.facts.decisions import Decision, Decisions
from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom.runtime.parsers.facts import Facts
from wireloom.runtime.parsers.steps import Computed

from .test_sources_of_names import plain


def decided(format: Format) -> dict[tuple[str, str], list[Decision]]:
    decisions, found = Decisions(format.named), dict[tuple[str, str], list[Decision]]()
    for struct in format.named.values():
        for field in struct.fields if isinstance(struct, Struct) else ():
            found.setdefault((struct.name, field.wire_name), []).append(decisions.there(struct, field))
    return found


@pytest.mark.parametrize(
    ("name", "field", "decision"),
    [
        ("databus_event", ("EventV2", "key"), Decision.CONDITION),
        ("databus_event", ("EventV2", "keySchema"), Decision.VALUE),
        ("databus_event", ("Body", "payload"), Decision.VALUE),  # whose flag follows from a member that melts in
        ("mqtt_packet", ("Acknowledgement", "reason"), Decision.PLACES),
        ("mqtt_packet", ("Packet", "body"), Decision.ALWAYS),
    ],
)
def test_a_condition_or_the_value_decides(name: str, field: tuple[str, str], decision: Decision) -> None:
    format = next(each for each in shipped_formats() if each.name == name)
    assert decided(format)[field] == [decision]


def build_examples(format: Format, module: Any) -> None:
    for example in format.examples:
        parameters = dict(example.parameters)
        try:
            value = module.CODEC.parse(example.data, root=example.root, **parameters)
            module.CODEC.build(plain(value), root=example.root, **parameters)
        except (DecodeError, EncodeError):
            continue


def test_builders_leave_to_the_value_what_is_said(case_package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Collects the visible fields that only the value decides while the examples of all formats are built."""
    left = set[tuple[str, str]]()
    for name in ("_is_left_out", "decide"):
        real = getattr(Facts, name)

        def noted(facts: Facts, *told: Any, real: Any = real) -> Any:
            if not isinstance(told[-1], Computed) and not told[-1].hidden:
                left.add((facts._struct.name, told[-1].name))  # type: ignore[attr-defined]
            return real(facts, *told)

        monkeypatch.setattr(Facts, name, noted)
    seen = 0
    for package, formats in (("wireloom_formats", shipped_formats()), (CASE_PACKAGE, case_formats())):
        for format in formats:
            left.clear()
            build_examples(format, importlib.import_module(f"{package}.{format.name}"))
            by_value = {name for name, each in decided(format).items() if {Decision.VALUE, Decision.PLACES} & {*each}}
            assert left <= by_value, format.name
            seen += len(left)
    assert seen > 20
