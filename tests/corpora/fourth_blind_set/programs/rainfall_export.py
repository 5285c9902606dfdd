"""Rain gauges: weekly readings go out as CSV and are taken in again by the flood office; pandas does both ends."""
import io
import os
from dataclasses import dataclass, field

import pandas as pd

GAUGES = ["Appleford", "Brackwater", "Cold Knap", "Dunmere", "Ellerby", "Fenwick"]
REGION = {"Appleford": "south", "Brackwater": "south", "Cold Knap": "west", "Dunmere": "west"}


def exchange_format():
    """How numbers are printed in the exchange file; some offices insist on fewer digits."""
    return "%." + os.environ.get("RAIN_DIGITS", "9") + "g"


@dataclass
class Exporter:
    separator: str = ";"
    number: str = field(default_factory=exchange_format)

    def render(self, table):
        buffer = io.StringIO()
        table.to_csv(buffer, sep=self.separator, float_format=self.number, index=False)
        return buffer.getvalue()


class ThriftyExporter(Exporter):
    """Leaves out dry gauges."""

    def render(self, table):
        return super().render(table[table["rain"] > 0.5])


class Archive:
    def __init__(self, rng, exporter):
        self._rng, self._exporter = rng, exporter
        self._files = []

    def week(self, tick):
        rain = self._rng.gamma(2.0, 6.0, len(GAUGES))
        table = pd.DataFrame({"week": tick, "gauge": GAUGES, "rain": rain})
        self._files.append(self._exporter.render(table))
        return float(rain.max())

    def take_in(self):
        """All files of the quarter, as the flood office reads them."""
        frames = [pd.read_csv(io.StringIO(text), sep=";") for text in self._files]
        self._files.clear()
        return pd.concat(frames, ignore_index=True)


class Office:
    def __init__(self, archive):
        self._archive = archive
        self.peak = 0.0
        self.totals = {}
        self.warnings = 0

    def state(self):
        return {"peak": round(self.peak, 6), "totals": dict(self.totals), "warnings": self.warnings}

    def restore(self, state):
        self.peak, self.totals, self.warnings = state["peak"], dict(state["totals"]), state["warnings"]

    def close_week(self, tick):
        self.peak = max(self.peak * 0.9, self._archive.week(tick))

    def close_quarter(self):
        table = self._archive.take_in()
        table["region"] = table["gauge"].map(REGION).fillna("north")
        by_region = table.groupby("region")["rain"].sum()
        self.totals = {region: round(float(mm), 5) for region, mm in by_region.items()}
        self.warnings += int((by_region > 180.0).sum())


def main(run):
    archive = Archive(run.rng("rain"), ThriftyExporter())
    office = run.track("office", Office(archive))
    for tick in run.ticks(21):
        office.close_week(tick)
        if tick % 7 == 6:
            office.close_quarter()
    run.compare("warnings", office.warnings)
    return office.warnings
