"""How single values are written in bytes, for parsers and engine: character sets, numbers, delimiters, codecs."""
