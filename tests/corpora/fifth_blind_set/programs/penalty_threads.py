"""A penalty shoot-out simulated in a pool: every kicker is a task, and results are scored as they complete."""
from concurrent.futures import ThreadPoolExecutor, as_completed
import os
import time


class Kicker:
    def __init__(self, shirt, aim):
        self.shirt = shirt
        self.aim = aim

    def run_up(self, wind):
        time.sleep(0.001 + os.getpid() % 2 * 0.0001)
        total = 0.0
        for step in range(200):
            total += (self.aim * step + wind) % 7
        return self.shirt, total > 600


class Board:
    def __init__(self):
        self.order = []
        self.goals = 0

    def note(self, shirt, goal):
        self.order.append(shirt)
        self.goals += int(goal)

    def state(self):
        return {"order": self.order[-8:], "goals": self.goals}

    def restore(self, state):
        self.order, self.goals = list(state["order"]), state["goals"]


def round_of(pool, kickers, wind):
    futures = [pool.submit(k.run_up, wind) for k in kickers]
    for future in as_completed(futures):
        yield future.result()


def main(run):
    rng = run.rng("pitch")
    kickers = [Kicker(shirt, float(rng.uniform(0, 3))) for shirt in range(2, 10)]
    board = run.track("board", Board())
    with ThreadPoolExecutor(max_workers=8) as pool:
        for tick in run.ticks(20):
            wind = float(rng.normal())
            for shirt, goal in round_of(pool, kickers, wind):
                board.note(shirt, goal)
    return board.goals
