"""Let the basins of a canal network settle, and print the levels."""

import argparse
import json
import sys
import time
from pathlib import Path

from network import build_grid
from settling import settle

HERE = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, default=HERE / "settings.json")
    options = parser.parse_args()
    settings = json.loads(options.settings.read_text(encoding="utf-8"))
    begun = time.perf_counter()

    network = build_grid(settings["rows"], settings["columns"], settings["seed"])
    before = network.volume()
    flows = settle(network, settings["rounds"], settings["sluice_limit"])

    print(f"basins {len(network.basins)}, canals {len(network.canals)}")
    print(f"volume before {before:.6f} after {network.volume():.6f}")
    print(f"moved {flows:.6f}")
    highest = sorted(network.basins, key=lambda basin: (-basin.level, basin.name))[:12]
    for basin in highest:
        print(f"{basin.name} {basin.level:.6f}")
    print(f"settled in {time.perf_counter() - begun:.2f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
