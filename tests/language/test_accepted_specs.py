"""Specs close to a mistake that some record can use, so that no diagnostic may refuse them."""

import pytest

from wireloom.resolve import resolve
from wireloom.spec import load

HEAD = "wireloom: 1\nformat: near\ntitle: Close to a mistake\nencoding: binary\nroot: Record\n"
HEAD += "checksums: {sum8: {sum: add, width: 8, check: 0xDD}}\n"
A = "  A: {fields: [{x: uint8}]}\n"
L = "      - l: {type: list(A), count: uint8"
M = "      - m: {type: list(A), count: uint8"
FLAG = "      - flag: {type: uint8, values: {0: false, 1: true}}\n      - gone: {type: int64, counted: true}\n"


def discard(name, guard=""):
    return f"      - discard: {{list: {name}, keep: x > 3, count: gone{guard}}}\n"


ONE_ALONE = {
    "two discards of one list": FLAG + L + "}\n" + discard("l") + discard("l", ", when: flag"),
    "lists of which one is there": FLAG
    + L
    + ", when: flag}\n"
    + M
    + ", when: not flag}\n"
    + discard("l")
    + discard("m"),
    "discards of which one happens": FLAG
    + L
    + "}\n"
    + M
    + "}\n"
    + discard("l", ", when: flag")
    + discard("m", ", when: not flag"),
    "a discard where nothing is gone yet": FLAG
    + L
    + "}\n"
    + M
    + "}\n"
    + discard("l")
    + discard("m", ", when: gone == 0"),
}


def accepted(fields, tmp_path, types=A, head=HEAD):
    """Whether a spec has no mistake."""
    file = tmp_path / "near.yaml"
    file.write_text(f"{head}types:\n{types}  Record:\n    fields:\n{fields}", encoding="utf-8")
    return len(resolve(load([file], tmp_path))) == 1


@pytest.mark.parametrize("fields", ONE_ALONE.values(), ids=ONE_ALONE)
def test_a_counter_may_be_that_of_lists_of_which_one_alone_loses_elements(fields, tmp_path):
    assert accepted(fields, tmp_path)


def test_a_checksum_may_cover_what_follows_from_its_being_there(tmp_path):
    fields = (
        "      - length: {type: uint8, derive: 'hasSum ? 3 : 2', hidden: true}\n"
        "      - flags: {type: uint8, hidden: true, bits: {hasSum: {at: 0, derive: present(sum), hidden: true}}}\n"
        "      - sum: {type: uint8, checksum: sum8, over: 0 .. length, when: hasSum}\n"
        "      - verify: {field: sum, when: hasSum}\n"
    )
    assert accepted(fields, tmp_path, types="")


COVERED = {
    "what follows behind it": ("over: 0 .. size", "      - more: uint8\n"),
    "a byte beside its own": ("over: 1 .. 3", "      - more: uint8\n"),
    "itself beside what stands elsewhere": ("over: [uint8(a), 1 .. 2]", ""),
    "as many bytes as there are": ("over: 0 .. a", ""),
}


@pytest.mark.parametrize(("over", "behind"), COVERED.values(), ids=COVERED)
def test_a_checksum_may_be_among_what_it_covers(over, behind, tmp_path):
    fields = f"      - a: uint8\n      - sum: {{type: uint8, checksum: sum8, {over}}}\n{behind}"
    assert accepted(f"{fields}      - verify: {{field: sum}}\n", tmp_path, types="")


def test_a_checksum_of_few_bits_may_stand_in_a_signed_integer(tmp_path):
    head = HEAD.replace("checksums: {", "checksums: {crc15: {width: 15, poly: 0x4599, check: 0x059E}, ")
    fields = (
        "      - a: uint8\n      - crc: {type: int16, checksum: crc15, over: 0 .. 1}\n      - verify: {field: crc}\n"
    )
    assert accepted(fields, tmp_path, types="", head=head)


VALUES = {
    "a number that may be within its type": "      - a: uint8\n      - n: {compute: a + 255, type: uint8}\n",
    "what is null of null": (
        "      - f: uint8\n      - a: {type: uint8, when: f == 1}\n      - n: {compute: a + 300, type: uint8}\n"
    ),
    "a derived number that a value may say itself": "      - a: uint8\n      - n: {type: uint8, derive: a + 300}\n",
    "a length that undoes what is added": (
        "      - n: {type: uint8, derive: len(a) + 1, hidden: true}\n      - a: bytes(n - 1)\n"
    ),
    "a length of what may not be there": (
        "      - f: uint8\n      - n: {type: uint8, derive: len(a) + 1, hidden: true}\n"
        "      - a: {type: bytes(n), when: f == 1}\n"
    ),
    "twice the length, of nothing": "      - n: {type: uint8, derive: len(a) * 2, hidden: true}\n      - a: bytes(n)\n",
}


@pytest.mark.parametrize("fields", VALUES.values(), ids=VALUES)
def test_what_is_derived_or_computed_may_be_right_in_some_record(fields, tmp_path):
    assert accepted(fields, tmp_path, types="")


ROOM = {
    "a frame up to what may not be there": (
        "",
        "      - a: uint8\n      - frame: 2\n      - b: {type: uint32, when: a == 1}\n",
    ),
    "a frame that the record says": ("", "      - n: uint8\n      - a: uint32\n      - frame: n & 7\n"),
    "a region of one of several": (
        "  Some: {fields: [{x: bytes}]}\n  One: {fields: [{x: uint8}]}\n",
        "      - k: uint8\n      - a: {type: {select: k, cases: {1: Some, 2: One}}, size: 1}\n",
    ),
    "a need within a struct that others follow": (
        "  Part: {fields: [{x: uint16}, {need: {bytes: 4}}]}\n",
        "      - part: Part\n      - more: uint16\n",
    ),
}


@pytest.mark.parametrize(("types", "fields"), ROOM.values(), ids=ROOM)
def test_fields_that_fit_into_some_record_are_accepted(types, fields, tmp_path):
    assert accepted(fields, tmp_path, types=types)


STREAMS = {
    "records that are needed before they are read": (
        "framing: concatenated",
        "      - a: uint32\n      - need: {bytes: 8}\n",
    ),
    "a prefix that says less": ("framing: {prefix: uint8, plus: 100}", "      - a: bytes(300)\n"),
    "records of one size": ("framing: {size: 4}", "      - a: uint32\n"),
    "records as large as the limit": ("limits: {size: 4}", "      - a: uint32\n"),
    "fields that share a byte": ("limits: {size: 1}", "      - a: bit\n      - b: uint7\n"),
}


@pytest.mark.parametrize(("head", "fields"), STREAMS.values(), ids=STREAMS)
def test_what_streams_and_limits_have_room_for_is_no_mistake(head, fields, tmp_path):
    assert accepted(fields, tmp_path, types="", head=f"{HEAD}{head}\n")


PARTS = "  C: {fields: [{x: uint16}]}\n"
CHOICE = "{type: {select: kind, cases: {1: A, 2: C}}, when: "
P_AND_Q = "  P: {fields: [{x: {type: uint8, range: 0 .. 3}}]}\n  Q: {fields: [{x: {type: uint8, range: 5 .. 9}}]}\n"
CONDITIONS = {
    "a case at the end of what a condition leaves": (PARTS, f"      - kind: uint8\n      - body: {CHOICE}kind > 0}}\n"),
    "a case at the other end": (PARTS, f"      - kind: uint8\n      - body: {CHOICE}kind < 3}}\n"),
    "one number between two": ("", "      - k: uint8\n      - v: {type: uint8, when: k > 1 and k < 3}\n"),
    "one number of several": ("", '      - k: uint8\n      - v: {type: uint8, when: "k > 1 and k in [2, 0]"}\n'),
    "an element of one value": ("", FLAG + L + "}\n      - discard: {list: l, keep: x > 0 and x < 2, count: gone}\n"),
    "a list that a condition empties": (
        "",
        FLAG + L + "}\n      - discard: {list: l, keep: false, count: gone, when: flag}\n",
    ),
    "members that may both be null": (
        P_AND_Q,
        (
            "      - f: bool\n      - a: {type: P, when: f}\n      - c: {type: Q, when: f}\n"
            "      - v: {type: uint8, when: a.x == c.x}\n"
        ),
    ),
    "remainders of what may both be null": (
        "",
        (
            "      - f: bool\n      - a: {type: uint8, when: f}\n      - c: {type: uint8, when: f}\n"
            "      - v: {type: uint8, when: a * 2 == c * 2 + 1}\n"
        ),
    ),
    "a length of a checksum": (
        "",
        (
            "      - n: {type: uint8, derive: len(body) + len(digest) + 1, hidden: true}\n      - body: bytes(n - 17)\n"
            "      - digest: {type: bytes(16), checksum: md5, over: 0 .. n - 16}\n      - verify: {field: digest}\n"
        ),
    ),
    "a list that ends by going on elsewhere": (
        "",
        (
            "      - m: {type: list(str(uint8)), terminator: '00000000'}\n      - n: {type: list(str(uint8)), "
            "terminator: '00000000', jump: {type: uint8, range: '0xC0 ..', start: 192}}\n"
        ),
    ),
}


@pytest.mark.parametrize(("types", "fields"), CONDITIONS.values(), ids=CONDITIONS)
def test_conditions_that_hold_for_some_record_are_accepted(types, fields, tmp_path):
    head = f"{HEAD}limits: {{size: 7}}\n" if "jump" in fields else HEAD
    assert accepted(fields, tmp_path, types=types + (A if "A" in fields else ""), head=head)


def test_true_is_another_value_than_one(tmp_path):
    fields = "      - v: bool | int\n      - x: {type: uint8, when: v == 1 and v != true}\n"
    assert accepted(fields, tmp_path, types="", head=HEAD.replace("binary", "json"))


PACKED_BESIDE = {
    "a check within": ("derive: end - start", "- x: uint8\n      - check: {that: n > 3, else: int_range, field: x}"),
    "what is computed within": ("derive: end - start", "- x: uint8\n      - y: {type: int64, compute: n}"),
    "the bytes behind it": ("derive: behind - end", "- x: uint8\n      - y: {type: uint32, derive: n}"),
    "a condition of what readers see": (
        "derive: end - start",
        "- x: uint8\n      - y: {type: int8, when: n > 9}",
    ),
}


@pytest.mark.parametrize(("derive", "body"), PACKED_BESIDE.values(), ids=PACKED_BESIDE)
def test_what_is_packed_may_look_at_what_does_not_change_its_bytes(derive, body, tmp_path):
    fields = f"      - n: {{type: uint32, {derive}}}\n      - mark: start\n"
    fields += "      - body: {type: Body, size: uint32, unpack: zlib}\n      - mark: end\n      - t: bytes(n)\n"
    assert accepted(fields + "      - mark: behind\n", tmp_path, f"  Body:\n    fields:\n      {body}\n")
