"""Ingest on Spark: batch jobs, streams, and replays of a quarantine."""
