"""The files that the data source finds are those that Spark finds."""

import os
import subprocess
import sys

import pytest

from conftest import GENERATED
from wireloom.bundle import bundle
from wireloom.failures import DataError, MisuseError
from wireloom.ingest.files.finding import File, Listing, Place, glob_pattern, place
from wireloom.spark.source import log as source_log
from wireloom.spark.source.log import FileLog


@pytest.fixture
def tree(tmp_path):
    for name in ("a.bin", "b.bin", "_c.bin", ".d.bin", "e.bin._COPYING_", "deep/f.bin", "_deep/g.bin", "day=1/h.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "x [1]*?.bin").write_bytes(b"x")
    return tmp_path


def names(tree, *paths, **options):
    return [file.path.removeprefix(f"file:{tree}/") for file in Listing(paths, **options).files()]


def test_a_directory_is_its_visible_files(tree):
    assert names(tree, str(tree)) == ["a.bin", "b.bin", "x [1]*?.bin"]
    assert names(tree, f"file:{tree}") == names(tree, f"file://{tree}/") == names(tree, str(tree))


def test_a_tree_is_taken_on_request(tree):
    assert names(tree, str(tree), recursive=True) == ["a.bin", "b.bin", "day=1/h.bin", "deep/f.bin", "x [1]*?.bin"]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.bin", ["a.bin", "b.bin", "x [1]*?.bin"]),
        ("[a-b].bin", ["a.bin", "b.bin"]),
        ("[^a].bin", ["b.bin"]),
        ("{a,b,zz}.bin", ["a.bin", "b.bin"]),
        ("?.bin", ["a.bin", "b.bin"]),
        ("_?.bin", ["_c.bin"]),
        ("d*/*.bin", ["day=1/h.bin", "deep/f.bin"]),
        ("d*", ["day=1/h.bin", "deep/f.bin"]),
        ("{a,deep}*", ["a.bin", "deep/f.bin"]),
        ("x [1]*?.bin", ["x [1]*?.bin"]),
        (r"x \[1\]\*\?.bin", ["x [1]*?.bin"]),
    ],
)
def test_globs_are_hadoops(tree, glob, found):
    assert names(tree, f"{tree}/{glob}") == found


def test_files_are_taken_once_by_the_pattern_of_their_names(tree):
    assert names(tree, str(tree), f"{tree}/a.bin", f"{tree}/*") == names(tree, f"{tree}/*", f"{tree}/a.*")
    assert names(tree, str(tree), name_pattern="{a,f}.*", recursive=True) == ["a.bin", "deep/f.bin"]


def test_what_is_not_there_and_what_pyarrow_cannot_reach_is_said(tree):
    with pytest.raises(MisuseError, match=r"there is no .*/none"):
        names(tree, f"{tree}/none")
    with pytest.raises(MisuseError, match=r"there is no .*/z\*"):
        names(tree, f"{tree}/z*")
    with pytest.raises(MisuseError, match=r"s3a.*use s3:// with pyarrow"):
        names(tree, "s3a://bucket/key")
    with pytest.raises(MisuseError, match="is not a valid glob"):
        glob_pattern("{a")


def test_a_uri_is_shown_without_what_is_secret():
    at = place("s3://key:secret@bucket/a/b?endpoint_override=127.0.0.1:9&scheme=http")
    assert (at.path, at.shown) == ("bucket/a/b", "s3://bucket/a/b")
    assert Place("hdfs://user@host:8020/a", "/a/b").shown == "hdfs://host:8020/a/b"


@pytest.mark.integration
def test_the_zip_for_executors_has_what_spark_looks_for(tmp_path):
    made = bundle(GENERATED, "wireloom_formats", tmp_path)
    code = "import pyspark_wireloom as found; print(found.__file__, found.DefaultSource.name())"
    environment = {**os.environ, "PYTHONPATH": str(made.zip)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [f"{made.zip}/pyspark_wireloom/__init__.py", "wireloom"]


# --- the list of a stream ------------------------------------------------------------------------------------------


def files(*numbers):
    return [File(Place("", f"/in/{number}"), number, 1) for number in numbers]


def taken(log):
    return [file.size for file in log.files(0)]


def test_a_list_keeps_its_numbers_when_it_is_merged_and_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(source_log, "MERGE", 3)
    monkeypatch.setattr(source_log, "ENTRIES", 4)
    log = FileLog(Place("", str(tmp_path / "log")))
    for number in range(40):
        log.append(files(*range(number * 5, number * 5 + 5)))
        assert FileLog.opened(log.folder, 0).segments == log.segments
    assert taken(log) == list(range(200))
    assert [file.size for file in log.files(123)] == list(range(123, 200))
    assert len(list((tmp_path / "log").iterdir())) == len(log.segments) < 12
    assert len(log.paths) == 200


def test_a_list_survives_being_killed_at_any_step(tmp_path, monkeypatch):
    """The process may die at every file operation; afterwards a prefix of the files is in the list."""
    monkeypatch.setattr(source_log, "MERGE", 2)
    monkeypatch.setattr(source_log, "ENTRIES", 2)
    steps, dies_at = [0], [0]

    class KilledError(Exception):
        pass

    def step(act):
        def acted(*given, **named):
            steps[0] += 1
            if steps[0] == dies_at[0]:
                raise KilledError
            return act(*given, **named)

        return acted

    for name in ("link", "fsync"):
        monkeypatch.setattr(source_log.os, name, step(getattr(source_log.os, name)))
    monkeypatch.setattr(source_log.Path, "unlink", step(source_log.Path.unlink))
    for moment in range(1, 80):
        folder = Place("", str(tmp_path / str(moment)))
        done = 0
        steps[0], dies_at[0] = 0, moment
        log = FileLog(folder)
        try:
            for number in range(0, 20, 2):
                log.append(files(number, number + 1))
                done = number + 2
        except KilledError:
            pass
        found = FileLog.opened(folder, done)
        assert taken(found) == list(range(found.count))
        assert found.count in (done, done + 2)
        dies_at[0] = 0
        found.append(files(*range(found.count, 30)))
        assert taken(FileLog.opened(folder, 30)) == list(range(30))
    assert steps[0] > 30


def test_a_second_process_on_one_list_is_noticed(tmp_path):
    first, second = (FileLog(Place("", str(tmp_path))) for _ in range(2))
    first.append(files(1))
    with pytest.raises(DataError, match="another process runs the same stream"):
        second.append(files(2))


def test_a_list_that_was_lost_is_said(tmp_path):
    with pytest.raises(DataError, match=r"has read 3 files, but its list in .* has 0"):
        FileLog.opened(Place("", str(tmp_path / "gone")), 3)
