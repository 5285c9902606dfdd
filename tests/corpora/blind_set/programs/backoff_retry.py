"""A client that retries: the server says how long to wait, in the exception that it raises."""

import os
import time
from dataclasses import dataclass


class Busy(Exception):
    """The server has no room; `after` says how many ticks to stay away."""

    def __init__(self, after):
        super().__init__(f"busy, come back after {after}")
        self.after = after


class Server:
    """Has room for some requests a tick. It hints at a pause that spreads its clients."""

    def __init__(self, room, rng):
        self.room = room
        self.rng = rng
        self.taken = 0
        self.answered = 0

    def open(self):
        self.taken = 0

    def ask(self, client):
        if self.taken >= self.room:
            raise Busy(2 + client.number % 3 if client.refused else self.spread())
        self.taken += 1
        self.answered += 1
        return float(self.rng.random())

    def spread(self):
        """Where this process is in its millisecond is as good as a draw."""
        return 12 + time.perf_counter_ns() // 100 % 9  # guilty


@dataclass
class Client:
    number: int
    wakes: int = 0
    refused: int = 0
    got: float = 0.0

    def turn(self, tick, server):
        if tick < self.wakes:
            return False
        try:
            self.got += server.ask(self)
            self.wakes = tick + 3
            return True
        except Busy as busy:
            self.refused += 1
            self.wakes = tick + busy.after
            return False


class Summary:
    def __init__(self):
        self.answers = 0
        self.total = 0.0
        self.idle = 0


def main(run):
    server = Server(room=4, rng=run.rng("server"))
    clients = [Client(k) for k in range(9)]
    summary = run.track("summary", Summary())
    energy = run.track("energy", {"used": 0.0})
    heat = run.rng("heat")
    began = time.monotonic()  # innocent
    limit = float(os.environ.get("BACKOFF_LIMIT_UNSET", "60"))  # innocent
    for tick in run.ticks(48):
        server.open()
        answers = sum(client.turn(tick, server) for client in clients)
        summary.answers += answers
        summary.total = sum(client.got for client in clients)  # innocent
        summary.idle += answers == 0
        energy["used"] += 1.0 + 0.2 * float(heat.random())
        if time.monotonic() - began > limit:
            raise TimeoutError("this takes too long")
