"""A local page for records and their specs: `wireloom serve`.

    server     HTTP on loopback: who may ask, how much, and the page
    folder     the specs as files: their names, their texts, and how an edited text is saved
    supervisor the process that generates and decodes: bounded in time and memory, the newest request wins
    work       what that process does: an edited spec and bytes in, problems and a record out
    page       the page itself: its template, its style and its script

The server never generates, parses YAML of an edit, or decodes. That is the work of the process, which can be ended at
any time. What it answers is passed on as bytes.
"""
