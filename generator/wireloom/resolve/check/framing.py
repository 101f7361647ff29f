"""Records of a stream: back to back each must tell where it ends, and in an array each must be JSON."""

from wireloom.model.ends import Types, endless
from wireloom.model.framing import Array, Concatenated, Framing, Headed, bare
from wireloom.model.types import Encoding
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.logical.roots import Entry


def check_ends(draft: Draft, named: Types, entries: tuple[Entry, ...], framing: Framing) -> None:
    """Report a framing that does not fit: records without an end back to back, or an array of what is no JSON."""
    if isinstance(bare(framing), Array) and draft.encoding is not Encoding.JSON:
        hint = "use `framing: length-prefixed`"
        draft.reports(draft.place / "framing", "wrong-encoding", "only JSON texts stand in a JSON array", hint)
    if isinstance(framing, Headed):
        found = next((endless(each.type, named, draft.encoding) for each in entries if each.name == framing.header), "")
        if found:
            message, hint = f"{found} does not tell where the header ends", "give what is last a size"
            draft.reports(draft.place / "framing" / "header", "endless-record", message, hint)
    if not isinstance(bare(framing), Concatenated) or not entries:
        return
    found = endless(entries[0].type, named, draft.encoding)
    if found:
        hint = "use `framing: lines`, `framing: array` or `framing: length-prefixed`"
        if draft.encoding is not Encoding.JSON:
            hint = "say where with `- frame: BYTES`, give what is last a size, or use another framing"
        draft.reports(draft.place / "framing", "endless-record", f"{found} does not tell where it ends", hint)
