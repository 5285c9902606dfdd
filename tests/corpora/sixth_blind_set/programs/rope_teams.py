"""Rope teams on a glacier: each team moves, rests and, when the wind gets up, shortens its rope."""
import os
from contextlib import suppress

GUIDES = ["Aosta", "Bernese", "Chamonix", "Dufour"]


class Weather:
    def __init__(self, rng):
        self.rng = rng
        self.wind = 12.0

    def blow(self, tick):
        self.wind = max(0.0, self.wind + self.rng.normal(0.35, 1.1))
        if tick == 17:
            self.wind += 30
        return self.wind


def shorten(length, wind, slack=float(os.environ.get("ROPE_SLACK", "0.5"))):
    """Rope length after the leader takes in coils against the wind."""
    return max(8.0, length - slack * (wind - 30))


def keep(length, wind):
    return length


class Team:
    technique = {False: keep, True: shorten}

    def __init__(self, guide, pace):
        self.guide, self.pace = guide, pace
        self.height, self.rope, self.rested = 2800.0, 40.0, 0

    @property
    def exposed(self):
        return self.height > 2900

    def climb(self, wind, grip):
        if self.rested:
            self.rested -= 1
            return
        self.rope = self.technique[wind > 34](self.rope, wind)
        self.height += self.pace * grip * (0.6 + self.rope / 100)
        if grip < 0.25:
            self.rested = 2

    def state(self):
        return {"height": round(self.height, 4), "rope": round(self.rope, 4), "rested": self.rested}

    def restore(self, state):
        self.height, self.rope, self.rested = state["height"], state["rope"], state["rested"]


class Expedition:
    def __init__(self, rng):
        self.rng = rng
        self.teams = [Team(g, 9 + i * 1.5) for i, g in enumerate(GUIDES)]
        self.turned = []

    def hour(self, wind):
        for team in self.teams:
            team.climb(wind, self.rng.random())
            if team.height > 3150 and team.guide not in self.turned:
                self.turned.append(team.guide)

    def state(self):
        return {t.guide: t.state() for t in self.teams} | {"turned": list(self.turned)}

    def restore(self, state):
        with suppress(KeyError):
            for team in self.teams:
                team.restore(state[team.guide])
        self.turned = list(state["turned"])


def main(run):
    weather = Weather(run.rng("weather"))
    expedition = Expedition(run.rng("snow"))
    run.track("expedition", expedition)
    sky = run.track("sky", {"wind": 0.0})
    for tick in run.ticks(28):
        sky["wind"] = round(weather.blow(tick), 3)
        expedition.hour(sky["wind"])
    return expedition.turned
