"""Ticket lottery: applicants are spread over counters by their default hash, each counter draws its own winners."""
from dataclasses import dataclass

COUNTERS = 7


class Applicant:
    """No __eq__, no __hash__: two applicants are never the same."""

    def __init__(self, name, seats):
        self.name, self.seats = name, seats
        self.won = False


@dataclass
class Counter:
    number: int
    tickets: int
    queue: list

    def draw(self, random):
        """Draw until the tickets or the applicants are gone."""
        while self.queue:
            applicant = self.queue.pop(random.randrange(len(self.queue)))
            if applicant.seats > self.tickets:
                continue
            self.tickets -= applicant.seats
            applicant.won = True
            yield applicant


class Lottery:
    def __init__(self):
        self.counters = [Counter(number, 0, []) for number in range(COUNTERS)]
        self.winners = []
        self.returned = 0
        self.applied = 0

    def state(self):
        return {"winners": self.winners[-6:], "returned": self.returned, "applied": self.applied}

    def restore(self, state):
        self.winners, self.returned, self.applied = list(state["winners"]), state["returned"], state["applied"]

    def apply(self, applicant):
        counter = self.counters[hash(applicant) % COUNTERS]
        counter.queue.append(applicant)
        self.applied += 1

    def evening(self, random, tickets):
        for counter in self.counters:
            counter.tickets = tickets
            self.winners.extend(applicant.name for applicant in counter.draw(random))
            self.returned += counter.tickets


def crowd(rng, tick):
    first = ["Ada", "Bram", "Cleo", "Dirk", "Esme", "Finn", "Gwen", "Hugo"]
    for k in range(9):
        yield Applicant(f"{first[k % len(first)]}-{tick}{k}", int(rng.integers(1, 5)))


def main(run):
    rng = run.rng("crowd")
    random = run.streams.python("lottery")
    lottery = run.track("lottery", Lottery())
    everybody = []
    for tick in run.ticks(20):
        for applicant in crowd(rng, tick):
            everybody.append(applicant)
            lottery.apply(applicant)
        if tick % 4 == 3:
            lottery.evening(random, 6)
    run.compare("applied", lottery.applied)
    return sum(1 for applicant in everybody if applicant.won)
