"""How long measuring the environment takes, with and without probes, and which probe costs most.

Usage: python benchmarks/environment.py [--rounds N] [--small] [--output FILE.jsonl]

Each round is a fresh process that has imported numpy already; figures are CPU milliseconds of the
first call. Goals: under 300 ms with probes, under 30 ms without.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import measuring

CODE = """
import json, numpy, time
from twice.recorder.environment import fingerprint, probes
def ms(call):
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1e3
found = {"without probes": ms(lambda: fingerprint.measure(probes=False))}
found["with probes"] = ms(fingerprint.measure)
for group in probes.GROUPS:
    found["probes " + group] = ms(lambda: probes.run_probes([group]))
print(json.dumps(found))
"""


def measured() -> dict[str, float]:
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    return dict(json.loads(ran.stdout))


def figures(rounds: int) -> Iterator[dict[str, object]]:
    found = [measured() for _ in range(rounds)]
    for name in found[0]:
        yield {"figure": name, "unit": "ms"} | measuring.spread([line[name] for line in found], 2)


def main() -> None:
    chosen = measuring.options("environment", __doc__.splitlines()[0], rounds=7)
    measuring.tell("environment", figures(chosen.rounds), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
