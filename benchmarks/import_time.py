"""How long does ``import twice`` take in a fresh process, and what does numpy add?

Usage: python benchmarks/import_time.py [--runs N] [--append FILE.jsonl]

Prints one JSON line per import: the best and the median of N fresh processes, in milliseconds,
without the start of Python itself and with byte code written, as installed packages have it.
Goal: ``import twice`` under 150 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CODE = "import time; t = time.perf_counter(); import {}; print((time.perf_counter() - t) * 1e3)"


def import_ms(module: str, byte_code: str) -> float:
    ran = subprocess.run(
        [sys.executable, "-c", CODE.format(module)],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": byte_code},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(ran.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--append", type=Path)
    asked = parser.parse_args()
    for module in ("twice", "numpy"):
        with tempfile.TemporaryDirectory() as byte_code:
            import_ms(module, byte_code)  # The first one writes it.
            times = [import_ms(module, byte_code) for _ in range(asked.runs)]
        line = json.dumps(
            {
                "benchmark": "import_time",
                "module": module,
                "ms_min": round(min(times), 1),
                "ms_median": round(statistics.median(times), 1),
                "runs": asked.runs,
                "python": platform.python_version(),
                "machine": platform.machine(),
            }
        )
        print(line)
        if asked.append:
            with asked.append.open("a", encoding="utf-8") as file:
                file.write(line + "\n")


if __name__ == "__main__":
    main()
