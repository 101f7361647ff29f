"""The ingest job, once and as a stream, and the replay of a quarantine: raw bytes in, two tables out, exactly once."""
