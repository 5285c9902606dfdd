"""Federated averaging: clients train on their own data, the server applies what they sent every few rounds."""

import numpy as np

CLIENTS = {f"site-{place}": 20 + 7 * number for number, place in enumerate(
    ["oslo", "bern", "lima", "pune", "kobe", "cork", "riga", "doha", "bonn"]
)}
APPLY = 7


class Client:
    def __init__(self, name, rows, rng):
        self.name = name
        self.x = rng.normal(size=(rows, 5))
        self.y = self.x @ np.array([0.5, -1.0, 2.0, 0.0, 0.25]) + 0.1 * rng.normal(size=rows)

    def update(self, weights, rate=0.03):
        local = weights.copy()
        for _ in range(2):
            local -= rate * self.x.T @ (self.x @ local - self.y) / len(self.y)
        return local - weights


class Accumulator:
    """Sums what was sent, weighted by rows, until the server takes it."""

    def __init__(self, size):
        self.size = size
        self.clear()

    def clear(self):
        self.total = np.zeros(self.size)
        self.rows = 0

    def add(self, delta, rows):
        self.total += rows * delta
        self.rows += rows

    def mean(self):
        return self.total / max(self.rows, 1)


class Server:
    def __init__(self, size):
        self.weights = np.zeros(size)
        self.speed = np.zeros(size)
        self.inbox = Accumulator(size)
        self.version, self.heard = 0, dict.fromkeys(CLIENTS, 0)

    def collect(self, clients, present):
        sent = {}
        for name in present:
            sent[name] = clients[name].update(self.weights)
            self.heard[name] += 1
        for name, delta in sent.items():
            self.inbox.add(delta, CLIENTS[name])

    def apply(self):
        self.speed = 0.6 * self.speed + self.inbox.mean()
        self.weights = self.weights + self.speed
        self.inbox.clear()
        self.version += 1

    def state(self):
        return {
            "weights": self.weights.copy(),
            "speed": self.speed.copy(),
            "version": self.version,
            "heard": dict(self.heard),
        }

    def restore(self, state):
        self.weights, self.speed = np.array(state["weights"]), np.array(state["speed"])
        self.version, self.heard = state["version"], dict(state["heard"])


class Bill:
    """What the rounds cost, in whole bytes."""

    def __init__(self):
        self.bytes, self.late = 0, {}

    def charge(self, present, rng):
        self.bytes += 40 * len(present)
        for name in sorted(present):
            if rng.random() < 0.2:
                self.late[name] = self.late.get(name, 0) + 1

    def state(self):
        return {"bytes": self.bytes, "late": dict(self.late)}

    def restore(self, state):
        self.bytes, self.late = state["bytes"], dict(state["late"])


def main(run):
    data, presence, lateness = run.rng("data"), run.rng("presence"), run.rng("lateness")
    clients = {name: Client(name, rows, data) for name, rows in CLIENTS.items()}
    server = run.track("server", Server(5))
    bill = run.track("bill", Bill())
    for tick in run.ticks(36):
        names = list(CLIENTS)
        absent = {names[i] for i in presence.choice(len(names), size=2, replace=False)}
        present = frozenset(names) - absent
        server.collect(clients, present)
        bill.charge(present, lateness)
        if tick % APPLY == APPLY - 1:
            server.apply()
