"""Records that can be counted: each has a number, in a table the digest of its key, in quarantine in its bytes."""

from wireloom_formats import aerospike_msgpack

PLACE = b"\xaa" * 20  # where a record has its number
WRITE = {
    "msg": "write",
    "key": {"namespace": "shop", "set": "carts", "digest": PLACE, "userKey": 7},
    "generation": 3,
    "expiry": 0,
    "lut": 1617167159548,
    "bins": [
        {"name": "n", "type": "INTEGER", "flags": 0, "value": 42},
        {"name": "who", "type": "STRING", "flags": 0, "value": "somebody"},
    ],
}
TEMPLATE = aerospike_msgpack.build(WRITE)
START = TEMPLATE.index(PLACE)


def good(number: int) -> bytes:
    """A record of that number."""
    return TEMPLATE.replace(PLACE, number.to_bytes(20, "big"))


def bad(number: int) -> bytes:
    """The same with a version that the format does not know."""
    record = good(number)
    return record[:1] + b"\x02" + record[2:]


def number_in(raw: bytes) -> int:
    """The number of a record, good or bad, in its bytes."""
    return number_of(raw[START : START + len(PLACE)])


def number_of(digest: bytes) -> int:
    """The number of a decoded record."""
    return int.from_bytes(digest, "big")
