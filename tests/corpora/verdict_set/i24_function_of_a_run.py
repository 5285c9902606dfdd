"""A function of a run: tracked dictionaries and arrays, streams, global generators, clock, text and a nested return value."""
import collections
import random
import time
import uuid

import numpy as np


def main(run):
    herd = run.track("herd", {"count": 10, "log": [], "ages": np.zeros(8)})
    rng = run.rng("growth")
    names = collections.Counter()
    for tick in run.ticks(12):
        herd["count"] += int(rng.integers(0, 4))
        herd["ages"] += rng.standard_normal(8)
        herd["log"].append((tick, time.time(), uuid.uuid4().hex[:6]))
        random.shuffle(herd["log"])
        names.update(random.choice(["ox", "cow", "calf"]) for _ in range(5))
        run.compare("many", herd["count"] > 20)
        try:
            {}[tick]
        except KeyError as error:
            herd["last"] = repr(error)
        print(tick, herd["count"], np.random.rand(), np.random.default_rng().random())
    return {"names": dict(names), "mean": float(herd["ages"].mean()), "set": {"a", "b", ("c", 1)}, "bytes": b"\0\xff", "none": None}
