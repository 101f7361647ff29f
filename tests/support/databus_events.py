"""Databus events for tests of streams and tables: an original one, numbered ones, damaged ones."""

import random

from wireloom.runtime.parsers.checksums import Crc
from wireloom_formats import databus_event

LONG_KEY = bytes.fromhex(
    "0041812a2d0000003f000100000000000000640001000217979cfe362a00000005000102030405060708090a0b0c0d0e0f994a3853"
    "00000000000000076869"
)
_CRC = Crc(width=32, poly=0x04C11DB7, init=0, xorout=0, reflected=True)


def built(number: int) -> bytes:
    """The event with another sequence number, built by the codec."""
    return databus_event.build({**databus_event.parse(LONG_KEY), "sequence": number})


def noisy(number: int, size: int = 40) -> bytes:
    """An event with that sequence number and an incompressible value; made without the codec."""
    value = random.Random(number).randbytes(size)  # noqa: S311 - no secret
    length, crc = (61 + len(value)).to_bytes(4, "big"), _CRC(value).to_bytes(4, "big")
    header = length + LONG_KEY[9:11] + number.to_bytes(8, "big") + LONG_KEY[19:49] + crc + LONG_KEY[53:61]
    return b"\0" + _CRC(header).to_bytes(4, "big") + header + value


def damaged(data: bytes) -> bytes:
    """The event with its last bit flipped."""
    return data[:-1] + bytes([data[-1] ^ 1])
