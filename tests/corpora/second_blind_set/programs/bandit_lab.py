"""Multi-armed bandits: several policies play side by side, each with its journal."""

import math
import os


class Journal:
    """A bounded sample of what happened, for people who debug."""

    def __init__(self, size, chance):
        self.size = size
        self.chance = chance
        self.kept = []
        self.offered = 0

    def offer(self, entry):
        self.offered += 1
        if len(self.kept) < self.size:
            self.kept.append(entry)
            return
        slot = self.chance(self.offered)
        if slot < self.size:
            self.kept[slot] = entry


class NoJournal:
    def offer(self, entry):
        pass


def make_journal(rng):
    if os.environ.get("BANDIT_LOG", "off") == "off":
        return NoJournal()
    return Journal(25, lambda bound: int(rng.integers(bound)))


class Arms:
    def __init__(self, rng, count):
        self.rng = rng
        self.means = rng.normal(0, 1, size=count)

    def pull(self, arm):
        return float(self.means[arm] + self.rng.standard_normal())


class EpsilonGreedy:
    def __init__(self, arms, rng, epsilon):
        self.arms = arms
        self.rng = rng
        self.epsilon = epsilon
        self.value = [0.0] * len(arms.means)
        self.count = [0] * len(arms.means)
        self.journal = make_journal(rng)

    def choose(self):
        if float(self.rng.random()) < self.epsilon:
            return int(self.rng.integers(len(self.value)))
        return max(range(len(self.value)), key=self.score)

    def score(self, arm):
        return self.value[arm] + 1.0 / math.sqrt(1 + self.count[arm])

    def play(self):
        arm = self.choose()
        reward = self.arms.pull(arm)
        self.count[arm] += 1
        self.value[arm] += (reward - self.value[arm]) / self.count[arm]
        self.journal.offer((arm, reward))


def main(run):
    players = []
    for number, epsilon in enumerate((0.05, 0.2)):
        arms = Arms(run.rng(f"arms/{number}"), 5)
        player = EpsilonGreedy(arms, run.rng(f"player/{number}"), epsilon)
        run.track(f"player/{number}", player, fields=["value", "count"])
        players.append(player)
    best = run.track("best", {"arm": 0})
    for _ in run.ticks(60):
        for player in players:
            player.play()
        best["arm"] = max(range(5), key=players[0].count.__getitem__)
