"""The work of ingest that does not depend on Spark: bytes in, Parquet files of two tables out, and a report.

A task reads a range of the input and decodes it. It writes rows and bad records below the staging folder of the batch,
and reports its files and counts (`job/task`). The engine that runs the tasks, Spark or a pool of processes, passes the
reports to `ledger/publishing`. That checks that the counts add up, and enters the batch in the ledger, which moves it
to the tables.
"""
