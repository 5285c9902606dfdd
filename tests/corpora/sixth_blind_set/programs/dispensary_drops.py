"""Dispensary restock: every supplier drops a CSV in a folder; pandas merges them into one price list."""
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd

SUPPLIERS = ["almoner", "bedford", "crown", "duke", "ether", "foxglove"]
DRUGS = ["digoxin", "codeine", "atropine", "quinine", "salbutamol"]


class DropFolder:
    """Where the suppliers' files land before they are read."""

    def __init__(self, environ):
        root = environ.get("DROP_ROOT", "/var/tmp")
        self.path = Path(root) / "dispensary_drops"
        self.clear()
        self.path.mkdir(parents=True)

    def clear(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def put(self, supplier, frame):
        frame.to_csv(self.path / f"{supplier}.csv", index=False)

    def read(self):
        frames = []
        for file in self.path.iterdir():
            frame = pd.read_csv(file)
            frame["supplier"] = file.stem
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)


def offers(rng):
    picked = rng.permutation(DRUGS)[:4]
    return pd.DataFrame({
        "drug": picked,
        "price": rng.integers(200, 900, size=len(picked)) / 100,
        "packs": rng.integers(1, 20, size=len(picked)),
    })


def price_list(drops):
    latest = drops.drop_duplicates(subset="drug", keep="last")
    return latest.set_index("drug").sort_index()


class Dispensary:
    def __init__(self):
        self.prices = pd.Series(5.0, index=sorted(DRUGS))
        self.stock = pd.Series(60, index=sorted(DRUGS))
        self.spent = 0.0

    def dispense(self, rng):
        self.stock -= rng.integers(0, 5, size=len(self.stock))
        self.stock = self.stock.clip(lower=0)

    def restock(self, table):
        self.prices.update(table["price"])
        short = (60 - self.stock).clip(lower=0)
        self.spent += float((short * self.prices).sum())
        self.stock += short

    def state(self):
        return {"stock": {k: int(v) for k, v in self.stock.items()},
                "prices": {k: float(v) for k, v in self.prices.items()},
                "spent": round(self.spent, 2)}

    def restore(self, state):
        self.stock, self.prices = pd.Series(state["stock"]), pd.Series(state["prices"])
        self.spent = state["spent"]


def main(run):
    rng = run.rng("suppliers")
    ward = run.rng("ward")
    folder = DropFolder(os.environ)
    shop = Dispensary()
    run.track("dispensary", shop)
    try:
        for day in run.ticks(15):
            shop.dispense(ward)
            folder.put(SUPPLIERS[day % len(SUPPLIERS)], offers(rng))
            if day % 5 == 4:
                shop.restock(price_list(folder.read()))
    finally:
        folder.clear()
    return round(float(np.round(shop.spent, 2)), 2)
