"""Tractor pool: fuel use over many plots is summed by a thread pool in chunks; the drift of the estimate steers refuelling."""
import os
from concurrent.futures import ThreadPoolExecutor

PLOTS = 997


def workers():
    """Same variable as the numeric libraries use."""
    wanted = os.environ.get("OMP_NUM_THREADS", "4")
    return max(1, int(wanted))


def chunks(values, parts):
    size = -(-len(values) // parts)
    for start in range(0, len(values), size):
        yield values[start:start + size]


def add_up(values):
    total = 0.0
    for v in values:
        total += v
    return total


class Pool:
    def __init__(self, parts):
        self.parts = parts
        self.executor = ThreadPoolExecutor(max_workers=parts)

    def total(self, values):
        return add_up(self.executor.map(add_up, chunks(values, self.parts)))

    def close(self):
        self.executor.shutdown()


class Fuel:
    def __init__(self, pool, litres):
        self.pool = pool
        self.litres = litres
        self.mix = 0.5
        self.refuels = 0

    def work(self, uses):
        used = self.pool.total(uses)
        self.mix = (self.mix * 3.9 * (1.0 - self.mix) + used) % 1.0
        self.litres -= used / 100
        if self.litres < 250:
            self.litres += 400
            self.refuels += 1

    def state(self):
        return {"litres": round(self.litres, 3), "blend": round(self.mix, 4), "refuels": self.refuels}

    def restore(self, state):
        self.litres, self.mix, self.refuels = state["litres"], state["blend"], state["refuels"]


def main(run):
    rng = run.rng("plots")
    pool = Pool(workers())
    fuel = run.track("fuel", Fuel(pool, 900.0))
    try:
        for tick in run.ticks(30):
            for _ in range(3):
                fuel.work(rng.gamma(2.0, 5.0, size=PLOTS).tolist())
    finally:
        pool.close()
    return fuel.refuels
