"""A function of a run: nested dataclasses and slots as components, streams, phases, a decision."""
import random
import types
from dataclasses import dataclass, field


@dataclass
class Fish:
    weight: float
    at: tuple[int, int] = (0, 0)


@dataclass
class Pond:
    name: str
    fish: list[Fish] = field(default_factory=list)
    weed: dict[str, float] = field(default_factory=dict)


class Keeper:
    __slots__ = ("fed", "mood")

    def __init__(self):
        self.fed, self.mood = 0, {"calm"}

    def state(self):
        return {"fed": self.fed, "mood": self.mood}

    def restore(self, state):
        self.fed, self.mood = state["fed"], state["mood"]


def main(run):
    pond = run.track("pond", Pond("north", [Fish(1.0), Fish(2.5)], {"lily": 3.0}))
    keeper = run.track("keeper", Keeper())
    growth = run.rng("growth")
    for tick in run.ticks(12):
        for fish in pond.fish:
            fish.weight *= 1 + 0.1 * growth.random()
            fish.at = (fish.at[0] + tick, fish.at[1] - 1)
        run.phase("grown")
        pond.weed["lily"] -= run.input("food", lambda: 0.05 * len(pond.fish))
        hungry = pond.weed["lily"] < 2.5
        run.compare("hungry", hungry)
        if hungry:
            keeper.fed += 1
            keeper.mood.add(f"worried {keeper.fed % 3}")
            pond.weed["lily"] += 1
        if tick == 6:
            pond.fish.append(Fish(0.5))
    return {"weights": [round(f.weight, 12) for f in pond.fish], "fed": keeper.fed}


if __name__ == "__main__":
    print(main(types.SimpleNamespace(
        track=lambda name, thing: thing, rng=lambda name: random.Random(1), ticks=range,
        phase=lambda name: None, input=lambda name, made: made(), compare=lambda name, value: value)))
