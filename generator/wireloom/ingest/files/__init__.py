"""The input of ingest: finds files, splits them into parts, and reads the records of the parts."""
