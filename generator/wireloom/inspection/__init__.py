"""Records as people look at them: rows of bytes and fields, as text, as JSON, as a page, and two records compared.

`records` finds a record in a file, the runtime's `explain_bytes` says what its bytes are, and `rows` puts that beside
the lines of the spec (`lines`). `text`, `document`, `page` and `difference` only render rows.
"""
