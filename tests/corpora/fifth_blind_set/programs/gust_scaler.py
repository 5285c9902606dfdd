"""Gust service: sensors are asyncio tasks that report through one queue."""
import asyncio

SENSORS = frozenset({"mast", "roof", "quay", "bridge", "tower", "runway"})
HEIGHT = {"mast": 30, "roof": 12, "quay": 4, "bridge": 22, "tower": 60, "runway": 10}


async def sensor(name, gust, queue):
    await asyncio.sleep(0)
    scaled = gust * (HEIGHT[name] / 10) ** 0.14
    await queue.put((name, scaled))


async def gather_readings(names, gust):
    queue = asyncio.Queue()
    tasks = [asyncio.create_task(sensor(name, gust, queue)) for name in names]
    await asyncio.gather(*tasks)
    readings = []
    while not queue.empty():
        readings.append(queue.get_nowait())
    return readings


class Smoother:
    def __init__(self, alpha):
        self.alpha = alpha
        self.value = 0.0
        self.loudest = None
        self.count = 0

    def feed(self, readings):
        for name, gust in readings:
            self.value += self.alpha * (gust - self.value)
            self.count += 1
            if gust > self.value * 1.2:
                self.loudest = name

    def state(self):
        return {"value": round(self.value, 9), "loudest": self.loudest, "count": self.count}

    def restore(self, state):
        self.value, self.count = state["value"], state["count"]


def main(run):
    rng = run.rng("gusts")
    smoother = run.track("smoother", Smoother(0.25))
    for tick in run.ticks(14):
        names = ["mast", "quay"] if tick < 3 else SENSORS
        gust = float(rng.weibull(2.0) * 11)
        smoother.feed(asyncio.run(gather_readings(names, gust)))
    return smoother.count
