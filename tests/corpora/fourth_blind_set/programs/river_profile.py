"""River survey: each day a depth profile is matched with a long template; a slow control loop follows the score."""
import numpy as np

LENGTH = 160_000


class Template:
    """A long synthetic profile of the river bed."""

    def __init__(self, rng):
        x = np.linspace(0.0, 40.0, LENGTH)
        self.values = np.sin(x) + 0.1 * rng.standard_normal(LENGTH)
        self.norm = float(np.sqrt(np.sum(self.values**2)))

    def score(self, profile):
        product = np.dot(profile, self.values)
        return float(product) / self.norm


class Survey:
    def __init__(self, template, rng):
        self._template, self._rng = template, rng
        self.gain = 1.0
        self.score = 0.0
        self.dredged = 0.0
        self.days = 0

    def state(self):
        return {"gain": self.gain, "score": self.score, "dredged": self.dredged, "days": self.days}

    def restore(self, state):
        for key, value in state.items():
            setattr(self, key, value)

    def sound(self):
        """A fresh profile: the template, the silt and the noise of the echo sounder."""
        silt = self._rng.random(8)
        steps = np.repeat(silt, LENGTH // 8)
        return self._template.values * self.gain + 0.2 * steps + 0.05 * self._rng.standard_normal(LENGTH)

    def flood(self):
        """High water: no sounding possible, but the silt moves on."""
        self.gain = min(1.5, self.gain + 0.03125)

    def match(self):
        self.score = self._template.score(self.sound())

    def dredge(self):
        surplus = self.score / 100.0
        self.dredged += surplus * 0.25
        self.gain -= 0.01 * surplus / (1.0 + abs(surplus))


def season(n):
    """Which kind of day it is: flood, survey, dredge."""
    for day in range(n):
        if day < 3:
            yield "flood"
        elif day % 3 == 0:
            yield "survey"
        else:
            yield "dredge"


def main(run):
    template = Template(run.rng("bed"))
    survey = run.track("survey", Survey(template, run.rng("echo")))
    for (tick, kind) in zip(run.ticks(15), season(15)):
        match kind:
            case "flood":
                survey.flood()
            case "survey":
                survey.match()
            case "dredge":
                survey.dredge()
        survey.days += 1
    return survey.days
