"""Cells in a dish: they divide, eat, and are held in a set of objects."""

from dataclasses import dataclass


class Cell:
    def __init__(self, mass, line):
        self.mass = mass
        self.line = line
        self.age = 0

    def divide(self):
        self.mass //= 2
        return Cell(self.mass, self.line)


@dataclass
class Broth:
    sugar: int = 900
    waste: int = 0

    def take(self, wanted):
        got = min(wanted, self.sugar)
        self.sugar -= got
        self.waste += got // 3
        return got


class Dish:
    def __init__(self, rng, broth):
        self.rng = rng
        self.broth = broth
        self.cells = {Cell(int(rng.integers(8, 16)), line) for line in "abcdefgh"}
        self.deaths = 0

    def feed(self):
        for cell in self.cells:
            cell.mass += self.broth.take(1 + cell.mass // 6) - 1
            cell.age += 1

    def grow(self):
        fresh = [cell.divide() for cell in self.cells if cell.mass > 20]
        starved = {cell for cell in self.cells if cell.mass <= 2}
        self.cells -= starved
        self.deaths += len(starved)
        self.cells.update(fresh)

    def census(self):
        lines = {}
        for cell in self.cells:
            lines[cell.line] = lines.get(cell.line, 0) + cell.mass
        return lines

    def state(self):
        return {"lines": self.census(), "deaths": self.deaths, "cells": len(self.cells)}

    def restore(self, state):
        self.deaths = state["deaths"]


def temperature(rng, now):
    return round(now + float(rng.normal(0, 0.2)), 3)


def main(run):
    broth = run.track("broth", Broth())
    dish = run.track("dish", Dish(run.rng("dish"), broth))
    lab = run.track("lab", {"temperature": 37.0})
    heater = run.rng("heater")
    for _ in run.ticks(50):
        lab["temperature"] = temperature(heater, lab["temperature"])
        dish.feed()
        dish.grow()
        broth.sugar += 25
