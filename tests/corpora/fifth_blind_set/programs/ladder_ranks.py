"""A squash ladder: players are kept by rating in a sorted list; equal ratings stand as they were entered."""
from operator import attrgetter

from sortedcontainers import SortedKeyList


class Player:
    __slots__ = ("name", "rating")

    def __init__(self, name, rating):
        self.name = name
        self.rating = rating


class Ladder:
    def __init__(self, members):
        self.rungs = SortedKeyList(key=attrgetter("rating"))
        self.played = 0
        self.top = {}
        for name in members - {"guest"}:
            self.rungs.add(Player(name, 1500))

    def game(self, low, rng):
        one, two = self.rungs[low], self.rungs[low + 1]
        winner = one if rng.random() < 0.5 else two
        for player in (one, two):
            self.rungs.remove(player)
        winner.rating += 8
        self.rungs.update((one, two))
        self.played += 1

    def publish(self):
        self.top = {p.name: p.rating for p in sorted(self.rungs, key=attrgetter("name"))}

    def state(self):
        return {"played": self.played, "top": dict(self.top)}

    def restore(self, state):
        self.played, self.top = state["played"], dict(state["top"])


def main(run):
    rng = run.rng("courts")
    ladder = run.track("ladder", Ladder({"Amal", "Bruno", "Clio", "Dag", "Esme", "guest", "Femi"}))
    for tick in run.ticks(22):
        ladder.game(int(rng.integers(0, 5)), rng)
        if tick % 10 == 9:
            ladder.publish()
    return ladder.rungs[-1].rating
