"""The output of ingest: the columns of both tables, their Parquet files, and versions of the columns."""
