"""Wildebeest on a reserve, with Mesa: they graze, drink and, in the drought, some of them move on."""

import mesa


class Beast(mesa.Agent):
    def __init__(self, model, fat):
        super().__init__(model)
        self.fat = fat
        self.at = 0
        self.thirst = 0.0

    def graze(self):
        bite = min(1.5, self.model.grass[self.at])
        self.model.grass[self.at] -= bite
        self.fat += 0.5 * bite - 0.4

    def drink(self):
        self.thirst = 0.0 if self.model.water else self.thirst + 1.0

    def wander(self):
        self.at = (self.at + 1) % len(self.model.grass)


class Reserve(mesa.Model):
    def __init__(self, reserve, year, rain, births, size=24):
        super().__init__(seed=hash((reserve, year)) % 2**31)
        self.rain, self.births = rain, births
        self.grass = [20.0] * 6
        self.water = True
        self.drought = 0
        self.left = []
        for number in range(size):
            Beast(self, 10.0 + number % 5)

    def grow(self):
        shower = float(self.rain.gamma(2.0, 1.0))
        self.water = self.drought == 0
        for cell in range(len(self.grass)):
            self.grass[cell] = min(30.0, self.grass[cell] + (shower if self.water else 0.2))

    def breed(self):
        if len(self.agents) < 30 and self.births.random() < 0.3:
            Beast(self, 8.0)

    def migrate(self):
        """In a drought a few that are thirsty cross the fence."""
        thirsty = [beast for beast in self.agents if beast.thirst > 1.0]
        for beast in self.random.sample(thirsty, min(3, len(thirsty))):
            self.left.append(beast.unique_id)
            beast.remove()

    def season(self, tick):
        self.drought = 1 if 18 <= tick < 26 else 0
        self.grow()
        self.agents.do("graze")
        self.agents.do("drink")
        self.agents.select(lambda beast: self.grass[beast.at] < 4.0).do("wander")
        if self.drought:
            self.migrate()
        else:
            self.breed()

    def state(self):
        return {
            "grass": list(self.grass), "left": list(self.left), "drought": self.drought,
            "herd": {str(beast.unique_id): [beast.fat, beast.at, beast.thirst] for beast in self.agents},
        }

    def restore(self, state):
        self.grass, self.left, self.drought = list(state["grass"]), list(state["left"]), state["drought"]
        for beast in list(self.agents):
            if str(beast.unique_id) in state["herd"]:
                beast.fat, beast.at, beast.thirst = state["herd"][str(beast.unique_id)]
            else:
                beast.remove()


def main(run):
    reserve = Reserve("Mara North", 2019, run.rng("rain"), run.rng("births"))
    run.track("reserve", reserve)
    for tick in run.ticks(30):
        reserve.season(tick)
