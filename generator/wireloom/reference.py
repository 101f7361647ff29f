"""Makes the tables in docs/reference/language.md from the definitions that the loader and the resolver use.

`python -m wireloom.reference docs/reference/language.md` updates the tables of the file. Each table is between two
comments; the first one names the content. The text around them is written by hand. The column about the engine comes
from the page what-works.md, for which each feature was tried in each encoding.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from wireloom.encodings import ENCODINGS, encodings_of_key
from wireloom.problems import ADVICE, DIAGNOSTICS, WARNINGS
from wireloom.resolve.bind.builtins import BUILTINS
from wireloom.runtime.codes import CODES
from wireloom.spec import language
from wireloom.spec.flow import flow
from wireloom.spec.language import Document
from wireloom.spec.language.combinations import COMPANIONS, EXCLUDED, ON_WIRE

_TABLE = re.compile(r"(<!-- (keys: )?(\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_NOUNS = {
    "Bits": "bits",
    "Crc": "CRC",
    "Digest": "digest",
    "Sum": "sum",
    "Entry": "field or step",
    "FieldDocument": "field",
    "RootDocument": "root",
    "SchemaField": "column",
    "StructType": "struct",
    "SelectType": "select",
    "OneOfType": "oneOf",
    "AttemptType": "attempt",
}
_OFF_WIRE = ("compute", "counted")
_PLAIN = {"string": "text", "boolean": "bool", "integer": "int", "number": "number", "null": "null"}
_SCALARS = 4  # a key that takes this many kinds of scalar takes any
_WORDS = 12  # longer lists of words are left out of a table


def classes() -> dict[str, type[Document]]:
    """The mappings of the language by name."""
    found = (each for each in vars(language).values() if isinstance(each, type) and issubclass(each, Document))
    return {each.__name__: each for each in found if each is not Document}


def table(document: type[Document]) -> str:
    """The table of a mapping's keys: type, default, meaning, and an example."""
    schema = document.model_json_schema(by_alias=True)
    rows = [
        _row(field.alias or name, field, schema["properties"][field.alias or name])
        for name, field in document.model_fields.items()
    ]
    return "\n".join(("| key | type | default | meaning | example |", "|---|---|---|---|---|", *rows)) + "\n"


def _row(key: str, field: FieldInfo, schema: Mapping[str, Any]) -> str:
    example = (field.examples or [""])[0]
    default = "required" if field.is_required() else _default(schema.get("default"))
    shown = f"{key}: {flow(example)}".replace("|", "\\|")
    return f"| `{key}` | {type_text(schema)} | {default} | {field.description} | `{shown}` |"


def with_tables(text: str, works: str) -> str:
    """The text with all tables updated; `works` is the text of what-works.md."""
    known = classes()
    lists: Mapping[str, Callable[[], str]] = {
        "advice": partial(_definitions, ("note", "meaning"), ADVICE),
        "codes": partial(_definitions, ("code", "meaning"), CODES),
        "combinations": partial(_combinations, works),
        "diagnostics": partial(_definitions, ("diagnostic", "meaning"), DIAGNOSTICS),
        "types": _types,
        "warnings": partial(_definitions, ("warning", "meaning"), WARNINGS),
    }

    def current(match: re.Match[str]) -> str:
        made = table(known[match[3]]) if match[2] else lists[match[3]]()
        return f"{match[1]}{made}{match[4]}"

    return _TABLE.sub(current, text)


def _definitions(heads: tuple[str, str], entries: Mapping[str, str]) -> str:
    rows = (f"| `{name}` | {meaning} |" for name, meaning in entries.items())
    return "\n".join((f"| {heads[0]} | {heads[1]} |", "|---|---|", *rows)) + "\n"


def _types() -> str:
    """The types of the language by encoding."""
    rows = (
        f"| {builtin.written} | {builtin.only or first} | {' | '.join(others)} |"
        for name, builtin in BUILTINS.items()
        for first, *others in ([each.types.get(name, "") for each in ENCODINGS.values()],)
    )
    return "\n".join(("| type | binary | MessagePack | protobuf | JSON |", "|---|---|---|---|---|", *rows)) + "\n"


def _combinations(works: str) -> str:
    """For each key of a field: its encodings, the keys that it needs or excludes, and where the parser is needed."""
    keys = [field.alias or name for name, field in language.FieldDocument.model_fields.items()]
    rows = (
        f"| `{key}` | {', '.join(encodings_of_key(key) or ('all',))} | {_marked(COMPANIONS.get(key))} "
        f"| {_excluded(key, keys)} | {_left(key, works)} |"
        for key in keys
    )
    return (
        "\n".join(("| key | encodings | needs | excludes | leaves the engine |", "|---|---|---|---|---|", *rows)) + "\n"
    )


def _excluded(key: str, keys: Sequence[str]) -> str:
    """The keys that a key excludes. Wire keys form one group, and two keys exclude all of them."""
    found = [other for other in keys if other in EXCLUDED.get(key, ()) or key in EXCLUDED.get(other, ())]
    grouped = set(ON_WIRE) <= set(found)
    known = ON_WIRE if grouped else _OFF_WIRE if key in ON_WIRE else ()
    rest = [other for other in found if other not in known]
    return ", ".join([*(["every key of the wire"] if grouped else []), *map(_marked, rest)])


def _left(key: str, works: str) -> str:
    """The combinations with a key for which the parser or the builders do the work, of all that were tried."""
    tried = re.findall(rf"^\| ([^|]*`{re.escape(key)}\b[^|]*) \| (.*) \|$", works, re.MULTILINE)
    return "; ".join(
        f"{name} ({', '.join(encodings)})"
        for name, cells in tried
        if (encodings := [each for each, cell in zip(ENCODINGS, cells.split(" | "), strict=True) if "Python" in cell])
    )


def _marked(key: str | None) -> str:
    return f"`{key}`" if key else ""


def type_text(schema: Mapping[str, Any]) -> str:
    """The values that a key takes, in words."""
    match schema:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            return _NOUNS.get(name, re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower())
        case {"anyOf": options} | {"oneOf": options}:
            return " or ".join(dict.fromkeys(type_text(option) for option in options if option != {"type": "null"}))
        case {"const": value}:
            return f"`{value}`"
        case {"enum": [*values]} if len(values) > _WORDS:
            return "word"
        case {"enum": values}:
            return " or ".join(f"`{value}`" for value in values)
        case {"format": str(format)}:
            return format
        case {"type": "array", "items": items}:
            return f"list of {type_text(items)}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"mapping to {type_text(values)}" if values else "mapping"
        case {"type": [*kinds]}:
            return "scalar" if len(kinds) >= _SCALARS else " or ".join(_PLAIN[kind] for kind in kinds)
        case {"type": str(kind)}:
            return _PLAIN.get(kind, "mapping")
        case _:
            return "any"


def _default(default: object) -> str:
    if isinstance(default, dict):
        default = {key: value for key, value in default.items() if value is not None}
    return "" if default in (None, "", {}, []) else f"`{flow(default)}`"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    works = file.with_name("what-works.md").read_text(encoding="utf-8")
    file.write_text(with_tables(file.read_text(encoding="utf-8"), works), encoding="utf-8")
