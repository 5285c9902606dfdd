"""Watches a scored stream for drift: a reference is collected, later windows are held against it."""

import shutil
from collections import deque

import numpy as np
from scipy import stats

REFERENCE = 20
WINDOW = 5


class Sketch:
    """A histogram with edges at quantiles, that can be drawn as bars on a terminal."""

    def __init__(self, edges):
        self.edges = np.asarray(edges)
        self.counts = np.zeros(len(self.edges) + 1)

    def add(self, values):
        places = np.searchsorted(self.edges, values)
        self.counts += np.bincount(places, minlength=len(self.counts))

    def shares(self):
        return (self.counts + 0.5) / (self.counts.sum() + 0.5 * len(self.counts))

    def bars(self):
        top = self.counts.max() or 1
        return "".join(" .:-=+*#%@"[int(9 * c / top)] for c in self.counts)


class Page:
    """How a report is set."""

    def __init__(self, margin=8):
        self.margin = margin
        self.columns = shutil.get_terminal_size((80, 24)).columns

    @property
    def bars(self):
        return max(4, (self.columns - 2 * self.margin) // 4)

    def rule(self, sign="-"):
        return sign * (self.columns - self.margin)


class Monitor:
    def __init__(self, page):
        self.page = page
        self.reference = []
        self.recent = deque(maxlen=WINDOW)
        self.baseline = None
        self.index, self.ks, self.alarms = 0.0, 0.0, []

    def feed(self, tick, scores):
        if tick < REFERENCE:
            self.reference.extend(scores)
            return
        if self.baseline is None:
            cuts = np.linspace(0, 1, self.page.bars + 1)[1:-1]
            self.baseline = Sketch(np.quantile(self.reference, cuts))
            self.baseline.add(self.reference)
        self.recent.append(scores)
        if len(self.recent) == WINDOW:
            self.judge(tick)

    def judge(self, tick):
        values = np.concatenate(self.recent)
        window = Sketch(self.baseline.edges)
        window.add(values)
        p, q = self.baseline.shares(), window.shares()
        self.index = float(np.sum((q - p) * np.log(q / p)))
        self.ks = float(stats.ks_2samp(self.reference, values).statistic)
        if self.index > 0.35:
            self.alarms.append(tick)
            self.recent.clear()

    def state(self):
        return {
            "seen": len(self.reference),
            "index": round(self.index, 9),
            "ks": round(self.ks, 9),
            "alarms": list(self.alarms),
        }

    def restore(self, state):
        self.index, self.ks, self.alarms = state["index"], state["ks"], list(state["alarms"])


def main(run):
    stream, skew = run.rng("stream"), run.rng("skew")
    monitor = run.track("monitor", Monitor(Page()))
    quota = run.track("quota", {"left": 400, "models": {}})
    shift = 0.0
    for tick in run.ticks(48):
        if tick > 28:
            shift += 0.02 * skew.random()
        scores = stream.beta(2.0 + shift, 5.0, size=24)
        monitor.feed(tick, scores)
        quota["left"] -= int((scores > 0.6).sum())
        for model in {"champion", "challenger"}:
            quota["models"][model] = quota["models"].get(model, 0) + (tick % 2 if model[1:3] == "ha" else 1)
