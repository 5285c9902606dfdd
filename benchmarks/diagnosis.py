"""What a diagnosis costs: seconds and executions, for four differences people meet.

Usage: python benchmarks/diagnosis.py [--rounds N] [--small] [--output FILE.jsonl] [--against SRC]

``--against`` names the ``src`` folder of another checkout: ten whole commands, ``twice diagnose A B``, are measured in
turn with it and with this one, over bare Python. The last three need PyTorch, and are left out without it.

Without that, each round diagnoses two records that were made once. CPU seconds are of this process and of all that
it waited for; wall seconds stand beside them, because executions that do not depend on each other run
at once. Every line that is named is checked.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import measuring
from commands import OWN, SET_CHILD_SUBREAPER, cpu_ms

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
ZOO = Path(__file__).parents[1] / "tests" / "corpora" / "zoo"
OTHER_HASHES = {"PYTHONHASHSEED": "2"}
COMMANDS: Mapping[str, tuple[Path, Mapping[str, str], Mapping[str, str]]] = {
    "demo": (Path(twice.__file__).parent / "cli" / "demo" / "harbour.py", {}, OTHER_HASHES),
    "a set of names": (ZOO / "01_market_of_names.py", {}, OTHER_HASHES),
    "an extra draw": (ZOO / "05_extra_draw.py", {}, {"ZOO_AUDIT": "1"}),
    "an unseeded generator": (ZOO / "06_unseeded_generator.py", {}, {}),
    "threads of BLAS": (ZOO / "11_blas_threads.py", {}, {"OPENBLAS_NUM_THREADS": "2"}),
    "a hash of a name": (ZOO / "16_hash_of_name.py", {}, OTHER_HASHES),
    "a variable in a step": (ZOO / "19_environment_in_step.py", {}, {"ZOO_TARGET": "12"}),
    "torch, an order": (measuring.PROGRAMS / "torch_training.py", {"TORCH_CASE": "order"}, OTHER_HASHES),
    "torch, a draw": (measuring.PROGRAMS / "torch_training.py", {"TORCH_CASE": "extra draw"}, {"PEEK": "1"}),
    "torch, a rate": (measuring.PROGRAMS / "torch_training.py", {"TORCH_CASE": "rate"}, {"RATE": "0.06"}),
}  # fmt: skip


def compare_commands(rounds: int, against: Path) -> Iterator[dict[str, object]]:
    """Yield the CPU of ten whole commands, of this checkout and of another."""
    sources = {"": OWN, ", before": against.resolve()}
    bare, ratios = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, (program, both, changed) in COMMANDS.items():
            if name.startswith("torch") and find_spec("torch") is None:
                continue
            made = Path(folder, name.replace(" ", "-"))
            made.mkdir()
            pair = records(made, program, changed, both)
            command = [sys.executable, "-m", "twice", "diagnose", *map(str, pair)]
            taken: dict[str, list[float]] = {mark: [] for mark in sources}
            for turn in range(rounds + 1):  # the first one writes byte code, and does not count
                began = cpu_ms([sys.executable, "-c", "pass"], folder, OWN)
                for mark, source in sources.items():
                    spent = cpu_ms(command, folder, source, codes=(0, 1, 2))
                    taken[mark] += [spent - began] * bool(turn)
                bare += [began] * bool(turn)
            for mark, each in taken.items():
                yield {"figure": f"{name}: command{mark}", "unit": "ms"} | measuring.spread(each, 0)
            ratios.append(statistics.median(taken[""]) / statistics.median(taken[", before"]))
    yield {"figure": "bare Python", "unit": "ms"} | measuring.spread(bare, 0)
    yield {"figure": "commands, over before", "unit": ""} | measuring.spread(ratios)


def records(
    folder: Path,
    program: Path,
    changed: Mapping[str, str],
    both: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Path, Path]:
    """Two records that differ by their surroundings."""
    for name, given in (("a", {}), ("b", changed)):
        out, env = folder / f"{name}.twice", {**CALM, **both, **given}
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
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1)
    chosen = measuring.options(
        "diagnosis", __doc__.splitlines()[0], rounds=3,
        arrange=lambda parser: parser.add_argument("--against", type=Path, metavar="SRC"),
    )  # fmt: skip
    if chosen.against is None:
        found = figures(chosen.rounds, small=chosen.small)
    else:
        found = compare_commands(chosen.rounds, chosen.against)
    measuring.tell("diagnosis", found, chosen.output)


if __name__ == "__main__":
    sys.exit(main())
