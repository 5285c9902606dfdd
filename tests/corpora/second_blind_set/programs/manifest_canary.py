"""Freight manifests: containers are grouped by destination, checked and numbered."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Container:
    code: str
    port: str
    weight: int


PORTS = ("Rotterdam", "Antwerp", "Gdansk", "Le Havre", "Genoa")


def arrivals(rng, count):
    for _ in range(count):
        serial = int(rng.integers(100000, 999999))
        yield Container(f"MSKU{serial}", PORTS[int(rng.integers(len(PORTS)))], int(rng.integers(2, 30)))


class Yard:
    def __init__(self):
        self.stacks = {}
        self.codes = set()
        self.duplicates = 0

    def store(self, container):
        if container.code in self.codes:
            self.duplicates += 1
            return
        self.codes.add(container.code)
        self.stacks.setdefault(container.port, set()).add(container)

    def heavy(self, limit):
        """Codes over a weight, from all stacks at once."""
        found = []
        for stack in self.stacks.values():
            for container in stack:
                if container.weight > limit:
                    found.append(container.code)
        found.sort()
        return found

    def manifest(self, port):
        rows = [(container.code, container.weight) for container in self.stacks.pop(port, set())]
        rows.sort(key=lambda row: row[0])
        return list(enumerate(rows, start=1))


class Quay:
    def __init__(self, yard):
        self.yard = yard
        self.sailed = []
        self.flagged = []

    def sail(self, port):
        self.sailed.append((port, self.yard.manifest(port)))

    def inspect(self):
        self.flagged = self.yard.heavy(24)

    def state(self):
        return {"sailed": list(self.sailed), "flagged": list(self.flagged), "duplicates": self.yard.duplicates}

    def restore(self, state):
        self.sailed, self.flagged = list(state["sailed"]), list(state["flagged"])


def main(run):
    yard = Yard()
    quay = run.track("quay", Quay(yard))
    trucks = run.rng("trucks")
    for day in run.ticks(25):
        for container in arrivals(trucks, 7):
            yard.store(container)
        quay.inspect()
        if day % 4 == 3:
            quay.sail(PORTS[day % len(PORTS)])
