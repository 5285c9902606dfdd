"""How long ``import twice`` takes in a fresh process, and what numpy would add.

Usage: python benchmarks/import_time.py [--rounds N] [--small] [--output FILE.jsonl]

CPU milliseconds of the import statement in fresh processes, without the start of Python itself and
with byte code written, as installed packages have it. Goal: ``import twice`` under 150 ms.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import measuring

CODE = "import time; t = time.process_time(); import {}; print((time.process_time() - t) * 1e3)"


def import_ms(module: str, byte_code: str) -> float:
    ran = subprocess.run(
        [sys.executable, "-c", CODE.format(module)],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": byte_code},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(ran.stdout)


def figures(rounds: int) -> Iterator[dict[str, object]]:
    for module in ("twice", "numpy"):
        with tempfile.TemporaryDirectory() as byte_code:
            import_ms(module, byte_code)  # The first one writes it.
            times = [import_ms(module, byte_code) for _ in range(rounds)]
        yield {"figure": f"import {module}", "unit": "ms"} | measuring.spread(times, 1)


def main() -> None:
    chosen = measuring.options("import_time", __doc__.splitlines()[0], rounds=10)
    measuring.tell("import_time", figures(chosen.rounds), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
