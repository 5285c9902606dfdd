"""Climbers on a ledge decide each hour whether to go on; the forecast service caches and backs off."""
import time
from functools import lru_cache, wraps


class Unavailable(Exception):
    pass


@lru_cache(maxsize=8)
def backoff(host):
    """Base delay with jitter for one host, fixed for the life of the process."""
    jitter = time.time_ns() // 1000 % 997
    return 2.0 + jitter / 100


def retrying(attempts):
    def wrap(call):
        @wraps(call)
        def inner(self, *args):
            spent = 0.0
            for n in range(attempts):
                try:
                    return call(self, *args), spent
                except Unavailable as err:
                    spent += backoff(self.host) * (n + 1)
                    self.failures.append(str(err))
            return None, spent
        return inner
    return wrap


class Radio:
    def __init__(self, host, rng):
        self.host, self.rng = host, rng
        self.failures = []
        self.charge = 600.0
        backoff(host)

    @retrying(3)
    def forecast(self, hour):
        noise = self.rng.random()
        if 16 <= hour < 20:
            raise Unavailable(f"no answer at {hour}")
        return -12 + 9 * noise

    def ask(self, hour):
        reply, spent = self.forecast(hour)
        self.charge -= 4.0 + spent
        return reply


class Ledge:
    def __init__(self, radio):
        self.radio = radio
        self.height, self.warmth, self.guess = 4120, 100.0, -10.0
        self.diary = []

    def hour(self, hour):
        reply = self.radio.ask(hour)
        self.guess = reply if reply is not None else self.guess - 0.5
        match self.guess:
            case g if g > -6:
                self.height += 25
                self.diary.append("up")
            case g if g > -9:
                self.diary.append("wait")
            case _:
                self.warmth -= 2.5
                self.diary.append("brew")

    def state(self):
        return {"height": self.height, "warmth": self.warmth, "guess": round(self.guess, 6),
                "charge": round(self.radio.charge, 3), "diary": self.diary[-4:]}

    def restore(self, state):
        self.height, self.warmth, self.guess = state["height"], state["warmth"], state["guess"]
        self.radio.charge, self.diary = state["charge"], list(state["diary"])


def main(run):
    ledge = Ledge(Radio("meteo.hut", run.rng("radio")))
    run.track("ledge", ledge)
    for hour in run.ticks(24):
        ledge.hour(hour)
    return len(ledge.radio.failures)
