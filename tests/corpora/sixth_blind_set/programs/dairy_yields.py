"""Dairy ledger: farms' monthly sheets are spooled to disk, stacked, duplicates dropped, and fed to a herd summary."""
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

FARMS = ("Ashcombe", "Bexley", "Cold Ash", "Dunmore", "Easton", "Fairlea", "Goring")


def sheet(rng, farm, months=10):
    """A farm's own sheet; cows are lent out, so the same cow and month can turn up on two sheets."""
    cows = rng.integers(100, 118, size=months * 6)
    return pd.DataFrame({
        "farm": farm,
        "cow": cows,
        "month": np.repeat(np.arange(months), 6),
        "litres": np.round(rng.normal(620, 45, size=months * 6), 1),
    })


class Spool:
    """Sheets arrive one by one and wait on disk until the clerk stacks them."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def put(self, frame):
        handle, path = tempfile.mkstemp(prefix="sheet-", suffix=".csv", dir=self.folder)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as fh:
            frame.to_csv(fh, index=False)
        return path

    def stacked(self):
        """First sheet wins where two claim the same cow in the same month."""
        parts = [pd.read_csv(path) for path in sorted(self.folder.glob("sheet-*.csv"))]
        frame = pd.concat(parts, ignore_index=True)
        return frame.drop_duplicates(subset=["cow", "month"], keep="first")

    def by_month(self):
        clean = self.stacked().sort_values(["month", "cow"], kind="stable")
        return {month: part for month, part in clean.groupby("month")}


class Herd:
    def __init__(self, window=3):
        self.window = window
        self.history = []

    def add(self, part):
        self.history.append(part)
        recent = pd.concat(self.history[-self.window:])
        grouped = recent.groupby("cow")["litres"].mean()
        return {
            "cows": int(grouped.size),
            "mean": round(float(grouped.mean()), 3),
            "best": int(grouped.idxmax()),
        }


def main(run):
    rng = run.rng("milk")
    summary = run.track("summary", {"cows": 0, "mean": 0.0, "best": 0})
    payout = run.track("payout", {"pence": 0, "sheets": 0})
    herd = Herd()
    months = {}
    with tempfile.TemporaryDirectory(prefix="dairy") as folder:
        spool = Spool(folder)
        for tick in run.ticks(17):
            if tick < len(FARMS):
                spool.put(sheet(rng, FARMS[tick]))
                payout["sheets"] += 1
                continue
            months = months or spool.by_month()
            part = months[tick - len(FARMS)]
            summary.update(herd.add(part))
            payout["pence"] += int((part["litres"] * 31).sum())
    return payout["pence"]
