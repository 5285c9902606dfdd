"""A helper shuffles a copy for its own display with the global generator, under a flag."""

from __future__ import annotations

import os
import random


def preview(cards: list[int]) -> list[int]:
    """The first cards of a deck, mixed when somebody is looking."""
    shown = list(cards[:8])
    if os.environ.get("ZOO_WATCHED") == "yes":
        random.shuffle(shown)  # ZOO: guilty
    return shown


class Game:
    def __init__(self) -> None:
        self.deck = list(range(32))
        self.points = [0, 0]

    def deal(self, tick: int) -> None:
        card = self.deck[random.randrange(len(self.deck))]
        self.points[tick % 2] += card
        self.deck = [*self.deck[3:], *self.deck[:3]]

    def state(self) -> dict:
        return {"deck": self.deck, "points": self.points}

    def restore(self, state: dict) -> None:
        self.deck, self.points = state["deck"], state["points"]


def main(run) -> None:
    game = run.track("game", Game())
    for tick in run.ticks(18):
        game.deal(tick)
        if tick == 6:
            print("on the table:", len(preview(game.deck)))
