"""Streams of records outside of Spark: decoded and encoded, converted to another format, and validated."""
