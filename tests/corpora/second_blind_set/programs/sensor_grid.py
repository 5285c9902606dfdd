"""A grid of soil sensors with drift, calibration and dropouts."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Sensor:
    row: int
    col: int
    bias: float = 0.0
    reading: float = 0.0
    dead: bool = False
    noise: np.random.Generator = field(default_factory=np.random.default_rng, repr=False, compare=False)

    def measure(self, moisture):
        if self.dead:
            return self.reading
        self.bias += 0.001
        self.reading = round(moisture + self.bias + 0.02 * float(self.noise.standard_normal()), 5)
        return self.reading


class Field:
    """The truth that the sensors try to see."""

    def __init__(self, rng, shape=(4, 5)):
        self.rng = rng
        self.moisture = rng.uniform(0.2, 0.4, size=shape)

    def weather(self):
        rain = float(self.rng.random() < 0.15) * 0.1
        self.moisture = np.clip(self.moisture * 0.98 + rain, 0.0, 1.0)


class Station:
    def __init__(self, rng, shape):
        rows, cols = shape
        self.sensors = [Sensor(r, c, noise=np.random.default_rng(rng.integers(2**31))) for r in range(rows) for c in range(cols)]
        self.repaired = 0
        self.rng = rng
        self.average = 0.0

    def maintain(self):
        """Sensors die now and then; the technician carries spares."""
        for place, sensor in enumerate(self.sensors):
            if sensor.dead:
                self.sensors[place] = Sensor(sensor.row, sensor.col)
                self.repaired += 1
            elif float(self.rng.random()) < 0.06:
                sensor.dead = True

    def sweep(self, moisture):
        readings = [sensor.measure(float(moisture[sensor.row, sensor.col])) for sensor in self.sensors]
        self.average = sum(readings) / len(readings)

    def state(self):
        return {"average": self.average, "repaired": self.repaired, "dead": sum(sensor.dead for sensor in self.sensors)}

    def restore(self, state):
        self.average, self.repaired = state["average"], state["repaired"]


def main(run):
    ground = Field(run.rng("ground"))
    run.track("ground", ground, fields=["moisture"])
    station = run.track("station", Station(run.rng("station"), ground.moisture.shape))
    for hour in run.ticks(48):
        ground.weather()
        station.sweep(ground.moisture)
        if hour % 6 == 5:
            station.maintain()
