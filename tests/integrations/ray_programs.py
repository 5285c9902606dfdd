"""Ten small Ray programs with one planted difference each, and one without; each is called with a variant.

A label says where the difference begins: the rank, its tick (0 is the constructor of an actor, and the one tick of a
task), and the kind of message or state. Where the planted thing follows from the machine's timing, the variant (0 or 1)
takes its part, so that two runs differ for certain.
"""

from __future__ import annotations

import os
import time
import uuid
from typing import Any

import numpy as np
import ray

from twice.integrations.ray import remote


class Scaler:
    """Multiplies, and counts; draws from the system at the call that it is told to."""

    def __init__(self, factor: float, plant_at: int = 0) -> None:
        self.factor, self.plant_at, self.calls = factor, plant_at, 0

    def scale(self, value: float) -> float:
        self.calls += 1
        noise = int.from_bytes(os.urandom(4), "big") if self.calls == self.plant_at else 0
        return self.factor * value + noise


class Collector:
    """Keeps what it is given, in the order in which it comes."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def add(self, value: Any) -> int:
        self.values.append(value)
        return len(self.values)


class Producer:
    """Sends numbers to a collector of its own accord."""

    def __init__(self, collector: Any, first: int) -> None:
        self.collector, self.first = collector, first

    def produce(self, count: int) -> None:
        if count > 1:
            time.sleep(float(os.environ["AFTER_S"]))
        for at in range(count):
            ray.get(self.collector.add.remote(self.first + at))


class Sampler:
    """Draws from a generator that no seed reaches."""

    def draw(self) -> float:
        return float(np.random.default_rng().random())


class Relay:
    """Asks a sampler, and hands on."""

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler

    def forward(self, gain: float) -> float:
        return gain * float(ray.get(self.sampler.draw.remote()))


class Slow:
    """Takes something unstable into its state, and shows it three calls later."""

    def __init__(self) -> None:
        self.seen, self.mark = 0, 0

    def step(self) -> int:
        self.seen += 1
        if self.seen == 2:
            self.mark = os.getpid()
        return self.mark if self.seen > 4 else 0


class Words:
    """Joins words by way of a set."""

    def join(self, text: str) -> str:
        return " ".join(set(text.split()))


def square(value: float) -> float:
    return value * value


def stamp(value: int) -> int:
    return time.time_ns() if value == 1 else value


def wait_for(value: int) -> int:
    time.sleep(float(os.environ["AFTER_S"]))
    return value


def fail(value: int) -> None:
    raise ValueError(f"{value} of {uuid.uuid4()}")


def entropy_in_actor(variant: int) -> None:
    scalers = [remote(Scaler).remote(at + 2.0, 3 if at == 1 else 0) for at in range(3)]
    value = 1.0
    for _ in range(4):
        for scaler in scalers:
            value = ray.get(scaler.scale.remote(value)) % 1000


def clock_in_task(variant: int) -> None:
    collector, task = remote(Collector).remote(), remote(stamp)
    for value in ray.get([task.remote(at) for at in range(3)]):
        ray.get(collector.add.remote(value))


def late(target: Any, is_late: bool) -> Any:
    """Let what is called there take its time, on the machine and not by a message."""
    return target.options(runtime_env={"env_vars": {"AFTER_S": "4" if is_late else "0"}})


def order_of_arrival(variant: int) -> None:
    collector, producer = remote(Collector).remote(), remote(Producer)
    producers = [late(producer, variant != at).remote(collector, 100 + 100 * at) for at in range(2)]
    for each in producers:
        ray.get(each.produce.remote(1))
    ray.get([each.produce.remote(2) for each in producers])


def first_that_is_ready(variant: int) -> None:
    task, collector = remote(wait_for), remote(Collector).remote()
    for at in range(2):  # a process for each, so that neither is late because it has none
        ray.get(late(task, at == variant).remote(0))
    ready, rest = ray.wait([late(task, at == variant).remote(at) for at in range(2)])
    for reference in [*ready, *rest]:
        ray.get(collector.add.remote(reference))


def identity_from_driver(variant: int) -> None:
    collector = remote(Collector).remote()
    ray.get(collector.add.remote("run"))
    ray.get(collector.add.remote(str(uuid.uuid4())))
    ray.get(remote(square).remote(3.0))


def words_of_a_set(variant: int) -> None:
    words, collector = remote(Words).remote(), remote(Collector).remote()
    ray.get(collector.add.remote(words.join.remote("one")))
    ray.get(
        collector.add.remote(words.join.remote("the quick brown fox jumps over a lazy dog today"))
    )


def actor_that_asks_an_actor(variant: int) -> None:
    sampler = remote(Sampler).remote()
    relay, collector = remote(Relay).remote(sampler), remote(Collector).remote()
    ray.get(collector.add.remote(relay.forward.remote(2.0)))


def references_handed_on(variant: int) -> None:
    one = remote(Scaler).remote(2.0, 2)
    two, three = remote(Scaler).remote(3.0), remote(Scaler).remote(5.0)
    for value in (1.0, 2.0, 3.0):
        ray.get(three.scale.remote(two.scale.remote(one.scale.remote(value))))


def late_in_state(variant: int) -> None:
    slow, collector = remote(Slow).remote(), remote(Collector).remote()
    for _ in range(6):
        ray.get(collector.add.remote(ray.get(slow.step.remote())))


def exception_of_task(variant: int) -> None:
    collector = remote(Collector).remote()
    for at in range(2):
        try:
            ray.get(remote(fail).remote(at) if at else remote(square).remote(2.0))
        except ValueError as error:
            ray.get(collector.add.remote(str(error)[-40:]))


def nothing_planted(variant: int) -> None:
    scalers = [remote(Scaler).remote(at + 2.0) for at in range(3)]
    task = remote(square)
    for _ in range(3):
        ray.get([each.scale.remote(task.remote(2.0)) for each in scalers])


LABELS = {
    entropy_in_actor: ("driver.Scaler-1", 3, "result"),
    clock_in_task: ("driver.stamp-1", 0, "result"),
    order_of_arrival: ("driver.Collector-0", 3, "order"),
    first_that_is_ready: ("driver", 3, "waited"),
    identity_from_driver: ("driver", 1, "sent"),
    words_of_a_set: ("driver.Words-0", 2, "result"),
    actor_that_asks_an_actor: ("driver.Sampler-0", 1, "result"),
    references_handed_on: ("driver.Scaler-0", 2, "result"),
    late_in_state: ("driver.Slow-0", 2, "state"),
    exception_of_task: ("driver.fail-0", 0, "result"),
}
"""Rank, tick and kind of what differs first, as the programs were written to have it."""
