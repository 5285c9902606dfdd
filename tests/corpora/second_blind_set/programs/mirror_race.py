"""Downloads a package index from several mirrors at once and merges what they say.

Mirrors are simulated; how slow each is can be set with MIRROR_DELAYS (milliseconds).
"""
import os
import queue
import threading
import time
from dataclasses import dataclass

DELAYS = [int(part) for part in os.environ.get("MIRROR_DELAYS", "0,150,300").split(",")]
PACKAGES = ["zlib", "curl", "nano", "jq", "git", "tmux", "perl", "gawk"]


@dataclass(frozen=True)
class Offer:
    package: str
    version: tuple
    mirror: int


class Mirror(threading.Thread):
    def __init__(self, number, delay, outbox):
        super().__init__(name=f"mirror-{number}")
        self.number = number
        self.delay = delay / 1000
        self.outbox = outbox

    def index(self):
        for place, package in enumerate(PACKAGES):
            if (place + self.number) % 4:
                yield Offer(package, (1, (place * 3 + self.number // 2) % 5), self.number)

    def run(self):
        time.sleep(self.delay)
        self.outbox.put(list(self.index()))


class Index:
    """The best version of each package; among equals, who said it first."""

    def __init__(self):
        self.best = {}
        self.replaced = 0

    def merge(self, offers):
        for offer in offers:
            known = self.best.get(offer.package)
            if known is None or offer.version > known.version:
                self.replaced += known is not None
                self.best[offer.package] = offer

    def plan(self):
        return sorted(self.best.values(), key=lambda offer: offer.package)


def gather(count):
    outbox = queue.Queue()
    mirrors = [Mirror(number, DELAYS[number], outbox) for number in range(count)]
    for mirror in mirrors:
        mirror.start()
    index = Index()
    for _ in mirrors:
        index.merge(outbox.get())
    for mirror in mirrors:
        mirror.join()
    return index


index = gather(len(DELAYS))
print("packages:", len(index.best))
for offer in index.plan():
    print(f"{offer.package:6s} {'.'.join(map(str, offer.version))}")
load = [sum(1 for offer in index.plan() if offer.mirror == number) for number in range(len(DELAYS))]
print("downloads by mirror:", load)
