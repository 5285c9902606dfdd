"""Two kinds of dice share a generator on their class; a spectator rolls one of them for fun."""

from __future__ import annotations

import os
import random


class Die:
    generator = random.Random(99)

    def __init__(self, sides: int) -> None:
        self.sides = sides

    def roll(self) -> int:
        return Die.generator.randint(1, self.sides)  # ZOO: guilty


class Spectator:
    def __init__(self, die: Die) -> None:
        self.die = die

    def watch(self) -> None:
        if os.environ.get("ZOO_BORED") == "1":
            self.die.roll()  # ZOO: also


class Duel:
    def __init__(self) -> None:
        self.sword, self.spell = Die(6), Die(20)
        self.health = [120, 120]

    def strike(self, attacker: int) -> None:
        damage = self.sword.roll() if attacker == 0 else self.spell.roll() // 3
        self.health[1 - attacker] -= damage

    def state(self) -> dict:
        return {"health": self.health}


def main(run) -> None:
    duel = run.track("duel", Duel())
    spectator = Spectator(Die(4))
    for tick in run.ticks(14):
        duel.strike(tick % 2)
        if tick == 7:
            spectator.watch()
