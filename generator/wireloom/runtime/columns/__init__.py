"""What readers see of records: logical types and their values, as rows, Arrow columns, VARIANT and canonical JSON.

This package does not know the wire format of a record. The modules of whole columns (`arrow`, `interpretation`,
`reading`, `rendering`, `repetition`, `soundness`) import pyarrow; those of single values do not.
"""
