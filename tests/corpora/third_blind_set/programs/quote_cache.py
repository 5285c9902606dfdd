"""A gateway in front of a slow price feed: answers are cached, and refreshed when their time is over."""

import heapq
import secrets
import time
import uuid

SYMBOLS = ["AKE", "BRO", "CYN", "DOV", "ELM", "FEN", "GIB", "HUX", "IVO", "JUT"]
TTL = 8
SPREAD = 6


class Feed:
    """The origin: prices walk, whether somebody asks or not."""

    def __init__(self, rng):
        self.rng = rng
        self.cents = {symbol: 1000 + 35 * i for i, symbol in enumerate(SYMBOLS)}
        self.calls = 0

    def move(self):
        for symbol in SYMBOLS:
            self.cents[symbol] += int(self.rng.integers(-9, 10))

    def ask(self, symbol):
        self.calls += 1
        return self.cents[symbol]


class Trace:
    """Spans for the collector; sent elsewhere."""

    def __init__(self):
        self.spans = []

    def span(self, name):
        self.spans.append((uuid.uuid4().hex, name, time.perf_counter()))
        if len(self.spans) > 50:
            del self.spans[:25]


class Cache:
    def __init__(self, feed, trace):
        self.feed, self.trace = feed, trace
        self.values = {}
        self.deadlines = []

    def put(self, symbol, now):
        # not all at once, or the feed is overrun
        until = now + TTL + secrets.randbelow(SPREAD)
        self.values[symbol] = self.feed.ask(symbol)
        heapq.heappush(self.deadlines, (until, symbol))

    def expire(self, now):
        while self.deadlines and self.deadlines[0][0] <= now:
            _, symbol = heapq.heappop(self.deadlines)
            self.values.pop(symbol, None)

    def get(self, symbol, now):
        self.trace.span(symbol)
        if symbol not in self.values:
            self.put(symbol, now)
        return self.values[symbol]


class Gateway:
    def __init__(self, feed, cache):
        self.feed, self.cache = feed, cache
        self.answers = 0
        self.volume = 0
        self.error = 0
        self.watched = set()

    def answer(self, symbol, amount, now):
        price = self.cache.get(symbol, now)
        self.watched.add(symbol)
        self.answers += 1
        self.volume += amount
        self.error += abs(price - self.feed.cents[symbol]) * (now % 7 == 6)

    def state(self):
        return {"answers": self.answers, "volume": self.volume, "error": self.error,
                "watched": len(self.watched)}

    def restore(self, state):
        self.answers, self.volume, self.error = state["answers"], state["volume"], state["error"]


def main(run):
    feed = Feed(run.rng("feed"))
    trace = Trace()
    cache = Cache(feed, trace)
    clients = run.rng("clients")
    gateway = run.track("gateway", Gateway(feed, cache))
    for tick in run.ticks(36):
        feed.move()
        cache.expire(tick)
        for _ in range(5):
            symbol = SYMBOLS[int(clients.integers(len(SYMBOLS)))]
            gateway.answer(symbol, int(clients.integers(1, 20)), tick)
