"""An event bus: producers write MessagePack frames to partitions, consumers bill and index them."""

import random
import zlib
from dataclasses import dataclass, field

import msgpack

PARTITIONS = 5
LABELS = ["urgent", "gift", "fragile", "bulk", "export", "repeat", "cold", "vip"]
CITIES = ["Lund", "Turku", "Narvik", "Ribe", "Gdynia"]


@dataclass
class Order:
    number: int
    city: str
    cents: int
    labels: set = field(default_factory=set)


def pack_extra(value):
    """What MessagePack does not know by itself."""
    if isinstance(value, Order):
        return {"n": value.number, "c": value.city, "p": value.cents, "l": value.labels}
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError(type(value).__name__)


def encode(value):
    return msgpack.packb(value, default=pack_extra, use_bin_type=True)


class Partition:
    def __init__(self, index):
        self.index = index
        self.frames = []
        self.offset = 0

    def append(self, frame):
        self.frames.append(frame)

    def poll(self, limit):
        batch = self.frames[self.offset:self.offset + limit]
        self.offset += len(batch)
        return batch


class Broker:
    def __init__(self):
        self.partitions = [Partition(i) for i in range(PARTITIONS)]
        self.cities = set()

    def publish(self, order):
        frame = encode(order)
        self.cities.add(order.city)
        self.partitions[zlib.crc32(frame) % PARTITIONS].append(frame)


class Billing:
    """Every tenth order that a consumer sees is free of postage; it sees one partition after the other."""

    def __init__(self):
        self.seen = 0
        self.cents = {city: 0 for city in CITIES}
        self.labels = {}

    def consume(self, frame):
        order = msgpack.unpackb(frame)
        self.seen += 1
        postage = 0 if self.seen % 10 == 0 else 390
        self.cents[order["c"]] += order["p"] + postage
        for label in order["l"]:
            self.labels[label] = self.labels.get(label, 0) + 1


def produce(broker, count):
    for number in range(count):
        labels = {LABELS[random.randrange(len(LABELS))] for _ in range(random.randrange(5))}
        broker.publish(Order(number, random.choice(CITIES), random.randrange(500, 9000), labels))


def main():
    broker, billing = Broker(), Billing()
    produce(broker, 120)
    total = sum(len(p.frames) for p in broker.partitions)
    print(f"published {total} orders from {len(broker.cities)} cities")
    rounds = 0
    while any(p.offset < len(p.frames) for p in broker.partitions):
        rounds += 1
        for partition in broker.partitions:
            for frame in partition.poll(6):
                billing.consume(frame)
    print("labels:", ", ".join(f"{label} {n}" for label, n in sorted(billing.labels.items())))
    print(f"invoiced {sum(billing.cents.values()) / 100:.2f}")
    for city in CITIES:
        print(f"  {city:<7} {billing.cents[city] / 100:10.2f}")


main()
