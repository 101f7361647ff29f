"""Sends and receives messages of a topic with the C client, which reports the place of each message."""

from collections.abc import Iterable
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from integration.kafka_broker import LARGEST

SECONDS = 120
AT_ONCE = 50_000  # messages that may wait in the producer


@dataclass(frozen=True, slots=True)
class Sent:
    """A message with its partition and offset."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


def send(address: str, topic: str, messages: Iterable[tuple[bytes | None, bytes | None]]) -> list[Sent]:
    """Send (key, value) pairs, and wait until the broker has all; raises KafkaException if it refuses one."""
    sent: list[Sent] = []
    refused: list[KafkaError] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            refused.append(error)
        else:
            sent.append(Sent(message.partition(), message.offset(), message.key(), message.value()))

    producer = Producer(
        {
            "bootstrap.servers": address,
            "enable.idempotence": True,
            "message.max.bytes": LARGEST,
            "queue.buffering.max.kbytes": 1 << 18,
            "linger.ms": 20,
            "log_level": 0,
        }
    )
    for count, (key, value) in enumerate(messages):
        producer.produce(topic, value, key, on_delivery=delivered)
        if count % AT_ONCE == AT_ONCE - 1:
            producer.flush(SECONDS)
    waiting = producer.flush(SECONDS)
    if waiting or refused:
        raise KafkaException(f"{waiting} messages are not delivered, {len(refused)} refused: {refused[:1]}")
    return sent


def received(address: str, topic: str, partitions: int) -> list[Sent]:
    """All messages of the topic."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "test",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )
    found: list[Sent] = []
    ended: set[int] = set()
    try:
        consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
        while len(ended) < partitions:
            message = consumer.poll(SECONDS)
            if message is None:
                raise KafkaException(f"no answer within {SECONDS} s")
            if message.error() is None:
                found.append(Sent(message.partition(), message.offset(), message.key(), message.value()))
            elif message.error().code() == KafkaError._PARTITION_EOF:
                ended.add(message.partition())
            else:
                raise KafkaException(message.error())
    finally:
        consumer.close()
    return found
