"""A raffle: tickets lie in a drum, which is emptied into a list, sorted, and drawn from."""

import bisect
import hashlib


def code(number):
    return hashlib.md5(f"ticket {number}".encode()).hexdigest()[:6]


class Drum:
    """Tickets as a set of codes."""

    def __init__(self):
        self.codes = set()

    def fill(self, numbers):
        self.codes.update(code(number) for number in numbers)

    def empty(self):
        """All tickets, in order."""
        out = []
        while self.codes:
            out.append(self.codes.pop())  # innocent
        out.sort()
        return out


class Prizes:
    def __init__(self):
        self.won = {}
        self.value = 0

    def give(self, ticket, value):
        self.won[ticket] = value
        self.value += value


def odd_ones(codes):
    """How many tickets end with a digit; a count does not mind the order."""
    count = 0
    for ticket in codes:  # innocent
        count += ticket[-1].isdigit()
    return count


def insort_all(codes):
    """A sorted list, however its members come."""
    ordered = []
    for ticket in set(codes):  # innocent
        bisect.insort(ordered, ticket)
    return ordered


def main(run):
    drum = Drum()
    prizes = run.track("prizes", Prizes())
    crowd = run.track("crowd", {"people": 100, "happy": 0.0, "digits": 0, "middle": ""})
    draws, values, moods = run.rng("draws"), run.rng("values"), run.rng("moods")
    sold = 0
    for _ in run.ticks(30):
        count = int(draws.integers(5, 30))
        drum.fill(range(sold, sold + count))
        sold += count
        crowd["digits"] += odd_ones(drum.codes)
        tickets = drum.empty()
        ordered = insort_all(tickets)
        crowd["middle"] = ordered[len(ordered) // 2]
        winner = tickets[int(draws.integers(len(tickets)))]  # innocent
        prizes.give(winner, int(values.integers(1, 100)))
        crowd["happy"] += float(moods.normal(0, 1))
        crowd["people"] = 100 + len(prizes.won) % 7
    return prizes.value
