"""A program with next to no state: what verifying costs beside recording when the program is free."""

from __future__ import annotations

import twice


def main(run: twice.Run) -> None:
    counter = run.track("counter", {"count": 0})
    for _ in run.ticks(run.config["ticks"]):
        counter["count"] += 1
