"""Options as users write them: names in any case, and texts parsed by the spec's parameter kinds."""

import re

import pytest
from pyspark.errors import AnalysisException, PySparkValueError

from wireloom.names import parameter_name_flaw
from wireloom.runtime.errors import ParameterError
from wireloom.runtime.parameters import Range, option_name
from wireloom.spark.options import GENERAL, Options, Surface, function_surface, read_options
from wireloom_formats import databus_event, kpl_record

FUNCTION = function_surface("from_kpl_record")
SOURCE = Surface("the data source", ("PERMISSIVE", "FAILFAST", "DROPMALFORMED"), own=("path", "maxFilesPerTrigger"))


def read(given, codec=kpl_record.CODEC, surface=FUNCTION):
    return read_options(given, codec, surface)


def test_nothing_said_is_the_surfaces_default():
    assert read(None) == read({}) == Options("FAILFAST")
    assert read({}, surface=SOURCE).mode == "PERMISSIVE"


def test_texts_become_what_the_format_says_they_are_and_case_does_not_matter():
    given = {"ONCORRUPT": "prefix", "shardRange": "0..99", "verifydigest": "False", "Mode": "permissive"}
    read_as = read(given)
    assert read_as.mode == "PERMISSIVE"
    assert dict(read_as.parameters) == {"on_corrupt": "prefix", "shard_range": Range(0, 99), "verify_digest": False}
    assert dict(read({"byteOrder": "little", "maxEventSize": "12"}, databus_event.CODEC).parameters) == {
        "byteOrder": "little",
        "maxEventSize": 12,
    }


def test_general_options_are_read_where_the_surface_has_them():
    given = {
        "columnNameOfCorruptRecord": "_corrupt",
        "columnNameOfError": "_error",
        "root": "record",
        "framing": "LINES",
        "openValues": "json",
        "explode": "true",
        "columns": " partitionKey, data ",
        "path": "somewhere",
    }
    assert read(given, surface=SOURCE) == Options(
        "PERMISSIVE", "_corrupt", "_error", "record", "lines", "json", explode=True, columns=("partitionKey", "data")
    )
    with pytest.raises(ParameterError, match="from_kpl_record has no option 'framing'"):
        read({"framing": "lines"})


def test_fields_may_be_names_in_a_list_and_are_the_same_as_columns():
    assert read({"fields": ["kind"]}).columns == read({"columns": "kind"}).columns == ("kind",)
    with pytest.raises(ParameterError, match="give one of them"):
        read({"fields": "kind", "columns": "kind"})
    with pytest.raises(ParameterError, match="names no column"):
        read({"fields": ","})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"onCorupt": "prefix"}, "no option 'onCorupt'; did you mean onCorrupt?"),
        ({"on_corrupt": "prefix"}, "no option 'on_corrupt'; did you mean onCorrupt?"),
        ({"onCorrupt": "explode"}, "option onCorrupt: on_corrupt must be one of error, passthrough, prefix"),
        ({"verifyDigest": "perhaps"}, "option verifyDigest: verify_digest must be true or false"),
        ({"mode": "FAILFAST", "MODE": "FAILFAST"}, "given twice"),
        ({"root": "recrod"}, "did you mean 'record'"),
    ],
)
def test_what_is_not_known_is_refused_with_what_would_be_right(given, message):
    with pytest.raises(ParameterError) as caught:
        read(given)
    assert message in str(caught.value)


def test_a_function_refuses_to_drop_rows_with_sparks_own_error():
    with pytest.raises(AnalysisException) as caught:
        read({"mode": "dropMalformed"})
    assert (caught.value.getCondition(), caught.value.getSqlState()) == ("PARSE_MODE_UNSUPPORTED", "42601")
    assert "`from_kpl_record` doesn't support the DROPMALFORMED mode" in str(caught.value)
    assert read({"mode": "DROPMALFORMED"}, surface=SOURCE).mode == "DROPMALFORMED"


def test_a_mode_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(PySparkValueError, match="PERMISSIVE, FAILFAST, DROPMALFORMED") as caught:
        read({"mode": "LENIENT"})
    assert caught.value.getCondition() == "VALUE_NOT_ALLOWED"


@pytest.mark.parametrize(("name", "option"), [("on_corrupt", "onCorrupt"), ("byteOrder", "byteOrder"), ("a_1", "a1")])
def test_a_parameters_option_is_its_name_in_camel_case(name, option):
    assert option_name(name) == option


@pytest.mark.parametrize("word", GENERAL)
def test_no_spec_may_call_a_parameter_as_a_general_option_is_called(word):
    assert parameter_name_flaw(word)
    assert parameter_name_flaw(re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", word))
