"""Names of Kaitai as names of fields."""

from wireloom.names import EXPRESSION_WORDS, logical_name_flaw

STEPS = ("check", "verify", "mark", "need", "frame", "end", "discard")


def field_name(name: str) -> str:
    """The name that a field has in expressions; words of the language get an underscore."""
    taken = name in EXPRESSION_WORDS or name in STEPS or logical_name_flaw(name)
    return f"{name}_" if taken else name
