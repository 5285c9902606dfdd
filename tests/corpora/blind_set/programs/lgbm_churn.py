"""Who leaves a gym: features are chosen, a boosted model is trained, and the riskiest members are named."""

import random

import lightgbm as lgb
import numpy as np

COLUMNS = ("visits", "age", "months", "classes", "locker", "friends", "distance", "price")


def members(rng, count):
    """A table of members and whether they left."""
    table = {name: rng.normal(size=count) for name in COLUMNS}
    score = 1.3 * table["distance"] - 0.9 * table["visits"] + 0.5 * table["price"] * table["age"]
    left = (score + 0.4 * rng.normal(size=count) > 0).astype(float)
    return table, left


class Selector:
    """Keeps columns that have something to do with the answer."""

    def __init__(self, least):
        self.least = least
        self.scores = {}

    def fit(self, table, left):
        for name, values in table.items():  # innocent
            self.scores[name] = abs(float(np.corrcoef(values, left)[0, 1]))
        return self

    def columns(self):
        chosen = {name for name, score in self.scores.items() if score >= self.least}
        chosen |= {"age", "months"}
        return list(chosen)  # guilty


def matrix(table, columns):
    return np.column_stack([table[name] for name in columns])


def train(table, left, columns, rounds):
    settings = {
        "objective": "binary", "feature_fraction": 0.5, "num_leaves": 7, "min_data_in_leaf": 10,
        "seed": 7, "deterministic": True, "num_threads": 1, "verbose": -1,
    }
    return lgb.train(settings, lgb.Dataset(matrix(table, columns), left), rounds)  # innocent


def main():
    rng = np.random.default_rng(1001)
    table, left = members(rng, 400)
    fresh, _ = members(rng, 12)
    selector = Selector(least=0.02).fit(table, left)
    for name in sorted(selector.scores):  # innocent
        print(f"{name:10s} {selector.scores[name]:.4f}")
    columns = selector.columns()
    print("columns:", len(columns), "of", len(COLUMNS))
    model = train(table, left, columns, 25)
    print("trees:", model.num_trees())
    print("sample of ages:", " ".join(f"{v:.3f}" for v in fresh["age"][:4]))
    calls = random.Random(3)
    risk = model.predict(matrix(fresh, columns))
    for k in np.argsort(-risk, kind="stable")[:5]:
        print(f"member {k}: risk {risk[k]:.6f}, call at {9 + calls.randrange(8)}:00")


if __name__ == "__main__":
    main()
