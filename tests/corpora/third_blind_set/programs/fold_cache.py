"""Cross-validates a tree model with results kept in SQLite; a second pass comes out of the cache."""

import hashlib
import json
import os
import sqlite3
import tempfile
import time
import uuid

import lightgbm as lgb
import numpy as np

SETTINGS = [{"num_leaves": leaves, "learning_rate": rate} for leaves in (4, 8) for rate in (0.05, 0.2)]
FOLDS = 3


class Cache:
    """Results by what went in, with who wrote them and when."""

    def __init__(self, path):
        self.owner = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.db = sqlite3.connect(path)
        self.db.execute("CREATE TABLE results (key TEXT PRIMARY KEY, value REAL, owner TEXT, at REAL, took REAL)")
        self.hits = self.misses = 0

    @staticmethod
    def key(settings, fold, data):
        text = json.dumps({**settings, "fold": fold, "data": data}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    def get(self, key, compute):
        row = self.db.execute("SELECT value FROM results WHERE key = ?", [key]).fetchone()
        if row:
            self.hits += 1
            return row[0]
        began = time.perf_counter()
        value = compute()
        took = time.perf_counter() - began
        self.db.execute("INSERT INTO results VALUES (?, ?, ?, ?, ?)", [key, value, self.owner, time.time(), took])
        self.misses += 1
        return value

    def mine(self):
        return self.db.execute("SELECT count(*) FROM results WHERE owner = ?", [self.owner]).fetchone()[0]

    def slowest(self):
        return self.db.execute("SELECT key, max(took) FROM results").fetchone()


class Data:
    def __init__(self, seed, rows=240):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(rows, 6))
        self.y = self.x[:, 0] * 2 - np.abs(self.x[:, 1]) + 0.3 * rng.normal(size=rows)
        self.fold = rng.permutation(rows) % FOLDS
        self.mark = hashlib.md5(self.x.tobytes() + self.y.tobytes()).hexdigest()

    def split(self, fold):
        held = self.fold == fold
        return self.x[~held], self.y[~held], self.x[held], self.y[held]


def score(settings, data, fold):
    x, y, held_x, held_y = data.split(fold)
    fixed = {"objective": "l2", "verbose": -1, "num_threads": 1, "seed": 3, "deterministic": True, "force_row_wise": True}
    booster = lgb.train({**fixed, **settings}, lgb.Dataset(x, y, free_raw_data=False), num_boost_round=15)
    return float(np.mean((booster.predict(held_x) - held_y) ** 2))


def sweep(cache, data):
    means = {}
    for settings in SETTINGS:
        found = []
        for fold in range(FOLDS):
            key = cache.key(settings, fold, data.mark)
            found.append(cache.get(key, lambda: score(settings, data, fold)))
        means[settings["num_leaves"], settings["learning_rate"]] = sum(found) / FOLDS
    return means


def main():
    data, history = Data(21), []
    with tempfile.TemporaryDirectory(prefix="folds-") as folder:
        cache = Cache(os.path.join(folder, f"{uuid.uuid4().hex}.db"))
        for turn in range(2):
            began = time.monotonic()
            means = sweep(cache, data)
            history.append((cache.slowest(), time.monotonic() - began))
            print(f"pass {turn}: {cache.misses} computed, {cache.hits} from the cache")
        print(f"{cache.mine()} rows of this process, {len({key for (key, _), _ in history})} slowest")
        cache.db.close()
    for (leaves, rate), value in sorted(means.items(), key=lambda item: (item[1], item[0])):
        print(f"leaves {leaves} rate {rate}: {value:.6f}")
    ordered = sorted(history, key=lambda entry: entry[1])
    print(f"{len(ordered)} passes, all below an hour: {ordered[-1][1] < 3600}")


if __name__ == "__main__":
    main()
