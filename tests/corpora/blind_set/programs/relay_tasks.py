"""A relay of messages between asyncio tasks: a producer, filters, and a sink that sums up."""

import asyncio
import random
import secrets


class Message:
    """A number with a key that says which filter it belongs to."""

    def __init__(self, number, key):
        self.number = number
        self.key = key


class Keys:
    """Keys of messages: those of the first half are counted, later ones come from a pool."""

    def __init__(self, pool):
        self.pool = pool
        self.count = 0

    def next(self):
        self.count += 1
        if self.count <= 20:
            return self.count
        return self.pool[self.count % len(self.pool)]


def make_pool(size):
    return [secrets.randbelow(1000) for _ in range(size)]  # guilty


async def produce(out, keys, rng, count):
    for _ in range(count):
        await out.put(Message(rng.randrange(100), keys.next()))
        await asyncio.sleep(0)
    await out.put(None)


async def route(source, lanes):
    """Messages go to the lane that their key says."""
    while (message := await source.get()) is not None:
        await lanes[message.key % len(lanes)].put(message)  # innocent
    for lane in lanes:
        await lane.put(None)


async def work(number, lane, sums):
    """Each lane weighs numbers by itself."""
    while (message := await lane.get()) is not None:
        sums[number] = (sums[number] * 31 + message.number) % 100_003


async def session(seed, pool, count):
    rng = random.Random(seed)
    source = asyncio.Queue(maxsize=4)
    lanes = [asyncio.Queue() for _ in range(3)]
    sums = [0, 0, 0]
    jobs = [produce(source, Keys(pool), rng, count), route(source, lanes)]
    jobs += [work(k, lane, sums) for k, lane in enumerate(lanes)]
    await asyncio.gather(*jobs)  # innocent
    return sums


async def chatter(rng, lines):
    for _ in range(lines):
        await asyncio.sleep(0)
    return rng.random()


def main():
    pool = make_pool(7)
    noise = random.Random(70)
    for day in range(8):
        count = 20 if day < 5 else 32
        sums = asyncio.run(session(day, pool, count))
        mood = asyncio.run(chatter(noise, 3))
        print(f"day {day}: {count} messages, sums {sums}, mood {mood:.4f}")
    print("lanes", len(sums), "pool", len(pool))  # innocent


if __name__ == "__main__":
    main()
