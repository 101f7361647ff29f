"""Measures how cost grows with the number and size of messages, and the peak memory of a batch."""

import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

import engine_data as data
from contest import progress, timed
from engine_data import decoder

_ROUNDS = 5
_DISTINCT = 10_000  # distinct messages; more are repetitions
_TOTAL = 40_000_000  # total bytes when the message size varies
COUNTS = (1_000, 10_000, 100_000, 1_000_000, 2_000_000)
SIZES = (50, 500, 5_000, 50_000)
_FORMATS = {"aerospike_msgpack": data.aerospike, "databus_event": data.databus, "kpl_record": data.kpl}


@dataclass(frozen=True, slots=True)
class Point:
    """A measurement: the number and size of messages, and the time."""

    messages: int
    bytes: int
    seconds: float

    @property
    def each(self) -> float:
        """Nanoseconds per message."""
        return self.seconds / self.messages * 1e9


@dataclass(frozen=True, slots=True)
class Peak:
    """Memory in bytes: input, output, and the peak of the process."""

    format: str
    input: int
    output: int
    peak: int

    @property
    def limit(self) -> int:
        """Input and twice the output."""
        return self.input + 2 * self.output


def by_count() -> list[Point]:
    """Databus events, a thousand to two million of them."""
    some = pa.array(data.databus(_DISTINCT), pa.binary())
    decode = decoder("databus_event")
    points = []
    for count in COUNTS:
        progress(f"{count} events")
        array = pa.concat_arrays([some] * (count // _DISTINCT)) if count > _DISTINCT else some[:count]
        size = array.buffers()[2].size * count // max(count, _DISTINCT)
        rounds = max(_ROUNDS, 20_000 // count)
        points.append(Point(count, size, statistics.median(timed(lambda a=array: decode(a)) for _ in range(rounds))))
    return points


def by_size() -> list[Point]:
    """Aerospike writes with one bin, of 50 bytes to 50 KB."""
    decode, points = decoder("aerospike_msgpack"), []
    for size in SIZES:
        progress(f"messages of {size} bytes")
        messages = data.aerospike_sized(_TOTAL // size // 10, size)
        array = pa.array(messages * 10, pa.binary())
        seconds = statistics.median(timed(lambda a=array: decode(a)) for _ in range(_ROUNDS))
        points.append(Point(len(array), sum(map(len, messages)) * 10, seconds))
    return points


def peaks(count: int) -> list[Peak]:
    """Each format in a process of its own."""
    found = []
    for name, make in _FORMATS.items():
        progress(f"peak memory of {name}")
        array = pa.array(make(count if name != "kpl_record" else count // 240), pa.binary())
        with tempfile.TemporaryDirectory() as folder:
            for place, buffer in enumerate(array.buffers()[1:]):
                (Path(folder) / str(place)).write_bytes(buffer)
            command = [sys.executable, __file__, name, folder, str(len(array))]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found.append(Peak(name, *json.loads(answer)))
    progress("")
    return found


def _measured(name: str, folder: str, count: int) -> list[int]:
    """Input, output and peak of one decode, in this process."""
    decode = decoder(name)
    buffers = [pa.py_buffer((Path(folder) / str(place)).read_bytes()) for place in range(2)]
    array = pa.Array.from_buffers(pa.binary(), count, [None, *buffers])
    decode(array[:10])  # imports and compiles everything first
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    records = decode(array)
    return [array.nbytes, records.nbytes, array.nbytes + _status("VmHWM") - before]


def _status(name: str) -> int:
    """A line of the process's status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) * 1024


if __name__ == "__main__":
    print(json.dumps(_measured(sys.argv[1], sys.argv[2], int(sys.argv[3]))))  # noqa: T201 - the parent reads it
