"""A declared effect measures, and keeps a diary of its own; the program uses the measured value alone."""
import os
import time

import twice


@twice.effect
def measure(place):
    value = time.time_ns() % 100_000 / 100 + len(place)
    with open("diary.log", "a") as diary:
        diary.write(f"{os.getpid()} {place} {value}\n")
    return value


def main(run):
    totals = run.track("totals", {})
    for tick in run.ticks(6):
        place = ("pier", "lock", "dam")[tick % 3]
        totals[place] = totals.get(place, 0.0) + measure(place)
    print(totals)
