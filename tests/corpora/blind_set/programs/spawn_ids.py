"""A dungeon that grows by rooms: each region has its own generator, made from a mixed number."""

import os
import random
from dataclasses import dataclass, field


@dataclass
class Room:
    number: int
    monsters: int
    loot: list = field(default_factory=list)


def mix(*numbers):
    """One number of many, as good as a hash."""
    value = 0xCBF29CE484222325
    for number in numbers:
        value = ((value ^ number) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


class Regions:
    """Generators by region; region 3 belongs to guests, whose rooms no two servers shall share."""

    def __init__(self, seed):
        self.seed = seed
        self.made = {}

    def generator(self, region):
        if region not in self.made:
            salt = 0
            if region == 3:
                salt = os.getpid()  # guilty
            self.made[region] = random.Random(mix(self.seed, region, salt))
        return self.made[region]


class Dungeon:
    def __init__(self, regions):
        self.regions = regions
        self.rooms = []

    def grow(self, region):
        rng = self.regions.generator(region)
        room = Room(len(self.rooms), rng.randrange(1, 7))
        room.loot = rng.sample(["gold", "rope", "map", "key", "lamp", "gem"], k=2)  # innocent
        self.rooms.append(room)
        return room


def fight(room, hero, rng):
    for _ in range(room.monsters):
        hero["life"] -= rng.randrange(0, 3)
        hero["kills"] += 1
    for thing in room.loot:
        hero["bag"][thing] = hero["bag"].get(thing, 0) + 1


def main():
    dungeon = Dungeon(Regions(seed=1234))
    hero = {"life": 200, "kills": 0, "bag": {}}
    blows, torches = random.Random(1), random.Random(2)
    log = []
    for turn in range(44):
        region = 3 if turn >= 24 and turn % 5 == 4 else turn % 3
        room = dungeon.grow(region)
        fight(room, hero, blows)
        log.append((turn, region))
        if turn % 6 == 0:
            print(f"turn {turn}: life {hero['life']}, kills {hero['kills']}, light {torches.random():.3f}")
    print("regions", sorted({region for _, region in log}))  # innocent
    print("bag", ", ".join(f"{thing} x{count}" for thing, count in sorted(hero["bag"].items())))  # innocent
    print("life", hero["life"], "kills", hero["kills"], "rooms", len(dungeon.rooms))


if __name__ == "__main__":
    main()
