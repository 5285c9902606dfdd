"""A crawler whose frontier is a set; its digest in the state is the pickle of that set."""

from __future__ import annotations

import pickle
import zlib


class Crawler:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.seen: set[str] = set()
        self.pages = 0
        self.fingerprint = 0

    def crawl(self) -> None:
        for _ in range(4):
            self.seen.add(f"https://site/{self.rng.randrange(60)}")
            self.pages += 1

    def sign(self) -> None:
        self.fingerprint = zlib.crc32(pickle.dumps(self.seen))  # ZOO: guilty

    def state(self) -> dict:
        return {"seen": self.seen, "pages": self.pages, "fingerprint": self.fingerprint}

    def restore(self, state: dict) -> None:
        self.seen, self.pages = state["seen"], state["pages"]
        self.fingerprint = state["fingerprint"]


def main(run) -> None:
    crawler = run.track("crawler", Crawler(run.python("links")))
    for tick in run.ticks(15):
        crawler.crawl()
        if tick >= 3:
            crawler.sign()
