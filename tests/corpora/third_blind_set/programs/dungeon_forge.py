"""A roguelike: rooms are laid out when the floor is made, loot is rolled when a chest is opened."""

import zlib

import numpy as np

ROOMS = ["armoury", "bakehouse", "crypt", "distillery", "eyrie", "forge", "gallery", "hall", "icehouse", "jail"]
LOOT = ["dagger", "lantern", "rope", "elixir", "shield", "map", "ring", "bread"]
VALUE = {name: 3 + zlib.crc32(name.encode()) % 40 for name in LOOT}


class Chest:
    def __init__(self, dice, size):
        self.dice, self.size, self.opened = dice, size, False

    def open(self):
        self.opened = True
        return [LOOT[int(self.dice.integers(len(LOOT)))] for _ in range(self.size)]


class Room:
    def __init__(self, name, world, layout):
        self.name = name
        self.width, self.height = (int(v) for v in layout.integers(4, 12, size=2))
        self.ambience = np.random.default_rng(zlib.crc32(name.encode()) ^ world)
        self.chest = None
        if self.width * self.height > 40:
            self.chest = Chest(np.random.default_rng((world, hash(name) & 0xFFFFFFFF)), 1 + self.width // 3)

    def murmur(self):
        return int(self.ambience.integers(0, 100))


class Floor:
    def __init__(self, world, layout):
        self.rooms = {name: Room(name, world, layout) for name in ROOMS}
        self.doors = {}
        for name in ROOMS:
            self.doors[name] = {ROOMS[int(i)] for i in layout.integers(0, len(ROOMS), size=2)} - {name}

    def next_room(self, name, lot):
        ways = sorted(self.doors[name]) or ROOMS
        return ways[lot % len(ways)]


class Hero:
    def __init__(self):
        self.room = "hall"
        self.visited = {"hall"}
        self.keys = 0
        self.gold = 0
        self.bag = []
        self.fear = 0

    def enter(self, room):
        self.room = room.name
        self.fear = (self.fear + room.murmur()) % 1000
        fresh = room.name not in self.visited
        self.visited.add(room.name)
        self.keys += fresh

    def try_chest(self, room):
        if room.chest is None or room.chest.opened or self.keys < 4:
            return
        self.keys -= 2
        for item in room.chest.open():
            if item in self.bag:
                self.gold += VALUE[item]
            else:
                self.bag.append(item)

    def state(self):
        return {"room": self.room, "visited": set(self.visited), "keys": self.keys, "gold": self.gold,
                "bag": list(self.bag), "fear": self.fear}

    def restore(self, state):
        self.room, self.visited, self.keys = state["room"], set(state["visited"]), state["keys"]
        self.gold, self.bag, self.fear = state["gold"], list(state["bag"]), state["fear"]


def main(run):
    floor = Floor(20, run.rng("layout"))
    feet = run.rng("feet")
    hero = run.track("hero", Hero())
    for tick in run.ticks(40):
        if feet.random() < 0.25:
            target = ROOMS[int(feet.integers(len(ROOMS)))]
        else:
            target = floor.next_room(hero.room, int(feet.integers(0, 6)))
        hero.enter(floor.rooms[target])
        hero.try_chest(floor.rooms[target])
