"""Whether what is stated fits where it stands: in a frame, a record, its framing, limits, or after a prefix."""

from collections.abc import Iterator

from wireloom.expr.ast import Literal
from wireloom.model import types
from wireloom.model.ends import endless
from wireloom.model.framing import Array, Concatenated, Framing, Headed, Prefixed, Sized, bare
from wireloom.model.traversal import parts
from wireloom.model.types import Encoding, Field, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.wording import byte_count
from wireloom.resolve.facts.minimum_sizes import Least
from wireloom.resolve.facts.sites import Role, Site, Types, held, holders
from wireloom.resolve.facts.sizes import type_size
from wireloom.resolve.facts.values import Facts
from wireloom.resolve.logical.roots import Entry


def fewest(type: Type, named: Types) -> int:
    """The fewest bytes of a value; 0 of what holds itself, which is cut off at its deepest level."""
    return 0 if _holds_itself(type, named, frozenset()) else Least(named).of(type)


def _holds_itself(type: Type, named: Types, above: frozenset[str]) -> bool:
    match type:
        case types.Reference(name=name):
            return name in above or _holds_itself(named[name], named, above | {name})
        case Struct(fields=fields):
            return any(_holds_itself(field.type, named, above) for field in fields)
        case _:
            return any(_holds_itself(each, named, above) for each in parts(type))


def flaw_of_frame(site: Site, known: Facts, named: Types) -> tuple[str, str] | None:
    """What is wrong with a frame that ends within what always stands in it; None where it has room."""
    if site.role is not Role.BOUND or not isinstance(site.struct.steps[site.position], types.Frame):
        return None
    most, least = known.of(site.expression), fewest(site.struct, named)
    if most.nullable or most.high >= least:
        return None
    message = f"{site.struct.name} has at least {byte_count(least)}, and the frame {most.high}"
    return message, "a frame counts the bytes from the struct's start on"


def check_room(draft: Draft, named: Types, entries: tuple[Entry, ...], framing: Framing) -> None:
    """Report what never has room in a record, and records that never have any."""
    if draft.encoding is not Encoding.BINARY:
        return
    records = [each for each in entries if not isinstance(framing, Headed) or each.name != framing.header]
    _check_limit(draft, named, records)
    if records and not any(problem.path.startswith("framing") for problem in draft.problems.found):
        _check_framing(draft, named, records, framing)
    if not isinstance(framing, Headed | Concatenated):
        for struct, size in _records(named, records):
            _check_within(draft, struct, size)


def _check_limit(draft: Draft, named: Types, records: list[Entry]) -> None:
    size = draft.content.limits.size
    for entry in records:
        least = fewest(entry.type, named)
        if isinstance(size, int) and least > size > 0:
            message = f"{entry.name} has at least {byte_count(least)}, and records have at most {size}"
            draft.reports(draft.place / "limits" / "size", "impossible-value", message, f"write {least} or more")
            return


def _check_framing(draft: Draft, named: Types, records: list[Entry], framing: Framing) -> None:
    """Report a framing that has room for no record, or always more than each takes."""
    place = draft.place / "framing"
    place = place / "records" if isinstance(framing, Headed) else place
    least, most = _sizes(bare(framing))
    needed = min(fewest(each.type, named) for each in records)
    sizes = [type_size(each.type, named, frozenset()) for each in records]
    if most is not None and needed > most:
        message = f"records have at least {byte_count(needed)}, and the framing has room for {most}"
    elif all(size is not None and size < least for size in sizes):
        message = f"records have {byte_count(max(size or 0 for size in sizes))}, and the framing at least {least}"
    else:
        return
    draft.reports(place, "impossible-value", message, "let it have room for a record, and no more")


def _sizes(framing: object) -> tuple[int, int | None]:
    """The fewest and the most bytes that a framing gives a record; None where any number."""
    match framing:
        case Sized(size):
            return size, size
        case Prefixed(width=width, plus=plus, itself=itself) if width:
            own = width if itself else 0
            return max(plus - own, 0), max((1 << 8 * width - framing.signed) - 1 + plus - own, 0)
        case _:
            return 0, None


def _records(named: Types, records: list[Entry]) -> Iterator[tuple[Struct, int]]:
    """The structs of one size that are whole records and nothing else, and that size."""
    within = {*holders(named), *(name for each in records for name, listed in held(each.type, named) if listed)}
    for entry in records:
        struct = named.get(entry.type.name) if isinstance(entry.type, types.Reference) else None
        size = type_size(entry.type, named, frozenset())
        if isinstance(struct, Struct) and struct.name not in within and size is not None:
            yield struct, size


def _check_within(draft: Draft, struct: Struct, size: int) -> None:
    """Report what asks for more bytes than a record has."""
    place, has = draft.place / "types" / struct.name / "fields", f"{struct.name} has {byte_count(size)}"
    for position, step in enumerate(struct.steps):
        match step:
            case types.Need(bytes=Literal(int(needed))) if needed > size:
                where = place / position / "need" / "bytes"
                draft.reports(
                    where, "impossible-value", f"{has}, and {needed} are never there", f"write at most {size}"
                )
            case Field(checksum=types.Checksum(end=Literal(int(end)))) if end > size:
                where = place / position / step.wire_name / "over"
                draft.reports(where, "impossible-value", f"{has}, and {end} are covered", f"cover at most {size}")
            case _:
                pass


def check_ends(draft: Draft, named: Types, entries: tuple[Entry, ...], framing: Framing) -> None:
    """Report a framing that does not fit: records without an end back to back, or an array of what is no JSON."""
    if isinstance(bare(framing), Array) and draft.encoding is not Encoding.JSON:
        hint = "use `framing: length-prefixed`"
        draft.reports(draft.place / "framing", "wrong-encoding", "only JSON texts stand in a JSON array", hint)
    if isinstance(framing, Headed):
        found = next((endless(each.type, named, draft.encoding) for each in entries if each.name == framing.header), "")
        if found:
            message, hint = f"{found} does not tell where the header ends", "give what is last a size"
            message, hint = _of_delimiters(found, named) or (message, hint)
            draft.reports(draft.place / "framing" / "header", "endless-record", message, hint)
    if not isinstance(bare(framing), Concatenated) or not entries:
        return
    found = endless(entries[0].type, named, draft.encoding)
    if found:
        hint = "use `framing: lines`, `framing: array` or `framing: length-prefixed`"
        if draft.encoding is not Encoding.JSON:
            hint = "say where with `- frame: BYTES`, give what is last a size, or use another framing"
        message, hint = _of_delimiters(found, named) or (f"{found} does not tell where it ends", hint)
        draft.reports(draft.place / "framing", "endless-record", message, hint)


def _of_delimiters(name: str, named: Types) -> tuple[str, str] | None:
    """What is wrong with a field of which a delimiter may be the beginning of another; None of any other field."""
    struct, _, wire_name = name.partition(".")
    type = named.get(struct)
    fields = type.fields if isinstance(type, Struct) else ()
    for size in (getattr(types.not_null(field.type), "size", None) for field in fields if field.wire_name == wire_name):
        if isinstance(size, types.Delimiter) and size.ending.looks_behind:
            every = (size.data, *size.others)
            pairs = ((one, other) for one in every for other in every if other != one and other.startswith(one))
            short, long = next(pairs, (size.data, size.data))
            if short == long:
                message = (
                    f"only the byte after {short.hex()} tells whether {name} ends there, since it is its own escape"
                )
                return message, "give it another `escape`, or use another framing"
            message = f"only the byte after {short.hex()} tells whether {name} ends with {short.hex()} or {long.hex()}"
            return message, f"drop {short.hex()} or {long.hex()}, or use another framing"
    return None
