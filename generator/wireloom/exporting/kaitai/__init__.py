"""A Kaitai Struct description (.ksy) of the bytes of a binary format, from the resolved model.

Fields become attributes, structs become types; `expressions` translates sizes, conditions and checks. A part that
Kaitai cannot read stays bytes. If the length of such a part is unknown, its struct ends before it, and so do the
structs around that one (`cut`). Since that changes how they are used, the description is made again until no further
struct ends early.
"""

from collections.abc import Mapping
from typing import Any

import yaml

from wireloom.exporting.differences import Difference, Exported
from wireloom.exporting.kaitai.expressions import UnsayableError
from wireloom.exporting.kaitai.forms import CutError
from wireloom.exporting.kaitai.scopes import Keys
from wireloom.exporting.kaitai.structs import Structs
from wireloom.model.format import Format, Root
from wireloom.model.types import Scalar
from wireloom.spec.places import Site


def ksy(format: Format, root: Root, given: Mapping[str, object]) -> Exported:
    """The description of a root; parameters that are not given have their defaults."""
    if not format.encoding.laid_out:
        message = f"{format.name} is {format.encoding.name}, but Kaitai describes only binary formats"
        return Exported("", (Difference("encoding", Site(), message, "export its columns (`proto` or `avsc`)"),))
    order = format.byte_order.parameter
    stated = {name: value for name, value in given.items() if value is None or isinstance(value, int | str)}
    values = _Values({each.name: each.default for each in format.parameters} | stated)
    told_by_bytes = order is not None and values[order] == "auto"
    if order is not None and told_by_bytes:
        values[order] = "big"
    id = format.name if root is format.roots[0] else f"{format.name}_{root.name}"
    cut: frozenset[str] = frozenset()
    while True:
        made = Structs(format, values, id, cut)
        try:
            own = made.described(root.type, id)
        except (CutError, UnsayableError) as error:
            return Exported("", (Difference("cut", Site(), f"the record has {error}", "no description is made"),))
        if made.found_cut <= cut:
            break
        cut |= made.found_cut
    told = dict.fromkeys((*_parameters(format, values, order if told_by_bytes else None), *made.differences))
    return Exported(_text(format, id, own, made), tuple(told))


class _Values(dict[str, Scalar]):
    """The values of parameters, and the names of those that the description depends on."""

    def __init__(self, values: Mapping[str, Scalar]) -> None:
        super().__init__(values)
        self.asked: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - as a dictionary has it
        """The value; also notes that the description depends on it."""
        self.asked.add(name)
        return super().get(name, default)


def _parameters(format: Format, values: _Values, auto: str | None) -> list[Difference]:
    """A difference for each parameter that the description depends on; `auto` is the one that the bytes decide."""
    found = []
    for each in format.parameters:
        if each.name not in values.asked:
            continue
        value = values[each.name]
        shown = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        instead = f"it is {shown}; `-p {each.name}=VALUE` sets another value"
        if each.name == auto:
            message = "the byte order is read from the bytes"
            found.append(Difference("byte-order", Site("", each.name), message, instead))
        else:
            message = "readers of the description cannot choose the parameter"
            found.append(Difference("parameter", Site("", each.name), message, instead))
    return found


def _text(format: Format, id: str, own: Keys, made: Structs) -> str:
    doc = own.pop("doc", "")
    meta: dict[str, Any] = {"id": id, "title": format.title, "endian": made.order, "ks-version": "0.11"}
    said = "\n\n".join(filter(None, (format.doc.strip(), doc, f"Source: {format.source}" if format.source else "")))
    document: Keys = {"meta": meta, **({"doc": said} if said else {}), **own}
    if made.types:
        document["types"] = made.types
    if made.enums:
        document["enums"] = made.enums
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=116)


class _Dumper(yaml.SafeDumper):
    """A YAML dumper without aliases, which Kaitai's compiler accepts but people find hard to read."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401, ARG002 - as PyYAML has it
        """Whether to dump a value without an alias: always."""
        return True


def _text_node(dumper: _Dumper, text: str) -> yaml.Node:
    """A text; a text of several lines becomes a block scalar."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text_node)
