"""A monitor prints which hosts are down: the state agrees, the output does not."""

from __future__ import annotations


class Monitor:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.hosts = [f"host-{i}" for i in range(9)]
        self.down: set[str] = set()
        self.alarms = 0

    def probe(self) -> None:
        for host in self.hosts:
            if self.rng.random() < 0.25:
                self.down.add(host)
            else:
                self.down.discard(host)
        self.alarms += len(self.down) > 4

    def report(self) -> None:
        print("down:", *self.down)  # ZOO: guilty

    def state(self) -> dict:
        return {"down": self.down, "alarms": self.alarms}

    def restore(self, state: dict) -> None:
        self.down, self.alarms = state["down"], state["alarms"]


def main(run) -> None:
    monitor = run.track("monitor", Monitor(run.python("faults")))
    for tick in run.ticks(12):
        monitor.probe()
        if tick >= 5:
            monitor.report()
