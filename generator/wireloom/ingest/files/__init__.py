"""The input of ingest: which files there are, their parts, and the records in them."""
