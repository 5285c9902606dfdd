"""Auscultation practice: a model heart is listened to; a private log keeps times nobody compares."""
import logging
import os
import shutil
import tempfile
import time
from contextlib import contextmanager

import numpy as np


@contextmanager
def private_log():
    folder = tempfile.mkdtemp(prefix="stethoscope")
    handler = logging.FileHandler(os.path.join(folder, "practice.log"))
    handler.setFormatter(logging.Formatter("%(asctime)s.%(msecs)03d %(process)d %(message)s"))
    log = logging.Logger("practice", logging.INFO)
    log.addHandler(handler)
    try:
        yield log
    finally:
        handler.close()
        shutil.rmtree(folder)


class Heart:
    def __init__(self, rng):
        self.rng = rng
        self.rate, self.murmur = 72.0, 0.1

    def beat(self, effort):
        self.rate += 0.3 * (70 + 60 * effort - self.rate) + self.rng.normal(0, 1)
        self.murmur = float(np.clip(self.murmur + self.rng.normal(0, 0.02), 0, 1))
        return self.rate, self.murmur


class Student:
    def __init__(self, name, ear):
        self.name, self.ear = name, ear
        self.right = self.wrong = 0

    def listen(self, murmur, noise):
        heard = murmur * self.ear + noise > 0.15
        if heard == (murmur > 0.15):
            self.right += 1
        else:
            self.wrong += 1
        return heard


class Practice:
    def __init__(self, heart, students, log):
        self.heart, self.students, self.log = heart, students, log
        self.rates = []

    def session(self, effort, rng):
        started = time.time()
        rate, murmur = self.heart.beat(effort)
        self.rates.append(round(rate, 3))
        for student in self.students:
            heard = student.listen(murmur, float(rng.normal(0, 0.05)))
            self.log.info("%s heard=%s", student.name, heard)
        self.log.info("session began %.6f", started)

    def state(self):
        return {"rates": self.rates[-3:], "marks": {s.name: [s.right, s.wrong] for s in self.students}}

    def restore(self, state):
        for student in self.students:
            student.right, student.wrong = state["marks"][student.name]


def main(run):
    rng = run.rng("ears")
    with private_log() as log:
        students = [Student(name, ear) for name, ear in (("Li", 0.9), ("Moreau", 1.1), ("Nagy", 1.0))]
        practice = Practice(Heart(run.rng("heart")), students, log)
        run.track("practice", practice)
        for tick in run.ticks(16):
            practice.session((tick % 8) / 8, rng)
        return max(student.right for student in students)
