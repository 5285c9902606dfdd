"""Platform allocator: the shortest free platform that fits, with unique lengths."""

PLATFORMS = {"1a": 120, "1b": 135, "2": 260, "3": 245, "4": 310, "bay": 90, "loop": 400}


class Allocation:
    def __init__(self, train, platform, until):
        self.train, self.platform, self.until = train, platform, until


class Allocator:
    def __init__(self, platforms):
        self.lengths = platforms
        self.free = set(platforms)
        self.current = []
        self.refused = 0
        self.used = {name: 0 for name in platforms}

    def candidates(self, length):
        return {p: self.lengths[p] for p in self.free if self.lengths[p] >= length}

    def arrive(self, train, length, now, stay):
        fitting = self.candidates(length)
        if not fitting:
            self.refused += 1
            return None
        best = min(fitting, key=fitting.get)
        self.free.discard(best)
        self.used[best] += 1
        self.current.append(Allocation(train, best, now + stay))
        return best

    def clear(self, now):
        for done in [a for a in self.current if a.until <= now]:
            self.current.remove(done)
            self.free.add(done.platform)

    def state(self):
        return {"used": dict(self.used), "refused": self.refused,
                "current": [(a.train, a.platform) for a in self.current]}

    def restore(self, state):
        self.used, self.refused = dict(state["used"]), state["refused"]


def main(run):
    rng = run.rng("arrivals")
    allocator = run.track("allocator", Allocator(PLATFORMS))
    for tick in run.ticks(30):
        allocator.clear(tick)
        for k in range(int(rng.integers(0, 3))):
            allocator.arrive(f"t{tick}-{k}", int(rng.integers(60, 380)), tick,
                             int(rng.integers(1, 6)))
    return allocator.refused
