"""Write values on one line of YAML."""

import json
import re

_BARE = re.compile(r"[0-9]+|[A-Za-z_][^:#{}\[\]|,?]*|[0-9a-f ]{9,}|[0-9]+ ?\.\. ?[0-9a-z -]+|[A-Za-z][\w.\[\]]*")


def flow(value: object) -> str:
    """Write the value on one line of YAML."""
    match value:
        case dict():
            return "{" + ", ".join(f"{flow(key)}: {flow(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(flow(inner) for inner in value) + "]"
        case str():
            return value if _BARE.fullmatch(value) else f"'{value}'"
        case _:
            return json.dumps(value)
