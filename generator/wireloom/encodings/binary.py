"""Binary: the bytes do not describe themselves; the spec lays them out."""

from wireloom.encodings.encoding import FLATTEN, Encoding, Form

_CHOICE = "select by a field that is read before, or by `{peek: uint8}`"
_CONDITION = "use `when` for a field that may be missing"

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
        "integer": "the stated number of bits (whole bytes), in the byte order of the field, struct or format",
        "bits": "the stated number of bits, next to fields that fill its bytes, or as elements of a list (see "
        "[Bits](#bits)); `bit` is a boolean",
        "int": "`int64`",
        "varint": "LEB128, in as many bytes as the value needs; unsigned, or signed by zigzag",
        "coded": "as many bytes as the value needs: `sleb` is LEB128 in two's complement (DWARF, WebAssembly); "
        "`vlq` has seven bits per byte, the highest first; the others are those of QUIC, SQLite files "
        "(signed), FLAC (as in UTF-8) and EBML (Matroska)",
        "extended": "one byte, which is the number or, from FIRST on, selects the type of the number after "
        "it (Bitcoin, MySQL, DER; see below)",
        "decimal": "the stated number of decimal digits, two per byte, the highest first; `packed` (COMP-3) ends "
        "with half a byte for the sign, C or D; in `upacked` it is F",
        "zoned": "the stated number of decimal digits in EBCDIC, one per byte; the zone of the last digit "
        "(`lzoned`: the first) is the sign, C or D; in `uzoned` it is F; `overpunch` and `loverpunch` are "
        "the same in ASCII: `{`, `A` ... `I` and `}`, `J` ... `R`",
        "columns": "the stated number of digits in ASCII, decimal, hexadecimal or octal, with spaces or zeros in "
        "front; `HEX` writes capitals, and `hex` and `HEX` read both; `sdec` has one more column, for the "
        "sign",
        "digits": "as many digits in ASCII as the value needs, up to the field's `delimiter`; `sdec` may have a "
        "sign in front",
        "float16": "IEEE 754, with 16 bits",
        "float": "IEEE 754",
        "str": "UTF-8; without a size all bytes left",
        "bytes": "bytes; without a size all bytes left",
        "list": "`count` elements, or as many as fill the region",
        "entries": "a list of structs, with the keys of lists",
    },
    choice=_CHOICE,
    instead_of_keys={"optional": _CONDITION, "default": _CONDITION, "inline": FLATTEN},
    instead={
        "nil": "use `when` for a field that may be missing; for a case without bytes, use a struct without fields",
        "union": _CHOICE,
    },
)
