"""Makes a page for each format, for people who write its records or read its tables, and a site of all pages.

`page` makes the Markdown of one format and its pictures. `site` makes a folder of HTML that a browser opens without a
network. Every text of a spec is escaped: for Markdown by `escapes`, for pictures by `diagrams`.
"""
