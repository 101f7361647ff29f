"""Tests of ingest without Spark, and of the parts that both engines share."""
