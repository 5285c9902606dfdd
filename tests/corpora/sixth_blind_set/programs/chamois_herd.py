"""Chamois on a mountainside, a mesa model: they graze, climb out of the snow and flee from hikers."""
import mesa

HEIGHTS = 12


class Chamois(mesa.Agent):
    def __init__(self, model, age):
        super().__init__(model)
        self.age = age
        self.band = model.random.randrange(4)
        self.fat = 10.0

    def step(self):
        grass = self.model.grass[self.band]
        eaten = min(1.0, grass / 20)
        self.model.grass[self.band] -= eaten
        self.fat += eaten - 0.6
        if self.model.random.random() < 0.2:
            self.band = min(HEIGHTS - 1, max(0, self.band + self.model.random.choice((-1, 1))))
        if self.fat < 6:
            self.remove()


class Hiker(mesa.Agent):
    def __init__(self, model, nerve):
        super().__init__(model)
        self.nerve, self.band = nerve, 0

    def step(self):
        self.band = (self.band + 1) % HEIGHTS
        for animal in self.model.agents_by_type[Chamois]:
            if animal.band == self.band and animal.age > self.nerve:
                animal.band = min(HEIGHTS - 1, animal.band + 2)
                animal.fat -= 0.1


class SeededModel(mesa.Model):
    """Every valley gets a seed of its own so that valleys can be run side by side."""

    def __init__(self, valley, year):
        super().__init__(seed=hash((valley, year)) % 2**31)
        self.valley, self.year = valley, year


class Valley(SeededModel):
    def __init__(self, valley, year, herd):
        super().__init__(valley, year)
        self.grass = [30.0 - h for h in range(HEIGHTS)]
        Chamois.create_agents(self, herd, [1 + n % 9 for n in range(herd)])
        Hiker.create_agents(self, 2, [3, 6])

    def step(self):
        self.grass = [min(30.0, g + 0.8) for g in self.grass]
        self.agents_by_type[Chamois].shuffle_do("step")
        self.agents_by_type[Hiker].do("step")

    def state(self):
        herd = self.agents_by_type[Chamois]
        bands = [0] * HEIGHTS
        for animal in herd:
            bands[animal.band] += 1
        return {"bands": bands, "herd": len(herd), "grass": round(sum(self.grass), 4)}

    def restore(self, state):
        pass


def main(run):
    valley = Valley("Engadin", 1994, 24)
    run.track("valley", valley)
    rng = run.rng("weather")
    for _ in run.ticks(20):
        if rng.random() < 0.15:
            valley.grass = [g * 0.7 for g in valley.grass]
        valley.step()
    return len(valley.agents_by_type[Chamois])
