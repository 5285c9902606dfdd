"""Group river gauges by how their water levels behave."""

import argparse
import json
import sys
import time
from pathlib import Path

from clusters import fit_clusters
from gauges import read_gauges, standardize

HERE = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, default=HERE / "settings.json")
    options = parser.parse_args()
    settings = json.loads(options.settings.read_text(encoding="utf-8"))
    print(time.strftime("run at %Y-%m-%dT%H:%M:%S"), file=sys.stderr)

    gauges = read_gauges(HERE / "gauges.csv")
    scaled = standardize(gauges.values)
    fit = fit_clusters(scaled, settings["clusters"], settings["restarts"], settings["seed"])

    print(f"inertia {fit.inertia:.6f}")
    for number in range(settings["clusters"]):
        members = [name for name, label in zip(gauges.names, fit.labels) if label == number]
        centre = " ".join(f"{value:.4f}" for value in fit.centres[number])
        print(f"{number} | {centre} | {' '.join(members)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
