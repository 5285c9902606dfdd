"""Cyclone tracker: checkpoints the active list, reads it back after an outage."""
import pickle
import shutil
import tempfile
from pathlib import Path

BASINS = {"atl": ["ana", "bill", "claude"], "pac": ["dora", "eli", "fiona", "ana"],
          "ind": ["gita", "hola", "bill"]}


class Store:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="cyclone"))

    def save(self, payload):
        with open(self.folder / "active.pkl", "wb") as out:
            pickle.dump(payload, out)

    def load(self):
        with open(self.folder / "active.pkl", "rb") as src:
            return pickle.load(src)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def active_names(basins):
    seen = set()
    for names in basins.values():
        seen.update(names)
    return list(seen)


class Tracker:
    def __init__(self):
        self.position = {n: 0.0 for names in BASINS.values() for n in names}
        self.online = True

    def advance(self, order, steps):
        for name, step in zip(order, steps):
            self.position[name] += float(step)

    def state(self):
        return {"position": {k: round(v, 6) for k, v in self.position.items()}}

    def restore(self, state):
        self.position = dict(state["position"])


def main(run):
    rng = run.rng("cyclones")
    tracker, store = run.track("tracker", Tracker()), Store()
    order = sorted(tracker.position)
    for tick in run.ticks(22):
        if tick == 2:
            store.save({"saved_at": tick, "names": active_names(BASINS)})
        if tick == 15:
            order = store.load()["names"]
        tracker.advance(order, rng.normal(1.0, 0.4, size=len(order)))
    store.close()
    return round(max(tracker.position.values()), 6)
