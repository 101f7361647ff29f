"""The contests of two public protocols: DNS messages and Kafka record batches."""

import importlib
from collections.abc import Callable, Sequence

import pyarrow as pa

import engine_data as data
import protocol_peers as peers
from contest import Contestant, Work
from contests import construct, copying, within

_BATCH = 100  # records of a batch, each counted as a message


def works(count: int) -> Sequence[Callable[[], Work]]:
    """Both contests; each makes its messages when it is called."""
    return (lambda: dns(count), lambda: kafka(count))


def decoder(name: str) -> Callable[[pa.Array], pa.StructArray]:
    """The public decode function, with addresses and times in column form; fails if the parser is used."""
    module = importlib.import_module(f"wireloom_formats.{name}")

    def decode(array: pa.Array) -> pa.StructArray:
        found = module.decode(array)
        if found.errors.null_count != len(found.errors) or found.reread:
            raise data.DifferenceError(f"{name}: the engine did not read everything itself")
        return found.records

    return decode


def dns(count: int) -> Work:
    """Answers of six types, with compressed names; the encoder writes names in full."""
    messages = peers.dns_messages(count)
    array = pa.array(messages, pa.binary())
    decode = decoder("dns_message")
    ours, part = decode(array), messages[: max(1, count // 100)]
    theirs = peers.dnspython(part, ours.type)
    for name in theirs.column_names:
        if not ours.field(name)[: len(part)].equals(theirs.column(name).combine_chunks()):
            raise data.DifferenceError(name)
    return Work(
        "DNS messages",
        count,
        array.nbytes / count,
        (
            Contestant("engine, all columns", lambda: decode(array)),
            Contestant("dnspython + pyarrow", lambda: peers.dnspython(part, ours.type), len(part) / count, target=10),
            construct("dns_message", messages, 500, 100),
            copying(array, ours),
        ),
    )


def kafka(count: int) -> Work:
    """Batches of a hundred records, their checksums verified."""
    batches = peers.kafka_batches(max(20, count // _BATCH))
    array = pa.array(batches, pa.binary())
    decode = decoder("kafka_record_batch")
    ours, part = decode(array), batches[: max(1, len(batches) // 10)]
    theirs = peers.kafka_python(part)
    for name in ("key", "value"):
        if not within(ours, ("records", name))[: theirs.num_rows].equals(theirs.column(name).combine_chunks()):
            raise data.DifferenceError(name)
    return Work(
        "Kafka record batches of 100",
        len(batches),
        array.nbytes / len(batches),
        (
            Contestant("engine, all columns", lambda: decode(array)),
            Contestant("kafka-python + pyarrow", lambda: peers.kafka_python(part), len(part) / len(batches), target=10),
            construct("kafka_record_batch", batches, 100, 100),
            copying(array, ours),
        ),
    )
