"""What readers see of records: logical types and their values, as rows, Arrow columns, VARIANT and canonical JSON.

This package does not know the wire format of a record. Only `arrow`, `reading` (columns to values) and `soundness`
(checks of callers' arrays) import pyarrow.
"""
