"""Streams of records without Spark: decoding, encoding, conversion to another format, and validation."""
