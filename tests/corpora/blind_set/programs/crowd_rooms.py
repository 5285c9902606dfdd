"""People leave a building: they walk through rooms with doors, and hesitate a little."""

import numpy as np

from crowd_rooms_lib import Hesitation, Profile, spread

ROOMS = ("hall", "stairs", "lobby", "street")


class Building:
    """How many stand in each room; a door lets so many through a turn."""

    def __init__(self, people, doors):
        self.inside = dict(zip(ROOMS, (people, 0, 0, 0)))
        self.doors = dict(zip(ROOMS, doors))

    def turn(self, slow):
        for room, after in zip(ROOMS[-2::-1], ROOMS[:0:-1]):  # innocent
            moved = min(self.inside[room], max(0, self.doors[room] - slow.get(room, 0)))
            self.inside[room] -= moved
            self.inside[after] += moved

    def empty(self):
        return self.inside["street"] == sum(self.inside.values())


class Smoke:
    def __init__(self, rng):
        self.rng = rng
        self.level = 0.0

    def rise(self):
        self.level += float(self.rng.exponential(0.02))  # innocent
        return self.level > 0.8


def main():
    building = Building(260, doors=(11, 8, 9, 0))
    smoke = Smoke(np.random.default_rng(12))
    calm = Hesitation(Profile("calm", 2), rng=np.random.default_rng(13))
    panic = Hesitation(Profile("panic", 5))
    names = {room for room in ROOMS if room != "street"}
    print("rooms", sorted(names), "doors", sum(building.doors.values()))  # innocent
    waits = []
    for turn in range(40):
        frightened = turn >= 18 or smoke.rise()
        who = panic if frightened and turn % 2 else calm
        slow = {room: who.draw() for room in ROOMS[:2]}
        building.turn(slow)
        waits.append(building.inside["hall"])
        if turn % 4 == 3:
            print(f"turn {turn + 1}: " + ", ".join(f"{room} {count}" for room, count in building.inside.items()))
        if building.empty():
            break
    print("spread of the waits", spread(waits))
    print("smoke", f"{smoke.level:.5f}", "empty", building.empty())


if __name__ == "__main__":
    main()
