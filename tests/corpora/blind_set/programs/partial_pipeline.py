"""A small ETL job: steps are collected by name, bound to their settings, and run over sensor rows."""

import functools
import json
import random
import statistics

SETTINGS = {
    "scale": {"factor": 1.5},
    "shift": {"by": 4.0},
    "clip": {"low": -10.0, "high": 30.0},
    "fold": {"at": 25.0},
    "round": {"places": 1},
}


def scale(rows, factor):
    return [value * factor for value in rows]


def shift(rows, by):
    return [value + by for value in rows]


def clip(rows, low, high):
    return [min(high, max(low, value)) for value in rows]


def fold(rows, at):
    return [2 * at - value if value > at else value for value in rows]


def round_(rows, places):
    return [round(value, places) for value in rows]


STEPS = {"scale": scale, "shift": shift, "clip": clip, "fold": fold, "round": round_}


def wanted(profile):
    """Names of steps that a profile asks for; what is asked for again is done once."""
    names = set()
    for section in profile["sections"]:  # innocent
        names |= set(section["steps"])
    return names


def compose(names):
    """One function that does the steps one after the other."""
    bound = [functools.partial(STEPS[name], **SETTINGS[name]) for name in names]  # guilty

    def run_all(rows):
        return functools.reduce(lambda data, step: step(data), bound, rows)

    return run_all


def sensors(rng, count):
    return [rng.gauss(12.0, 9.0) for _ in range(count)]


def main():
    profile = json.loads('{"sections": [{"steps": ["scale", "clip"]}, {"steps": ["fold", "shift", "round", "clip"]}]}')
    rng, noise = random.Random(99), random.Random(100)
    names = wanted(profile)
    print("steps:", len(names), "of", len(STEPS))
    pipeline = compose(names)
    history = []
    for day in range(30):
        rows = sensors(rng, 25)
        raw = statistics.fmean(rows)
        history.append(pipeline(rows))
        if day < 20:
            print(f"day {day:2d}: raw mean {raw:.4f}, noise {noise.random():.4f}")  # innocent
    known = {step for step in STEPS if step in names}
    print("known:", ", ".join(sorted(known)))  # innocent
    for day, rows in enumerate(history):
        if day % 10 == 9:
            print(f"day {day:2d}: mean {statistics.fmean(rows):.4f}, top {max(rows):.2f}")


if __name__ == "__main__":
    main()
