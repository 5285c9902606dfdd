"""A crawler over a made-up site: pages are unpacked by workers, links are followed, words are ranked."""

import asyncio
import random
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

SITE = 60
WIDTH = 8
BUDGET = 40
TOPICS = ["steam", "gears", "rails", "signals", "bridges", "tunnels"]


class Page:
    """As the server keeps it: packed."""

    def __init__(self, number):
        self.number = number
        links = sorted({random.randrange(SITE) for _ in range(6)} - {number})
        words = [random.choice(TOPICS) for _ in range(12)]
        filler = " ".join(random.choice(TOPICS) for _ in range(4000))
        self.packed = zlib.compress(f"{' '.join(map(str, links))}\n{' '.join(words)}\n{filler * 12}".encode())

    def unpack(self):
        links, words, filler = zlib.decompress(self.packed).decode().split("\n")
        repacked = zlib.compress(filler.encode(), 6)
        return self.number, [int(link) for link in links.split()], words.split(), len(repacked)


class Frontier:
    """Addresses to visit, in the order in which they were found."""

    def __init__(self):
        self.waiting = [0]
        self.known = {0}

    def add(self, links):
        for link in links:
            if link not in self.known:
                self.known.add(link)
                self.waiting.append(link)

    def take(self, count):
        batch, self.waiting = self.waiting[:count], self.waiting[count:]
        return batch


class Crawler:
    def __init__(self, site, pool):
        self.site = site
        self.pool = pool
        self.frontier = Frontier()
        self.visited = []
        self.hosts = set()
        self.words = Counter()
        self.stored = 0

    async def fetch(self, number):
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.pool, self.site[number].unpack)

    async def round(self):
        batch = self.frontier.take(min(WIDTH, BUDGET - len(self.visited)))
        tasks = [asyncio.create_task(self.fetch(number)) for number in batch]
        for ready in asyncio.as_completed(tasks):
            number, links, words, size = await ready
            self.visited.append(number)
            self.hosts.add(f"host{number % 4}")
            self.words.update(words)
            self.stored += size
            self.frontier.add(links)

    async def run(self):
        rounds = 0
        while self.frontier.waiting and len(self.visited) < BUDGET:
            await self.round()
            rounds += 1
        return rounds


def main():
    site = [Page(number) for number in range(SITE)]
    with ThreadPoolExecutor(max_workers=4) as pool:
        crawler = Crawler(site, pool)
        rounds = asyncio.run(crawler.run())
    print(f"{rounds} rounds, {len(crawler.visited)} pages from {len(crawler.hosts)} hosts")
    for topic in sorted(TOPICS):
        print(f"{topic:<8} {crawler.words[topic]}")
    print(f"{crawler.stored} bytes stored")
    print("last pages:", " ".join(map(str, crawler.visited[-12:])))


main()
