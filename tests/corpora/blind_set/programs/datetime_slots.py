"""A clinic: freed appointments are offered to a waiting list, one a day, and patients get better or not."""

import datetime as dt
from collections import deque

OPENS = dt.datetime(2024, 3, 4, 8, 0)
STEP = dt.timedelta(minutes=20)


class Patient:
    def __init__(self, name, need):
        self.name = name
        self.need = need
        self.seen_at = ""

    def treat(self, slot, skill):
        self.need = max(0.0, self.need - skill)
        self.seen_at = slot.isoformat()


class Calendar:
    """Booked slots; cancelled ones are offered again later."""

    def __init__(self, days, per_day):
        self.booked = {OPENS + dt.timedelta(days=d) + k * STEP for d in range(days) for k in range(per_day)}
        self.offers = deque()

    def cancel(self, rng, count):
        """A strike on the railway: so many cannot come."""
        ordered = sorted(self.booked)  # innocent
        picked = {ordered[int(i)] for i in rng.choice(len(ordered), size=count, replace=False)}
        self.booked -= picked
        self.offers.extend(picked)  # guilty

    def offer(self):
        return self.offers.popleft() if self.offers else None

    def load(self):
        return len(self.booked)  # innocent


class Clinic:
    def __init__(self, names, rng):
        self.patients = [Patient(name, 3.0 + i) for i, name in enumerate(names)]
        self.rng = rng
        self.treated = 0

    def neediest(self):
        return max(self.patients, key=lambda p: (p.need, p.name))  # innocent

    def treat(self, slot):
        patient = self.neediest()
        patient.treat(slot, 0.5 + float(self.rng.random()))
        self.treated += 1
        return patient


def minutes(slot):
    return int((slot - OPENS).total_seconds() // 60)


def main(run):
    calendar = Calendar(days=6, per_day=9)
    clinic = run.track("clinic", Clinic(("Abe", "Bea", "Cor", "Dot", "Eva"), run.rng("skill")))
    costs = run.track("costs", {"idle": 0, "overtime": 0})
    strike = run.rng("strike")
    for tick in run.ticks(40):
        if tick == 4:
            calendar.cancel(strike, 12)
        if tick >= 21:
            slot = calendar.offer()
            if slot is not None:
                clinic.treat(slot)
                costs["overtime"] += minutes(slot) % 7 == 0
        costs["idle"] += calendar.load() < 45
        for patient in clinic.patients:
            patient.need += 0.05
