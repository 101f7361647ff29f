"""The work of ingest without Spark: bytes in, Parquet files of two tables out, and a report of what was written.

A task reads a range of its input, decodes it, writes its rows and its bad records below the staging folder of the
batch, and reports files and counts (`job/task`). Whoever runs tasks, Spark or a pool of processes, hands the reports
to `ledger/publishing`. That checks that the counts add up, and enters the batch in the ledger, which moves it to the
tables.
"""
