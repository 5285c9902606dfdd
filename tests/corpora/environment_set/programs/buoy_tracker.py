"""Track a drifting buoy with a Kalman filter of six states from noisy fixes."""

import numpy as np

STEP = 0.5


class Tracker:
    def __init__(self):
        self.mean = np.zeros(6)
        self.cov = np.eye(6) * 4.0
        self.gate = 0

        self.move = np.eye(6)
        for axis in range(2):
            self.move[axis, axis + 2] = STEP
            self.move[axis, axis + 4] = STEP * STEP / 2
            self.move[axis + 2, axis + 4] = STEP
        self.drift = np.diag([0.01, 0.01, 0.02, 0.02, 0.05, 0.05])
        self.look = np.vstack([np.eye(4, 6), [[0.5, 0.5, 0, 0, 0, 0], [0, 0, 0.3, 0.7, 0.1, 0]]])
        self.noise = np.diag([0.5, 0.4, 0.2, 0.2, 0.3, 0.25]) + 0.01

    def predict(self):
        self.mean = self.move @ self.mean
        self.cov = self.move @ self.cov @ self.move.T + self.drift

    def correct(self, fix):
        """Weigh a fix against the prediction; leave it out if it is far off."""
        surprise = fix - self.look @ self.mean
        spread = self.look @ self.cov @ self.look.T + self.noise
        precision = np.linalg.inv(spread)
        if surprise @ precision @ surprise > 60.0:
            self.gate += 1
            return
        gain = self.cov @ self.look.T @ precision
        self.mean = self.mean + gain @ surprise
        self.cov = (np.eye(6) - gain @ self.look) @ self.cov


def main(run):
    tracker = run.track("tracker", Tracker())
    sea = run.rng("sea")
    truth = np.array([0.0, 0.0, 0.8, -0.3, 0.0, 0.01])
    for _ in run.ticks(30):
        truth = tracker.move @ truth
        fix = tracker.look @ truth + sea.integers(-40, 41, 6) / 64
        tracker.predict()
        tracker.correct(fix)
    return tracker.gate
