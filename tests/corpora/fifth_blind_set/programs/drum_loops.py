"""Drum loop builder: fill the least used instrument next, ties are common."""

KIT = {"kick", "snare", "hat", "ride", "tom", "clap", "shaker"}


class Pattern:
    def __init__(self, steps):
        self.steps = [[] for _ in range(steps)]

    def place(self, step, instrument):
        self.steps[step % len(self.steps)].append(instrument)

    def density(self):
        return sum(map(len, self.steps)) / len(self.steps)


class Builder:
    def __init__(self, kit, pattern):
        self.kit = kit
        self.pattern = pattern
        self.used = {name: 0 for name in sorted(kit)}

    def least_used(self, banned):
        choices = self.kit - banned
        return min(choices, key=lambda name: self.used[name])

    def add(self, step, banned):
        if step < 4:
            chosen = sorted(self.kit)[step]
        else:
            chosen = self.least_used(banned)
        self.used[chosen] += 1
        self.pattern.place(step, chosen)
        return chosen

    def state(self):
        return {"used": dict(self.used), "density": self.pattern.density(),
                "steps": [list(s) for s in self.pattern.steps]}

    def restore(self, state):
        self.used = dict(state["used"])


def main(run):
    rng = run.rng("drums")
    builder = Builder(KIT, Pattern(8))
    run.track("builder", builder)
    order = sorted(KIT)
    last = ""
    for tick in run.ticks(20):
        banned = {last} if last else set()
        if rng.random() < 0.3:
            banned.add(order[int(rng.integers(0, len(order)))])
        last = builder.add(tick, banned)
    return builder.pattern.density()
