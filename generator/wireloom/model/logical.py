"""Logical types: what readers see, the same for every encoding of an event.

`resolve` derives them from the wire types: it drops hidden fields, merges flattened structs into their parent, and
joins unions. Python values, Arrow columns, Spark types and the canonical JSON rendering all follow from these classes.
The runtime defines them, since generated modules declare their records with them.
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
