"""A page for each format, for people who write its records or read its tables, and a site of all pages.

`page` makes the Markdown of one format and the pictures beside it. `site` makes a folder of HTML that a browser opens
without a network. Every text of a spec is escaped on its way: for Markdown in `escapes`, for pictures in `diagrams`.
"""
