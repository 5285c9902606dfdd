"""A week's digest of a fish market: tickets come in from stalls, are cleaned on a pool of threads, and summed up."""

import hashlib
import math
import random
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import polars as pl

STALLS = {"north pier": 3, "old crane": 2, "quay nine": 4, "ice house": 1, "fish gate": 5}
FISH = ["cod", "hake", "plaice", "eel", "turbot", "sprat", "ling"]


class Ticket:
    __slots__ = ("stall", "fish", "kilos", "price")

    def __init__(self, stall, fish, kilos, price):
        self.stall, self.fish, self.kilos, self.price = stall, fish, kilos, price


def tickets(count):
    for _ in range(count):
        stall = random.choice(sorted(STALLS))
        yield Ticket(stall, random.choice(FISH), round(random.lognormvariate(1, 0.6), 3), round(random.uniform(4, 30), 2))


def clean(ticket):
    """Limits that the market's office sets."""
    return ticket.stall, ticket.fish, min(ticket.kilos, 12.0), max(5.0, ticket.price)


def shards(rows, count=4):
    """Spread over the pool by the stall's name."""
    parts = [[] for _ in range(count)]
    for number, row in enumerate(rows):
        parts[hash(row[0]) % count].append((number, row))
    return parts


def turnover(part):
    return [(number, stall, fish, kilos, kilos * price) for number, (stall, fish, kilos, price) in part]


def digest(rows):
    """The same for the same tickets, in whatever order they were worked on."""
    value = 0
    for row in set(rows):
        value ^= int.from_bytes(hashlib.sha256(repr(row).encode()).digest()[:8], "big")
    return f"{value:016x}"


def week(pool, number):
    rows = list(pool.map(clean, list(tickets(120))))
    seen = {id(row): row for row in rows}
    done = [entry for part in pool.map(turnover, shards(seen.values())) for entry in part]
    money = defaultdict(list)
    for _, _, fish, _, value in done:
        money[fish].append(value)
    totals = {fish: math.fsum(values) for fish, values in money.items()}
    frame = pl.DataFrame(done, schema=["number", "stall", "fish", "kilos", "value"], orient="row")
    busiest = (
        frame.sort("number").group_by("stall", maintain_order=True).agg(pl.len().alias("tickets"), pl.col("kilos").max())
        .sort(["tickets", "stall"], descending=[True, False])
    )
    best = max(totals, key=lambda fish: (totals[fish], fish))
    print(f"week {number:2d} {digest(rows)} best {best} {totals[best]:.6f} most tickets {busiest['stall'][0]}")
    return totals


def main():
    year = defaultdict(list)
    with ThreadPoolExecutor(max_workers=3) as pool:
        for number in range(12):
            for fish, total in week(pool, number).items():
                year[fish].append((number, total))
    for fish in sorted(year):
        print(f"{fish:8s} {math.fsum(total for _, total in year[fish]):.9f} in {len(year[fish])} weeks")
    names = {stall.split()[0] for stall in STALLS} | {fish[:3] for fish in FISH}
    print("codes:", " ".join(sorted(names)), "longest", max(map(len, names)))


main()
