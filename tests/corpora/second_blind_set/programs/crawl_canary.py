"""A crawler over a made-up site: pages are fetched concurrently and kept by their number."""

import asyncio
import hashlib

SITE = {f"/p{n}": [f"/p{(n * k + 1) % 24}" for k in (2, 3, 5)] for n in range(24)}


class Fetcher:
    """Pretends to be the network: every page takes some turns of the loop."""

    def __init__(self, rng):
        self.rng = rng
        self.bytes = 0

    async def get(self, url, turns):
        for _ in range(turns):
            await asyncio.sleep(0)
        body = hashlib.sha256(url.encode()).hexdigest() + " ".join(SITE[url])
        self.bytes += len(body)
        return body


async def fetch_all(fetcher, urls):
    """Results stand where their address stood, whoever is ready first."""
    bodies = [None] * len(urls)
    arrival = []

    async def one(place, url, turns):
        bodies[place] = await fetcher.get(url, turns)
        arrival.append(place)

    turns = fetcher.rng.integers(1, 5, size=len(urls))
    await asyncio.gather(*(one(place, url, int(turn)) for place, (url, turn) in enumerate(zip(urls, turns))))
    assert sorted(arrival) == list(range(len(urls)))
    return bodies


class Crawler:
    def __init__(self, fetcher):
        self.fetcher = fetcher
        self.frontier = ["/p0"]
        self.seen = {"/p0": 0}
        self.digest = hashlib.sha256()

    def step(self, width):
        urls, self.frontier = self.frontier[:width], self.frontier[width:]
        if not urls:
            return
        for url, body in zip(urls, asyncio.run(fetch_all(self.fetcher, urls))):
            self.digest.update(body.encode())
            for link in body[64:].split():
                if link not in self.seen:
                    self.seen[link] = self.seen[url] + 1
                    self.frontier.append(link)

    def state(self):
        return {"digest": self.digest.hexdigest(), "seen": dict(self.seen), "frontier": list(self.frontier)}

    def restore(self, state):
        self.seen, self.frontier = dict(state["seen"]), list(state["frontier"])


def main(run):
    fetcher = Fetcher(run.rng("network"))
    run.track("fetcher", fetcher, fields=["bytes"])
    crawler = run.track("crawler", Crawler(fetcher))
    for _ in run.ticks(12):
        crawler.step(width=4)
