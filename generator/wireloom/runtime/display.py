"""How notebooks show a parsed record, an error and a quarantined row: small HTML tables, without scripts.

Every text of a record is escaped, and so are invisible characters.
"""

import html
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_DEPTH, _MEMBERS, _CHARACTERS = 4, 50, 200
_BYTES, _LINE = 64, 16


def text(value: object) -> str:
    """A value as HTML text, cut if it is long."""
    plain = str(value)
    cut = plain if len(plain) <= _CHARACTERS else f"{plain[:_CHARACTERS]} ... ({len(plain)} characters)"
    return html.escape("".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in cut))


def table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A table of names and cells; the cells are already HTML."""
    lines = "".join(
        f'<tr><th scope="row" align="left">{text(name)}</th><td align="left">{cell}</td></tr>' for name, cell in rows
    )
    return f"<table><caption>{text(title)}</caption><tbody>{lines}</tbody></table>"


def value_html(value: object, title: str = "record") -> str:
    """A parsed value as nested tables, as far as it is small."""
    return _members(value, title, 0) if isinstance(value, Mapping | list) else _scalar(value)


def _members(value: Any, title: str, level: int) -> str:
    named: list[tuple[object, object]]
    if isinstance(value, Mapping):
        named = list(value.items())
    else:
        named = [each if _is_pair(value, each) else (at, each) for at, each in enumerate(value)]
    rows = [(str(name), _cell(member, level)) for name, member in named[:_MEMBERS]]
    if len(named) > _MEMBERS:
        rows.append(("...", f"{len(named) - _MEMBERS} more"))
    return table(title, rows)


def _is_pair(value: object, each: object) -> bool:
    return type(value).__name__ == "Pairs" and isinstance(each, tuple)


def _cell(value: object, level: int) -> str:
    if not isinstance(value, Mapping | list):
        return _scalar(value)
    kind = f"{len(value)} {'members' if isinstance(value, Mapping) else 'elements'}"
    if not value or level + 1 >= _DEPTH:
        return text(kind)
    return f"<details><summary>{text(kind)}</summary>{_members(value, '', level + 1)}</details>"


def _scalar(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        more = f" ... ({len(value)} bytes)" if len(value) > _BYTES else ""
        return f"<code>{value[:_BYTES].hex(' ')}</code>{more}"
    return "<i>null</i>" if value is None else text(value)


def fault_rows(fault: Any) -> Iterator[tuple[str, str]]:
    """The rows of a table for an error or a quarantined row, which has the same attributes; empty ones are left out."""
    attributes = {
        "code": f"{fault.code} ({fault.meaning})" if fault.meaning else fault.code,
        "path": fault.path,
        "byte": fault.offset,
        "expected": fault.expected,
        "found": fault.actual,
    }
    return ((name, text(each)) for name, each in attributes.items() if each != "")


def bytes_html(data: bytes, offset: int) -> str:
    """The bytes around an offset, sixteen per line, with the byte there marked."""
    first = max(offset // _LINE - 1, 0) * _LINE
    lines = []
    for place in range(first, min(first + _BYTES, len(data)), _LINE):
        shown = [
            f"<mark>{byte:02x}</mark>" if at == offset else f"{byte:02x}"
            for at, byte in enumerate(data[place : place + _LINE], place)
        ]
        lines.append(f"{place:6}  {' '.join(shown)}")
    return "<pre>" + "\n".join(lines) + "</pre>"
