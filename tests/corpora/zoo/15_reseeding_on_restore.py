"""A card game: the state holds the generator's position, and restoring seeds it again instead."""

from __future__ import annotations

import random


class Deck:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.cards = list(range(40))
        self.position = self.rng.getstate()[1]

    def shuffle(self) -> None:
        self.rng.shuffle(self.cards)  # ZOO: also
        self.position = self.rng.getstate()[1]

    def state(self) -> dict:
        return {"seed": self.seed, "cards": self.cards, "position": self.position}

    def restore(self, state: dict) -> None:
        self.seed, self.cards, self.position = state["seed"], state["cards"], state["position"]
        self.rng = random.Random(self.seed)  # ZOO: guilty


class Table:
    def __init__(self, deck: Deck) -> None:
        self.deck = deck
        self.scores = [0, 0, 0, 0]

    def play(self) -> None:
        hands = [self.deck.cards[player::4] for player in range(4)]
        best = max(range(4), key=lambda player: (sum(hands[player][:5]), player))
        self.scores[best] += 1

    def state(self) -> dict:
        return {"scores": self.scores}

    def restore(self, state: dict) -> None:
        self.scores = state["scores"]


def main(run) -> None:
    deck = run.track("deck", Deck(4711))
    table = run.track("table", Table(deck))
    for _ in run.ticks(20):
        deck.shuffle()
        table.play()
