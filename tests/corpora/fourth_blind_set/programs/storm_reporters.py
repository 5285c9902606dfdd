"""Storm desk: weather stations report from threads, the desk takes reports in the order of arrival."""
import threading
import time

STATIONS = ["Arkle", "Bressay", "Cairn", "Duncansby", "Eday", "Fair Isle", "Gruting", "Hoy"]


class Desk:
    """A shared list of reports, newest last."""

    def __init__(self):
        self.reports = []
        self.first = None
        self.alert = 0
        self.wind = 0.0

    def state(self):
        return {
            "first": self.first,
            "latest": [name for name, _ in self.reports[-4:]],
            "alert": self.alert,
            "wind": round(self.wind, 6),
        }

    def restore(self, state):
        self.first, self.alert, self.wind = state["first"], state["alert"], state["wind"]

    def file(self, name, wind):
        self.reports.append((name, wind))

    def digest(self):
        """The first report of a round sets the tone, later ones only nudge it."""
        if not self.reports:
            return
        self.first = self.reports[0][0]
        for _, wind in self.reports:
            self.wind = self.wind * 0.7 + wind * 0.3
            if self.wind > 30.0:
                self.alert += 1


class Station(threading.Thread):
    def __init__(self, name, desk, winds, start):
        super().__init__(name=name, daemon=True)
        self._desk, self._winds, self._go = desk, winds, start

    def run(self):
        self._go.wait()
        for wind in self._winds:
            spun = sum(i * i for i in range(500))
            time.sleep(0.0004 if spun else 0)
            self._desk.file(self.name, wind)


def winds(rng, n):
    return [round(float(rng.gamma(6.0, 4.5)), 2) for _ in range(n)]


def round_of_reports(desk, table):
    """All stations start together at the barrier and report a few times each."""
    barrier = threading.Barrier(len(table))
    crews = [Station(name, desk, values, barrier) for name, values in table.items()]
    for crew in crews:
        crew.start()
    for crew in crews:
        crew.join()


def main(run):
    rng = run.rng("winds")
    desk = run.track("desk", Desk())
    for tick in run.ticks(12):
        desk.reports.clear()
        table = {name: winds(rng, 4) for name in STATIONS}
        if tick >= 2:
            round_of_reports(desk, table)
        desk.digest()
    run.compare("rounds", 12)
    return desk.alert
