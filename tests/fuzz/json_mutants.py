"""Damages JSON text by its structure: most results are still JSON, with a slightly different meaning.

Values are escaped differently, made longer, deeper, or of another kind; members are moved, repeated or removed; numbers
get exponents, digits and signs; base64 loses its padding. The rest is damaged like any bytes.
"""
# ruff: noqa: S311, E501 - no secrets are made; words stand in rows

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence

from mutants import mutants as damaged

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|[][{}:,]')
_NUMBER = re.compile(rb"-?[0-9][0-9.eE+-]*")
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')
_WORDS = (
    *(b"0", b"-0", b"1", b"-1", b"1.0", b"1e0", b"1E+2", b"1e-2", b"0.1", b"-0.0", b"01", b"1.", b".5", b"+1", b"1e", b"--1", b"0x1"),
    *(b"127", b"128", b"-129", b"32768", b"2147483648", b"-2147483649", b"4294967296", b"9007199254740993"),
    *(b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808", b"-9223372036854775809"),
    *(b"18446744073709551615", b"18446744073709551616", b"1" + b"0" * 30, b"9" * 401, b"0." + b"3" * 30, b"1" * 25 + b".5"),
    *(b"1e308", b"1e309", b"-1e400", b"5e-324", b"2e-324", b"1e-400", b"0e999999", b"1.7976931348623157e308", b"4.35", b"7e22", b"1e23"),
    *(b"123456789012345678", b"0.30000000000000004", b"2.2250738585072011e-308", b"9007199254740993.0", b"NaN", b"Infinity", b"-Infinity"),
    *(b"null", b"true", b"false", b"nul", b"TRUE", b"[]", b"{}", b"[[]]", b"[[[]]]", b'{"a":{}}', b'[1,"x",null]', b'{"$map":1}', b'{"a":1,"$b":[2]}'),
    *(b'""', b'"a"', b'"="', b'"A"', b'"QQ=="', b'"QQ="', b'"QR=="', b'"QUI="', b'"QUJD"', b'"Q-_D"', b'"QUJD\\n"', b'"' + b"QUJD" * 19 + b'\\nQQ=="'),
    *(b'"' + b"QUJD" * 19 + b'"', b'"' + b"QUJD" * 20 + b'"', b'"' + b"QUJD" * 19 + b'\\n"', b'"' + b"QUJD" * 18 + b'QUI=\\n"', b'"AAECAwQFBgcICQoLDA0ODxAREhM="'),
    *(b'"\\ud83d\\ude00"', b'"\\ud83d"', b'"\\ude00"', b'"\\ud83d\\u0041"', b'"\\u0000"', b'"\\u00e9"', b'"\\uFFFF"', b'"\\x"', b'"\\u12"', b'"\\/\\b\\f\\n\\r\\t\\"\\\\"'),
    *('"Grüße"'.encode(), '"日本"'.encode(), b'"\xff"', b'"\xed\xa0\x80"', b'"\xc3\\u00a9"', b'"\x01"', b'"\x7f"', b'"' + b"x" * 70 + b'"', b"'x'"),
)  # fmt: skip
_DEEP = 300  # brackets that Python's reader accepts for sure
_WHITE = (b" ", b"\n", b"\r\n", b"\t", b"   ", b"\x0c", b"\xc2\xa0", b"/**/", b"\xef\xbb\xbf", b"\x00")


def json_mutants(records: Sequence[bytes], count: int, seed: int) -> Iterator[bytes]:
    """`count` altered texts."""
    source = random.Random(seed)
    blind = damaged(records, count, seed)
    for _ in range(count):
        if source.random() < 0.15:
            yield next(blind)
            continue
        record = source.choice(records)
        for _ in range(source.choice((1, 1, 1, 2, 3, 5))):
            record = source.choice(_CHANGES)(source, record, records)
        yield record


def _tokens(record: bytes) -> list[tuple[int, int]]:
    return [match.span() for match in _TOKEN.finditer(record)]


def _one(source: random.Random, record: bytes, pattern: re.Pattern[bytes]) -> tuple[int, int] | None:
    found = [match.span() for match in pattern.finditer(record)]
    return source.choice(found) if found else None


def _put(record: bytes, span: tuple[int, int] | None, text: bytes) -> bytes:
    return record if span is None else record[: span[0]] + text + record[span[1] :]


def _word(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    """Another word in place of a token."""
    tokens = [span for span in _tokens(record) if record[span[0] : span[1]] not in b"[]{}:,"]
    return _put(record, source.choice(tokens), source.choice(_WORDS)) if tokens else record


def _white(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    start, end = source.choice(_tokens(record) or [(0, 0)])
    place = source.choice((start, end))
    return record[:place] + source.choice(_WHITE) + record[place:]


def _spaced(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    return b" ".join(record[start:end] for start, end in _tokens(record))


def _digit(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    span = _one(source, record, _NUMBER)
    if span is None:
        return record
    place = source.randrange(span[0], span[1] + 1)
    return record[:place] + source.choice((b"0", b"1", b"9", b".", b"e", b"-", b"E5", b".0", b"e-3")) + record[place:]


def _escaped(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    """One character of a text as an escape."""
    span = _one(source, record, _TEXT)
    if span is None or span[1] - span[0] < 3:
        return record
    place = source.randrange(span[0] + 1, span[1] - 1)
    byte = record[place]
    if byte >= 0x80 or byte == 0x5C or record[place - 1] == 0x5C:
        return record
    written = b"\\u%04x" % byte if source.random() < 0.7 else b"\\u%04X" % byte
    return record[:place] + written + record[place + 1 :]


def _letter(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    """One more character in a text."""
    span = _one(source, record, _TEXT)
    if span is None:
        return record
    place = source.randrange(span[0] + 1, span[1])
    extra = (
        b"x",
        b"=",
        b"\\n",
        b"\\",
        b"\\u00e9",
        b"\\ud83d\\ude00",
        b"\\ud83d",
        "é".encode(),
        b"\xe9",
        b"\n",
        b'"',
        b"\\u0000",
        b"$",
    )
    return record[:place] + source.choice(extra) + record[place:]


def _members(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    """Members in another order, twice, gone, renamed or new, somewhere in the text."""
    if record.count(b"[") + record.count(b"{") > _DEEP:
        return record
    try:
        tree = json.loads(record, object_pairs_hook=_Members)
    except ValueError:
        return record
    objects = list(_objects(tree))
    if not objects:
        return record
    found = source.choice(objects)
    match source.randrange(6):
        case 0:
            source.shuffle(found)
        case 1 if found:
            found.insert(source.randrange(len(found) + 1), source.choice(found))
        case 2 if found:
            found.pop(source.randrange(len(found)))
        case 3 if found:
            place = source.randrange(len(found))
            found[place] = (source.choice(found)[0], found[place][1])
        case 4:
            other = [pair for each in objects for pair in each if not isinstance(pair[1], list)]
            found.insert(source.randrange(len(found) + 1), source.choice(other) if other else ("x", 1))
        case _:
            found += [(f"m{number}", number) for number in range(source.choice((1, 3, 30, 70)))]
    return _written(tree).encode("utf-8", "surrogatepass")


class _Members(list[tuple[str, object]]):
    """An object as a list of members."""


def _objects(tree: object) -> Iterator[_Members]:
    if isinstance(tree, _Members):
        yield tree
        for _, value in tree:
            yield from _objects(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _objects(value)


def _written(tree: object) -> str:
    if isinstance(tree, _Members):
        return "{" + ",".join(f"{json.dumps(name)}:{_written(value)}" for name, value in tree) + "}"
    if isinstance(tree, list):
        return "[" + ",".join(map(_written, tree)) + "]"
    return json.dumps(tree, ensure_ascii=False)


def _deeper(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    """A token within brackets, a few or as many as the limits."""
    tokens = [span for span in _tokens(record) if record[span[0] : span[1]] not in b"[]{}:,"]
    if not tokens:
        return record
    start, end = source.choice(tokens)
    depth = source.choice((1, 2, 3, 62, 63, 64, 65, 66, 67, 68, 600))
    opening, closing = source.choice(((b"[", b"]"), (b'{"a":', b"}")))
    return record[:start] + opening * depth + record[start:end] + closing * depth + record[end:]


def _moved(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    """A token replaced by one from another text."""
    other = source.choice(others)
    ours, theirs = _tokens(record), _tokens(other)
    if not ours or not theirs:
        return record
    start, end = source.choice(theirs)
    return _put(record, source.choice(ours), other[start:end])


def _gone(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    return _put(record, source.choice(_tokens(record) or [(0, 0)]), b"")


_CHANGES: tuple[Callable[[random.Random, bytes, Sequence[bytes]], bytes], ...] = (
    *(_word, _word, _word, _members, _members, _members, _digit, _digit, _escaped, _escaped, _letter, _letter),
    *(_white, _spaced, _deeper, _moved, _moved, _gone),
)
