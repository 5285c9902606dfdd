"""A Swiss tournament: players are ranked each round by points, rating and a last tie-break, then paired."""
from dataclasses import dataclass, field


@dataclass
class Player:
    name: str
    rating: int
    points: float = 0.0
    met: set = field(default_factory=set)

    @property
    def key(self):
        return (-self.points, -self.rating)


def tie_break(round_number):
    return (
        lambda player: (*player.key, hash((player.name, round_number)))
    )


class Swiss:
    def __init__(self, players, rng):
        self.players = players
        self.rng = rng
        self.round = 0
        self.pairs = []

    def ranked(self):
        return sorted(self.players, key=tie_break(self.round))

    def pair(self):
        left = self.ranked()
        pairs = []
        while len(left) > 1:
            first = left.pop(0)
            other = next((p for p in left if p.name not in first.met), left[0])
            left.remove(other)
            pairs.append((first, other))
        return pairs

    def score(self, first, other):
        expected = 1 / (1 + 10 ** ((other.rating - first.rating) / 400))
        roll = self.rng.random()
        if abs(roll - expected) < 0.12:
            return 0.5
        return 1.0 if roll < expected else 0.0

    def play(self):
        self.pairs = self.pair()
        for first, other in self.pairs:
            result = self.score(first, other)
            first.points += result
            other.points += 1.0 - result
            first.met.add(other.name)
            other.met.add(first.name)
        self.round += 1

    def state(self):
        return {
            "round": self.round,
            "points": {p.name: p.points for p in self.players},
            "pairs": [[a.name, b.name] for a, b in self.pairs],
        }

    def restore(self, state):
        self.round = state["round"]
        for player in self.players:
            player.points = state["points"][player.name]


def entries():
    ratings = {"Abrahams": 2105, "Botha": 1980, "Castro": 2010, "Drexel": 1875, "Engel": 1800, "Farkas": 1765,
               "Gomez": 1940, "Hansen": 1700}
    yield from (Player(name, rating) for name, rating in ratings.items())
    yield from (Player(name, 1650) for name in ("Ito", "Jansen", "Kemal", "Lund"))


def main(run):
    swiss = run.track("swiss", Swiss(list(entries()), run.streams.python("games")))
    for _ in run.ticks(9):
        swiss.play()
    best = max(swiss.players, key=lambda p: (p.points, p.rating))
    return best.name
