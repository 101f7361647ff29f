"""The encoding's properties for the language, the resolver and the pages."""

from wireloom.encodings import Encoding, Form

COLUMNS = Encoding(
    "columns",
    (Form.SEQUENCE,),
    laid_out=True,
    tries=True,
    codes=("truncated", "trailing_bytes"),
    keys=frozenset({"count"}),
    types={"columns": "so many digits", "str": "so many bytes, spaces at the end", "list": "`count` elements"},
    instead={"integer": "write dec5, of five digits"},
)
