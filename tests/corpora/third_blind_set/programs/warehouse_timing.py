"""Pickers in a warehouse, with Mesa. The model watches its own speed and the load of the machine it runs on."""

import os
import time
from collections import deque

import mesa


class Profiler:
    """Keeps the slowest steps for whoever asks; a service would publish them."""

    def __init__(self):
        self.started = time.time()
        self.steps = deque(maxlen=50)
        self.slow = []
        self.token = os.urandom(8).hex()
        self.sampled = 0

    def __enter__(self):
        self.begin = time.perf_counter()
        return self

    def __exit__(self, *error):
        span = time.perf_counter() - self.begin
        self.steps.append(span)
        if len(self.steps) > 3 and span > 1.15 * sum(self.steps) / len(self.steps):
            self.slow.append((time.time() - self.started, span))
            self.sampled += 1


class Picker(mesa.Agent):
    def __init__(self, model, aisle):
        super().__init__(model)
        self.aisle = aisle
        self.busy = 0
        self.picked = 0

    def step(self):
        if self.busy:
            self.busy -= 1
            return
        task = self.model.next_task(self.aisle)
        if task is not None:
            number, aisle = task
            self.busy = abs(aisle - self.aisle) + 1
            self.aisle = aisle
            self.picked += 1
            self.model.done.append(number)


class Warehouse(mesa.Model):
    def __init__(self, orders, pickers=6, aisles=14, seed=77):
        super().__init__(seed=seed)
        self.orders, self.aisles = orders, aisles
        self.tasks = []
        self.done = []
        self.number = 0
        self.profiler = Profiler()
        for index in range(pickers):
            Picker(self, index * 2)

    def receive(self):
        for _ in range(int(self.orders.poisson(2.2))):
            self.number += 1
            self.tasks.append((self.number, int(self.orders.integers(self.aisles))))

    def next_task(self, aisle):
        if not self.tasks:
            return None
        nearest = min(self.tasks, key=lambda task: (abs(task[1] - aisle), task[0]))
        self.tasks.remove(nearest)
        return nearest

    def hour(self):
        with self.profiler:
            self.receive()
            self.agents.shuffle_do("step")

    def state(self):
        return {
            "tasks": [list(task) for task in self.tasks], "done": list(self.done), "number": self.number,
            "pickers": [[picker.aisle, picker.busy, picker.picked] for picker in sorted(self.agents, key=lambda a: a.unique_id)],
        }

    def restore(self, state):
        self.tasks, self.done = [tuple(task) for task in state["tasks"]], list(state["done"])
        self.number = state["number"]
        for picker, values in zip(sorted(self.agents, key=lambda a: a.unique_id), state["pickers"]):
            picker.aisle, picker.busy, picker.picked = values


def main(run):
    warehouse = run.track("warehouse", Warehouse(run.rng("orders")))
    for hour in run.ticks(40):
        warehouse.hour()
