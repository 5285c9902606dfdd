"""Print the Boltzmann-averaged NMR shieldings of a molecule from its conformers."""

import argparse
import json
import os
import sys
from pathlib import Path

from averaging import average_shieldings, estimate_errors
from outputs import read_conformers

HERE = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, default=HERE / "settings.json")
    options = parser.parse_args()
    settings = json.loads(options.settings.read_text(encoding="utf-8"))
    folder = options.settings.parent / settings["folder"]
    print(f"{folder.name}: {len(os.listdir(folder))} files", file=sys.stderr)

    conformers = read_conformers(folder)
    averages = average_shieldings(conformers, settings["temperature_K"])
    errors = estimate_errors(
        conformers, settings["temperature_K"], settings["resamples"], settings["seed"]
    )
    print(f"conformers {len(conformers)}")
    for atom in averages:
        shift = settings["reference_ppm"][atom[0]] - averages[atom]
        print(f"{atom:4} {averages[atom]:10.4f} {errors[atom]:8.4f} shift {shift:9.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
