"""A leaderboard that several worker threads write into."""

import threading
from collections import defaultdict

PLAYERS = [f"player{n:02d}" for n in range(12)]


class Board:
    def __init__(self):
        self.order = []
        self.scores = defaultdict(int)
        self.lock = threading.Lock()

    def post(self, player, points):
        with self.lock:
            self.order.append(player)
            self.scores[player] += points


def simulate(player, length):
    """Something that keeps a processor busy for a while."""
    value = sum(map(ord, player))
    for _ in range(length):
        value = (value * 1103515245 + 12345) % 2**31
    return value % 1000


class Season:
    def __init__(self, board, rng):
        self.board = board
        self.rng = rng
        self.bonus = 0
        self.podium = []

    def round(self):
        """All players play at once; who is first gets a bonus."""
        lengths = self.rng.integers(30_000, 31_000, size=len(PLAYERS))
        gate = threading.Barrier(len(PLAYERS))

        def play(player, length):
            gate.wait()
            for leg in range(3):
                self.board.post(player, simulate(player, int(length) // 3) + leg)

        threads = [threading.Thread(target=play, args=pair) for pair in zip(PLAYERS, lengths)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.podium = self.board.order[:3]
        self.bonus += sum((place + 1) * PLAYERS.index(name) for place, name in enumerate(self.board.order))
        self.board.order.clear()

    def state(self):
        return {"podium": list(self.podium), "bonus": self.bonus, "scores": dict(self.board.scores)}

    def restore(self, state):
        self.podium, self.bonus = list(state["podium"]), state["bonus"]


def main(run):
    season = run.track("season", Season(Board(), run.rng("lengths")))
    crowd = run.track("crowd", {"cheers": 0})
    fans = run.rng("fans")
    for _ in run.ticks(10):
        crowd["cheers"] += int(fans.poisson(40))
        season.round()
