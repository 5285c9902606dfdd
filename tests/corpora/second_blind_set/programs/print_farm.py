"""A farm of 3-D printers with a priority queue; a watchdog may restart the dispatcher."""

import heapq
import itertools
import json
import os


class Dispatcher:
    """Jobs by priority; among equals, who came first."""

    def __init__(self):
        self.heap = []
        self.serial = itertools.count()

    def submit(self, priority, name, hours):
        heapq.heappush(self.heap, (priority, next(self.serial), name, hours))

    def next_job(self):
        if not self.heap:
            return None
        _, _, name, hours = heapq.heappop(self.heap)
        return name, hours

    def dump(self):
        return json.dumps([[priority, name, hours] for priority, _, name, hours in self.heap])

    @classmethod
    def load(cls, text):
        again = cls()
        for priority, name, hours in json.loads(text):
            again.submit(priority, name, hours)
        return again


class Printer:
    def __init__(self, name):
        self.name = name
        self.job = None
        self.left = 0
        self.finished = []

    def hour(self, dispatcher):
        if self.left > 0:
            self.left -= 1
            if self.left == 0:
                self.finished.append(self.job)
                self.job = None
        if self.job is None:
            got = dispatcher.next_job()
            if got is not None:
                self.job, self.left = got

    def state(self):
        return {"finished": list(self.finished)}

    def restore(self, state):
        self.finished = list(state["finished"])


def orders(rng):
    names = ["gear", "hull", "vase", "clip", "lens", "knob", "case"]
    for number in itertools.count():
        yield int(rng.integers(1, 3)), f"{names[int(rng.integers(7))]}-{number}", int(rng.integers(2, 7))


def main(run):
    dispatcher = Dispatcher()
    printers = [run.track(f"printer/{i}", Printer(f"p{i}")) for i in range(2)]
    filament = run.track("filament", {"grams": 9000})
    stream = orders(run.rng("orders"))
    restart = int(os.environ.get("WATCHDOG_RESTART", "0"))
    for hour in run.ticks(70):
        if hour < 14:
            dispatcher.submit(*next(stream))
        if restart and hour == restart:
            dispatcher = Dispatcher.load(dispatcher.dump())
        for printer in printers:
            printer.hour(dispatcher)
        filament["grams"] -= sum(17 for printer in printers if printer.job)
