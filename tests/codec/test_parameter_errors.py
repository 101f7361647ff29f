"""Arguments of a wrong kind for generated functions give a ParameterError that names the right kind."""

import io

import pyarrow as pa
import pytest

from wireloom.runtime.errors import ParameterError
from wireloom_formats import aerospike_json, databus_event, kpl_record

OTHERS = {
    "root": (1, b"record", ["record"], {}),
    "framing": (1, b"lines", ["lines"], {}),
    "on_error": ("other", None, 1, ["raise"], pa.py_buffer(b"raise")),
    "resync": (None, 1, "no", []),
    "explode": (None, 1, "no", []),
    "open_values": ("x", "Variant", None, 1, ["json"]),
    "columns": ("key", b"key", 1, [1], [None], [["key"]], pa.array([1])),
}
CALLS = {
    "iter_parse": ("root", "framing", "on_error", "resync"),
    "decode_stream": tuple(OTHERS),
    "decode": ("root", "explode", "on_error", "open_values", "columns"),
    "parse": ("root",),
    "build": ("root",),
    "iter_build": ("root", "framing"),
    "encode": ("root",),
    "encode_stream": ("root", "framing"),
    "validate": ("root",),
    "validate_many": ("root",),
    "to_canonical": ("root",),
    "from_canonical": ("root",),
    "struct_type": ("root", "explode", "open_values"),
}
GIVEN = {"parse": b"", "iter_parse": b"", "decode_stream": b"", "encode": pa.array([{}]), "validate": b""}


@pytest.mark.parametrize("module", [aerospike_json, databus_event, kpl_record])
@pytest.mark.parametrize(("call", "name"), [(call, name) for call, names in CALLS.items() for name in names])
def test_arguments_of_another_kind_are_named(module, call, name):
    for given in OTHERS[name]:
        with pytest.raises(ParameterError, match=name):
            getattr(module, call)(*([] if call == "struct_type" else [GIVEN.get(call, [])]), **{name: given})


@pytest.mark.parametrize("call", ["iter_parse", "decode_stream"])
@pytest.mark.parametrize("source", ["text", None, 1, [b"a"], pa.py_buffer(b"a"), io.StringIO("text"), pa.array([b"a"])])
def test_the_source_of_a_stream_is_bytes_or_a_binary_file(call, source):
    with pytest.raises(ParameterError, match="source must be"):
        getattr(databus_event, call)(source)


@pytest.mark.parametrize(
    ("call", "name"), [("iter_build", "values"), ("encode_stream", "batches"), ("validate_many", "messages")]
)
def test_what_is_one_thing_alone_is_no_series(call, name):
    for given in (None, 1, object()):
        with pytest.raises(ParameterError, match=f"{name} must be"):
            getattr(databus_event, call)(given)


def test_columns_may_be_read_once():
    assert databus_event.decode([], iter(["key", "opcode"])).records.type.num_fields == 2


def test_columns_that_the_format_does_not_have_are_as_wrong_for_encode_as_for_decode():
    with pytest.raises(ParameterError, match="no column 'keyy'; did you mean 'key'"):
        databus_event.encode(pa.array([{"keyy": 1}]))
    twice = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["key", "key"])
    with pytest.raises(ParameterError, match="two columns 'key'"):
        databus_event.encode(twice)
