"""The codecs pass vectors of other implementations, and the conformance runner itself works."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import conformance

pytestmark = pytest.mark.thorough

FAMILIES = ("aerospike", "kpl", "databus")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_vector_passes(family, vectors: Path):
    failed = [verdict for verdict in conformance.verdicts(vectors / family) if not verdict.passed]
    assert not failed, "\n".join(f"{verdict.name}: {verdict.findings}" for verdict in failed)


@pytest.fixture
def copied(vectors: Path, tmp_path: Path):
    """A family's vectors, copied where the test can spoil them."""

    def copy(family: str) -> Path:
        return Path(shutil.copytree(vectors / family, tmp_path / family))

    return copy


def spoil(folder: Path, change) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")


def first(vectors: list[dict[str, Any]], **members: object) -> dict[str, Any]:
    return next(vector for vector in vectors if all(vector.get(name) == value for name, value in members.items()))


def failures(folder: Path) -> list[str]:
    return [verdict.name for verdict in conformance.verdicts(folder) if not verdict.passed]


def test_another_expected_value_of_aerospike_fails(copied):
    folder = copied("aerospike")

    def change(manifest):
        first(manifest["vectors"], outcome="ok", kind="record")["expected"]["gen"] = 5

    spoil(folder, change)
    assert len(failures(folder)) == 1


def test_another_expected_error_of_aerospike_fails(copied):
    folder = copied("aerospike")

    def change(manifest):
        first(manifest["vectors"], outcome="error", error="bad_version")["error"] = "bad_arity"

    spoil(folder, change)
    assert len(failures(folder)) == 1


def test_a_good_message_called_an_error_fails(copied):
    folder = copied("aerospike")

    def change(manifest):
        first(manifest["vectors"], outcome="ok", kind="key").update(outcome="error", error="truncated")

    spoil(folder, change)
    assert len(failures(folder)) == 1


def test_another_key_of_a_user_record_fails(copied):
    folder = copied("kpl")

    def change(manifest):
        vector = next(v for v in manifest["vectors"] if v["kcl"].get("records"))
        vector["kcl"]["records"][0]["partition_key"] = {"b64": "b3RoZXI="}

    spoil(folder, change)
    assert len(failures(folder)) == 1


def test_another_class_of_a_kinesis_record_fails(copied):
    folder = copied("kpl")

    def change(manifest):
        first(manifest["vectors"], **{"class": "corrupt:undecodable"})["class"] = "corrupt:missing_required"

    spoil(folder, change)
    assert len(failures(folder)) == 1


@pytest.mark.parametrize("accessor", ["sequence", "opcode", "headerCrc", "value_hex", "isErrorEvent", "schemaVersion"])
def test_another_accessor_value_fails(accessor, copied):
    folder = copied("databus")

    def change(manifest):
        manifest["cases"][0]["expected"][accessor] = -999

    spoil(folder, change)
    assert len(failures(folder)) == 1


def test_another_offset_in_a_stream_fails(copied):
    folder = copied("databus")

    def change(manifest):
        manifest["streams"][0]["events"][3]["offset"] += 1

    spoil(folder, change)
    assert failures(folder) == [json.loads((folder / "manifest.json").read_text())["streams"][0]["name"]]


def test_another_checksum_value_fails(copied):
    folder = copied("databus")

    def change(manifest):
        manifest["crc"][5]["crc"] ^= 1

    spoil(folder, change)
    assert len(failures(folder)) == 1


def test_another_json_line_fails(copied):
    folder = copied("databus")
    path = folder / "events.json.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"sequence":4005', b'"sequence":4004', 1))
    assert len(failures(folder)) == 1


def test_a_changed_file_fails(copied):
    folder = copied("kpl")
    vector = json.loads((folder / "manifest.json").read_text())["vectors"][0]
    (folder / vector["file"]).write_bytes(b"something else")
    assert failures(folder) == [vector["name"]]


def test_a_missing_file_fails(copied):
    folder = copied("kpl")
    vector = json.loads((folder / "manifest.json").read_text())["vectors"][0]
    (folder / vector["file"]).unlink()
    assert failures(folder) == [vector["name"]]


def test_no_manifest_fails(tmp_path: Path, capsys):
    assert conformance.main([str(tmp_path)]) == 1
    assert "no manifest.json" in capsys.readouterr().out


def test_an_unknown_manifest_fails(tmp_path: Path, capsys):
    (tmp_path / "manifest.json").write_text('{"vectors": [{"what": "else"}]}')
    assert conformance.main([str(tmp_path)]) == 1
    assert "no known form" in capsys.readouterr().out


def test_a_broken_manifest_fails(tmp_path: Path, capsys):
    (tmp_path / "manifest.json").write_text("{")
    assert conformance.main([str(tmp_path)]) == 1
    assert "cannot be read" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("family", "list", "member"),
    [
        ("aerospike", "vectors", "outcome"),
        ("aerospike", "vectors", "layout"),
        ("aerospike", "vectors", "file"),
        ("kpl", "vectors", "class"),
        ("kpl", "vectors", "file"),
        ("databus", "cases", "name"),
        ("databus", "crc", "crc"),
    ],
)
def test_a_vector_that_says_too_little_fails_alone(family, list, member, copied):
    folder = copied(family)
    manifest = json.loads((folder / "manifest.json").read_text())
    alone = manifest[list][:3]
    del alone[1][member]
    rest = {name: [] for name in ("cases", "streams", "crc") if name in manifest}
    (folder / "manifest.json").write_text(json.dumps({"vectors": alone} if list == "vectors" else rest | {list: alone}))
    found = [verdict for verdict in conformance.verdicts(folder) if not verdict.name.startswith("events.")]
    assert [verdict.passed for verdict in found] == [True, False, True]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_vector_that_is_no_object_fails_alone(family, copied):
    folder = copied(family)

    def change(manifest):
        manifest["cases" if family == "databus" else "vectors"].insert(0, 5)

    spoil(folder, change)
    assert failures(folder) == ["[0]"]


def test_a_manifest_that_cannot_be_judged_leaves_the_others(copied, vectors: Path, capsys):
    folder = copied("databus")
    spoil(folder, lambda manifest: manifest.update(crc=5))
    shutil.copytree(vectors / "kpl", folder / "kpl")
    (folder / "a").mkdir()
    (folder / "a" / "manifest.json").write_text("[" * 100_000)
    assert conformance.main([str(folder)]) == 1
    out = capsys.readouterr().out
    assert "cannot be judged: TypeError" in out
    assert "kpl: " in out
    assert "manifest: 0/1" in out


def test_a_property_of_a_file_that_is_elsewhere_says_nothing(copied):
    folder = copied("aerospike")

    def change(manifest):
        manifest["properties"] = ["every proper prefix of elsewhere.msgpack must fail with `truncated`", 5]

    spoil(folder, change)
    assert failures(folder) == []


def test_a_checksum_whose_input_is_elsewhere_is_not_counted(copied):
    folder = copied("databus")

    def change(manifest):
        first(manifest["crc"], len=10240)["input_sha256"] = "0" * 64

    before = len(list(conformance.verdicts(folder)))
    spoil(folder, change)
    assert failures(folder) == []
    assert len(list(conformance.verdicts(folder))) == before - 1


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda stream: stream.update(walkEnd="PARTIAL at 7173"), None),
        (lambda stream: stream.update(numEvents=49), "find 50 events and 0 broken off, the original 49"),
        (lambda stream: stream["events"].pop(), "counts 50 events and describes 49"),
        (lambda stream: stream["events"][0].update(scanEvent="ERR"), "accept what the original finds OK/ERR at 0"),
    ],
)
def test_a_stream_is_what_the_original_walked_through(change, finding, copied):
    folder = copied("databus")
    spoil(folder, lambda manifest: change(manifest["streams"][0]))
    found = [verdict.findings for verdict in conformance.verdicts(folder) if not verdict.passed]
    assert [finding in " ".join(each) for each in found] == ([] if finding is None else [True])


@pytest.mark.parametrize("number", [49, 50])
def test_an_original_may_count_the_event_where_its_walk_broke_off(number, copied):
    folder = copied("databus")

    def change(manifest):
        stream = manifest["streams"][0]
        path = folder / stream["file"]
        path.write_bytes(path.read_bytes()[:-1])
        del stream["sha256"]
        stream["events"] = stream["events"][:number]
        if number == 50:
            stream["events"][-1] |= {"scanEvent": "PARTIAL", "expected": {}}
        stream |= {"length": stream["length"] - 1, "numEvents": number, "walkEnd": "PARTIAL"}
        manifest.update(streams=[stream], cases=[], crc=[])
        for lines in folder.glob("*.jsonl"):
            lines.unlink()

    spoil(folder, change)
    assert failures(folder) == []


@pytest.mark.parametrize("outcome", ["records_3", "partial_1_of_4", "passthrough", "vanished"])
def test_an_outcome_that_cannot_be_fails(outcome, copied):
    folder = copied("kpl")

    def change(manifest):
        first(manifest["vectors"], name="c01_kpl_with_ehks")["kcl"]["outcome"] = outcome

    spoil(folder, change)
    assert failures(folder) == ["c01_kpl_with_ehks"]


@pytest.mark.parametrize(("member", "word"), [("json_schema", "perhaps"), ("layout", "new")])
def test_an_unknown_word_fails(member, word, copied):
    folder = copied("aerospike")

    def change(manifest):
        first(manifest["vectors"], outcome="ok", encoding="json")[member] = word

    spoil(folder, change)
    assert len(failures(folder)) == 1


def test_another_type_of_a_bin_fails(copied):
    folder = copied("aerospike")

    def change(manifest):
        first(manifest["vectors"], outcome="ok", kind="record")["expected"]["bins"][0]["type"] = "BLOB"

    spoil(folder, change)
    assert len(failures(folder)) == 1


# --- Kinesis records that only few producers write -----------------------------------------------------------------


def delimited(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2, len(content)]) + content


def user_record(key_index: bytes, hash_key_index: bytes = b"", rest: bytes = b"") -> bytes:
    return delimited(
        3, b"\x08" + key_index + (b"\x10" + hash_key_index if hash_key_index else b"") + b"\x1a\x00" + rest
    )


LONG_TAG = b"\x8a" + b"\x80" * 8 + b"\x00"  # field 1, delimited, in ten bytes
LONG_ONE = b"\x81" + b"\x80" * 8 + b"\x00"
KEY_A = {"b64": "YQ=="}
IN_LOWER = {"lower_half_records": 1, "upper_half_records": 0}
NONE_IN = {"lower_half_records": 0, "upper_half_records": 0}


@pytest.mark.parametrize(
    ("message", "returned", "keys", "halves"),
    [
        (LONG_TAG + LONG_ONE + b"a" + user_record(b"\x00"), ("aggregated", "records_1"), [(KEY_A, None)], IN_LOWER),
        (
            delimited(1, b"a") + delimited(2, b"+5") + user_record(b"\x00", b"\x00"),
            ("aggregated", "records_1"),
            [(KEY_A, {"b64": "KzU="})],
            IN_LOWER,
        ),
        (
            delimited(1, b"a") + delimited(2, b"5" * 120) + user_record(b"\x00", b"\x00"),
            ("aggregated", "partial_0_of_1"),
            [],
            NONE_IN,
        ),
        (
            delimited(1, b"a") + delimited(2, b"x") + user_record(b"\x00", b"\x00") + user_record(b"\x07"),
            ("corrupt:pk_index", "partial_0_of_2"),
            [],
            NONE_IN,
        ),
        (  # Java may give another number of replacements than Python
            delimited(1, b"\xf0\x9f\xff") + user_record(b"\x00"),
            ("aggregated", "records_1"),
            [({"b64": "77+977+977+9"}, None)],
            NONE_IN,
        ),
        (
            delimited(1, b"a") + user_record(b"\x00", rest=delimited(4, delimited(1, b"\xff"))),
            ("aggregated", "records_1"),
            [(KEY_A, None)],
            IN_LOWER,
        ),
        (
            delimited(1, b"a") + user_record(b"\x00", rest=b"\x2b\x33\x34\x2c"),
            ("aggregated", "records_1"),
            [(KEY_A, None)],
            IN_LOWER,
        ),
    ],
)
def test_a_rare_aggregate_is_judged_by_the_rules_of_its_format(message, returned, keys, halves, tmp_path: Path):
    name, outcome = returned
    digest = hashlib.md5(message, usedforsecurity=False).digest()
    (tmp_path / "record.bin").write_bytes(b"\xf3\x89\x9a\xc2" + message + digest)
    records = [
        {"partition_key": key, "explicit_hash_key": hash_key, "sub": sub, "aggregated": True, "data_b64": ""}
        for sub, (key, hash_key) in enumerate(keys)
    ]
    kcl = {"outcome": outcome, "records": records}
    vector = {"name": "rare", "file": "record.bin", "class": name, "kcl": kcl, "kcl_hash_range": halves}
    (tmp_path / "manifest.json").write_text(json.dumps({"vectors": [vector]}))
    assert [verdict.findings for verdict in conformance.verdicts(tmp_path)] == [()]


def test_failures_say_what_was_expected_and_what_came(copied, capsys):
    folder = copied("databus")

    def change(manifest):
        del manifest["streams"]
        manifest["crc"] = []
        manifest["cases"] = manifest["cases"][:2]
        manifest["cases"][1]["expected"]["sequence"] = 1

    spoil(folder, change)
    assert conformance.main([str(folder)]) == 1
    out = capsys.readouterr().out
    assert "sequence: expected 1, found 4006" in out
    assert "databus-events: 1/2\n" in out
