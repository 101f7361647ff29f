"""Column functions for any generated module, called by `<package>.<format>.functions`.

They follow `from_avro` and its like: FAILFAST by default, null for null, a schema that is nullable everywhere. Each is
an Arrow UDF that gets a column's values in batches. For a bad record, PERMISSIVE gives null or, if a column of the
error or of the corrupt record is named, a struct with only these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, StructType

from wireloom.catalog import FormatModule
from wireloom.runtime.errors import ParameterError
from wireloom.runtime.parameters import option_name
from wireloom.spark import columns
from wireloom.spark.calls import Call, column_of, user_defined
from wireloom.spark.columnar_input import warn_of_wide
from wireloom.spark.conversion import conversion_call
from wireloom.spark.decoding import decoding
from wireloom.spark.options import Surface, function_surface, read_options
from wireloom.spark.schemas import PROBLEMS, added_fields, bare, record_type

Given = Mapping[str, Any] | None
Fields = Sequence[str] | None


def from_format(module: FormatModule, data: Column | str, options: Given = None, *, fields: Fields = None) -> Column:
    """Decode a binary column to structs; to arrays of structs if the root is a list.

    Raises ParameterError, PySparkValueError or ParseModeUnsupported (an AnalysisException) for wrong options. In
    FAILFAST the job fails at the first bad record.
    """
    call = _from_call(module, with_fields(options, fields))
    warn_of_wide(call.name, call.returns)
    return column_of(call, data)


def to_format(module: FormatModule, data: Column | str, options: Given = None) -> Column:
    """Encode a column of structs to bytes, null for null; a value that the format cannot express fails the job."""
    return column_of(_to_call(module, options), data)


def schema_of_format(module: FormatModule, options: Given = None, *, fields: Fields = None) -> Column:
    """The type that `from_format` gives with these options, as DDL."""
    return F.lit(_from_call(module, with_fields(options, fields)).returns.simpleString())


def validate_format(module: FormatModule, data: Column | str, options: Given = None) -> Column:
    """The problems of each record, null for null.

    Structs of path, rule, message, expected, actual, pointer.
    """
    return column_of(_validate_call(module, options), data)


def register(spark: SparkSession, module: FormatModule, options: Given = None, *, fields: Fields = None) -> None:
    """Register the format's functions as SQL functions of this session; `options` are the defaults of `from_`.

    In SQL a function takes options as its last argument, a constant `map('option', 'text', ...)`: the format's
    parameters and, for `from_`, the mode; `convert_` takes the name of the other format before it. Options that change
    the type can be set only here.
    """
    reading = _from_call(module, with_fields(options, fields))
    own = {option_name(parameter.name).lower() for parameter in module.CODEC.parameters} | {"root"}
    shared = {name: value for name, value in (options or {}).items() if name.lower() in own}
    listed = module.CODEC.root(shared.get("root")).elements
    writing = () if listed else (_to_call(module, shared),)
    for call in (reading, _validate_call(module, shared), conversion_call(module, shared), *writing):
        spark.udf.register(call.name, user_defined(call))
    name, schema = f"schema_of_{module.FORMAT}", reading.returns.simpleString()
    spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {name}() RETURNS STRING RETURN '{schema}'")


def with_fields(options: Given, fields: Fields) -> Given:
    """The options with the fields, which may be given in only one of the two ways."""
    if fields is None:
        return options
    if any(name.lower() in ("fields", "columns") for name in options or ()):
        raise ParameterError("fields are given both as an argument and as an option")
    return {**(options or {}), "fields": list(fields)}


# --- calls ---------------------------------------------------------------------------------------------------------


def _from_call(module: FormatModule, given: Given) -> Call:
    surface = function_surface(f"from_{module.FORMAT}")
    options = read_options(given, module.CODEC, surface)
    record = record_type(module, options, explode=False)
    listed = module.CODEC.root(options.root).elements
    added = added_fields(options, record.names)
    if listed and added:
        raise ParameterError(f"root {options.root} is a list, so {added[0].name} has no place; use decode()")
    fields = StructType([*record.fields, *added])
    act = partial(columns.records, decoding(module, options), replace(surface, general=("mode",)))
    return Call(surface.name, act, bare(ArrayType(fields) if listed else fields))


def _validate_call(module: FormatModule, given: Given) -> Call:
    surface = Surface(f"validate_{module.FORMAT}", ("PERMISSIVE",), ("root",))
    options = replace(read_options(given, module.CODEC, surface), columns=())
    act = partial(columns.problems, decoding(module, options), replace(surface, general=()))
    return Call(surface.name, act, PROBLEMS)


def _to_call(module: FormatModule, given: Given) -> Call:
    surface = Surface(f"to_{module.FORMAT}", ("FAILFAST",), ("root",))
    options = read_options(given, module.CODEC, surface)
    if module.CODEC.root(options.root).elements:
        raise ParameterError(f"a column holds one record a row; root {options.root} is a list of them")
    act = partial(columns.encoded, decoding(module, options), replace(surface, general=()))
    return Call(surface.name, act, BinaryType())
