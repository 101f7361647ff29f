"""The checksums and the named ranges of a format, so that a sender can compute them."""

from typing import assert_never

from wireloom.escapes import code_span
from wireloom.model.format import CrcAlgorithm, DigestAlgorithm, Format, SumAlgorithm
from wireloom.model.types import Struct
from wireloom.pages.markdown import blocks, table, text
from wireloom.pages.rules import range_text


def algorithms(format: Format) -> str:
    """The definitions of the checksums of the format, as senders need them."""
    rows = [(code_span(each.name), _algorithm(each), text(each.doc)) for each in format.checksums]
    known = {each.name for each in format.checksums}
    rows += [(code_span(name), "the digest of that name, raw bytes", "") for name in _used(format) if name not in known]
    return table(("checksum", "algorithm", "note"), rows)


def _used(format: Format) -> list[str]:
    """The names of the checksums that fields use."""
    structs = (type for _, type in format.types if isinstance(type, Struct))
    held = (field.checksum for struct in structs for field in struct.fields if field.checksum is not None)
    return list(dict.fromkeys(each.algorithm for each in held))


def _algorithm(found: CrcAlgorithm | SumAlgorithm | DigestAlgorithm) -> str:
    match found:
        case CrcAlgorithm(width=width):
            digits = width // 4
            reflected = "bits reflected (in and out)" if found.reflected else "not reflected"
            return (
                f"CRC-{width}: polynomial {found.poly:#0{digits + 2}x}, initial value {found.init:#x}, {reflected}, "
                f"final xor {found.xorout:#x}; of the bytes `123456789` it is {found.check:#0{digits + 2}x}"
            )
        case SumAlgorithm(rule=rule, width=width, modulus=modulus):
            how = {
                "add": f"the sum of all bytes, modulo 2^{width}",
                "xor": "all bytes combined by exclusive or",
                "fletcher": f"Fletcher: the sum of all bytes, and in the upper {width // 2} bits the sum of that sum "
                f"after each byte, both modulo {modulus}",
                "internet": "the Internet checksum (RFC 1071): complement of the one's complement sum of 16-bit words",
            }[rule]
            ends = f"; initial value {found.init:#x}, final xor {found.xorout:#x}" if found.init or found.xorout else ""
            return f"{how}{ends}; of the bytes `123456789` it is {found.check:#x}"
        case DigestAlgorithm(digests=digests, size=size):
            return f"the first {size} bytes of {' of the '.join(reversed(digests))} (raw bytes)"
        case _:
            assert_never(found)


def ranges(format: Format) -> str:
    """The named ranges of numbers."""
    return blocks(
        *(
            blocks(
                f"Ranges {code_span(each.name)}; the first that holds the number names it:",
                table(
                    ("numbers", "name"),
                    [(range_text(one.minimum, one.maximum, ""), code_span(one.name)) for one in each.ranges],
                ),
            )
            for each in format.ranges
        )
    )
