"""Two peers play in lockstep: inputs are exchanged for each turn, checksums compared every ten."""

import argparse
import json
import random
import socket
import threading
import zlib

TURNS = 60


class World:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.units = {name: {"x": 0, "hp": 100} for name in ("red", "blue")}

    def step(self, inputs):
        for name in sorted(inputs):
            self.units[name]["x"] += inputs[name]
        gap = self.units["red"]["x"] - self.units["blue"]["x"]
        if abs(gap) < 4:
            self.units[self.rng.choice(["red", "blue"])]["hp"] -= self.rng.randint(1, 6)

    def checksum(self):
        return zlib.crc32(json.dumps(self.units, sort_keys=True).encode())


class Peer(threading.Thread):
    def __init__(self, name, link, seed, results):
        super().__init__(name=name)
        self.reader, self.writer = link.makefile("r"), link.makefile("w")
        self.results = results
        self.world = World(seed)
        self.player = random.Random()  # a human, here played by dice

    def exchange(self, message):
        self.writer.write(json.dumps(message) + "\n")
        self.writer.flush()
        return json.loads(self.reader.readline())

    def run(self):
        other = "blue" if self.name == "red" else "red"
        for turn in range(TURNS):
            mine = self.player.choice([-1, 0, 1])
            theirs = self.exchange({"turn": turn, "input": mine})
            assert theirs["turn"] == turn
            self.world.step({self.name: mine, other: theirs["input"]})
            if turn % 10 == 9:
                check = self.world.checksum()
                if self.exchange({"turn": turn, "check": check})["check"] != check:
                    raise SystemExit(f"desync at turn {turn}")
        self.results[self.name] = (self.world.checksum(), self.world.units)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1234)
    args = parser.parse_args()
    results = {}
    peers = [
        Peer(name, link, args.seed, results)
        for name, link in zip(("red", "blue"), socket.socketpair(), strict=True)
    ]
    for peer in peers:
        peer.start()
    for peer in peers:
        peer.join()
    print(f"in sync after {TURNS} turns: {results['red'] == results['blue']}")
    print(results["red"])
