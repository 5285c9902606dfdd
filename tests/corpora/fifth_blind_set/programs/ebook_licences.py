"""E-book licences: a token from the system marks every loan in a log, while holds are served by number."""
import logging
import os
import uuid
from collections import deque

log = logging.getLogger("ebooks")
log.propagate = False
log.addHandler(logging.StreamHandler(open(os.devnull, "w")))
log.setLevel(logging.INFO)


class Licence:
    def __init__(self, title, copies):
        self.title = title
        self.copies = copies
        self.holds = deque()
        self.out = []

    def ask(self, reader):
        self.holds.append(reader)

    def settle(self, tick):
        self.out = [(until, r) for until, r in self.out if until > tick]
        while self.holds and len(self.out) < self.copies:
            reader = self.holds.popleft()
            token = uuid.uuid4()
            log.info("%s lends %s to %s in process %d", token, self.title, reader, os.getpid())
            self.out.append((tick + 3, reader))


class Shelf:
    def __init__(self, licences):
        self.licences = licences

    def state(self):
        return {l.title: {"holds": list(l.holds), "out": len(l.out)} for l in self.licences}

    def restore(self, state):
        for licence in self.licences:
            licence.holds = deque(state[licence.title]["holds"])


def main(run):
    rng = run.rng("readers")
    shelf = run.track("shelf", Shelf([Licence("Middlemarch", 2), Licence("Beloved", 1), Licence("Dune", 3)]))
    for tick in run.ticks(20):
        for _ in range(2):
            shelf.licences[int(rng.integers(3))].ask(int(rng.integers(1000)))
        for licence in shelf.licences:
            licence.settle(tick)
    return sum(len(l.holds) for l in shelf.licences)
