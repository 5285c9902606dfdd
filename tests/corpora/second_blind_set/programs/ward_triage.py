"""Hospital triage: patients of several clinics are merged into one waiting line."""

from collections import deque
from typing import NamedTuple


class Patient(NamedTuple):
    mrn: str
    urgency: int
    minutes: int


def clinic(prefix, count, rng):
    """A clinic's appointment list."""
    return [Patient(f"{prefix}{n:03d}", int(rng.integers(1, 5)), int(rng.integers(5, 25))) for n in range(count)]


def merge(*lists):
    """One line of all; whoever is on two lists stands there once."""
    known = {}
    for patients in lists:
        for patient in patients:
            known[patient.mrn] = patient
    line = deque()
    for mrn in known.keys() | {"WALK-IN"}:
        line.append(known.get(mrn, Patient("WALK-IN", 1, 12)))
    return line


class Room:
    """An examination room; it takes the next in line when it is idle."""

    def __init__(self, name, line):
        self.name = name
        self.line = line
        self.left = 0
        self.seen = 0
        self.critical = 0
        self.busy_minutes = 0

    def quarter(self):
        budget = 15
        while budget > 0:
            if self.left == 0:
                if not self.line:
                    return
                patient = self.line.popleft()
                self.left = patient.minutes
                self.seen += 1
                self.critical += patient.urgency == 1
            used = min(self.left, budget)
            self.left -= used
            budget -= used
            self.busy_minutes += used

    def state(self):
        return {"seen": self.seen, "critical": self.critical, "busy": self.busy_minutes}

    def restore(self, state):
        self.seen, self.critical, self.busy_minutes = state["seen"], state["critical"], state["busy"]


def hold_music(rng):
    return [int(note) for note in rng.integers(48, 72, size=4)]


def main(run):
    rng = run.rng("appointments")
    line = merge(clinic("A", 14, rng), clinic("B", 11, rng), clinic("C", 9, rng))
    rooms = [run.track(f"room/{i}", Room(f"room {i}", line)) for i in range(2)]
    lobby = run.track("lobby", {"music": [], "open": False})
    tune = run.rng("music")
    for quarter in run.ticks(30):
        lobby["music"] = hold_music(tune)
        lobby["open"] = quarter >= 12
        if lobby["open"]:
            for room in rooms:
                room.quarter()
