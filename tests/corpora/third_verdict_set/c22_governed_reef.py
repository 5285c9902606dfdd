"""Two components, two streams, an input, a decision, a declared effect, and a tick that is taken back."""
import time

import twice


class Reef:
    def __init__(self, rng):
        self.rng, self.fish, self.log = rng, 20.0, []

    def step(self, food):
        self.fish += food - 0.05 * self.fish + self.rng.normal(0, 0.5)
        self.log.append(round(self.fish, 3))

    def state(self):
        return {"fish": self.fish, "log": list(self.log)}

    def restore(self, state):
        self.fish, self.log = state["fish"], list(state["log"])


@twice.effect
def weather(day):
    return {"day": day, "celsius": 10 + time.time_ns() % 1000 / 100}


def main(run):
    reef = run.track("reef", Reef(run.rng("reef")))
    tide = run.track("tide", {"height": 0.0, "turns": 0})
    dice = run.python("tide")
    vetoes = 0
    for day in run.ticks(10):
        air = weather(day)
        tide["height"] += dice.choice([-1, 1]) * air["celsius"] / 10
        tide["turns"] += 1
        run.phase("tide")
        reef.step(run.input("food", lambda: 1.0 + 0.1 * tide["height"]))
        run.compare("poor", reef.fish < 19.5)
        if day == 6 and vetoes < 1:
            vetoes += 1
            run.rollback(5)
    print("days", tide["turns"], "vetoes", vetoes, reef.log)
    run.summary("fish", reef.fish)
    return {"fish": reef.fish, "tide": tide["height"]}
