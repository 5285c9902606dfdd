"""A report on tide gauges: one line per station, one per region, and a summary."""

import numpy as np

STATIONS = ["alder", "brisk", "cobble", "dune", "ebb", "fjord"]
REGIONS = {"north": ["alder", "ebb", "fjord"], "south": ["brisk", "cobble", "dune"]}


def read_levels():
    """Make the levels of two weeks, in millimetres, hour by hour."""
    rng = np.random.default_rng(1901)
    hours = np.arange(14 * 24)
    phase = rng.integers(0, 12, len(STATIONS))
    noise = rng.integers(-40, 41, (len(STATIONS), len(hours)))
    return 10 * np.abs((hours + phase[:, None]) % 24 - 12) * 16 + noise


def summarise(levels):
    """Return per station the highest and lowest level and the mean of the daily range."""
    days = levels.reshape(len(STATIONS), 14, 24)
    spread = days.max(axis=2) - days.min(axis=2)
    return {
        name: {"high": levels[row].max(), "low": levels[row].min(), "range": spread[row].mean()}
        for row, name in enumerate(STATIONS)
    }


def warn(name, row):
    """Say whether a station is above the mark."""
    return f"{name}: {row['high']} mm is above the mark" if row["high"] > 1955 else ""


def main():
    table = summarise(read_levels())
    for name, row in table.items():
        print(f"{name:8s} high {row['high']:5d} low {row['low']:5d} range {row['range']:8.2f}")
    for region, names in REGIONS.items():
        ranges = [round(table[name]["range"], 3) for name in names]
        print(f"{region}: mean of ranges {np.mean(ranges):.3f}")
        print(f"{region}: extremes {max(ranges)!r} {min(ranges)!r}")
    for name, row in table.items():
        if said := warn(name, row):
            print(said)


if __name__ == "__main__":
    main()
