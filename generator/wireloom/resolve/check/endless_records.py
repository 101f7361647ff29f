"""Records must show where they end, if their framing needs that."""

from wireloom.model import types
from wireloom.model.ends import endless
from wireloom.model.types import Struct
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.sites import Types
from wireloom.resolve.logical.roots import Entry
from wireloom.runtime.streams.framing import Array, Concatenated, Framing, Headed, bare


def check_ends(draft: Draft, named: Types, entries: tuple[Entry, ...], framing: Framing) -> None:
    """Report framings that do not fit: concatenated records without an end, or a JSON array of another encoding."""
    if isinstance(bare(framing), Array) and not draft.encoding.text:
        hint = "use `framing: length-prefixed`"
        draft.reports(
            draft.place / "framing", "wrong-encoding", "records of this encoding cannot be in a JSON array", hint
        )
    if isinstance(framing, Headed):
        found = next((endless(each.type, named, draft.encoding) for each in entries if each.name == framing.header), "")
        if found:
            message, hint = f"the end of the header {found} is not known", "give the last field a size"
            draft.reports(draft.place / "framing" / "header", "endless-record", message, hint)
    if not isinstance(bare(framing), Concatenated) or not entries:
        return
    found = endless(entries[0].type, named, draft.encoding)
    if found:
        hint = "use `framing: lines`, `framing: array` or `framing: length-prefixed`"
        if not draft.encoding.text:
            hint = "add `- frame: BYTES`, give the last field a size, or use another framing"
        message = f"the end of {found} is not known{_of_delimiters(found, named)}"
        draft.reports(draft.place / "framing", "endless-record", message, hint)


def _of_delimiters(name: str, named: Types) -> str:
    """Why a field does not end at its delimiter at once: a longer one, or its own escape, may follow; else empty."""
    struct, _, wire_name = name.partition(".")
    type = named.get(struct)
    for field in type.fields if isinstance(type, Struct) else ():
        size = getattr(types.not_null(field.type), "size", None)
        if field.wire_name == wire_name and isinstance(size, types.Delimiter) and size.ending.looks_behind:
            return " before the byte after its delimiter"
    return ""
