"""River delta model: channel roughness comes from a table on disk; the table is read once, or each time in fresh mode."""
import csv
import os
import tempfile

ROWS = [("gravel", 0.028), ("sand", 0.022), ("reed", 0.065), ("clay", 0.019), ("boulder", 0.048)]


def write_table(path):
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["bed", "n"])
        writer.writerows(ROWS)


class Table:
    """A lookup table in a file; fresh mode is for people who edit the file while the model runs."""

    def __init__(self, path, fresh):
        self._path, self._fresh = path, fresh
        self._rows = None

    def _read(self):
        with open(self._path, newline="", encoding="utf-8") as source:
            return {row["bed"]: float(row["n"]) for row in csv.DictReader(source)}

    def __getitem__(self, bed):
        if self._fresh or self._rows is None:
            self._rows = self._read()
        return self._rows[bed]


class Channel:
    def __init__(self, bed, width, slope):
        self.bed, self.width, self.slope = bed, width, slope
        self.depth = 1.0

    def flow(self, n):
        """Manning's formula for a wide channel."""
        return self.width * self.depth ** (5 / 3) * self.slope**0.5 / n


class Delta:
    def __init__(self, table):
        self._table = table
        self.channels = [Channel(bed, 10.0 + 4 * i, 0.0004 + 0.0001 * i) for i, (bed, _) in enumerate(ROWS)]
        self.outflow = 0.0
        self.stored = 0.0

    def state(self):
        return {
            "depth": [round(c.depth, 9) for c in self.channels],
            "outflow": round(self.outflow, 6),
            "stored": round(self.stored, 6),
        }

    def restore(self, state):
        for channel, depth in zip(self.channels, state["depth"]):
            channel.depth = depth
        self.outflow, self.stored = state["outflow"], state["stored"]

    def step(self, inflow):
        self.outflow = 0.0
        share = inflow / len(self.channels)
        for channel in self.channels:
            out = channel.flow(self._table[channel.bed])
            channel.depth = max(0.05, channel.depth + (share - out) / (channel.width * 40.0))
            self.outflow += out
        self.stored += inflow - self.outflow


def main(run):
    rng = run.rng("river")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "roughness.csv")
        write_table(path)
        delta = run.track("delta", Delta(Table(path, os.environ.get("DELTA_FRESH") == "1")))
        inflow = 60.0
        for _tick in run.ticks(24):
            inflow = max(20.0, inflow + float(rng.normal(0.0, 6.0)))
            delta.step(inflow)
    run.compare("outflow", round(delta.outflow, 6))
    return round(delta.stored, 6)
