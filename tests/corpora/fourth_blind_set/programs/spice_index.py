"""Spice cellar: an index is built from a set of names, so its order is anyone's guess; it is only ever looked up by name."""
from types import MappingProxyType

SPICES = {"anise", "bay", "caraway", "dill", "elder", "fenugreek", "grains", "hyssop", "juniper", "kokum"}


def build_index(names):
    """A read-only map from the spice to its drawer; drawers are numbered by name, not by insertion."""
    numbers = {name: number for number, name in enumerate(sorted(names))}
    return MappingProxyType({name: numbers[name] for name in names})


class Drawer:
    def __init__(self, number, grams):
        self.number, self.grams = number, grams


class Cellar:
    def __init__(self, index):
        self._index = index
        self._drawers = dict.fromkeys(index)
        for name in self._drawers:
            self._drawers[name] = Drawer(index[name], 100 + 10 * index[name])
        self.missing = 0
        self.taken = 0

    def state(self):
        return {
            "grams": {name: self._drawers[name].grams for name in sorted(self._drawers)},
            "missing": self.missing,
            "taken": self.taken,
        }

    def restore(self, state):
        for name, grams in state["grams"].items():
            self._drawers[name].grams = grams
        self.missing, self.taken = state["missing"], state["taken"]

    def take(self, name, grams):
        drawer = self._drawers.get(name)
        if drawer is None or drawer.grams < grams:
            self.missing += 1
            return 0
        drawer.grams -= grams
        self.taken += grams
        return grams

    def refill(self):
        """Every drawer that is low is filled up; each on its own, so the order is no matter."""
        for name, drawer in self._drawers.items():
            if drawer.grams < 20:
                drawer.grams = 100 + 10 * self._index[name]

    def is_sound(self):
        return all(drawer.grams >= 0 for drawer in self._drawers.values()) and len(self._drawers) == len(self._index)


def recipes(rng):
    """What a cook asks for: a couple of spices, one of them perhaps unknown."""
    names = sorted(SPICES) + ["saffron"]
    for _ in range(int(rng.integers(1, 5))):
        yield names[int(rng.integers(len(names)))], int(rng.integers(5, 45))


def main(run):
    rng = run.rng("cooks")
    cellar = run.track("cellar", Cellar(build_index(SPICES)))
    bowls = []
    for tick in run.ticks(28):
        bowls.append(sum(cellar.take(name, grams) for name, grams in recipes(rng)))
        if tick % 7 == 6:
            cellar.refill()
    run.compare("sound", cellar.is_sound())
    return max(bowls)
