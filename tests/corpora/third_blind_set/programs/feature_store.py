"""An online feature store, and the click model that retrains on what the store serves."""

import numpy as np
import pandas as pd

GROUPS = {
    "user": ["age_days", "sessions_7d", "spend_30d", "tenure"],
    "item": ["price", "stock", "views_1h", "margin"],
    "context": ["hour", "device_score", "spend_30d", "views_1h"],
}
WARM_UP = 15
BATCH = 12


class Layout:
    """Where each feature stands in the packed vector."""

    def __init__(self, groups):
        wanted = set()
        for names in groups.values():
            wanted.update(names)
        self.offset = {}
        for name in wanted:
            self.offset[name] = len(self.offset)

    def pack(self, frame):
        packed = np.zeros((len(frame), len(self.offset)))
        for name, place in self.offset.items():
            packed[:, place] = frame[name].to_numpy()
        return packed

    def by_name(self, vector):
        return {name: float(vector[place]) for name, place in sorted(self.offset.items())}


class Store:
    """Keeps the latest rows of each group, and how old they are."""

    def __init__(self, groups, rng):
        self.groups, self.rng = groups, rng
        self.names = sorted({name for names in groups.values() for name in names})
        self.rows = pd.DataFrame(columns=self.names, dtype=float)
        self.age = dict.fromkeys(self.names, 0)

    def ingest(self, count):
        fresh = pd.DataFrame(self.rng.normal(size=(count, len(self.names))), columns=self.names)
        fresh["hour"] = (fresh["hour"] * 6).round() % 24 / 24
        self.rows = pd.concat([self.rows, fresh], ignore_index=True).tail(200).reset_index(drop=True)
        stale = {name for name in self.names if fresh[name].mean() < 0}
        for name in stale:
            self.age[name] += 1
        return fresh

    def state(self):
        return {"rows": self.rows.round(12).to_dict("list"), "age": dict(self.age)}

    def restore(self, state):
        self.rows = pd.DataFrame(state["rows"], columns=self.names)
        self.age = dict(state["age"])


class ClickModel:
    """Logistic regression with input dropout."""

    def __init__(self, layout, dropout):
        self.layout, self.dropout = layout, dropout
        self.weights = np.zeros(len(layout.offset))
        self.loss, self.rounds = 0.0, 0

    def fit(self, frame, clicked):
        x = self.layout.pack(frame)
        keep = self.dropout.random(x.shape[1]) > 0.3
        x = np.where(keep, x, 0.0)
        p = 1 / (1 + np.exp(-x @ self.weights))
        self.loss = float(-np.mean(np.where(clicked, np.log(p + 1e-9), np.log(1 - p + 1e-9))))
        self.weights -= 0.4 * x.T @ (p - clicked) / len(frame)
        self.rounds += 1

    def state(self):
        return {
            "weights": self.layout.by_name(self.weights),
            "loss": round(self.loss, 9),
            "rounds": self.rounds,
        }

    def restore(self, state):
        for name, value in state["weights"].items():
            self.weights[self.layout.offset[name]] = value
        self.loss, self.rounds = state["loss"], state["rounds"]


def main(run):
    traffic, labels = run.rng("traffic"), run.rng("labels")
    store = run.track("store", Store(GROUPS, traffic))
    model = run.track("model", ClickModel(Layout(GROUPS), run.rng("dropout")))
    totals = run.track("totals", {"served": 0, "clicks": 0})
    for tick in run.ticks(32):
        fresh = store.ingest(int(traffic.integers(4, 9)))
        totals["served"] += len(fresh)
        if tick < WARM_UP:
            continue
        batch = store.rows.iloc[labels.integers(0, len(store.rows), BATCH)]
        taste = batch["price"] * -0.8 + batch["device_score"] * 0.5 + batch["margin"] * 0.2
        clicked = (labels.random(BATCH) < 1 / (1 + np.exp(-taste))).to_numpy()
        totals["clicks"] += int(clicked.sum())
        model.fit(batch, clicked)
