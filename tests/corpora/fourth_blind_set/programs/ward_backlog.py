"""Emergency department: patients wait by acuity, doctors come off a call list when the backlog grows."""
import heapq
import itertools
from collections import deque

ON_CALL = {"amara", "birgit", "chandra", "dmitri", "elif", "farouk", "gudrun"}
SPEED = {"amara": 3, "birgit": 2, "chandra": 4, "dmitri": 1, "elif": 2, "farouk": 3, "gudrun": 1}


class Department:
    def __init__(self, call_list):
        self._call_list = call_list
        self._queue = []
        self._serial = itertools.count()
        self.present = ["duty-house"]
        self.seen = []
        self.waiting = 0
        self.longest = 0

    def state(self):
        return {
            "present": list(self.present),
            "seen": len(self.seen),
            "last": self.seen[-1] if self.seen else None,
            "waiting": self.waiting,
            "longest": self.longest,
        }

    def restore(self, state):
        self.present = list(state["present"])
        self.waiting = state["waiting"]
        self.longest = state["longest"]

    def admit(self, tick, acuity, name):
        heapq.heappush(self._queue, (acuity, next(self._serial), tick, name))

    def escalate(self):
        """Fetch one more colleague when the queue is longer than the room allows."""
        if len(self._queue) > 9 + 3 * len(self.present) and self._call_list:
            self.present.append(self._call_list.popleft())

    def treat(self, tick):
        capacity = 1 + sum(SPEED.get(who, 1) for who in self.present[1:])
        for _ in range(capacity):
            if not self._queue:
                break
            acuity, _serial, since, name = heapq.heappop(self._queue)
            self.longest = max(self.longest, tick - since)
            self.seen.append(name)
        self.waiting = len(self._queue)

    def stand_down(self):
        if not self._queue and len(self.present) > 1:
            self._call_list.append(self.present.pop())


def draw_up_call_list(people, per_shift):
    """Deal the free colleagues out in shifts; the first shift is called first."""
    free = set(people)
    shifts = []
    while free:
        shift = []
        while free and len(shift) < per_shift:
            shift.append(free.pop())
        shifts.append(shift)
    return deque(who for shift in shifts for who in shift)


def arrivals(rng, tick):
    rate = 1.2 + (2.6 if 6 <= tick <= 16 else 0.0)
    for k in range(int(rng.poisson(rate))):
        acuity = int(rng.integers(1, 5))
        yield acuity, f"p{tick:02d}-{k}"


def main(run):
    rng = run.rng("arrivals")
    department = run.track("department", Department(draw_up_call_list(ON_CALL, 2)))
    for tick in run.ticks(28):
        for acuity, name in arrivals(rng, tick):
            department.admit(tick, acuity, name)
        department.escalate()
        department.treat(tick)
        department.stand_down()
    run.compare("seen", department.seen[-5:])
    return department.longest
