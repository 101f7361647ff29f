"""Resolve the top-level keys of a format: parameters, byte order, checksums, ranges and limits."""

import re
from collections.abc import Collection, Iterable
from typing import assert_never

from wireloom import names
from wireloom.expr.ast import Kind
from wireloom.model.format import (
    ByteOrder,
    CrcAlgorithm,
    DigestAlgorithm,
    NamedRange,
    Parameter,
    Ranges,
    SumAlgorithm,
)
from wireloom.numbers import respelled
from wireloom.resolve.bind import builtins
from wireloom.resolve.bind.draft import Draft, parameter_kind, parameter_named
from wireloom.runtime.parameters import HIGHEST, LONG, LOWEST
from wireloom.runtime.parsers.checksums import Crc as CrcOfBytes
from wireloom.runtime.parsers.checksums import Sum as SumOfBytes
from wireloom.spec.documents import Place
from wireloom.spec.language import ByteOrderByParameter, Crc, Digest, ParameterByName, Sum
from wireloom.spec.language import NamedRange as NamedRangeDocument
from wireloom.spec.language import Parameter as ParameterDocument


def check_names(draft: Draft) -> None:
    """Report names that are not allowed for what they name."""
    if wrong := names.format_name_flaw(draft.content.format):
        message = f"{draft.content.format} cannot be the name of a format"
        draft.reports(draft.place / "format", "bad-name", message, wrong)
    for key, flaw in (
        ("types", names.type_name_flaw),
        ("parameters", names.parameter_name_flaw),
        ("checksums", _checksum_name_flaw),
        ("ranges", names.name_flaw),
        ("errors", names.code_flaw),
        ("roots", names.format_name_flaw),
    ):
        for name in getattr(draft.content, key) or ():
            if reason := flaw(name):
                draft.reports_entry(draft.place / key / name, "bad-name", f"{name} cannot be a name in `{key}`", reason)


# --- parameters ----------------------------------------------------------------------------------------------------


def parameters(draft: Draft) -> tuple[Parameter, ...]:
    """The format's parameters."""
    return tuple(
        _parameter(draft, draft.place / "parameters" / name, name, each)
        for name, each in draft.content.parameters.items()
    )


def _parameter(draft: Draft, place: Place, name: str, document: ParameterDocument) -> Parameter:
    if (document.one_of is None) == (document.type is None):
        given = "neither `oneOf` nor `type`" if document.type is None else "both `oneOf` and `type`"
        draft.reports_entry(place, "conflicting-keys", f"{name} has {given}", "give one of them")
        return Parameter(name, Kind.ANY, None, (), document.doc, document.unit)
    options = document.one_of or []
    for index, option in enumerate(options):
        if option in options[:index]:
            draft.reports(place / "oneOf" / index, "duplicate-value", f"{option} is given twice", "drop one of them")
    kind = parameter_kind(document)
    if not fits_parameter(document, document.default):
        hint = "one of " + ", ".join(document.one_of) if document.one_of else f"write {_described(kind)}"
        draft.reports(place / "default", "bad-default", f"{document.default} is not allowed for {name}", hint)
    return Parameter(name, kind, document.default, tuple(document.one_of or ()), document.doc, document.unit)


def fits_parameter(document: ParameterDocument, value: object) -> bool:
    """Whether the value is allowed for the parameter."""
    if document.one_of is not None:
        return value in document.one_of
    match parameter_kind(document):
        case Kind.INTEGER:
            return value is None or (isinstance(value, int) and not isinstance(value, bool) and value in LONG)
        case Kind.BOOLEAN:
            return isinstance(value, bool)
        case Kind.RANGE:
            return value is None or (
                isinstance(value, list)
                and len(value) == 2
                and all(type(end) is int for end in value)
                and LOWEST <= value[0] <= value[1] <= HIGHEST
            )
        case _:
            return value is None or isinstance(value, str)


def _described(kind: Kind) -> str:
    descriptions = {
        Kind.INTEGER: "an integer of 64 bits, or null",
        Kind.BOOLEAN: "true or false",
        Kind.RANGE: "null or [START, END]",
    }
    return descriptions.get(kind, "a text or null")


def byte_order(draft: Draft) -> ByteOrder:
    """The byte order of binary numbers."""
    written = draft.content.byte_order
    if not isinstance(written, ByteOrderByParameter):
        return ByteOrder(fixed=written)
    _require_options(draft, draft.place / "byteOrder" / "parameter", written.parameter, ("big", "little", "auto"))
    return ByteOrder(None, written.parameter, tuple(written.wrong_when))


def deciding_parameter(draft: Draft, key: str, written: ParameterByName | None, options: tuple[str, ...]) -> str | None:
    """The parameter that chooses among `options`."""
    if written is None:
        return None
    _require_options(draft, draft.place / key / "parameter", written.parameter, options)
    return written.parameter


def _require_options(draft: Draft, place: Place, name: str, options: tuple[str, ...]) -> None:
    parameter = parameter_named(draft, place, name)
    if parameter is None:
        return
    if parameter.one_of is None or not set(parameter.one_of) <= set(options):
        message = f"{name} {_other_words(parameter.one_of, options)}"
        draft.reports(place, "unfit-parameter", message, f"its `oneOf` has only {', '.join(options)}")


_MULTIPLE = re.compile(r"([0-9]+) ?([kmg])(i?b)?", re.IGNORECASE)


def _in_digits(stated: str) -> str:
    """A hint for a number that was written with a unit."""
    found = _MULTIPLE.fullmatch(stated)
    if found is None:
        return respelled(stated) or "write a number, such as 1048576"
    return f"write {int(found[1]) << 10 * ('kmg'.index(found[2].lower()) + 1)}"


def limit(draft: Draft, name: str, stated: int | str) -> int | str:
    """A limit of decoders: a number, or the parameter that sets it."""
    place = draft.place / "limits" / name
    if isinstance(stated, int):
        if stated < 1:
            draft.reports(place, "unfit-parameter", f"a {name} of {stated} allows nothing", "write 1 or more")
        elif stated not in LONG:
            draft.reports(place, "unfit-parameter", f"{stated} is beyond 64 bits", f"write at most {LONG[-1]}")
        return stated
    parameter = draft.content.parameters.get(stated)
    if parameter is None and stated[:1].isdecimal():
        message, hint = f"{stated} is neither a number nor the name of a parameter", _in_digits(stated)
        draft.reports(place, "unknown-parameter", message, hint)
    elif parameter is None:
        parameter_named(draft, place, stated)
    elif parameter_kind(parameter) is not Kind.INTEGER:
        draft.reports(place, "unfit-parameter", f"{stated} is not an integer", "give it `type: int`")
    elif parameter.default is None and name == "depth":
        hint = "give the parameter a number as its default"
        draft.reports(place, "unfit-parameter", f"without a value for {stated}, open values may have any depth", hint)
    elif isinstance(parameter.default, int) and parameter.default < 0:
        where, message = draft.place / "parameters" / stated / "default", f"{parameter.default} is not a limit"
        draft.reports(where, "bad-default", message, f"{stated} sets the {name}: write 0 or more")
    return stated


def _other_words(one_of: Iterable[str] | None, options: Collection[str]) -> str:
    """Describe the values of a parameter that have no meaning for its use."""
    if one_of is None:
        return "may be anything"
    return f"may be {', '.join(repr(word) for word in one_of if word not in options)}, which means nothing here"


def _checksum_name_flaw(name: str) -> str | None:
    return "a built-in digest has that name" if name in builtins.DIGESTS else names.name_flaw(name)


# --- checksums and ranges ------------------------------------------------------------------------------------------


def checksums(draft: Draft) -> tuple[CrcAlgorithm | SumAlgorithm | DigestAlgorithm, ...]:
    """The checksums that the format declares."""
    return tuple(
        _checksum(draft, draft.place / "checksums" / name, name, each) for name, each in draft.content.checksums.items()
    )


def _checksum(
    draft: Draft, place: Place, name: str, document: Crc | Sum | Digest
) -> CrcAlgorithm | SumAlgorithm | DigestAlgorithm:
    match document:
        case Crc():
            return _crc(draft, place, name, document)
        case Sum():
            return _sum(draft, place, name, document)
        case Digest():
            return _digest(draft, place, name, document)
        case _:
            assert_never(document)


def _digest(draft: Draft, place: Place, name: str, document: Digest) -> DigestAlgorithm:
    digests = digests_of(document)
    size = builtins.DIGESTS[digests[-1]]
    if document.size is not None and not 0 < document.size <= size:
        draft.reports(place / "size", "bad-checksum-width", f"{document.size} bytes", f"{digests[-1]} has {size} bytes")
    return DigestAlgorithm(name, digests, min(max(document.size or size, 1), size), document.doc)


def digests_of(document: Digest) -> tuple[str, ...]:
    """The digests, in the order in which they are applied."""
    return (document.digest,) if isinstance(document.digest, str) else tuple(document.digest)


def digest_size(document: Digest) -> int:
    """The number of bytes of the digest that are used."""
    return builtins.DIGESTS[digests_of(document)[-1]] if document.size is None else document.size


def _crc(draft: Draft, place: Place, name: str, document: Crc) -> CrcAlgorithm:
    if not 8 <= document.width <= WIDEST_CHECKSUM:
        draft.reports(place / "width", "bad-checksum-width", f"{document.width} bits", "a CRC has 8 to 64 bits")
    elif (wide := _too_wide(document)) is not None:
        key, number = wide
        hint = "leave out its highest bit" if key == "poly" and number >> document.width == 1 else ""
        message = f"0x{number:X} has more than {document.width} bits"
        draft.reports(place / key, "bad-checksum-width", message, hint)
    else:
        _verify(draft, place, document, crc(document, b"123456789"))
    return CrcAlgorithm(
        name,
        min(max(document.width, 8), WIDEST_CHECKSUM),
        document.poly,
        document.init,
        document.xorout,
        document.reflected,
        document.check,
        document.doc,
    )


def _too_wide(document: Crc) -> tuple[str, int] | None:
    """The first parameter of a CRC that is negative or has too many bits, with its key."""
    stated = {"poly": document.poly, "init": document.init, "xorout": document.xorout, "check": document.check}
    return next(((key, number) for key, number in stated.items() if number >> document.width), None)


def _verify(draft: Draft, place: Place, document: Crc | Sum, found: int) -> None:
    if found != document.check:
        message = f"these parameters give 0x{found:0{-(-document.width // 4)}X} over 123456789"
        draft.reports(place / "check", "checksum-check-value", message, "correct the parameters or the check value")


_SUM_WIDTHS = {"add": range(8, 65), "xor": (8,), "fletcher": (16, 32), "internet": (16,)}
WIDEST_CHECKSUM = 64
"""The most bits of a checksum."""


def _sum(draft: Draft, place: Place, name: str, document: Sum) -> SumAlgorithm:
    widths, rule = _SUM_WIDTHS[document.sum], document.sum
    modulus = document.modulus or 0
    width = document.width if document.width in widths else 0  # not allowed, reported below
    largest = modulus if rule == "fletcher" else 1 << width
    if not width:
        known = f"{widths[0]} to {widths[-1]}" if isinstance(widths, range) else " or ".join(map(str, widths))
        draft.reports(place / "width", "bad-checksum-width", f"{document.width} bits", f"{rule} has {known} bits")
    elif (document.modulus is not None) != (rule == "fletcher"):
        message, hint = "only fletcher has a `modulus`, and needs it", "write `modulus: 255`, or drop it elsewhere"
        draft.reports(place, "conflicting-keys", message, hint)
    elif rule == "fletcher" and not 1 < modulus <= 1 << document.width // 2:
        hint = f"each sum has {document.width // 2} bits"
        draft.reports(place / "modulus", "bad-range", f"a sum cannot have the modulus {modulus}", hint)
    elif not 0 <= document.init < largest or not 0 <= document.xorout < 1 << width:
        draft.reports(place, "bad-range", "`init` or `xorout` is beyond the checksum's bits", "write smaller ones")
    else:
        _verify(draft, place, document, added(document, b"123456789"))
    return SumAlgorithm(
        name, rule, width or min(widths), modulus, document.init, document.xorout, document.check, document.doc
    )


def added(document: Sum, data: bytes) -> int:
    """The declared sum of some bytes."""
    rule = SumOfBytes(document.sum, document.width, document.init, document.xorout, document.modulus or 1)
    return rule(data)


def crc(document: Crc, data: bytes) -> int:
    """The declared CRC of some bytes."""
    rule = CrcOfBytes(document.width, document.poly, document.init, document.xorout, document.reflected)
    return rule(data)


def ranges(draft: Draft) -> tuple[Ranges, ...]:
    """The named ranges."""
    return tuple(
        Ranges(
            name,
            tuple(_range(draft, draft.place / "ranges" / name / index, each) for index, each in enumerate(entries)),
        )
        for name, entries in draft.content.ranges.items()
    )


def _range(draft: Draft, place: Place, document: NamedRangeDocument) -> NamedRange:
    if document.equals is not None:
        if document.min is not None or document.max is not None:
            draft.reports(place, "conflicting-keys", "`equals` beside `min` or `max`", "drop one of them")
        return NamedRange(document.name, document.equals, document.equals)
    if document.min is not None and document.max is not None and document.min > document.max:
        draft.reports(place, "bad-range", f"{document.min} .. {document.max} is empty", "the smaller end is `min`")
    return NamedRange(document.name, document.min, document.max)
