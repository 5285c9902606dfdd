"""A small station: trains call, passengers board, and the stationmaster keeps a diary file of it all."""
import logging
import os
import tempfile
from collections import deque


class Platform:
    def __init__(self, rng):
        self.rng = rng
        self.waiting = deque()
        self.boarded = 0
        self.left_behind = 0

    def gather(self, tick):
        for _ in range(int(self.rng.poisson(4))):
            self.waiting.append(tick)

    def call(self, tick, seats):
        taken = min(seats, len(self.waiting))
        waits = [tick - self.waiting.popleft() for _ in range(taken)]
        self.boarded += taken
        while self.waiting and tick - self.waiting[0] > 5:
            self.waiting.popleft()
            self.left_behind += 1
        return waits

    def state(self):
        return {"waiting": len(self.waiting), "boarded": self.boarded, "left_behind": self.left_behind}

    def restore(self, state):
        self.boarded = state["boarded"]
        self.left_behind = state["left_behind"]


def diary(folder):
    log = logging.getLogger("stationmaster")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.handlers.clear()
    handler = logging.FileHandler(os.path.join(folder, "diary.log"), encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s.%(msecs)03d [%(process)d/%(threadName)s] %(message)s"))
    log.addHandler(handler)
    return log, handler


def trains(rng):
    """Every third tick a train, sometimes a long one."""
    tick = 0
    while True:
        yield (0 if tick % 3 else (18 if rng.random() < 0.3 else 10))
        tick += 1


def main(run):
    platform = run.track("platform", Platform(run.rng("passengers")))
    longest = run.track("waits", {"longest": 0, "total": 0})
    service = trains(run.streams.python("trains"))
    with tempfile.TemporaryDirectory(prefix="station-") as folder:
        log, handler = diary(folder)
        try:
            for tick in run.ticks(24):
                platform.gather(tick)
                seats = next(service)
                if seats:
                    waits = platform.call(tick, seats)
                    longest["longest"] = max([longest["longest"], *waits])
                    longest["total"] += sum(waits)
                    log.info("train with %d seats took %d", seats, len(waits))
                else:
                    log.info("quiet, %d on the platform", len(platform.waiting))
        finally:
            log.removeHandler(handler)
            handler.close()
    return platform.boarded
