"""Telemetry of a wind farm: shards are summed apart and joined, and a controller follows the mean."""

from collections import deque

from shard_means_lib import Mean, Turbine, gusts


class Controller:
    """Pitch of the blades: a map that does not forgive small errors."""

    def __init__(self):
        self.pitch = 0.4
        self.moves = 0

    def follow(self, mean):
        before = self.pitch
        self.pitch = (self.pitch + mean / 8.0) % 1.0
        self.pitch = min(0.98, max(0.02, 3.95 * self.pitch * (1.0 - self.pitch)))
        self.moves += abs(self.pitch - before) > 0.2


class Grid:
    def __init__(self, rng):
        self.rng = rng
        self.price = 50.0
        self.sold = 0.0

    def sell(self, power):
        self.price += float(self.rng.normal(0, 0.5))
        self.sold += power * max(0.0, self.price)


def night(tick):
    return tick % 24 < 6


def main(run):
    turbines = [Turbine(k) for k in range(90)]
    mean = Mean()
    controller = run.track("controller", Controller())
    grid = run.track("grid", Grid(run.rng("grid")))
    station = run.track("station", {"tick": 0, "nights": 0, "spread": 0.0})
    wind = run.rng("wind")
    delayed = deque()
    names = {turbine.name for turbine in turbines}
    for tick in run.ticks(40):
        strength = gusts(wind, len(turbines))
        for turbine, gust in zip(turbines, strength):
            turbine.blow(gust)
        delayed.append(mean.of([turbine.speed for turbine in turbines]))
        if len(delayed) > 15:
            controller.follow(delayed.popleft())
        grid.sell(round(max(strength), 1))  # innocent
        station["tick"] = tick
        station["nights"] += night(tick)
        station["spread"] = max(strength) - min(strength)  # innocent
        if len(sorted(names)) != len(turbines):  # innocent
            raise ValueError("two turbines have one name")
