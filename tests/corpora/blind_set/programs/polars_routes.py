"""Bus stops from a table: distinct stops are numbered with polars, and buses are sent by number."""

import random

import polars as pl

LINES = ("red", "blue", "green", "amber")


def rides(rng, count):
    stops = [f"stop-{k:02d}" for k in range(30)]
    return pl.DataFrame(
        {
            "line": [LINES[rng.randrange(4)] for _ in range(count)],
            "stop": [stops[min(29, int(rng.expovariate(0.12)))] for _ in range(count)],
            "people": [rng.randrange(1, 20) for _ in range(count)],
        }
    )


class Numbering:
    """A number for each stop, in the order in which they come."""

    def __init__(self, table):
        self.stops = table.get_column("stop").unique().to_list()  # guilty
        self.number = {stop: k for k, stop in enumerate(self.stops)}

    def __len__(self):
        return len(self.stops)


class Fleet:
    def __init__(self, buses):
        self.loads = [0] * buses
        self.way = [0] * buses
        self.at = [0] * buses

    def send(self, number, people):
        bus = number % len(self.loads)
        self.loads[bus] += people
        self.way[bus] += abs(number - self.at[bus])
        self.at[bus] = number


def totals(table):
    """People by line, sorted, so that the report is always the same."""
    grouped = table.group_by("line").agg(pl.col("people").sum()).sort("line")  # innocent
    return list(zip(grouped["line"].to_list(), grouped["people"].to_list()))


def main():
    rng, weather = random.Random(33), random.Random(34)
    table = rides(rng, 500)
    numbering = Numbering(table)
    print("rides", table.height, "stops", len(numbering))
    for line, people in totals(table):
        print(f"{line}: {people} people, {weather.uniform(0, 20):.1f} degrees")
    busiest = table.group_by("stop").agg(pl.col("people").sum()).sort(["people", "stop"]).tail(1)  # innocent
    print("busiest", busiest["stop"][0], busiest["people"][0])
    print("first in the alphabet", min(numbering.stops))  # innocent
    fleet = Fleet(buses=4)
    for stop, people in table.select("stop", "people").iter_rows():
        fleet.send(numbering.number[stop], people)
    for bus, (load, way) in enumerate(zip(fleet.loads, fleet.way)):
        print(f"bus {bus}: {load} people, {way} stops of way")


if __name__ == "__main__":
    main()
