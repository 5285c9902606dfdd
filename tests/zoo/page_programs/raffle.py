"""A raffle whose tickets are in a database, which draws the winner by its own random()."""

from __future__ import annotations

import sqlite3


class Raffle:
    def __init__(self) -> None:
        self._tickets = sqlite3.connect(":memory:")
        self._tickets.execute("create table ticket (number integer primary key)")
        self.winner = 0

    def sell(self, first: int, count: int) -> None:
        numbers = [(first + at,) for at in range(count)]
        self._tickets.executemany("insert into ticket values (?)", numbers)

    def draw(self) -> None:
        query = "select number from ticket order by random() limit 1"
        (self.winner,) = self._tickets.execute(query).fetchone()

    def state(self) -> dict:
        return {"winner": self.winner}

    def restore(self, state: dict) -> None:
        self.winner = state["winner"]


def main(run) -> None:
    raffle = run.track("raffle", Raffle())
    for tick in run.ticks(12):
        raffle.sell(10_000 + 1_000 * tick, 1_000)
        if tick == 9:
            raffle.draw()
