"""Estimate the canopy cover of forest plots by throwing points."""

import argparse
import sys
import time
from pathlib import Path

from plots import read_settings, read_plots
from survey import Survey

HERE = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, default=HERE / "settings.json")
    options = parser.parse_args()
    settings = read_settings(options.settings)
    plots = read_plots(HERE / "plots.json")

    begun = time.monotonic()
    survey = Survey(settings)
    results = survey.run(plots)
    for plot, cover in zip(plots, results):
        mark = " dense" if cover > settings.dense else ""
        print(f"{plot.name} {len(plot.crowns):2} crowns, cover {cover:.4f}{mark}")
    total = sum(cover * plot.hectares for plot, cover in zip(plots, results))
    print(f"covered hectares {total:.4f}")
    print(f"{len(plots)} plots in {time.monotonic() - begun:.2f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
