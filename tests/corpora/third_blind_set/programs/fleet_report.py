"""The weekly report on a fleet of vans: mileage, repairs, remarks; paged for the printer."""

import io
import os
import random
import textwrap
import zlib

from rich.console import Console
from rich.table import Table

VANS = ["Ada", "Bodo", "Clea", "Dirk", "Edda", "Fips", "Gesa", "Hanno"]
FAULTS = ["left rear light flickers when it rains", "clutch slips in second gear", "smells of fish",
          "door of the hold does not lock unless it is slammed twice", "tyre worn on the inner side",
          "radio plays nothing but brass music", "heating cannot be switched off"]
PAGE = 16


class Van:
    def __init__(self, name):
        self.name = name
        self.kilometres = 0
        self.remarks = []
        self.drivers = set()

    def day(self):
        self.kilometres += random.randrange(20, 240)
        self.drivers.add(random.choice(["Kim", "Lou", "Max", "Noa"]))
        if random.random() < 0.25:
            self.remarks.append(random.choice(FAULTS))


class Press:
    """Renders tables to text, and keeps the pages until all are there."""

    def __init__(self):
        self.buffer = io.StringIO()
        self.console = Console(file=self.buffer, color_system=None, legacy_windows=False)
        self.home = os.environ.get("HOME", "")
        self.pages = []

    def table(self, vans):
        table = Table(title="Fleet", show_lines=False)
        for heading in ("van", "km", "drivers", "remarks"):
            table.add_column(heading, justify="right" if heading == "km" else "left")
        for van in vans:
            table.add_row(van.name, str(van.kilometres), ", ".join(sorted(van.drivers)), "; ".join(van.remarks) or "-")
        self.console.print(table)

    def note(self, text):
        for line in textwrap.wrap(text, 60):
            self.buffer.write(line + "\n")

    def close(self):
        lines = self.buffer.getvalue().splitlines()
        self.pages = [lines[i:i + PAGE] for i in range(0, len(lines), PAGE)]
        return len(self.pages)


def costs(vans):
    """Repairs are estimated by the kind of fault."""
    total = 0
    for van in vans:
        for remark in set(van.remarks):
            total += 40 + zlib.crc32(remark.encode()) % 200
    return total


def main():
    press = Press()
    vans = [Van(name) for name in VANS]
    for week in range(3):
        for van in vans:
            for _ in range(5):
                van.day()
        print(f"week {week}: {sum(van.kilometres for van in vans)} km, {sum(len(v.remarks) for v in vans)} remarks")
    print(f"repairs: about {costs(vans)}")
    press.note("All vans were driven by at least two people. Remarks are those of the drivers and were not checked. "
               "Kilometres are taken from the log books, not from the odometers.")
    press.table(vans)
    press.note(f"Drivers: {', '.join(sorted(set().union(*(v.drivers for v in vans))))}.")
    print(f"{press.close()} pages")
    for number, page in enumerate(press.pages, 1):
        print(f"page {number}: {len(page)} lines, {sum(len(line.split()) for line in page)} words")


main()
