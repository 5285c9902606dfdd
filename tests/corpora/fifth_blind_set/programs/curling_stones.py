"""Curling: stones are laid on the sheet, a KD-tree finds the neighbours, and each end is scored from the button."""
import numpy as np
from scipy.spatial import cKDTree

COLOURS = {"red", "yellow", "granite", "teal"}


class Stone:
    def __init__(self, colour, at):
        self.colour = colour
        self.at = np.asarray(at, dtype=float)


def throw_order(colours):
    return [c for c in colours for _ in range(2)]


def end(order, rng):
    stones = []
    for colour in order:
        stones.append(Stone(colour, rng.normal(0, 1.2, 2)))
    return stones


def knock(stones, radius):
    tree = cKDTree([s.at for s in stones])
    for one, two in sorted(tree.query_pairs(radius)):
        push = stones[two].at - stones[one].at
        stones[two].at = stones[two].at + 0.5 * push


def points(stones):
    ranked = sorted(stones, key=lambda s: float(np.hypot(*s.at)))
    best = ranked[0].colour
    gained = 0
    for stone in ranked:
        if stone.colour != best:
            break
        gained += 1
    return best, gained


class Sheet:
    def __init__(self):
        self.score = {c: 0 for c in sorted(COLOURS)}
        self.swept = 0.0

    def state(self):
        return {"score": dict(self.score), "swept": self.swept}

    def restore(self, state):
        self.score, self.swept = dict(state["score"]), state["swept"]


def main(run):
    rng = run.rng("ice")
    order = throw_order(COLOURS)
    sheet = run.track("sheet", Sheet())
    for tick in run.ticks(20):
        sheet.swept += float(rng.uniform(0, 2))
        if tick < 9:
            continue
        stones = end(order, rng)
        knock(stones, 0.4)
        colour, gained = points(stones)
        sheet.score[colour] += gained
    return max(sheet.score.values())
