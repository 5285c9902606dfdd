"""Weather over regions: a front visits the members of a region one by one, and rivers fill."""

import random


class Area:
    """Places by name; what is in it is a property, so that subclasses may compute it."""

    def __init__(self, name):
        self.name = name
        self._members = set()

    def include(self, *places):
        self._members.update(places)
        return self

    @property
    def members(self):
        return sorted(self._members)  # innocent

    def __len__(self):
        return len(self._members)


class Basin(Area):
    """A region of rivers; its own places, and then those of the lakes."""

    def __init__(self, name, lakes=()):
        super().__init__(name)
        self._lakes = frozenset(lakes)

    @property
    def members(self):
        own = super().members
        return own + [lake for lake in self._lakes if lake not in own]  # guilty


class Front:
    """Moves on over the members of its area; the path is laid down when it forms."""

    def __init__(self, area, strength):
        self.path = area.members
        self.strength = strength
        self.at = 0

    def advance(self):
        place = self.path[self.at % len(self.path)]
        self.at += 1
        self.strength *= 0.93
        return place, self.strength


def main(run):
    dry = Area("steppe").include("Orla", "Tamsk", "Virn")
    wet = Basin("delta", lakes=("Saar", "Ladog", "Peip", "Onge", "Ilm", "Chud")).include("Mirna", "Dvina", "Neva", "Volk")
    levels = run.track("levels", dict.fromkeys([*dry.members, *sorted({*wet.members})], 1.0))  # innocent
    damage = run.track("damage", {"total": 0.0, "worst": 0.0})
    rain, wind = run.rng("rain"), run.rng("wind")
    fronts = [Front(dry, 2.0), Front(wet, 5.0)]
    spare = random.Random(11)
    for tick in run.ticks(44):
        for front in fronts:
            if front.strength > 4.9 and tick < 9:
                front.strength += 0.001
                continue
            place, strength = front.advance()
            levels[place] += strength * float(rain.random())
        for place in levels:
            levels[place] *= 0.97
        high = max(levels.values())
        damage["worst"] = max(damage["worst"], high)
        damage["total"] += max(0.0, high - 2.0) * (1 + 0.1 * float(wind.random()))
        spare.random()  # innocent
