"""A mesa model of an audience: people drift between bar, foyer and seats until the bell, ushers pull them along."""
import os

import mesa

PLACES = ["bar", "foyer", "stalls"]


class Guest(mesa.Agent):
    def __init__(self, model, thirst):
        super().__init__(model)
        self.thirst = thirst
        self.place = "foyer"

    def step(self):
        if self.model.bell:
            self.place = "stalls" if self.random.random() < 0.6 else self.place
            return
        if self.random.random() < self.thirst:
            self.place = "bar"
            self.thirst *= 0.7
        else:
            self.place = self.random.choice(PLACES[1:])


class Usher(Guest):
    """An usher never drinks, and takes one guest along."""

    def __init__(self, model):
        super().__init__(model, thirst=0.0)

    def step(self):
        super().step()
        strays = [a for a in self.model.agents if a.place == "bar" and not isinstance(a, Usher)]
        if strays and self.model.bell:
            self.random.choice(strays).place = self.place


def seed_for(night):
    """Every night another crowd."""
    return night * 100_000 + os.getpid()


class House(mesa.Model):
    def __init__(self, guests, night):
        super().__init__(seed=seed_for(night))
        self.bell = False
        self.night = night
        for i in range(guests):
            Guest(self, thirst=0.2 + 0.02 * (i % 10))
        for _ in range(2):
            Usher(self)

    def step(self):
        self.agents.shuffle_do("step")

    def census(self):
        count = dict.fromkeys(PLACES, 0)
        for agent in self.agents:
            count[agent.place] += 1
        return count


class Evening:
    def __init__(self, house):
        self._house = house
        self.doors = "closed"
        self.census = house.census()

    def state(self):
        return {"doors": self.doors, "census": dict(self.census), "bell": self._house.bell}

    def restore(self, state):
        self.doors, self.census = state["doors"], dict(state["census"])


def main(run):
    evening = run.track("evening", Evening(House(60, night=3)))
    house = evening._house
    for tick in run.ticks(16):
        if tick < 3:
            evening.doors = "closed"
            continue
        evening.doors = "open"
        house.bell = tick >= 11
        house.step()
        evening.census = house.census()
    run.compare("people", sum(evening.census.values()))
    return evening.doors
