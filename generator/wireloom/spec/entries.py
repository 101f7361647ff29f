"""Tell apart the items of `fields`: the names of steps, and the texts that are types."""

import re

from wireloom.spec.language import Entry

STEPS = tuple(Entry.model_fields)
_TYPE = re.compile(
    r"\s*(int|float|bit|bool|nil|json|str|bytes|(str|bytes|list|map|ext|json)\(.*\)"
    r"|(u?int|float|varint|zigzag|vlq|quic|sqlite|flac|ebml|bcd|u?packed|s?dec|hex|oct)[0-9]+)\??\s*"
)


def is_type(text: str, types: frozenset[str]) -> bool:
    """Whether a text is a type of the language, or one of the types given."""
    return text in types or _TYPE.fullmatch(text) is not None
