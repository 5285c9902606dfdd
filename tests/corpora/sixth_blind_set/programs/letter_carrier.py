"""Letter carriers' walk: streets are pushed onto the day's heap by priority, carriers take them off as they come free."""
import heapq
from itertools import count

STREETS = {
    "first": ["Mill Lane", "Church Road", "Quay Street", "Castle Row", "Bridge End"],
    "second": ["Elm Grove", "Station Way", "Quay Street", "High Street", "Bridge End", "Park View"],
}
LENGTH = {"Mill Lane": 3, "Church Road": 5, "Quay Street": 2, "Castle Row": 4, "Bridge End": 6,
          "Elm Grove": 2, "Station Way": 7, "High Street": 8, "Park View": 3}


class Walks:
    """Priority queue with a ticket number so that equal priorities stay first come first served."""

    def __init__(self):
        self._heap = []
        self._ticket = count()

    def __len__(self):
        return len(self._heap)

    def put(self, priority, street):
        heapq.heappush(self._heap, (priority, next(self._ticket), street))

    def take(self):
        return heapq.heappop(self._heap)[-1]


class Carrier:
    def __init__(self, name):
        self.name = name
        self.left = 0
        self.walked = 0

    def walk(self, walks):
        if not self.left:
            if not len(walks):
                return
            self.left = LENGTH[walks.take()]
        self.left -= 1
        self.walked += 1


def every_street(rounds):
    seen = set()
    for names in rounds.values():
        seen |= set(names)
    yield from seen


def plan_day(walks):
    for street in every_street(STREETS):
        walks.put(5, street)


def urgent(rnd, walks, tick):
    """Registered letters jump the queue; the first hours bring many."""
    if tick < 9 and tick % 4 == 0:
        walks.put(1, "Station Way")
        for _ in range(2):
            walks.put(1, rnd.choice(["Church Road", "Bridge End", "High Street"]))


def main(run):
    rnd = run.streams.python("registered")
    walks = Walks()
    plan_day(walks)
    carriers = [Carrier(name) for name in ("Ada", "Bert", "Cleo")]
    hut = run.track("hut", {"waiting": len(walks)})
    legs = run.track("legs", {c.name: 0 for c in carriers})
    busy = run.track("busy", {c.name: 0 for c in carriers})
    for tick in run.ticks(28):
        urgent(rnd, walks, tick)
        for c in carriers:
            c.walk(walks)
            legs[c.name], busy[c.name] = c.walked, c.left
        hut["waiting"] = len(walks)
    return sum(legs.values())
