"""A travelling salesman that improves its tour until its time is up."""
import math
import time


class Clock:
    """A budget of wall-clock time."""

    def __init__(self, seconds):
        self.until = time.perf_counter() + seconds

    def expired(self):
        return time.perf_counter() > self.until


class Lcg:
    """A small generator of our own, so that tours can be repeated."""

    def __init__(self, seed):
        self.value = seed

    def below(self, bound):
        self.value = (6364136223846793005 * self.value + 1442695040888963407) % 2**64
        return (self.value >> 33) % bound


def cities(count):
    source = Lcg(42)
    return [(source.below(1000), source.below(1000)) for _ in range(count)]


def length(tour, places):
    return sum(math.dist(places[a], places[b]) for a, b in zip(tour, tour[1:] + tour[:1]))


def greedy(places):
    left = set(range(1, len(places)))
    tour = [0]
    while left:
        here = places[tour[-1]]
        nearest = min(left, key=lambda city: (math.dist(here, places[city]), city))
        left.remove(nearest)
        tour.append(nearest)
    return tour


def two_opt(tour, places, source):
    """One random exchange; kept when it is shorter or not much longer."""
    i, j = sorted((source.below(len(tour)), source.below(len(tour))))
    candidate = tour[:i] + tour[i:j][::-1] + tour[j:]
    if length(candidate, places) < length(tour, places) * 1.002:
        return candidate
    return tour


def improve(tour, places, clock):
    source = Lcg(7)
    best, shortest = tour, length(tour, places)
    tries = 0
    while not clock.expired():
        tries += 1
        tour = two_opt(tour, places, source)
        now = length(tour, places)
        if now < shortest:
            best, shortest = tour, now
    return best, tries


def main():
    places = cities(90)
    first = greedy(places)
    print(f"greedy tour: {length(first, places):.1f}")
    best, tries = improve(first, places, Clock(0.05))
    print(f"improved by {100 * (1 - length(best, places) / length(first, places)):.3f} percent in {tries} tries")
    print("starts:", best[:6])


if __name__ == "__main__":
    main()
