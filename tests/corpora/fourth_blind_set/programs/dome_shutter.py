"""Dome automation: the shutter follows wind and humidity readings, the night's observing time is kept."""


class Sensor:
    def __init__(self, rng):
        self.rng = rng

    def jitter(self):
        return float(self.rng.normal(0.0, 1.0))

    def read(self):
        wind = 8.0 + 3.0 * self.jitter()
        damp = 60.0 + 9.0 * self.jitter()
        return wind, damp

    def plausible(self):
        return abs(self.jitter()) < 9


class Shutter:
    STEPS = 4

    def __init__(self):
        self.open = 0
        self.moves = 0

    def towards(self, wanted):
        if wanted == self.open:
            return
        self.open += 1 if wanted > self.open else -1
        self.moves += 1


class Dome:
    def __init__(self, rng):
        self.sensor = Sensor(rng)
        self.shutter = Shutter()
        self.minutes = 0
        self.wind = []
        self.alarms = 0

    def self_check(self):
        """Every fifth cycle, the sensor has to answer sensibly."""
        assert self.sensor.plausible(), "sensor out of range"
        self.alarms += self.shutter.moves > 12

    def wanted(self, wind, damp):
        match (wind, damp):
            case (w, _) if w > 13:
                return 0
            case (_, d) if d > 75:
                return 0
            case (w, d) if w > 10 or d > 68:
                return 2
            case _:
                return Shutter.STEPS

    def cycle(self, number):
        if number % 5 == 4:
            self.self_check()
        wind, damp = self.sensor.read()
        self.wind.append(round(wind, 2))
        self.shutter.towards(self.wanted(wind, damp))
        self.minutes += self.shutter.open * 5

    def state(self):
        return {"open": self.shutter.open, "minutes": self.minutes, "moves": self.shutter.moves,
                "wind": self.wind[-3:], "alarms": self.alarms}

    def restore(self, state):
        self.shutter.open = state["open"]
        self.shutter.moves = state["moves"]
        self.minutes = state["minutes"]


def main(run):
    dome = run.track("dome", Dome(run.rng("weather")))
    for tick in run.ticks(30):
        dome.cycle(tick)
    return {"minutes": dome.minutes, "mean": round(sum(dome.wind) / len(dome.wind), 3)}
