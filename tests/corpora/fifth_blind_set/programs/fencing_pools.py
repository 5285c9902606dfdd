"""Fencing: bouts of a pool are held in a heap; equal priority is broken by the hash of the pair of names."""
import heapq
import itertools

FENCERS = ["Aladar", "Edoardo", "Valentina", "Lee", "Nadi"]


def urgency(pair, rest):
    return min(rest[name] for name in pair)


class Piste:
    def __init__(self):
        self.rest = dict.fromkeys(FENCERS, 0)
        self.touches = dict.fromkeys(FENCERS, 0)
        self.bouts = []

    def fill(self):
        for pair in itertools.combinations(FENCERS, 2):
            entry = (urgency(pair, self.rest), hash(frozenset(pair)), pair)
            heapq.heappush(self.bouts, entry)

    def fence(self, rng):
        if not self.bouts:
            self.fill()
        _, _, (left, right) = heapq.heappop(self.bouts)
        while max(hits := rng.multinomial(9, [0.5, 0.5])) < 5:
            pass
        self.touches[left] += int(hits[0])
        self.touches[right] += int(hits[1])
        for name in self.rest:
            self.rest[name] = 0 if name in (left, right) else self.rest[name] + 1

    def state(self):
        return {"rest": dict(self.rest), "touches": dict(self.touches)}

    def restore(self, state):
        self.rest, self.touches = dict(state["rest"]), dict(state["touches"])


def main(run):
    rng = run.rng("touches")
    piste = run.track("piste", Piste())
    for tick in run.ticks(25):
        piste.fence(rng)
    return max(piste.touches.values())
