"""Render jobs in threads: tiles come back as they are done, and are blended in that order."""

import random
import threading
import zlib


class Tile:
    def __init__(self, number, seed):
        self.number = number
        self.seed = seed

    def render(self):
        """Some work that lets go of the interpreter in between."""
        data = bytes((self.seed + k * self.number) % 251 for k in range(2000))
        total = 0
        for _ in range(40):
            total = zlib.crc32(data * 40, total)
        return total % 256


class Collector:
    def __init__(self):
        self.lock = threading.Lock()
        self.done = []

    def put(self, tile, value):
        with self.lock:
            self.done.append((tile.number, value))  # guilty


def render_all(tiles, workers, collector):
    """Each worker takes every so-many-th tile."""

    def work(first):
        for tile in tiles[first::workers]:
            collector.put(tile, tile.render())

    threads = [threading.Thread(target=work, args=(k,)) for k in range(workers)]
    for thread in threads:  # innocent
        thread.start()
    for thread in threads:
        thread.join()


def blend(done):
    colour = 128
    for number, value in done:
        colour = (colour * 3 + value + number) // 4 % 256
    return colour


def main():
    rng, noise = random.Random(21), random.Random(22)
    names = {"sky", "sea", "sun"}
    frames = []
    for frame in range(8):
        tiles = [Tile(k, rng.randrange(1 << 16)) for k in range(24)]
        collector = Collector()
        render_all(tiles, 4, collector)
        frames.append(collector.done)
        if frame < 4:
            print(f"frame {frame}: {len(collector.done)} tiles, noise {noise.random():.4f}")
    for number, done in enumerate(frames):
        checksum = sum(value for _, value in sorted(done))  # innocent
        print(f"frame {number}: checksum {checksum}")
    colours = [blend(done) for done in frames]
    print("layers", ", ".join(sorted(names)))  # innocent
    print("colours", " ".join(map(str, colours)), "sum", sum(colours))


if __name__ == "__main__":
    main()
