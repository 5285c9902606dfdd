"""Lighthouse: fog signals follow the visibility; a log line with the keeper's name goes to a file nobody reads back."""
import getpass
import os
import tempfile
from datetime import datetime


class Logbook:
    """A log for people, with the keeper's name and the local time of the watch."""

    def __init__(self, path):
        self._out = open(path, "w", encoding="utf-8")
        self.keeper = getpass.getuser()
        self.shift = os.environ.get("WATCH_NAME", "middle")

    def note(self, tick, text):
        hour = datetime.fromtimestamp(1_700_000_000 + 3600 * tick)
        self._out.write(f"{hour:%d %b %H:%M} {self.keeper} ({self.shift} watch): {text}\n")

    def close(self):
        self._out.close()


class Signal:
    """A horn with a pattern of blasts, a lamp, and a tank of compressed air."""

    def __init__(self):
        self.air = 100.0
        self.horn = False
        self.blasts = 0
        self.visibility = 8.0

    def state(self):
        return {
            "air": round(self.air, 4),
            "horn": self.horn,
            "blasts": self.blasts,
            "visibility": round(self.visibility, 4),
        }

    def restore(self, state):
        for key, value in state.items():
            setattr(self, key, value)

    def sense(self, rng):
        self.visibility = min(12.0, max(0.1, self.visibility + float(rng.normal(-0.1, 1.2))))
        if self.visibility < 3.0:
            self.horn = True
        elif self.visibility > 4.5:
            self.horn = False

    def sound(self):
        if self.horn and self.air > 4.0:
            self.blasts += 2
            self.air -= 3.5
        self.air = min(100.0, self.air + 1.0)


def watch(signal, book, tick):
    before = signal.horn
    yield "sense"
    if signal.horn != before:
        book.note(tick, "horn on" if signal.horn else "horn off")
    yield "sound"
    if signal.air < 20.0:
        book.note(tick, f"low air: {signal.air:.1f}")


def main(run):
    rng = run.rng("fog")
    signal = run.track("signal", Signal())
    with tempfile.TemporaryDirectory() as folder:
        book = Logbook(os.path.join(folder, "log.txt"))
        for tick in run.ticks(30):
            for duty in watch(signal, book, tick):
                if duty == "sense":
                    signal.sense(rng)
                else:
                    signal.sound()
        book.close()
    run.compare("blasts", signal.blasts)
    return signal.blasts
