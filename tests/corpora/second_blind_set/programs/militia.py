"""A tower defence with militia that are called up from villages."""

from collections import Counter

VILLAGES = {
    "Oak": 3, "Elm": 4, "Ash": 2, "Yew": 5, "Fir": 3, "Birch": 4, "Willow": 2,
}


class Soldier:
    __slots__ = ("village", "nerve", "wounds")

    def __init__(self, village, nerve):
        self.village = village
        self.nerve = nerve
        self.wounds = 0


class Muster:
    def __init__(self, rng):
        self.rng = rng
        self.ranks = {}

    def call_up(self, villages):
        """Everybody draws their nerve when they sign."""
        for village in villages:
            self.ranks[village] = [Soldier(village, float(self.rng.beta(4, 2))) for _ in range(VILLAGES[village])]

    def everyone(self):
        for village in sorted(self.ranks):
            yield from self.ranks[village]

    def strength(self):
        return sum(1 for soldier in self.everyone() if soldier.wounds < 3)


class Siege:
    def __init__(self, rng):
        self.rng = rng
        self.walls = 400.0
        self.fled = 0
        self.losses = Counter()

    def assault(self, muster):
        """Ladders first, and then the ram."""
        fear = float(self.rng.uniform(0.1, 0.75))
        holding = 0
        for soldier in muster.everyone():
            if soldier.wounds >= 3:
                continue
            if soldier.nerve < fear:
                soldier.wounds += 1
                self.losses[soldier.village] += soldier.wounds == 3
            else:
                holding += 1
        self.walls -= max(0.0, 12 - holding * 0.8)

    def state(self):
        return {"walls": self.walls, "losses": dict(self.losses)}

    def restore(self, state):
        self.walls, self.losses = state["walls"], Counter(state["losses"])


def loyal(rng):
    """One village stays at home."""
    stays = sorted(VILLAGES)[int(rng.integers(len(VILLAGES)))]
    return {village for village in VILLAGES if village != stays}


def main(run):
    muster = Muster(run.rng("muster"))
    siege = run.track("siege", Siege(run.rng("siege")))
    weather = run.track("weather", {"rain": 0.0})
    clouds = run.rng("clouds")
    muster.call_up(loyal(run.rng("politics")))
    for day in run.ticks(40):
        weather["rain"] = float(clouds.gamma(1.5))
        if day >= 15:
            siege.assault(muster)
