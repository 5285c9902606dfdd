"""A harbour whose ships dock in the order of a set, which depends on the hash seed.

Two cranes unload whatever is docked; fees rise with every ship that docks before. Run it twice with
one seed and other surroundings, and the ledger differs: somewhere below is the reason.

    twice record harbour.py:main --seed 7 -o a.twice
    twice verify a.twice
"""

from __future__ import annotations

from typing import Any

NAMES = ("Aurora", "Borealis", "Calypso", "Dorado", "Endeavour", "Fram", "Galatea", "Hesperus")


class Harbour:
    """Ships at sea, ships at the quay, and what was earned."""

    def __init__(self, rng: Any) -> None:
        self.rng = rng
        self.cargo = dict.fromkeys(NAMES, 40.0)
        self.at_sea: set[str] = set()
        self.ledger = 0.0
        self.last_docked = ""

    def arrive(self, tick: int) -> None:
        """More ships come in sight with every tick."""
        self.at_sea = {name for name in NAMES[: 1 + tick // 4] if self.cargo[name] > 1.0}

    def dock(self) -> None:
        """Take the ships in sight to the quay; who comes later pays more."""
        fee = 1.0
        for name in self.at_sea:
            fee *= 1.1
            self.ledger += fee * self.cargo[name]
            self.last_docked = name

    def unload(self) -> None:
        """Take a random share of the last ship's cargo."""
        if self.last_docked:
            self.cargo[self.last_docked] *= float(self.rng.uniform(0.8, 0.95))

    def state(self) -> dict[str, Any]:
        """Return the values that a snapshot captures."""
        return {"cargo": self.cargo, "ledger": self.ledger, "last_docked": self.last_docked}

    def restore(self, state: dict[str, Any]) -> None:
        """Put back what ``state`` returned."""
        self.cargo, self.ledger = state["cargo"], state["ledger"]
        self.last_docked = state["last_docked"]


def main(run: Any) -> None:
    """Forty ticks of a harbour."""
    harbour = run.track("harbour", Harbour(run.rng("harbour")))
    for tick in run.ticks(40):
        harbour.arrive(tick)
        harbour.dock()
        harbour.unload()
