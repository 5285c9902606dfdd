"""A map server with a cache of rendered tiles; a deploy hands its state over to a fresh process."""

import os
from collections import OrderedDict

CAPACITY = 240
HANDOVER = int(os.environ.get("TILES_HANDOVER", "-1"))


class Usage:
    """Counts per zoom level, for the bill."""

    def __init__(self):
        self.by_zoom = {}

    def count(self, zoom):
        self.by_zoom[zoom] = self.by_zoom.get(zoom, 0) + 1

    def state(self):
        return {"by_zoom": dict(self.by_zoom)}

    def restore(self, state):
        self.by_zoom = dict(state["by_zoom"])


class TileServer:
    def __init__(self):
        self.cache = OrderedDict()
        self.used = 0
        self.hits = self.misses = self.rendered = 0

    @staticmethod
    def render(key):
        zoom, x, y = key
        return 8 + (zoom * 7 + x * 13 + y * 29) % 17

    def get(self, key):
        if key in self.cache:
            self.hits += 1
            self.cache.move_to_end(key)
            return self.cache[key]
        self.misses += 1
        size = self.render(key)
        self.rendered += size
        self.cache[key] = size
        self.used += size
        while self.used > CAPACITY:
            _, old = self.cache.popitem(last=False)
            self.used -= old
        return size

    def state(self):
        return {
            "cache": {"/".join(map(str, key)): self.cache[key] for key in sorted(self.cache)},
            "used": self.used,
            "hits": self.hits,
            "misses": self.misses,
            "rendered": self.rendered,
        }

    def restore(self, state):
        self.cache = OrderedDict((tuple(map(int, k.split("/"))), size) for k, size in state["cache"].items())
        self.used = state["used"]
        self.hits, self.misses, self.rendered = state["hits"], state["misses"], state["rendered"]


class Site:
    """The address in front: whoever serves behind it."""

    def __init__(self):
        self.server = TileServer()
        self.sent = 0

    def serve(self, key):
        self.sent += self.server.get(key)

    def deploy(self):
        fresh = TileServer()
        fresh.restore(self.server.state())
        self.server = fresh

    def state(self):
        return {"server": self.server.state(), "sent": self.sent}

    def restore(self, state):
        self.server.restore(state["server"])
        self.sent = state["sent"]


def popular(rng, tick):
    """Viewers look at a few places a lot; in the middle of the day nobody looks at anything new."""
    zoom = int(rng.integers(3, 6))
    reach = 2 if 6 <= tick < 17 else 3
    return zoom, int(rng.integers(0, reach)), int(rng.integers(0, 2))


def main(run):
    viewers = run.rng("viewers")
    bots = run.rng("bots")
    site = run.track("site", Site())
    usage = run.track("usage", Usage())
    seen = set()
    for tick in run.ticks(32):
        if tick == HANDOVER:
            site.deploy()
        for _ in range(6):
            key = popular(viewers, tick)
            usage.count(key[0])
            seen.add(key)
            site.serve(key)
        if tick >= 17 and bots.random() < 0.6:
            key = (int(bots.integers(6, 9)), int(bots.integers(0, 20)), int(bots.integers(0, 20)))
            usage.count(key[0])
            site.serve(key)
