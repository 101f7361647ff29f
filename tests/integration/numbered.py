"""Records that can be counted: the number of each is in its key's digest, and in its bytes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from wireloom_formats import aerospike_msgpack

PLACE = b"\xaa" * 20  # the place of the number in a record
WRONG = 100  # one of so many messages is bad
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


LIST = aerospike_msgpack.build({**WRITE, "bins": [{"name": "l", "type": "LIST", "flags": 0, "value": ["here"]}]})
BLOB = aerospike_msgpack.build({**WRITE, "bins": [{"name": "b", "type": "BLOB", "flags": 0, "value": b"here"}]})


def good(number: int) -> bytes:
    """A record of that number."""
    return TEMPLATE.replace(PLACE, number.to_bytes(20, "big"))


def bad(number: int) -> bytes:
    """The same with a version that the format does not know."""
    record = good(number)
    return record[:1] + b"\x02" + record[2:]


def message(number: int) -> bytes:
    """The record of that number in a stream with some bad ones."""
    return bad(number) if _is_bad(number) else good(number)


def messages(start: int, end: int) -> Iterator[tuple[bytes, bytes]]:
    """Key and value of the messages with these numbers."""
    return ((b"%d" % number, message(number)) for number in range(start, end))


def _is_bad(number: int) -> bool:
    return number % WRONG == 7


def having_list(number: int, packed: bytes) -> bytes:
    """A record whose only bin is that list in MessagePack, which may be broken."""
    return LIST.replace(PLACE, number.to_bytes(20, "big")).replace(b"\x91\xa4here", packed)


def nested(depth: int) -> bytes:
    """Nested lists in MessagePack."""
    return b"\x91" * (depth - 1) + b"\x90"


def having_blob(number: int, size: int) -> bytes:
    """A good record with a bin of `size` bytes, at least 64 kB."""
    packed = b"\xc6" + size.to_bytes(4, "big") + bytes(size)
    return BLOB.replace(PLACE, number.to_bytes(20, "big")).replace(b"\xc4\x04here", packed)


def number_in(raw: bytes) -> int:
    """The number in the bytes of a record, good or bad."""
    return number_of(raw[START : START + len(PLACE)])


def number_of(digest: bytes) -> int:
    """The number of a decoded record."""
    return int.from_bytes(digest, "big")


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each number is in the records table, and in the quarantine."""

    records: Counter[int]
    quarantine: Counter[int]

    def most(self) -> int:
        """The count of the most frequent number in either table; 0 if there is none."""
        return max((self.records + self.quarantine).values(), default=0)


def everything(count: int) -> Counts:
    """The counts if each of so many messages is once in the right table."""
    numbers = range(count)
    return Counts(Counter(each for each in numbers if not _is_bad(each)), Counter(filter(_is_bad, numbers)))
