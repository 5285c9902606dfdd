"""Outpatient clinic: open slots live in a sorted list keyed by minute; referrals take the earliest slot that fits."""
from sortedcontainers import SortedKeyList

DOCTORS = ("Abara", "Bellamy", "Castro", "Dahl", "Eriksen", "Fontaine")
SKILLS = {
    "Abara": {"skin", "eye"},
    "Bellamy": {"skin", "ear"},
    "Castro": {"eye", "ear"},
    "Dahl": {"skin", "eye", "ear"},
    "Eriksen": {"ear"},
    "Fontaine": {"eye"},
}


class Slot:
    __slots__ = ("minute", "doctor", "room")

    def __init__(self, minute, doctor, room):
        self.minute, self.doctor, self.room = minute, doctor, room


class Book:
    """The appointment book of the day."""

    def __init__(self):
        self._slots = SortedKeyList(key=lambda slot: slot.minute)
        self.free = 0
        self.given = []
        self.refused = 0

    def publish(self, minute, doctors):
        for room, doctor in enumerate(sorted(doctors, key=len)):
            self._slots.add(Slot(minute, doctor, room))
        self.free = len(self._slots)

    def take(self, skill, after):
        start = self._slots.bisect_key_left(after)
        for slot in self._slots.islice(start):
            if skill in SKILLS[slot.doctor]:
                self._slots.remove(slot)
                self.free = len(self._slots)
                return slot
        return None

    def expire(self, now):
        while self._slots and self._slots[0].minute < now:
            self._slots.pop(0)
        self.free = len(self._slots)

    def state(self):
        return {"free": self.free, "given": self.given[-6:], "refused": self.refused}

    def restore(self, state):
        self.free, self.given, self.refused = state["free"], list(state["given"]), state["refused"]


def on_duty(tick):
    """Half of the doctors each hour, each once, in no particular order."""
    chosen = (DOCTORS[(tick + k) % len(DOCTORS)] for k in range(4))
    return list(dict.fromkeys(frozenset(chosen)))


def referrals(rng):
    skills = ["ear", "eye", "skin"]
    for _ in range(int(rng.integers(1, 4))):
        yield skills[int(rng.integers(3))]


def main(run):
    rng = run.rng("referrals")
    book = run.track("book", Book())
    for tick in run.ticks(16):
        now = 480 + 30 * tick
        book.expire(now)
        if tick % 2 == 0:
            for ahead in (60, 75, 90):
                book.publish(now + ahead, on_duty(tick))
        if tick < 4:
            continue
        for skill in referrals(rng):
            if slot := book.take(skill, now + 15):
                book.given.append([slot.minute, slot.doctor])
            else:
                book.refused += 1
    run.compare("refused", book.refused)
    return len(book.given)
