"""A roguelike: rooms, monsters, loot, and sparks that fly when swords meet."""

import os
from dataclasses import dataclass, field
from enum import Enum


class Loot(Enum):
    NOTHING = 0
    COPPER = 1
    POTION = 2
    BLADE = 3


@dataclass
class Hero:
    health: int = 60
    gold: int = 0
    blade: int = 3
    bag: list = field(default_factory=list)

    def take(self, loot):
        if loot is Loot.COPPER:
            self.gold += 7
        elif loot is Loot.POTION:
            self.health = min(60, self.health + 15)
        elif loot is Loot.BLADE:
            self.blade += 1
        self.bag.append(loot.name)


class Sparks:
    """Decoration; the screen shows them for three frames."""

    def __init__(self, dice):
        self.dice = dice
        self.alive = []
        self.per_hit = int(os.environ.get("SPARKS_PER_HIT", "0"))

    def burst(self, x, y):
        for _ in range(self.per_hit):
            angle = self.dice.random() * 6.283
            self.alive.append([x, y, angle, 3])

    def frame(self):
        for spark in self.alive:
            spark[3] -= 1
        self.alive = [spark for spark in self.alive if spark[3] > 0]


class Dungeon:
    def __init__(self, dice):
        self.dice = dice
        self.depth = 1
        self.monster = 8
        self.slain = 0

    def fight(self, hero, sparks):
        """One exchange of blows; monsters hit on a fixed pattern."""
        self.monster -= hero.blade
        sparks.burst(self.depth, self.slain)
        if self.monster > 0:
            hero.health -= self.depth % 3
            return None
        self.slain += 1
        self.depth += self.slain % 4 == 0
        self.monster = 40 + 6 * self.depth
        return self.dice.choice(list(Loot))


def main(run):
    dice = run.python("dice")
    hero = run.track("hero", Hero())
    dungeon = Dungeon(dice)
    run.track("dungeon", dungeon, fields=["depth", "monster", "slain"])
    sparks = Sparks(dice)
    dungeon.monster = 70
    for turn in run.ticks(90):
        loot = dungeon.fight(hero, sparks)
        sparks.frame()
        if loot is not None:
            hero.take(loot)
