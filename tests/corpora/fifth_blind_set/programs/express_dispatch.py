"""Express dispatcher: fares by local service hour, looked up through a cache."""
import time
from functools import lru_cache

SERVICE_START = 1_700_000_000


@lru_cache(maxsize=None)
def service_hour(epoch):
    return time.localtime(epoch).tm_hour


class Tariff:
    flat = 12

    def __init__(self, base_hour):
        self.base_hour = base_hour

    def peak(self, offset):
        hour = (self.base_hour + offset) % 24
        return 19 if 5 <= hour <= 17 else 9


class Dispatcher:
    def __init__(self):
        self.tariff = Tariff(service_hour(SERVICE_START))
        self.pending = []
        self.revenue = 0
        self.sent = 0

    def board(self, passengers):
        self.pending.append(passengers)

    def depart(self, tick):
        if not self.pending:
            return
        load = self.pending.pop(0)
        fare = self.tariff.flat if tick < 10 else self.tariff.peak(tick)
        self.revenue += load * fare
        self.sent += 1

    def state(self):
        return {"revenue": self.revenue, "sent": self.sent, "waiting": len(self.pending)}

    def restore(self, state):
        self.revenue, self.sent = state["revenue"], state["sent"]


def main(run):
    rng = run.rng("passengers")
    dispatcher = run.track("dispatcher", Dispatcher())
    for tick in run.ticks(28):
        dispatcher.board(int(rng.integers(40, 180)))
        if tick % 3 != 1:
            dispatcher.depart(tick)
    return dispatcher.revenue
