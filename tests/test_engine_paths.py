"""What a request runs on is told before it runs, and counted when it has run."""

import pyarrow as pa
import pytest

from wireloom.runtime import engine as engines
from wireloom.runtime.errors import ParameterError
from wireloom_formats.aerospike_json import CODEC as JSON
from wireloom_formats.aerospike_msgpack import CODEC as PACKED
from wireloom_formats.databus_event import CODEC as BINARY
from wireloom_formats.kpl_record import CODEC as KPL

native = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")


@native
@pytest.mark.parametrize("codec", [PACKED, BINARY, KPL], ids=lambda codec: codec.format)
def test_the_shipped_formats_run_on_the_engine(codec):
    assert codec.decode_path() == codec.encode_path() == engines.Path(native=True)
    assert str(codec.decode_path()) == "native engine"


def test_json_says_why_it_takes_the_construct_path():
    assert not JSON.decode_path().native
    assert str(JSON.decode_path()) == f"construct path: {JSON.encode_path().reason}"
    found = JSON.decode(pa.array([b"{}", None, b"{}"], pa.binary()))
    assert (found.reread, found.reason) == (2, JSON.decode_path().reason)


def test_lists_of_records_have_no_columns_to_be_encoded_from():
    assert "list" in PACKED.encode_path(root="batch_records").reason


def test_a_path_is_asked_for_by_names_that_the_format_has():
    with pytest.raises(ParameterError, match="did you mean 'record'"):
        PACKED.decode_path(root="recrod")
    with pytest.raises(ParameterError, match="binz"):
        PACKED.decode_path(["binz"])


@native
def test_records_that_the_engine_gives_up_on_are_counted():
    good = BINARY.decode(pa.array([None], pa.binary()))
    assert (good.reread, good.reason) == (0, "")
    bad = BINARY.decode(pa.array([b"\xff", None, b"\xfe"], pa.binary()))
    assert (bad.reread, bad.reason, bad.errors.null_count) == (2, "", 1)
    streamed = list(BINARY.decode_stream(b"\xff"))
    assert [(part.reread, part.reason) for part in streamed] == [(1, "")]
