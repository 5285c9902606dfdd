"""What a diagnosis costs: seconds and executions, for four differences people meet.

Usage: python benchmarks/diagnosis.py [--rounds N] [--small] [--output FILE.jsonl]

Each round diagnoses two records that were made once. CPU seconds are of this process and of all that
it waited for; wall seconds stand beside them, because executions that do not depend on each other run
at once. Every line that is named is checked.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import measuring

import twice
from twice.diagnosis.executions import Side

CALM = {"PYTHONHASHSEED": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
CASES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "a set's order": ("set_order.py", {"PYTHONHASHSEED": "2"}),
    "threads, beside a list of a set": (
        "threads_beside_set.py", {"PYTHONHASHSEED": "2", "OPENBLAS_NUM_THREADS": "2"},
    ),
    "a hidden attribute, 12 ticks before": ("hidden_attribute.py", {"GRUDGE": "3"}),
    "a tick of 200,000 iterations": ("long_tick.py", {"PYTHONHASHSEED": "2"}),
}  # fmt: skip


def records(folder: Path, program: Path, changed: Mapping[str, str]) -> tuple[Path, Path]:
    """Two records that differ by their surroundings."""
    for name, given in (("a", {}), ("b", changed)):
        out, env = folder / f"{name}.twice", {**CALM, **given}
        twice.record(f"{program}:main", seed=1, out=out, env=env).close()
    return folder / "a.twice", folder / "b.twice"


def figures(rounds: int, *, small: bool) -> Iterator[dict[str, object]]:
    counted = _count_executions()
    for name, (file, changed) in CASES.items():
        program = measuring.PROGRAMS / file
        lines = program.read_text("utf-8").splitlines()
        guilty = next(at for at, line in enumerate(lines, 1) if line.endswith("# guilty"))
        wall, cpu, executions = [], [], []
        with tempfile.TemporaryDirectory() as folder:
            a, b = records(Path(folder), program, changed)
            for _ in range(rounds):
                before, begun, first = os.times(), time.perf_counter(), len(counted)
                found = twice.diagnose(a, b)
                wall.append(time.perf_counter() - begun)
                cpu.append(sum(os.times()[:4]) - sum(before[:4]))
                executions.append(len(counted) - first)
                right = found.operation is not None and found.operation.line == guilty
                assert small or found.result == "same" or right, found.to_text()
        yield {"figure": f"{name}: CPU", "unit": "s"} | measuring.spread(cpu)
        yield {"figure": f"{name}: wall clock", "unit": "s"} | measuring.spread(wall)
        yield {"figure": f"{name}: executions", "unit": ""} | measuring.spread(executions, 0)


def _count_executions() -> list[str]:
    """Grows by one with every execution of a window from now on."""
    counted: list[str] = []
    original = Side.execute

    def execute(self: Side, *given: object, **named: object) -> object:
        counted.append(self.label)
        return original(self, *given, **named)

    Side.execute = execute
    return counted


def main() -> None:
    chosen = measuring.options("diagnosis", __doc__.splitlines()[0], rounds=3)
    found = figures(chosen.rounds, small=chosen.small)
    measuring.tell("diagnosis", found, chosen.output)


if __name__ == "__main__":
    sys.exit(main())
