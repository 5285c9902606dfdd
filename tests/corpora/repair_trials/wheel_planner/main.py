"""Print the plan by which an offline machine installs its packages."""

import argparse
import json
import sys
import time
from pathlib import Path

from index import PackageIndex
from mirrors import MirrorChooser
from resolver import install_order

HERE = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, default=HERE / "settings.json")
    parser.add_argument("--index", type=Path, default=HERE / "packages.json")
    options = parser.parse_args()
    begun = time.perf_counter()

    settings = json.loads(options.settings.read_text(encoding="utf-8"))
    index = PackageIndex.read(options.index)
    chooser = MirrorChooser(settings["mirrors"], settings["seed"])

    order = install_order(index, settings["roots"])
    for number, name in enumerate(order, start=1):
        version = index.newest(name)
        print(f"{number:02} {name} {version} {chooser.choose(index.size(name))}")
    print(f"licences: {', '.join(index.licences(order))}")

    elapsed = time.perf_counter() - begun
    print(f"planned {len(order)} packages in {elapsed:.3f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
