"""Harbour holds: vessels are loaded crate by crate, the trim is summed over whatever is in the hold."""
CRATES = {
    "tea": 4, "coffee": 6, "copper": 19, "cotton": 5, "indigo": 3, "silk": 2, "teak": 17, "pepper": 4,
    "porcelain": 9, "sugar": 11, "tin": 15, "tobacco": 6,
}


class Hold:
    def __init__(self, name, limit):
        self.name = name
        self.limit = limit
        self.inside = set()

    def weight(self):
        total = 0
        for kind in self.inside:
            total += CRATES[kind]
        return total

    def fits(self, kind):
        return kind not in self.inside and self.weight() + CRATES[kind] <= self.limit

    def checksum(self):
        mark = 0
        for kind in self.inside:
            mark ^= int.from_bytes(kind.encode()[:4], "big")
        return mark


class Vessel:
    def __init__(self, streams, names):
        self.holds = {name: Hold(name, 40) for name in names}
        self.luck = {kind: streams.python(f"crate/{kind}") for kind in CRATES.keys() & set(CRATES)}
        self.dropped = {kind: 0 for kind in {*CRATES}}
        self.loaded = 0

    def handle(self, kind, hold):
        if not hold.fits(kind):
            return
        hold.inside.add(kind)
        self.loaded += 1

    def weather(self):
        """Each crate on board may break loose, on its own stream."""
        for hold in self.holds.values():
            loose = {kind for kind in hold.inside if self.luck[kind].random() < 0.2}
            for kind in loose:
                self.dropped[kind] += 1
            hold.inside -= loose

    def trim(self):
        fore, aft = (hold.weight() for hold in self.holds.values())
        return fore - aft

    def state(self):
        return {
            "trim": self.trim(),
            "marks": [hold.checksum() for hold in self.holds.values()],
            "dropped": {kind: self.dropped[kind] for kind in sorted(self.dropped)},
            "loaded": self.loaded,
        }

    def restore(self, state):
        self.dropped = dict(state["dropped"])
        self.loaded = state["loaded"]


def main(run):
    rng = run.streams.python("quay")
    vessel = run.track("vessel", Vessel(run.streams, ["fore", "aft"]))
    kinds = sorted(CRATES)
    for _ in run.ticks(20):
        for hold in vessel.holds.values():
            for kind in rng.sample(kinds, 4):
                if CRATES[kind] < 20 and hold.weight() <= 20:
                    vessel.handle(kind, hold)
        vessel.weather()
    return max(vessel.dropped.values())
