"""Tabular Q-learning of a melody, with a progress bar that nobody sees."""
import os
import shutil

import numpy as np

SCALE = ["C", "D", "E", "F", "G", "A", "B"]
TARGET = [0, 2, 4, 2, 0, 4, 6, 4]


class Progress:
    def __init__(self, total, out):
        self.total, self.out = total, out

    def show(self, done, score):
        width = shutil.get_terminal_size().columns - 20
        filled = int(width * done / self.total)
        self.out.write("[" + "#" * filled + " " * (width - filled) + f"] {score:.2f}\n")


class Learner:
    def __init__(self, rng):
        self.rng = rng
        self.table = np.zeros((len(TARGET), len(SCALE)))
        self.score = 0.0

    def choose(self, step):
        if self.rng.random() < 0.2:
            return int(self.rng.integers(0, len(SCALE)))
        return int(np.argmax(self.table[step]))

    def episode(self):
        total = 0.0
        for step, wanted in enumerate(TARGET):
            action = self.choose(step)
            reward = 1.0 - abs(action - wanted) / 6
            self.table[step, action] += 0.3 * (reward - self.table[step, action])
            total += reward
        self.score = total

    def state(self):
        return {"score": round(self.score, 9), "sum": round(float(self.table.sum()), 9),
                "tune": "".join(SCALE[int(i)] for i in self.table.argmax(axis=1))}

    def restore(self, state):
        self.score = state["score"]


def main(run):
    learner = run.track("learner", Learner(run.rng("melody")))
    with open(os.devnull, "w") as out:
        bar = Progress(25, out)
        for tick in run.ticks(25):
            learner.episode()
            bar.show(tick + 1, learner.score)
    return round(learner.score, 9)
