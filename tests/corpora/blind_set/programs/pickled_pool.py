"""A pool of workers in a game server: its roster is packed for the journal, whose sums salt the shuffles."""

import pickle
import random
import struct
import zlib


class Roster:
    """Names on duty. Two rosters with the same names are the same."""

    def __init__(self, names):
        self.names = frozenset(names)

    def __eq__(self, other):
        return isinstance(other, Roster) and self.names == other.names

    def __contains__(self, name):
        return name in self.names

    def pack(self):
        return pickle.dumps(self.names, protocol=4)  # guilty


class Journal:
    """Frames of bytes, each with its length and a sum, in one buffer."""

    def __init__(self):
        self.buffer = bytearray()
        self.frames = 0

    def append(self, payload):
        self.buffer += struct.pack("<II", len(payload), zlib.crc32(payload)) + payload  # innocent
        self.frames += 1

    def sums(self):
        view, at = memoryview(self.buffer), 0
        while at < len(view):
            size, check = struct.unpack_from("<II", view, at)
            yield check
            at += 8 + size


class Raid:
    """Bosses with life; a fighter that is drawn hits."""

    def __init__(self, rng, life):
        self.rng = rng
        self.life = life
        self.log = []

    def hit(self, name):
        damage = self.rng.randint(1, 9) + len(name) % 3
        self.life -= damage
        self.log.append((name, damage))
        return damage


def sides(names, salt):
    """Who fights tonight, three of them; the salt makes each night another."""
    order = sorted(names)  # innocent
    random.Random(salt).shuffle(order)
    return order[:3]


def main():
    roster = Roster(["Ursa", "Lyra", "Draco", "Corvus", "Hydra", "Cygnus", "Vela", "Norma", "Pavo"])
    journal = Journal()
    raid = Raid(random.Random(4), life=900)
    for week in range(6):
        journal.append(f"week {week}".encode())
    journal.append(roster.pack())
    print("journal frames", journal.frames, "has Lyra", "Lyra" in roster)
    for night in range(20):
        damage = sum(raid.hit(name) for name in sides(roster.names, night))  # innocent
        print(f"night {night}: {damage} damage, {raid.life} left")
    print("journal is read again")
    for salt in journal.sums():
        team = sides(roster.names, salt)
        damage = sum(raid.hit(name) for name in team)
        print("team", "/".join(team), "damage", damage, "left", raid.life)
    print("hits", len(raid.log), "same roster", roster == Roster(sorted(roster.names)))


if __name__ == "__main__":
    main()
