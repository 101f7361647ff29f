"""The work of ingest that knows no Spark: bytes in, Parquet of two tables out, and a report of what was written.

A task reads a range of its input, decodes it, writes its rows and its bad records below the staging folder of the
batch, and reports files and counts (`work`). Whoever runs tasks, Spark or a pool of processes, hands the reports to
`publishing`, which closes the books and enters the batch in the ledger; the ledger moves it into the tables.
"""
