"""Wheelhouse: helmsmen take turns; who is on watch is kept in a context variable and settles how the wheel is handled."""
import contextvars
import getpass
from functools import wraps

HANDS = {"mate": 0.8, "cadet": 0.35, "pilot": 0.95}
on_watch = contextvars.ContextVar("on_watch", default="mate")


def logged(fn):
    @wraps(fn)
    def inner(self, *args):
        before = self.heading
        result = fn(self, *args)
        self.entries += before != self.heading
        return result
    return inner


class Wheel:
    def __init__(self, course):
        self.course = course
        self.heading = float(course)
        self.entries = 0

    @logged
    def drift(self, current):
        self.heading = round(self.heading + current, 4)

    @logged
    def correct(self):
        gain = HANDS.get(on_watch.get(), 0.5)
        self.heading = round(self.heading - gain * (self.heading - self.course), 4)

    def state(self):
        return {"heading": self.heading, "entries": self.entries}

    def restore(self, state):
        self.heading, self.entries = state["heading"], state["entries"]


class Watchkeeper:
    def __init__(self, hands):
        self.hands = hands
        self.owner = None

    def sign_on(self):
        self.owner = getpass.getuser()

    def relieve(self, tick):
        """The mate stands the first watches, whoever signed on takes the dog watch."""
        return self.owner if tick % 12 >= 8 else "mate"


def stand_watch(wheel, current):
    wheel.drift(current)
    wheel.correct()


def main(run):
    rng = run.rng("current")
    wheel = run.track("wheel", Wheel(90))
    keeper = Watchkeeper(HANDS)
    keeper.sign_on()
    sea = run.track("sea", {"current": 0.0})
    for tick in run.ticks(24):
        sea["current"] = round(0.7 * sea["current"] + float(rng.normal(0, 2.0)), 4)
        ctx = contextvars.copy_context()
        ctx.run(on_watch.set, keeper.relieve(tick))
        ctx.run(stand_watch, wheel, sea["current"])
    return wheel.entries
