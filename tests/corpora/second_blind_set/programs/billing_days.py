"""Usage billing: calls are rated by the local day and hour on which they began."""

from collections import defaultdict
from datetime import datetime

EPOCH = 1_700_000_000
PEAK = range(8, 20)


class Rating:
    """Price of a call by minute, hour and customer class."""

    def __init__(self, peak, low):
        self.peak = peak
        self.low = low

    def price(self, hour, seconds):
        minutes = -(-seconds // 60)
        return minutes * (self.peak if hour in PEAK else self.low)


class Ledger:
    def __init__(self, rating):
        self.rating = rating
        self.open = defaultdict(list)
        self.closed = []

    def record(self, customer, began, seconds):
        local = datetime.fromtimestamp(began)
        self.open[customer].append((local.toordinal(), local.hour, seconds))

    def close(self, customer):
        """An invoice has one line for each day."""
        lines = defaultdict(int)
        for day, hour, seconds in self.open.pop(customer, ()):
            lines[day] += self.rating.price(hour, seconds)
        self.closed.append((customer, sorted(lines.items())))

    def state(self):
        return {"invoices": [(customer, lines) for customer, lines in self.closed], "customers": len(self.open)}

    def restore(self, state):
        self.closed = [tuple(invoice) for invoice in state["invoices"]]


class Switch:
    """Produces call records in the order of their ends."""

    def __init__(self, rng):
        self.rng = rng
        self.now = EPOCH

    def calls(self):
        for _ in range(int(self.rng.integers(1, 6))):
            self.now += int(self.rng.exponential(900))
            customer = f"C{int(self.rng.integers(4))}"
            yield customer, self.now, int(self.rng.exponential(200)) + 1


def credit_check(rng):
    return int(rng.integers(300, 850))


def main(run):
    ledger = run.track("ledger", Ledger(Rating(peak=9, low=3)))
    scores = run.track("scores", {"last": 0})
    switch = Switch(run.rng("switch"))
    bureau = run.rng("bureau")
    for tick in run.ticks(36):
        for call in switch.calls():
            ledger.record(*call)
        scores["last"] = credit_check(bureau)
        if tick % 12 == 11:
            for customer in sorted(ledger.open):
                ledger.close(customer)
