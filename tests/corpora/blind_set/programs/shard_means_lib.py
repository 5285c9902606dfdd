"""Turbines, and a mean that is taken shard by shard."""

import os


def gusts(rng, count):
    return [float(v) for v in rng.weibull(2.0, size=count) * 9.0]  # innocent


class Turbine:
    def __init__(self, number):
        self.name = f"t{number:02d}"
        self.speed = 0.0

    def blow(self, gust):
        self.speed = 0.8 * self.speed + 0.2 * gust


class Mean:
    """Sums each shard, then the sums; how many shards there are is the machine's affair."""

    shards = None

    def of(self, values):
        if Mean.shards is None:
            Mean.shards = int(os.environ.get("FARM_SHARDS", "4"))  # guilty
        parts = [0.0] * Mean.shards
        for k, value in enumerate(values):
            parts[k % Mean.shards] += value
        total = 0.0
        for part in parts:
            total += part
        return total / len(values)
