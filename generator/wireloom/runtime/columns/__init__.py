"""What readers see of records: logical types and values of them, as rows, Arrow columns, VARIANT and canonical JSON.

Nothing here knows how a record stands on the wire. Only `arrow`, `reading` (columns to values) and `soundness` (what
callers may give) import pyarrow.
"""
