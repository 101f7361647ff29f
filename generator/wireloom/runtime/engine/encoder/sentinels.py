"""Columns whose nulls are written as the value that means null, since their field is there wherever its record is."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from wireloom.runtime.engine.compiler.scope import member
from wireloom.runtime.engine.encoder.names import title_of
from wireloom.runtime.engine.encoder.scope import Node
from wireloom.runtime.engine.outline import Column

_MAY_BE_ABSENT = {"when", "since", "until", "optional", "flatten", "hidden", "compute", "counted", "besides"}
_ENCODINGS = {"binary", "msgpack", "json"}


def columns_of_sentinels(resolved: Callable[[Node], Node], root: Node, columns: Sequence[Column]) -> Iterator[int]:
    """The columns, by their indices, whose field always has a value; elements always have one.

    Those of a choice's cases are not among them: that a value lacks them may tell which of the cases it is.
    """
    yield from (column.element.index for column in columns if column.takes == "list")
    yield from _below(resolved, root, columns[0])


def _below(resolved: Callable[[Node], Node], node: Node, column: Column) -> Iterator[int]:
    node = resolved(node)
    match node:
        case ("struct", _, encoding, _, _, steps) if encoding in _ENCODINGS:
            fields = [step for step in steps if step[0] == "field"]
            titles = Counter(title_of(name, attributes) for _, name, _, attributes in fields)
            for _, name, type, attributes in fields:
                found = member(column, title_of(name, attributes))
                if found is None or titles[title_of(name, attributes)] > 1 or _MAY_BE_ABSENT & attributes.keys():
                    continue
                if not found.children and resolved(type)[0] != "nullable":
                    yield found.index
                yield from _below(resolved, type, found)
        case ("list", element, *_) if column.takes == "list":
            yield from _below(resolved, element, column.element)
        case ("nullable", inner):
            yield from _below(resolved, inner, column)
        case _:
            return
