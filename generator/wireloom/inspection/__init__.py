"""Shows records to people: bytes and fields in rows, as text, JSON or a page, and a comparison of two records.

`records` finds a record in a file, the runtime's `explain_bytes` explains its bytes, and `rows` combines that with the
lines of the spec (`lines`). `text`, `document`, `page` and `difference` only render rows.
"""
