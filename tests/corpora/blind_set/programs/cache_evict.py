"""A web cache in front of an origin: hits, misses, and what the origin has to work."""

import functools
import os
import zlib

PAGES = tuple(f"/{section}/{number}" for section in ("news", "shop", "blog", "help") for number in range(12))


class Store:
    """Pages in memory. A page that was not asked for since the last sweep is cold and may be dropped."""

    def __init__(self, room):
        self.room = room
        self.pages = {}
        self.cold = set()

    def sweep(self):
        self.cold = set(self.pages)

    def get(self, page):
        self.cold.discard(page)
        return self.pages.get(page)

    def put(self, page, body):
        if len(self.pages) >= self.room and self.cold:
            victim = self.cold.pop()  # guilty
            del self.pages[victim]
        elif len(self.pages) >= self.room:
            oldest = next(iter(self.pages))  # innocent
            del self.pages[oldest]
        self.pages[page] = body


class Origin:
    def __init__(self, rng):
        self.rng = rng
        self.load = 0.0
        self.requests = 0

    def render(self, page):
        self.requests += 1
        self.load += 1.0 + 0.1 * float(self.rng.random())
        return body_of(page) * 2

    def rest(self):
        self.load *= 0.8


@functools.lru_cache(maxsize=None)
def body_of(page):
    return f"<h1>{page}</h1>{zlib.crc32(page.encode()):08x}"  # innocent


class Readers:
    """Who asks for what: mostly the front pages, and all of the shop on sale days."""

    def __init__(self, rng):
        self.rng = rng

    def ask(self, tick):
        if tick in (6, 7):
            return [page for page in PAGES if page.startswith("/help")][:4]
        if tick >= 24 and tick % 4 == 0:
            return list(PAGES[:24])
        popular = int(6 + tick % 3)
        return [PAGES[int(self.rng.integers(popular))] for _ in range(5)]


def main(run):
    store = Store(room=26)
    origin = run.track("origin", Origin(run.rng("origin")))
    tally = run.track("tally", {"hits": 0, "misses": 0, "sections": []})
    readers = Readers(run.rng("readers"))
    debug = os.environ.get("CACHE_DEBUG_NEVER_SET")  # innocent
    for page in PAGES[:26]:
        store.put(page, body_of(page))
    for tick in run.ticks(40):
        if tick == 5:
            store.sweep()
        for page in readers.ask(tick):
            if store.get(page) is None:
                tally["misses"] += 1
                store.put(page, origin.render(page))
            else:
                tally["hits"] += 1
        tally["sections"] = sorted({page.split("/")[1] for page in store.pages})  # innocent
        origin.rest()
        if debug:
            print(tick, len(store.pages))
