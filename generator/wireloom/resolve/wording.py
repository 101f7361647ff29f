"""Words that several diagnostics share."""


def byte_count(count: int) -> str:
    """So many bytes."""
    return f"{count} byte{'' if count == 1 else 's'}"
