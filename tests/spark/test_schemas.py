"""The Spark type of decoded records is that of the Arrow array, for all options."""

import pyarrow as pa
import pytest

from wireloom.spark.decoding import decoding
from wireloom.spark.options import Options
from wireloom.spark.schemas import arrow_schema, bare, record_type
from wireloom.spark.source.schema import default_schema
from wireloom_formats import aerospike_msgpack, databus_event, kpl_record


@pytest.mark.parametrize("open_values", ["variant", "json", "binary"])
@pytest.mark.parametrize("explode", [False, True])
@pytest.mark.parametrize(
    ("module", "columns"),
    [
        (aerospike_msgpack, None),
        (aerospike_msgpack, ("bins.value.variant", "key.userKey.int", "msg")),
        (databus_event, None),
        (kpl_record, None),
    ],
)
def test_the_declared_type_is_the_one_that_is_decoded(module, columns, explode, open_values):
    options = Options("PERMISSIVE", columns=columns, open_values=open_values)
    found = decoding(module, options, explode=explode).decoded(pa.array([], pa.binary()))
    declared = record_type(module, options, explode=explode)
    assert pa.struct(list(arrow_schema(bare(declared)))).equals(found.records.type)
    assert declared.simpleString() == bare(declared).simpleString()


@pytest.mark.parametrize("open_values", ["variant", "json", "binary"])
def test_the_data_source_declares_open_values_as_they_are_decoded(open_values):
    options = Options("PERMISSIVE", open_values=open_values)
    declared = default_schema(aerospike_msgpack, options)
    assert ('"type":"variant"' in declared.json()) is (open_values == "variant")
    assert declared.simpleString() == bare(record_type(aerospike_msgpack, options, explode=False)).simpleString()
