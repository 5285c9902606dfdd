"""Foragers: a scout worker reports fields of berries, gatherers walk there, and a store fills."""

from dataclasses import dataclass

from worker_seeds_lib import Scout, World


@dataclass
class Gatherer:
    name: str
    at: int = 0
    carried: int = 0

    def toward(self, field):
        self.at += (field > self.at) - (field < self.at)
        return self.at == field


class Camp:
    def __init__(self, names):
        self.people = [Gatherer(name) for name in names]
        self.berries = 0
        self.eaten = 0

    def eat(self):
        meal = min(self.berries, len(self.people) // 2)
        self.berries -= meal
        self.eaten += meal


def weather(rng):
    return ("rain", "sun", "fog")[int(rng.integers(3))]


def main(run):
    world = World(run.rng("world"), width=40)
    camp = run.track("camp", Camp(["Ash", "Birk", "Cole", "Dara", "Elm", "Fern"]))
    sky = run.track("sky", {"now": "sun", "rainy": 0})
    clouds = run.rng("clouds")
    scout = None
    places = {person.name for person in camp.people}
    for tick in run.ticks(45):
        sky["now"] = weather(clouds)
        sky["rainy"] += sky["now"] == "rain"
        if tick == 6:
            scout = Scout(world.fields(), number=3)
        if tick < 20 or scout is None:
            goal = world.nearest(camp.people[0].at)  # innocent
        else:
            goal = scout.report(tick)
        for person in camp.people:
            if person.name in places and person.toward(goal):  # innocent
                person.carried += world.pick(goal)
        if tick % 5 == 4:
            for person in sorted(camp.people, key=lambda p: p.name):  # innocent
                camp.berries += person.carried
                person.carried = 0
            camp.eat()
