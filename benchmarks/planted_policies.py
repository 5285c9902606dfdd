"""Ten planted differences of numeric policy: is each named, and is the run held or stopped?

Usage: python benchmarks/planted_policies.py [--rounds N] [--small] [--output FILE.jsonl]

Half of the plants stand in the environment of the recording, as a shell or a launcher leaves them. Such a plant is held if
the run under the policy gives the compare-points of a run without it, and named if the command tells that it gave way. The
other plants are lines of the program, at tick 2. They are held if the run stops there, and named by the error. ``moves`` says
whether the plant changes the result where no policy is asked for; what a GPU alone would feel changes nothing here.
Needs torch (``pip install torch``); without it four plants are left out.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import measuring

import twice
from twice.errors import NumericPolicyBroken
from twice.foundation.seeds import Seed
from twice.recorder.environment.policy_variables import list_overruled
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.program_spec import parse_program
from twice.recorder.setup import Setup

PROGRAM: Final = """
import math

import numpy as np

torch = None
{imports}

def main(run):
    values = np.random.default_rng(1).standard_normal(40_000)
    square = values.reshape(200, 200)
    for tick in run.ticks(4):
        if tick == 2:
            {plant}
        run.compare("exp", np.exp(values / (tick + 2)))
        run.compare("exp32", np.exp(values.astype(np.float32)))
        run.compare("product", square @ square)
        run.compare("dot", float(np.dot(values, values[::-1].copy())))
        run.compare("libm", [math.exp(x / 7) + math.sin(x) for x in range(-150, 150)])
"""


class Plant(NamedTuple):
    """A difference: a variable of the environment, or a line of the program."""

    name: str
    policy: Mapping[str, str]
    knob: str
    variable: str = ""
    line: str = "pass"


FLOAT: Final = {"float_profile": "x86-64-v3"}
GPU: Final = {"gpu_policy": "deterministic"}
PLANTS: Final = (
    Plant("thread count", FLOAT, "OPENBLAS_NUM_THREADS", variable="3"),
    Plant("core type", FLOAT, "OPENBLAS_CORETYPE", variable="Nehalem"),
    Plant("dispatch", FLOAT, "NPY_DISABLE_CPU_FEATURES", variable="X86_V3"),
    Plant("FMA", FLOAT, "OPENBLAS_CORETYPE", variable="Sandybridge"),
    Plant("libm", FLOAT, "GLIBC_TUNABLES", variable="glibc.cpu.hwcaps=-AVX2,-FMA"),
    Plant("NCCL variable", GPU, "NCCL_ALGO", variable="Tree"),
    Plant("workspace", GPU, "CUBLAS_WORKSPACE_CONFIG", variable="4096:8"),
    Plant("denormals", FLOAT, "denormals", line="torch.set_flush_denormal(True)"),
    Plant("precision switch", FLOAT, "torch.float32_matmul_precision", line="torch.set_float32_matmul_precision('medium')"),
    Plant("TF32 flag", GPU, "torch.backends.cuda.matmul.allow_tf32", line="torch.backends.cuda.matmul.allow_tf32 = True"),
)  # fmt: skip


@contextmanager
def planted(plant: Plant) -> Iterator[None]:
    """Let the plant's variable stand in this process's environment."""
    kept = os.environ.get(plant.knob)
    if plant.variable:
        os.environ[plant.knob] = plant.variable
    try:
        yield
    finally:
        os.environ.pop(plant.knob, None)
        if kept is not None:
            os.environ[plant.knob] = kept


def record(folder: Path, line: str, policy: Mapping[str, str]) -> bytes:
    """Record the program with a line at tick 2; return the chain over its compare-points."""
    (folder / "program.py").write_text(
        PROGRAM.format(imports="" if line == "pass" else "import torch", plant=line),
        encoding="utf-8",
    )
    out = folder / "a.twice"
    policies: dict[str, Any] = dict(policy)
    with twice.record(f"{folder}/program.py:main", seed=1, out=out, force=True, **policies) as made:
        points = made.reader.points
        return points.point(len(points) - 1).chain


def try_plant(folder: Path, plant: Plant) -> tuple[bool, bool, bool]:
    """Return whether the plant is named, is held, and moves the result without a policy."""
    clean = record(folder, "pass" if plant.variable else "torch.is_tensor(tick)", {})
    if plant.variable:
        program = parse_program(f"{folder}/program.py:main")
        policies: dict[str, Any] = dict(plant.policy)
        setup = Setup(program, Seed(1), **policies)
        under = record(folder, "pass", plant.policy)
        with planted(plant):
            given = for_recording(os.environ)
            told = " ".join(list_overruled(given, setup.apply_policies(given)))
            is_held = record(folder, "pass", plant.policy) == under
            moves = record(folder, "pass", {}) != clean
        return plant.knob in told, is_held, moves
    try:
        record(folder, plant.line, plant.policy)
    except NumericPolicyBroken as stopped:
        is_held = "tick 2" in stopped.happened
        return (
            stopped.fields["knob"] == plant.knob,
            is_held,
            record(folder, plant.line, {}) != clean,
        )
    return False, False, record(folder, plant.line, {}) != clean


def figures(*, small: bool) -> Iterator[dict[str, Any]]:
    """Yield a figure for each plant, and how many were named and held."""
    chosen = [each for each in PLANTS if each.variable or find_spec("torch")]
    found = []
    with tempfile.TemporaryDirectory() as text:
        for plant in [each for each in chosen if each.policy is GPU][:1] if small else chosen:
            named, is_held, moves = try_plant(Path(text), plant)
            found.append(named and is_held)
            yield {
                "figure": f"{plant.name}: named and held",
                "unit": "plant",
                **measuring.spread([int(named and is_held)]),
                "moves": moves,
            }
    yield {
        "figure": f"named and held, of {len(found)}",
        "unit": "plants",
        **measuring.spread([sum(found)]),
    }


def main() -> None:
    chosen = measuring.options("planted_policies", __doc__.splitlines()[0], rounds=1)
    measuring.tell("planted_policies", figures(small=chosen.small), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
