"""Binary: bytes that say nothing of themselves, laid out by the spec."""

from wireloom.encodings.encoding import Encoding, Form

BINARY = Encoding(
    "binary",
    (Form.SEQUENCE,),
    laid_out=True,
    tries=True,
    codes=("truncated", "trailing_bytes"),
    keys=frozenset(
        {
            *("at", "from", "size", "unpack", "count", "delimiter", "kept", "escape", "escaped", "pad", "charset"),
            *("terminator", "jump", "lastWhen", "bits", "byteOrder", "checksum", "stored"),
        }
    ),
    types={
        "bool": "one byte, 0 or 1",
        "integer": "so many bits (whole bytes), in the byte order of the field, struct or format",
        "bits": "so many bits, beside others that fill its bytes or as elements of a list "
        "(see [Bits](#bits)); `bit` is a boolean",
        "int": "`int64`",
        "varint": "as many bytes as the value takes: LEB128, unsigned, or signed by zigzag",
        "coded": "as many bytes as the value takes: LEB128 in two's complement (signed: DWARF, WebAssembly); "
        "seven bits in each, the highest first; or as the first bits say in QUIC, in the files of SQLite "
        "(signed), in FLAC (as in UTF-8), in EBML (Matroska)",
        "extended": "one byte that is the number; or, from FIRST on, says in which type the number follows "
        "(Bitcoin, MySQL, DER; see below)",
        "decimal": "so many decimal digits, two a byte, the highest first; packed (COMP-3): the last half byte "
        "is the sign, C or D, of `upacked` F",
        "zoned": "so many decimal digits in EBCDIC, a byte each; the zone of the last one (of `lzoned` of the "
        "first) is the sign, C or D, of `uzoned` F; `overpunch` and `loverpunch` are the same in ASCII: "
        "`{`, `A` ... `I` and `}`, `J` ... `R`",
        "columns": "so many digits in ASCII, decimal, hexadecimal (of `HEX` written in capitals; both read "
        "either) or octal, spaces or zeros in front; of `sdec` one column more, for the sign",
        "digits": "as many digits in ASCII as the value takes, up to the field's `delimiter`; of `sdec` behind a sign",
        "float16": "IEEE 754, of half the width",
        "float": "IEEE 754",
        "str": "UTF-8; without a size all bytes left",
        "bytes": "bytes; without a size all bytes left",
        "list": "`count` elements, or as many as fill the region",
        "entries": "a list of them, `count` and all",
    },
    instead={
        "nil": "say with `when` whether a field is there; a case without bytes is a struct without fields",
        "union": "choose by `select`",
    },
)
