"""The demonstration: makes sample records of every format, ingests them into Spark tables, and shows the tables."""
