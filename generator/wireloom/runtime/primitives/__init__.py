"""How single values are encoded in bytes, for parsers and engine: character sets, numbers, delimiters, codecs."""
