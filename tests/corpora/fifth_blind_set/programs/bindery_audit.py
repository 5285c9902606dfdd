"""A bindery: books are sewn, glued, pressed; an audit flag stamps each step with the clock, for a sink only."""
import os
import time
from collections import Counter

AUDIT = os.environ.get("BINDERY_AUDIT") == "1"
STAGES = ("sewn", "glued", "pressed", "done")


class Volume:
    def __init__(self, pages):
        self.pages = pages
        self.stage = 0
        self.work = 0

    def advance(self, effort):
        self.work += effort
        if self.work >= self.pages:
            self.work = 0
            self.stage = min(self.stage + 1, 3)
            return True
        return False


def audited(step):
    def inner(volume, effort, sink):
        changed = step(volume, effort)
        if AUDIT:
            sink.write(f"{time.time()} {volume.pages} {STAGES[volume.stage]}\n")
        return changed
    return inner


@audited
def press(volume, effort):
    return volume.advance(effort)


class Bench:
    def __init__(self, volumes):
        self.volumes = volumes
        self.changes = 0

    def state(self):
        return {"stages": dict(Counter(STAGES[v.stage] for v in self.volumes)), "changes": self.changes}

    def restore(self, state):
        self.changes = state["changes"]


def main(run):
    rng = run.rng("pages")
    bench = run.track("bench", Bench([Volume(int(rng.integers(80, 400))) for _ in range(9)]))
    with open(os.devnull, "w") as sink:
        for tick in run.ticks(20):
            for volume in bench.volumes:
                bench.changes += press(volume, int(rng.integers(10, 90)), sink)
    return bench.changes
