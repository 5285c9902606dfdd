"""A telegraph office on the line: messages are put by with the context they came in and sent in the night."""
import contextvars
import heapq
import os

shift = contextvars.ContextVar("shift", default=None)
STATIONS = ["York", "Leeds", "Hull", "Ripon"]


class Cipher:
    def __init__(self, pad):
        self.pad = pad

    def apply(self, text):
        return [(ord(c) + self.pad[i % len(self.pad)]) % 26 for i, c in enumerate(text)]


def open_shift(clerk):
    pad = os.urandom(6)
    shift.set((clerk, Cipher(pad)))


class Office:
    def __init__(self):
        self.later = []
        self.count = 0
        self.sent = {}
        self.ink = 100.0
        self.tape = 0

    def put_by(self, due, text, station):
        context = contextvars.copy_context()

        def send():
            clerk, cipher = shift.get()
            groups = cipher.apply(text)
            self.sent.setdefault(station, []).append(sum(groups))
            self.ink -= len(groups) * 0.05
            return clerk

        self.count += 1
        heapq.heappush(self.later, (due, self.count, context, send))

    def plain(self, text):
        self.tape += len(text)

    def run_due(self, tick):
        while self.later and self.later[0][0] <= tick:
            _, _, context, send = heapq.heappop(self.later)
            context.run(send)

    def state(self):
        return {"sent": {k: list(v) for k, v in self.sent.items()}, "ink": round(self.ink, 4),
                "tape": self.tape, "waiting": len(self.later)}

    def restore(self, state):
        self.sent = {k: list(v) for k, v in state["sent"].items()}
        self.ink = state["ink"]
        self.tape = state["tape"]


def telegrams(rng):
    words = ["ARRIVING", "DELAYED", "SEND", "COAL", "WAGONS", "URGENT", "FOG", "CLEAR"]
    while True:
        yield " ".join(words[int(i)] for i in rng.integers(0, len(words), size=3))


def main(run):
    rng = run.rng("traffic")
    office = run.track("office", Office())
    stream = telegrams(rng)
    for tick in run.ticks(24):
        if tick in (0, 8):
            open_shift(f"clerk-{tick}")
        text = next(stream)
        if tick < 12:
            office.put_by(14 + tick // 2, text, STATIONS[tick % 4])
        else:
            office.plain(text)
        office.run_due(tick)
    return office.tape
