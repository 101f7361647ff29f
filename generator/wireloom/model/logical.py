"""Logical types: what readers see, the same for every encoding of an event.

Derived from the wire types by `resolve`: hidden fields go, flattened structs melt into their parent, unions merge.
Python values, Arrow columns, Spark types and the canonical JSON rendering all follow from these classes. They are the
runtime's own, since generated modules declare their records with them.
"""

from wireloom.runtime.columns.logical import (
    Alternatives,
    BigInteger,
    Binary,
    Boolean,
    Encoded,
    Float,
    Integer,
    List,
    LogicalField,
    LogicalType,
    Map,
    Meant,
    Measured,
    Named,
    Open,
    Record,
    Said,
    Scaled,
    Text,
    Written,
    alternatives,
    kind_name,
)

__all__ = [
    "Alternatives",
    "BigInteger",
    "Binary",
    "Boolean",
    "Encoded",
    "Float",
    "Integer",
    "List",
    "LogicalField",
    "LogicalType",
    "Map",
    "Meant",
    "Measured",
    "Named",
    "Open",
    "Record",
    "Said",
    "Scaled",
    "Text",
    "Written",
    "alternatives",
    "kind_name",
]
