"""Fields whose value depends on other bytes: checksums, and indexes into tables."""

import re
from dataclasses import replace

from wireloom.expr.ast import Binary, Expression, FieldRef, Kind, Literal, fields_in
from wireloom.model.types import Array, Bytes, Checksum, Extra, Integer, TableReference, Text, Type
from wireloom.problems import nearest
from wireloom.resolve.bind import builtins
from wireloom.resolve.bind.draft import entries_of
from wireloom.resolve.bind.expressions import BROKEN, byte_range, expression
from wireloom.resolve.bind.header import WIDEST_CHECKSUM, digest_size
from wireloom.resolve.bind.scopes import Scope
from wireloom.resolve.types.notations import UNKNOWN, Surroundings
from wireloom.spec.documents import Place
from wireloom.spec.language import Crc, Digest, FieldDocument, Sum

_EXTRA = re.compile(r"(?:u?int(?P<bits>8|16|24|32|40|48|56|64)|bytes)\((?P<value>.*)\)")
_WIDEST_STORED = 32  # bits of a checksum with `stored`: expressions calculate with no wider ones


def checksum_of(around: Surroundings, place: Place, name: str, document: FieldDocument, type: Type) -> Checksum | None:
    """The checksum in a field, and the bytes that it covers."""
    if document.checksum is None or document.over is None:
        return None
    start, end, ahead, after = _covered(around, place / "over", document.over)
    if type is not UNKNOWN and document.compute is None and not document.counted:
        _check_type(around, place, document.checksum, type)
    found = Checksum(document.checksum, start, end, document.else_ or "bad_checksum")
    return replace(found, stored=_stored(around, place, name, document), ahead=ahead, after=after)


def _check_type(around: Surroundings, place: Place, checksum: str, type: Type) -> None:
    """Report an unknown checksum, or a field type that does not fit the checksum."""
    declared = around.scope.draft.content.checksums
    match declared.get(checksum, builtins.DIGESTS.get(checksum)):
        case Crc(width=width) | Sum(width=width):
            if 0 < width <= WIDEST_CHECKSUM and not _can_hold(type, width):
                hint = f"write uint{_octets(width) * 8}, or digits: HEX{-(-width // 4)}"
                around.reports(place / "type", "wrong-shape", f"{checksum} has {width} bits", hint)
        case Digest() as digest:
            _check_digest(around, place, checksum, digest_size(digest), type)
        case int(size):
            _check_digest(around, place, checksum, size, type)
        case None:
            hint = nearest(checksum, (*declared, *builtins.DIGESTS))
            if not hint.startswith("did you mean"):
                hint = f"{hint}; define CRCs and sums under `checksums`".removeprefix("; ")
            around.reports(place / "checksum", "unknown-checksum", f"there is no checksum {checksum}", hint)


def _check_digest(around: Surroundings, place: Place, checksum: str, size: int, type: Type) -> None:
    """A digest must be in bytes, or in a text of lower-case hexadecimal digits."""
    if isinstance(type, Bytes | Text) and type.size == BROKEN:
        return
    as_bytes = isinstance(type, Bytes) and type.size == Literal(size)
    as_text = isinstance(type, Text) and type.size == Literal(2 * size)
    if not (as_bytes or as_text):
        hint = f"write bytes({size}), or str({2 * size}) for hexadecimal digits"
        around.reports(place / "type", "wrong-shape", f"{checksum} has {size} bytes", hint)


_Covered = tuple[Expression, Expression, tuple[Extra, ...], tuple[Extra, ...]]


def _covered(around: Surroundings, place: Place, over: str | list[str]) -> _Covered:
    """The range of bytes, and the extra parts before and after it."""
    parts = [(place, over)] if isinstance(over, str) else [(place / at, part) for at, part in enumerate(over)]
    found = [_EXTRA.fullmatch(part.strip()) for _, part in parts]
    if found.count(None) != 1:
        message = f"{found.count(None)} ranges of bytes" if None in found else "there is no range of bytes"
        hint = "write exactly one `START .. END`; the other entries are `uint16(x)` or `bytes(x)`"
        around.reports(place, "bad-range", message, hint)
        return BROKEN, BROKEN, (), ()
    at = found.index(None)
    start, end = byte_range(around.scope.whole(), *parts[at])
    extras = [_extra(around, where, match) for (where, _), match in zip(parts, found, strict=True) if match is not None]
    return start, end, tuple(extras[:at]), tuple(extras[at:])


def _extra(around: Surroundings, place: Place, match: re.Match[str]) -> Extra:
    """A part that a checksum covers in addition to its range."""
    octets = int(match["bits"]) // 8 if match["bits"] else None
    wanted = Kind.BYTES if octets is None else Kind.INTEGER
    value = expression(around.scope.whole(), place, match["value"], wanted, match.start("value"))
    if octets is None and value is not BROKEN and not isinstance(value, FieldRef):
        hint = "add a hidden `compute` field before, and name it"
        around.reports(place, "wrong-shape", f"{match['value']} is not a field", hint)
        return Extra(BROKEN, None)
    return Extra(value, octets)


def _stored(around: Surroundings, place: Place, name: str, document: FieldDocument) -> Expression | None:
    """The stored value: the lowest bits of an expression, as many as the checksum has."""
    if document.stored is None:
        return None
    declared = around.scope.draft.content.checksums.get(document.checksum or "")
    width = declared.width if isinstance(declared, Crc | Sum) else 0
    if not 0 < width <= _WIDEST_STORED:
        message = f"only CRCs and sums of at most {_WIDEST_STORED} bits can have `stored`"
        around.reports(place / "stored", "wrong-shape", message, "drop `stored`")
        return None
    made = expression(around.scope.whole(), place / "stored", document.stored, Kind.INTEGER)
    if made is BROKEN:
        return None
    if not any(each.name == name and not each.up for each in fields_in(made)):
        message = f"the stored value does not depend on {name}"
        hint = f"use {name}, which is the checksum here: `{name} ^ 0xFF`"
        around.reports(place / "stored", "conflicting-keys", message, hint)
        return None
    return Binary("&", made, Literal((1 << width) - 1))


def _octets(bits: int) -> int:
    return -(-bits // 8)


def _can_hold(type: Type, width: int) -> bool:
    """Whether a type holds a checksum of this width: in exactly its bytes, or in digits."""
    if not isinstance(type, Integer) or (type.digits and type.signed) or type.maximum < (1 << width) - 1:
        return False
    return bool(type.digits) or (type.is_plain and type.width == _octets(width))


def is_table(around: Surroundings, place: Place, document: FieldDocument, type: Type) -> bool:
    """Whether the field is a table: a list that the fields with `refers` fill."""
    if document.table and type is not UNKNOWN and not isinstance(type, Array):
        message, hint = "a table must be a list", "give it a type like list(str)"
        around.reports(place, "wrong-shape", message, hint)
        return False
    return document.table


def _own_lists(scope: Scope, name: str) -> list[str]:
    """The lists of a struct itself, without members of flattened structs."""
    entries, members = entries_of(scope.draft.content.types[name]), scope.outlines.types[name].members
    return [entry.key for entry in entries if entry.is_field and members[entry.key].kind is Kind.LIST]


def table_reference_of(
    around: Surroundings, place: Place, document: FieldDocument, type: Type
) -> TableReference | None:
    """The table of the enclosing struct that the field is an index into."""
    if document.refers is None:
        return None
    scope = around.scope
    uses = scope.outlines.types[scope.type].uses
    users = [scope.outlines.types[use.user] for use in uses]
    own = [_own_lists(scope, use.user) for use in uses]
    lacking = [(use.user, lists) for use, lists in zip(uses, own, strict=True) if document.refers not in lists]
    if scope.type in scope.outlines.roots:
        message = f"{scope.type} is also a root, where there is no table {document.refers}"
        around.reports(place, "unknown-field", message, "make a struct with the table the root")
    elif not users or lacking:
        melts = any(
            document.refers in user.members and document.refers not in lists
            for user, lists in zip(users, own, strict=True)
        )
        around.reports(
            place,
            "unknown-field",
            f"the enclosing struct has no table {document.refers}"
            if len(lacking) == len(own)
            else f"{scope.type} is also used in {lacking[0][0]}, which has no table {document.refers}",
            "a flattened table belongs to the inner message; put the table next to the field that refers to it"
            if melts
            else nearest(document.refers, [name for _, lists in lacking for name in lists])
            or "add the table there, or use another type there",
        )
    elif any(user.members[document.refers].position > use.position for user, use in zip(users, uses, strict=True)):
        message = f"the table {document.refers} is read after the fields that refer to it"
        hint = "move the table before them"
        around.reports(place, "later-name", message, hint)
    if not isinstance(type, Integer) or type.signed:
        message, hint = "an index must be an unsigned integer", "give the field the type uint32 or uint64"
        around.reports(place, "wrong-shape", message, hint)
    holders = tuple(dict.fromkeys(use.user for use in uses))
    return TableReference(document.refers, document.else_ or "bad_index", holders)
