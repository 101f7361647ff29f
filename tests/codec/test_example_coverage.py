"""The examples of every shipped spec cover its roots, its parameters' values and its error codes."""

import pytest

from conftest import shipped_formats
from wireloom.expr.ast import Kind
from wireloom.model.format import Format, Parameter

ALWAYS_PLAIN = "any bytes are at least a plain record, so no bytes are too few or too many"
CASES_COVER = "the tag has no value without a case"
KEPT = "text that is not UTF-8 is kept as bytes"
SIZES_STAND = "what says a size is never below 0"
TAG_SAYS = "the tag that selects the struct already says so"

# Codes that no bytes can give, and why the decoder has them all the same.
UNREACHED = {
    ("aerospike_json", "bad_constant"): f"msg: {TAG_SAYS}",
    ("aerospike_json", "unknown_value"): f"type: {TAG_SAYS}; ordered: both booleans have a meaning",
    ("databus_event", "bad_constant"): f"version: {TAG_SAYS}",
    ("databus_event", "unknown_value"): "opcode: both bits have a meaning in all four states",
    ("databus_event", "bad_region"): "the checks before the frame and the regions hold their sizes inside the event",
    ("databus_event", "bad_size"): "the checks of length and key size leave no size below 0",
    ("databus_json", "bad_constant"): f"endOfPeriod: {TAG_SAYS}",
    ("databus_json", "unknown_case"): f"version and endOfPeriod: {CASES_COVER}",
    ("databus_json", "depth_limit"): "no value nests; what is skipped or wrong does, and would fill a page here",
    ("dns_message", "bad_size"): "names of more than 255 octets are no short example",
    ("dns_message", "invalid_text"): "Latin-1 has a character for each octet",
    ("dns_message", "out_of_range"): "no address is beyond what addresses can be",
    ("dns_message", "size_limit"): "thousands of names that go on in one another are no example",
    ("mqtt_packet", "unknown_case"): f"type: {CASES_COVER}",
    ("mqtt_packet", "unknown_value"): "type: all values of its bits have a meaning",
    ("netflow_v5", "bad_size"): SIZES_STAND,
    ("netflow_v5", "out_of_range"): "time: 32 bits of seconds end in 2106",
    ("pcap_file", "bad_region"): "packets: none of them is empty",
    ("pcap_file", "bad_size"): SIZES_STAND,
    ("pcap_file", "out_of_range"): "time: 32 bits of seconds end in 2106",
    ("pcap_file", "trailing_bytes"): "packets fill the file",
    ("pgoutput_message", "bad_size"): SIZES_STAND,
    ("pgoutput_message", "invalid_utf8"): KEPT,
    ("pgoutput_message", "outside"): "such a message is read as one without a transaction id",
    ("pgoutput_message", "size_limit"): "texts that are read twice and have 64 MiB are no example",
    ("pgoutput_message", "unknown_case"): f"type and kind: {CASES_COVER}; encoding is UTF8 or bytes",
    ("kafka_record_batch", "invalid_utf8"): KEPT,
    ("kafka_record_batch", "size_limit"): "records that unpack to 64 MiB are no example",
    ("kafka_record_batch", "unknown_case"): f"compression: {CASES_COVER}",
    ("kpl_record", "size_limit"): "table entries of 64 MiB in all are no example",
    ("kpl_record", "truncated"): ALWAYS_PLAIN,
    ("kpl_record", "trailing_bytes"): ALWAYS_PLAIN,
}

FORMATS = [pytest.param(format, id=format.name) for format in shipped_formats()]


def values(parameter: Parameter) -> tuple[object, ...]:
    """The values of a parameter that examples should show: all, if it has few."""
    return (False, True) if parameter.kind is Kind.BOOLEAN else parameter.options


def reached_codes(format: Format) -> set[str]:
    """Codes that examples end with, and those that a record keeps as its reason for being of another kind."""
    reasons = {
        example.value["reason"]
        for example in format.examples
        if isinstance(example.value, dict) and "reason" in example.value
    }
    return reasons | {example.error for example in format.examples if example.error is not None}


@pytest.mark.parametrize("format", FORMATS)
def test_every_root_has_an_example(format: Format):
    shown = {example.root for example in format.examples if example.error is None}
    assert shown == {root.name for root in format.roots}


@pytest.mark.parametrize("format", FORMATS)
def test_every_value_of_every_parameter_has_an_example(format: Format):
    for parameter in format.parameters:
        shown = {dict(example.parameters).get(parameter.name, parameter.default) for example in format.examples}
        assert shown >= set(values(parameter)), parameter.name
        assert len(shown) > 1, f"{parameter.name} is always {parameter.default}"


@pytest.mark.parametrize("format", FORMATS)
def test_every_error_code_has_an_example(format: Format):
    reached = reached_codes(format)
    missing = {error.code for error in format.errors} - reached
    assert missing == {code for name, code in UNREACHED if name == format.name}
