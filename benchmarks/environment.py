"""How long does measuring the environment take, with and without probes, and which probe costs most?

Usage: python benchmarks/environment.py [--append FILE.jsonl]

Prints JSON lines: each in a fresh process after ``import numpy``, first call and second call, in
milliseconds. Goals: under 300 ms with probes, under 30 ms without.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

CODE = """
import json, numpy, time
from twice.recording import environment, probes
def ms(call):
    start = time.perf_counter()
    call()
    return round((time.perf_counter() - start) * 1e3, 2)
def both(call):
    return {"ms_first": ms(call), "ms_second": ms(call)}
lines = [
    {"benchmark": "environment", "what": "without probes", **both(lambda: environment.measure(probes=False))},
    {"benchmark": "environment", "what": "with probes", **both(environment.measure)},
]
for group in probes.GROUPS:
    lines.append(
        {"benchmark": "environment", "what": "probes " + group, **both(lambda: probes.run_probes([group]))}
    )
print("\\n".join(json.dumps(line) for line in lines))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--append", type=Path)
    asked = parser.parse_args()
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    print(ran.stdout, end="")
    if asked.append:
        with asked.append.open("a", encoding="utf-8") as file:
            file.write(ran.stdout)


if __name__ == "__main__":
    main()
