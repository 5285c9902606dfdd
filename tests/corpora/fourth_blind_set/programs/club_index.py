"""Chess club index: members, their games and a head-to-head lookup; reports are asked for by name."""
import json
from collections import Counter, defaultdict
from functools import lru_cache

MEMBERS = {"Anand", "Bogdan", "Clara", "Dvorak", "Elena", "Fischer", "Greta", "Hou", "Ivo", "Judit"}


class Index:
    def __init__(self, members):
        self.ratings = dict.fromkeys(members, 1500)
        self.versus = defaultdict(Counter)
        self.colours = {name: Counter() for name in members}
        self.games = 0

    def record(self, white, black, result):
        self.versus[white][black] += result
        self.versus[black][white] += 2 - result
        self.colours[white]["white"] += 1
        self.colours[black]["black"] += 1
        expected = self.expected(self.ratings[white] - self.ratings[black])
        shift = round(24 * (result / 2 - expected))
        self.ratings[white] += shift
        self.ratings[black] -= shift
        self.games += 1

    @staticmethod
    @lru_cache(maxsize=256)
    def expected(gap):
        return 1 / (1 + 10 ** (-gap / 400))

    def report(self, name):
        rows = {other: self.versus[name][other] for other in self.versus[name]}
        return json.dumps({"name": name, "rating": self.ratings[name], "versus": rows}, sort_keys=True)

    def unbalanced(self):
        """Members who had one colour three times more than the other."""
        return {n for n, c in self.colours.items() if abs(c["white"] - c["black"]) >= 3}

    def state(self):
        best = max(self.ratings.values())
        return {
            "games": self.games,
            "leaders": sorted(n for n, r in self.ratings.items() if r == best),
            "unbalanced": len(self.unbalanced()),
            "spread": best - min(self.ratings.values()),
            "report": self.report("Elena"),
        }

    def restore(self, state):
        self.games = state["games"]


def evening(rng, names):
    order = list(names)
    rng.shuffle(order)
    for white, black in zip(order[::2], order[1::2]):
        yield white, black, rng.choice([0, 1, 2, 2])


def main(run):
    index = run.track("index", Index(MEMBERS))
    rng = run.streams.python("club")
    for _ in run.ticks(15):
        for white, black, result in evening(rng, sorted(index.ratings)):
            index.record(white, black, result)
    return {name: index.ratings[name] for name in sorted(MEMBERS)}
