"""A larder's stock in pandas: deliveries per shelf, first in first out, rotated once the shelf life runs out."""
import pandas as pd

SHELVES = ["flour", "lentils", "molasses", "saffron", "vinegar", "polenta"]


def wanted(recipes):
    need = set()
    for recipe in recipes:
        need.update(recipe.split("+"))
    return need


def delivery(need):
    frame = pd.DataFrame({"item": list(need)})
    frame["grams"] = 500
    frame["pallet"] = frame.index % 2
    return frame


class Rotation:
    def __init__(self, frame):
        self.pallets = {int(k): g["item"].tolist() for k, g in frame.groupby("pallet")}

    def spoils(self, pallet):
        return self.pallets[pallet]


class Larder:
    def __init__(self, items):
        self.grams = {item: 500.0 for item in sorted(items)}
        self.wasted = 0.0

    def use(self, item, grams):
        self.grams[item] = max(0.0, self.grams[item] - grams)

    def throw(self, item):
        part = self.grams[item] * 0.25
        self.grams[item] -= part
        self.wasted += part

    def state(self):
        return {"grams": dict(self.grams), "wasted": self.wasted}

    def restore(self, state):
        self.grams, self.wasted = dict(state["grams"]), state["wasted"]


def main(run):
    rng = run.rng("cooks")
    need = wanted(["flour+molasses", "lentils+vinegar", "polenta+saffron", "flour+vinegar"])
    rotation = Rotation(delivery(need))
    larder = run.track("larder", Larder(need))
    for tick in run.ticks(24):
        item = SHELVES[int(rng.integers(len(SHELVES)))]
        larder.use(item, float(rng.uniform(5, 30)))
        if tick >= 12 and tick % 4 == 0:
            for old in rotation.spoils((tick // 4) % 2):
                larder.throw(old)
    return round(larder.wasted, 4)
