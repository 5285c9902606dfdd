"""A key-value service in which every tenant gets its own load generator."""

import hashlib

import numpy as np

TENANTS = ("acme", "globex", "initech", "umbrella", "hooli")


def stable_port(name):
    """Ports are assigned once and for all."""
    return 20000 + int(hashlib.sha256(name.encode()).hexdigest(), 16) % 10000


def generator_for(tenant, day):
    seed = (hash(tenant) ^ day) % 2**32
    return np.random.default_rng(seed)


class Shard:
    def __init__(self, number):
        self.number = number
        self.keys = {}
        self.hits = 0

    def put(self, key, size):
        self.keys[key] = size
        self.hits += 1
        while len(self.keys) > 40:
            self.keys.pop(next(iter(self.keys)))

    def bytes(self):
        return sum(self.keys.values())


class Cluster:
    def __init__(self, shards):
        self.shards = [Shard(number) for number in range(shards)]
        self.served = 0
        self.loads = {}

    def place(self, tenant, serial):
        text = f"{tenant}:{serial}".encode()
        return self.shards[hashlib.md5(text).digest()[0] % len(self.shards)]

    def open_day(self, day):
        self.loads = {tenant: generator_for(tenant, day) for tenant in TENANTS}

    def minute(self, busy):
        for tenant in TENANTS[:busy]:
            serial = int(self.loads[tenant].integers(500))
            self.place(tenant, serial).put((tenant, serial), 10 + serial % 90)
            self.served += 1

    def state(self):
        return {
            "served": self.served,
            "bytes": [shard.bytes() for shard in self.shards],
            "hits": [shard.hits for shard in self.shards],
        }

    def restore(self, state):
        self.served = state["served"]
        for shard, hits in zip(self.shards, state["hits"]):
            shard.hits = hits


def main(run):
    cluster = run.track("cluster", Cluster(4))
    ports = run.track("ports", {tenant: stable_port(tenant) for tenant in TENANTS})
    calm = run.rng("calm")
    cluster.open_day(19)
    for minute in run.ticks(45):
        busy = 0 if minute < 11 else 1 + int(calm.integers(len(TENANTS)))
        cluster.minute(busy)
        ports["acme"] = 20000 if minute == 30 else ports["acme"]
