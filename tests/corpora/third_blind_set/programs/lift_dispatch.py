"""Two lifts in an office house. Guests are announced beforehand, so a lift is kept for them; a standby controller can take over."""

import os
from collections import deque

FLOORS = 12


class Controller:
    def __init__(self, lifts=2):
        self.at = [0] * lifts
        self.goal = [0] * lifts
        self.queue = deque()
        self.announced = {}
        self.served = 0
        self.waiting = 0
        self.travelled = 0
        self.log = deque(maxlen=20)

    def announce(self, tick, floor):
        """A guest of rank comes at that tick; a lift shall stand there."""
        self.announced.setdefault(tick, []).append(floor)

    def press(self, tick, floor):
        self.queue.append((tick, floor))

    def idle(self):
        return [lift for lift in range(len(self.at)) if self.at[lift] == self.goal[lift]]

    def send(self, lift, floor):
        self.goal[lift] = floor
        self.log.append(f"lift {lift} to {floor}")

    def plan(self, tick):
        for floor in self.announced.pop(tick + 3, []):
            free = self.idle()
            if free:
                self.send(min(free, key=lambda lift: (abs(self.at[lift] - floor), lift)), floor)
        while self.queue and self.idle():
            pressed, floor = self.queue.popleft()
            lift = min(self.idle(), key=lambda lift: (abs(self.at[lift] - floor), lift))
            self.waiting += tick - pressed + abs(self.at[lift] - floor)
            self.served += 1
            if self.at[lift] != floor:
                self.send(lift, floor)
            else:
                break

    def move(self):
        for lift, goal in enumerate(self.goal):
            step = max(-2, min(2, goal - self.at[lift]))
            self.at[lift] += step
            self.travelled += abs(step)

    def state(self):
        return {
            "at": list(self.at),
            "goal": list(self.goal),
            "queue": [list(item) for item in self.queue],
            "counts": [self.served, self.waiting, self.travelled],
        }

    def restore(self, state):
        self.at, self.goal = list(state["at"]), list(state["goal"])
        self.queue = deque(tuple(item) for item in state["queue"])
        self.served, self.waiting, self.travelled = state["counts"]


class House:
    """What stands in the cellar: one controller at work, perhaps another that takes over."""

    def __init__(self, people):
        self.people = people
        self.controller = Controller()
        self.takeover = int(os.environ.get("LIFT_TAKEOVER", "-1"))

    def step(self, tick):
        if tick == self.takeover:
            standby = Controller()
            standby.restore(self.controller.state())
            self.controller = standby
        if tick == 4:
            for due in (21, 26, 31):
                self.controller.announce(due + int(self.people.integers(0, 3)), int(self.people.integers(6, FLOORS)))
        for _ in range(int(self.people.poisson(0.35))):
            self.controller.press(tick, int(self.people.integers(0, 4)))
        self.controller.plan(tick)
        self.controller.move()

    def state(self):
        return self.controller.state()

    def restore(self, state):
        self.controller.restore(state)


def main(run):
    house = run.track("house", House(run.rng("people")))
    for tick in run.ticks(36):
        house.step(tick)
