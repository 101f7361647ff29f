"""Writes one view over the versions of a records table, as SQL for Spark, with the columns of all versions.

If the types of a column can be united, it gets the wider one: numbers by a cast, structs member by member, lists and
maps by their elements. Otherwise each type gets a column, named by its version: `level_v1`, `level`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from wireloom.ingest.plan import BATCH, RECORDS, VERSION
from wireloom.ingest.tables.agreement import Terms, folder

INTEGERS = ("byte", "short", "integer", "long")
NAMES = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
EXACT = {"float": ("byte", "short"), "double": ("byte", "short", "integer", "float")}
"""Float types, and the number types whose values they hold exactly."""
MADE = "made by wireloom"
"""The marker in the first line of each view."""


def view_text(home: str, versions: Sequence[Terms], source: str) -> str:
    """The view over tables of one format (`source`: parquet or delta), from the oldest version to the newest."""
    if len(versions) == 1 and _guessed(versions[0], source):
        by = ", ".join(versions[0].partition)
        return f"-- {RECORDS} of {home}, partitioned by {by}: {MADE}\n" + _typed(home, versions[0], RECORDS)
    columns = list(_columns(versions))
    names = [name for name, _, _ in columns]
    selects = [_select(home, terms, number, columns, source) for number, terms in enumerate(versions)]
    comment = f"-- {RECORDS} of {home}, versions 1 to {len(versions)}: {MADE}, columns {', '.join(names)}\n"
    united_view = f"CREATE OR REPLACE TEMPORARY VIEW {RECORDS} AS\n" + "\nUNION ALL\n".join(selects) + ";\n"
    return (
        comment
        + "".join(_typed(home, terms, _own(terms)) for terms in versions if _guessed(terms, source))
        + united_view
    )


def _guessed(terms: Terms, source: str) -> bool:
    """Whether readers guess the types of partition columns, because no Delta log has them."""
    return bool(terms.partition) and source == "parquet"


def _own(terms: Terms) -> str:
    """The name of the view of a version."""
    return f"{RECORDS}_v{terms.version}"


def _typed(home: str, terms: Terms, name: str) -> str:
    """A view of the files of one version, with the right types of partition columns."""
    columns = [f"  {_quoted(field['name'])} {_ddl(field['type'])}" for field in terms.records["fields"]]
    listed = ",\n".join((*columns, f"  {BATCH} int"))
    path = _text(f"{folder(home, terms.version)}/{RECORDS}")
    return f"CREATE OR REPLACE TEMPORARY VIEW {name} (\n{listed}\n) USING parquet OPTIONS (path {path});\n"


Column = tuple[str, Any, tuple[tuple[str, Any] | None, ...]]
"""The name and type of a view's column, and for each version the column and type it is made from."""


def _columns(versions: Sequence[Terms]) -> Iterator[Column]:
    fields = [
        {field["name"].lower(): (field["name"], field["type"]) for field in terms.records["fields"]}
        for terms in versions
    ]
    keys = list(dict.fromkeys(key for each in reversed(fields) for key in each))  # Spark treats A and a as equal
    taken = {*keys, BATCH, VERSION}
    for key in keys:
        owns = [each.get(key) for each in fields]
        name = next(own[0] for own in reversed(owns) if own is not None)
        target = united([None if own is None else own[1] for own in owns])
        if target is not None:
            yield name, target, tuple(owns)
            continue
        for number, found in enumerate(owns):
            if found is not None:
                own = tuple(found if at == number else None for at in range(len(owns)))
                newest = number == len(owns) - 1
                yield (name if newest else _free(f"{name}_v{number + 1}", taken)), found[1], own


def _free(name: str, taken: set[str]) -> str:
    """The name, or a similar one that is unused; marks it as used."""
    while name.lower() in taken:
        name += "_"
    taken.add(name.lower())
    return name


def united(types: Sequence[Any]) -> Any:
    """The narrowest type for all values; None if there is none. Types that are None are skipped."""
    found = None
    for type in types:
        if type is not None:
            found = type if found is None else _wider(found, type)
            if found is None:
                return None
    return found


def _wider(left: Any, right: Any) -> Any:
    if left == right:
        return left
    match left, right:
        case str(), str() if left in INTEGERS and right in INTEGERS:
            return max(left, right, key=INTEGERS.index)
        case str(), str():
            return next(
                (wide for wide in (left, right) for other in (left, right) if other in EXACT.get(wide, ())), None
            )
        case {"type": "struct"}, {"type": "struct"}:
            return _wider_struct(left, right)
        case {"type": "array"}, {"type": "array"}:
            element = _wider(left["elementType"], right["elementType"])
            return None if element is None else {"type": "array", "elementType": element}
        case {"type": "map"}, {"type": "map"} if left["keyType"] == right["keyType"]:
            value = _wider(left["valueType"], right["valueType"])
            return None if value is None else {"type": "map", "keyType": left["keyType"], "valueType": value}
        case _:
            return None


def _wider_struct(left: Any, right: Any) -> Any:
    before, after = ({field["name"]: field["type"] for field in each["fields"]} for each in (left, right))
    fields = {name: united([before.get(name), after.get(name)]) for name in dict.fromkeys((*after, *before))}
    if None in fields.values():
        return None
    return {"type": "struct", "fields": [{"name": name, "type": type} for name, type in fields.items()]}


def _select(home: str, terms: Terms, number: int, columns: Sequence[Column], source: str) -> str:
    shown = []
    for name, target, by_version in columns:
        own = by_version[number]
        value = f"CAST(NULL AS {_ddl(target)})" if own is None else _cast(_quoted(own[0]), own[1], target)
        shown.append(f"  {value} AS {_quoted(name)}")
    shown += [f"  {BATCH}", f"  {number + 1} AS {VERSION}"]
    table = f"{source}.{_quoted(f'{folder(home, terms.version)}/{RECORDS}')}"
    return "SELECT\n" + ",\n".join(shown) + f"\nFROM {_own(terms) if _guessed(terms, source) else table}"


def _cast(value: str, type: Any, target: Any, depth: int = 0) -> str:
    """A SQL expression that converts a value to another type."""
    if _ddl(type) == _ddl(target):
        return value
    match target:
        case {"type": "struct", "fields": fields}:
            own = {field["name"]: field["type"] for field in type["fields"]}
            parts = []
            for field in fields:
                name = field["name"]
                member = f"CAST(NULL AS {_ddl(field['type'])})"
                if name in own:
                    member = _cast(f"{value}.{_quoted(name)}", own[name], field["type"], depth)
                parts.append(f"{_text(name)}, {member}")
            return f"IF({value} IS NULL, NULL, named_struct({', '.join(parts)}))"
        case {"type": "array", "elementType": element}:
            each = f"x{depth}"
            return f"transform({value}, {each} -> {_cast(each, type['elementType'], element, depth + 1)})"
        case {"type": "map", "valueType": wide}:
            key, each = f"k{depth}", f"x{depth}"
            return f"transform_values({value}, ({key}, {each}) -> {_cast(each, type['valueType'], wide, depth + 1)})"
        case _:
            return f"CAST({value} AS {_ddl(target)})"


def _ddl(type: Any) -> str:
    match type:
        case str():
            return NAMES.get(type, type)
        case {"type": "array", "elementType": element}:
            return f"array<{_ddl(element)}>"
        case {"type": "map", "keyType": key, "valueType": value}:
            return f"map<{_ddl(key)},{_ddl(value)}>"
        case _:
            return f"struct<{','.join(_quoted(each['name']) + ':' + _ddl(each['type']) for each in type['fields'])}>"


def _text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
