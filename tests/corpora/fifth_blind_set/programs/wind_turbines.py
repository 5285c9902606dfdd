"""Wind farm: turbines follow the wind, a log file holds addresses and the pid."""
import logging
import os
import shutil
import tempfile

FORMAT = "%(asctime)s %(process)d %(message)s"


class Turbine:
    def __init__(self, number, cut_in):
        self.number, self.cut_in = number, cut_in
        self.energy = 0.0
        self.spinning = False

    def feel(self, speed):
        self.spinning = self.cut_in < speed < 25
        if self.spinning:
            self.energy += 0.5 * min(speed, 13) ** 3 / 1000
        return self.spinning


class Farm:
    def __init__(self, count, log):
        self.turbines = [Turbine(i, 3 + 0.2 * i) for i in range(count)]
        self.log = log
        self.stops = 0

    def step(self, speeds):
        for turbine, speed in zip(self.turbines, speeds):
            before = turbine.spinning
            after = turbine.feel(float(speed))
            if before and not after:
                self.stops += 1
                self.log.warning("turbine at %#x stopped", id(turbine))

    def state(self):
        return {"energy": [round(t.energy, 6) for t in self.turbines], "stops": self.stops}

    def restore(self, state):
        self.stops = state["stops"]


def main(run):
    folder = tempfile.mkdtemp(prefix="farm")
    handler = logging.FileHandler(os.path.join(folder, "farm.log"))
    handler.setFormatter(logging.Formatter(FORMAT))
    log = logging.getLogger("farm")
    log.propagate = False
    log.addHandler(handler)
    rng = run.rng("wind")
    farm = run.track("farm", Farm(6, log))
    for _ in run.ticks(25):
        farm.step(rng.weibull(2.0, size=6) * 8)
    log.removeHandler(handler)
    handler.close()
    shutil.rmtree(folder)
    return farm.stops
