"""Run every benchmark with its peers, one after the other, and write the report anew.

Usage: python benchmarks/run_all.py [--small] [--results FOLDER]

Each benchmark is a file of this folder that runs alone, takes ``--small`` and ``--output``, and
appends JSON lines. Take figures on a machine with nothing else to do. ``--small`` runs them in a few
seconds each, for tests: its figures mean nothing and are never written to the committed results.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measuring
import report

SHARED = {"measuring.py", "report.py", "run_all.py"}


def benchmarks() -> list[Path]:
    """Every benchmark, sorted by name."""
    return sorted(path for path in measuring.FOLDER.glob("*.py") if path.name not in SHARED)


def run(path: Path, results: Path, *, small: bool) -> bool:
    """Run one benchmark; whether it ended well."""
    print(f"== {path.stem}", flush=True)
    start = time.monotonic()
    options = [*(["--small"] if small else []), "--output", str(results / f"{path.stem}.jsonl")]
    code = subprocess.run([sys.executable, str(path), *options], check=False).returncode
    print(f"== {path.stem}: exit {code} after {time.monotonic() - start:.0f} s", flush=True)
    return code == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--results", type=Path, default=None)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = chosen.results or (Path(folder) if chosen.small else measuring.RESULTS)
        ended = [run(path, results, small=chosen.small) for path in benchmarks()]
    if results == measuring.RESULTS:
        report.write()
    return 0 if all(ended) else 1


if __name__ == "__main__":
    sys.exit(main())
