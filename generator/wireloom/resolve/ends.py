"""Records of a concatenated stream: each must tell where it ends."""

from wireloom.model.ends import Types, endless
from wireloom.model.types import Encoding
from wireloom.resolve.draft import Draft
from wireloom.resolve.roots import Entry


def check_ends(draft: Draft, named: Types, entries: tuple[Entry, ...]) -> None:
    """Report a format whose records stand back to back, and whose first root has no end of its own."""
    if draft.content.framing != "concatenated" or not entries:
        return
    found = endless(entries[0].type, named, draft.encoding)
    if found:
        hint = "use `framing: lines` or `framing: length-prefixed`"
        if draft.encoding is not Encoding.JSON:
            hint = "say where with `- frame: BYTES`, give what is last a size, or use another framing"
        draft.reports(draft.place / "framing", "endless-record", f"{found} does not tell where it ends", hint)
