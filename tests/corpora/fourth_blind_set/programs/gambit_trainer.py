"""A learner for a small pawn game: values sit in a table addressed by a hash of the position's features."""
from collections import deque


class Table:
    def __init__(self, size):
        self.size = size
        self.cells = [0.0] * size
        self.hits = 0

    def address(self, features):
        return hash("/".join(features)) % self.size

    def value(self, features):
        return self.cells[self.address(features)]

    def update(self, features, target, rate):
        cell = self.address(features)
        self.hits += self.cells[cell] != 0.0
        self.cells[cell] += rate * (target - self.cells[cell])


class Board:
    """Two pawns run up a file of five; the first home wins."""

    def __init__(self):
        self.pawns = [0, 0]
        self.tempo = 0

    def features(self, mover):
        return (f"me{self.pawns[mover]}", f"you{self.pawns[1 - mover]}", "odd" if self.tempo % 2 else "even")

    def after(self, mover, step):
        board = Board()
        board.pawns = list(self.pawns)
        board.pawns[mover] += step
        board.tempo = self.tempo + 1
        return board

    @property
    def winner(self):
        return next((side for side in (0, 1) if self.pawns[side] >= 5), None)


class Learner:
    def __init__(self, rng):
        self.table = Table(19)
        self.rng = rng
        self.won = 0
        self.games = 0

    def choose(self, board, mover):
        options = [board.after(mover, step) for step in (1, 2)]
        if self.rng.random() < 0.2:
            return options[int(self.rng.integers(0, 2))]
        return max(options, key=lambda b: self.table.value(b.features(mover)))

    def game(self):
        board, mover, trail = Board(), 0, deque(maxlen=6)
        while board.winner is None:
            if mover == 0:
                board = self.choose(board, 0)
                trail.append(board.features(0))
            else:
                board = board.after(1, 1 + int(self.rng.random() < 0.5))
            mover = 1 - mover
        reward = 1.0 if board.winner == 0 else -1.0
        for features in reversed(trail):
            self.table.update(features, reward, 0.3)
            reward *= 0.8
        self.won += board.winner == 0
        self.games += 1

    def state(self):
        return {"won": self.won, "games": self.games, "hits": self.table.hits,
                "norm": round(sum(c * c for c in self.table.cells), 6)}

    def restore(self, state):
        self.won, self.games = state["won"], state["games"]


def main(run):
    learner = run.track("learner", Learner(run.rng("play")))
    for _ in run.ticks(20):
        for _ in range(4):
            learner.game()
    return learner.won
