"""Whether what is stated fits where it stands: in a frame, a record, its framing, limits, or after a prefix."""

from wireloom.model import types
from wireloom.model.ends import endless
from wireloom.model.framing import Array, Concatenated, Framing, Headed, Prefixed, Sized, bare
from wireloom.model.types import Struct
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.wording import byte_count
from wireloom.resolve.facts.sites import Role, Site, Types
from wireloom.resolve.facts.sizes import Sizes
from wireloom.resolve.facts.values import Facts
from wireloom.resolve.logical.roots import Entry


def flaw_of_frame(site: Site, known: Facts, sizes: Sizes) -> tuple[str, str] | None:
    """What is wrong with a frame that ends within what always stands in it; None where it has room."""
    if site.role is not Role.BOUND or not isinstance(site.struct.steps[site.position], types.Frame):
        return None
    most, least = known.of(site.expression), sizes.of(site.struct).least
    if most.nullable or most.high >= least:
        return None
    message = f"{site.struct.name} has at least {byte_count(least)}, and the frame {most.high}"
    return message, "a frame counts the bytes from the struct's start on"


def check_room(draft: Draft, sizes: Sizes, entries: tuple[Entry, ...], framing: Framing) -> None:
    """Report limits and framings that have room for no record."""
    if not draft.encoding.laid_out:
        return
    found = {
        each.name: sizes.of(each.type)
        for each in entries
        if not isinstance(framing, Headed) or each.name != framing.header
    }
    limit = draft.content.limits.size
    large = next((name for name, each in found.items() if isinstance(limit, int) and each.least > limit > 0), None)
    if large is not None:
        least = found[large].least
        message = f"{large} has at least {byte_count(least)}, and records have at most {limit}"
        draft.reports(draft.place / "limits" / "size", "impossible-value", message, f"write {least} or more")
    if not found or any(problem.path.startswith("framing") for problem in draft.problems.found):
        return
    place = draft.place / "framing"
    place = place / "records" if isinstance(framing, Headed) else place
    least, most = _room(bare(framing))
    needed = min(each.least for each in found.values())
    if most is not None and needed > most:
        message = f"records have at least {byte_count(needed)}, and the framing has room for {most}"
    elif all(each.most is not None and each.most < least for each in found.values()):
        largest = max(each.most or 0 for each in found.values())
        message = f"records have at most {byte_count(largest)}, and the framing gives at least {least}"
    else:
        return
    draft.reports(place, "impossible-value", message, "let it have room for a record, and no more")


def _room(framing: object) -> tuple[int, int | None]:
    """The fewest and the most bytes that a framing gives a record; None where any number."""
    match framing:
        case Sized(size):
            return size, size
        case Prefixed(width=width, plus=plus, itself=itself) if width:
            own = width if itself else 0
            return max(plus - own, 0), max((1 << 8 * width - framing.signed) - 1 + plus - own, 0)
        case _:
            return 0, None


def check_ends(draft: Draft, named: Types, entries: tuple[Entry, ...], framing: Framing) -> None:
    """Report a framing that does not fit: records without an end back to back, or an array of what is no JSON."""
    if isinstance(bare(framing), Array) and not draft.encoding.text:
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
        if not draft.encoding.text:
            hint = "say where with `- frame: BYTES`, give what is last a size, or use another framing"
        message = f"{found} does not tell where it ends{_of_delimiters(found, named)}"
        draft.reports(draft.place / "framing", "endless-record", message, hint)


def _of_delimiters(name: str, named: Types) -> str:
    """Why a field ends at no delimiter: one may be the beginning of another, or escape itself; empty for others."""
    struct, _, wire_name = name.partition(".")
    type = named.get(struct)
    for field in type.fields if isinstance(type, Struct) else ():
        size = getattr(types.not_null(field.type), "size", None)
        if field.wire_name == wire_name and isinstance(size, types.Delimiter) and size.ending.looks_behind:
            return " before the byte behind its delimiter is known"
    return ""
