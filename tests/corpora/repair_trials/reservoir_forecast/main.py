"""Forecast the storage of a reservoir with an ensemble of inflows."""

import argparse
import sys
import time
from pathlib import Path

from ensemble import run_ensemble
from settings import read_settings
from tables import format_summary, read_inflows

HERE = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, default=HERE / "settings" / "standard.json")
    options = parser.parse_args()
    settings = read_settings(options.settings)
    begun = time.time()

    inflows = read_inflows(HERE / "inflows.csv")
    storages = run_ensemble(inflows, settings)
    for line in format_summary(storages, settings):
        print(line)
    print(f"{time.strftime('%H:%M:%S')} done after {time.time() - begun:.2f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
