"""Floating-point profiles: do other processors compute the same under them, and what does each cost?

Usage: python benchmarks/float_profiles.py [--rounds N] [--small] [--output FILE.jsonl] [--store]

The other processors are models of qemu-user (``apt install qemu-user``): every probe that differs there from the same
process on this processor is counted, without a profile and with each. numpy's AVX2 ``argsort`` ends qemu 7.2 with a
segmentation fault, so that one probe is left out. An emulator is no second machine, and has no AVX-512.

Costs are CPU time of five workloads in a process of their own under each profile, by the time under ``native``.
``--store`` writes what every emulated processor gives as this one does to ``reference_probes.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import measuring

from twice.errors import NumericPolicyRefused
from twice.recorder.environment.fingerprint import measure_numbers_in
from twice.recorder.environment.float_profile import apply_profile, require_possible
from twice.recorder.environment.reference_probes import make_table
from twice.recorder.environment.surroundings import environ_for_child, for_recording
from twice.recorder.setup import FLOAT_PROFILES

QEMU: Final = "qemu-x86_64"
MODELS: Final = ("Haswell", "EPYC", "Nehalem")
CRASHES: Final = "numpy.argsort_ties"
"""Not the processor: qemu 7.2 does not emulate what numpy does there with AVX2."""
STORED: Final = measuring.FOLDER.parent / "src/twice/recorder/environment/reference_probes.json"

PROBE: Final = """
import json, sys
for name in ("scipy.linalg", "torch"):
    try:
        __import__(name)
    except ImportError:
        pass
from twice.foundation.digests import digest_bytes
from twice.recorder.environment import array_probes, probes
found = probes._SCALAR_PROBES | array_probes.list_probes(probes.GROUPS)
print(json.dumps({name: digest_bytes(run()).hex for name, run in found.items() if name != sys.argv[1]}))
"""
WORK: Final = """
import json, sys, time
import numpy as np
size = int(sys.argv[1])
values = np.random.default_rng(1).standard_normal(size * size)
square = values.reshape(size, size)
work = {
    "exp and tan": lambda: np.tan(np.exp(values)),
    "sort": lambda: np.sort(values),
    "matmul": lambda: square @ square,
    "solve": lambda: np.linalg.solve(square, square[0]),
}
try:
    import torch
except ImportError:
    pass
else:
    net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.Tanh(), torch.nn.Linear(256, 1))
    batch = torch.from_numpy(values[: 256 * 64].reshape(64, 256).astype("float32"))
    def train():
        for _ in range(20):
            net.zero_grad(); net(batch).square().mean().backward()
    work["training of an MLP"] = train
for name, run in work.items():
    run()
    began = time.process_time(), time.perf_counter()
    for _ in range(3):
        run()
    print(json.dumps([name, time.process_time() - began[0], time.perf_counter() - began[1]]))
"""


def make_interpreter(folder: Path, model: str) -> str:
    """Make an environment whose interpreter runs on an emulated processor, its children too; return its path."""
    own, real = Path(sys.prefix), os.path.realpath(sys.executable)
    (folder / "bin").mkdir(parents=True)
    shutil.copy(own / "pyvenv.cfg", folder)
    (folder / "lib").symlink_to(own / "lib")
    python = folder / "bin/python"
    python.write_text(
        f'#!/bin/sh\nexec {QEMU} -cpu {model} -0 {python} {real} "$@"\n', encoding="utf-8"
    )
    python.chmod(0o755)
    return str(python)


def ask(profile: str, code: str, *arguments: str, python: str = sys.executable) -> str:
    """Return what a piece of code prints in the surroundings of a profile."""
    environ = environ_for_child(os.environ, apply_profile(for_recording({}), profile))
    done = subprocess.run(
        [python, "-c", code, *arguments], env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout


def compare_processors(folder: Path) -> Iterator[tuple[str, str, int, list[str]]]:
    """Yield profile, model, number of probes, and those that differ from this processor's."""
    for profile in ("", "x86-64-v3", "x86-64-v2"):
        here = json.loads(ask(profile, PROBE, CRASHES))
        for model in MODELS:
            if (profile, model) == ("x86-64-v3", "Nehalem"):
                continue  # which has no AVX2: the profile is refused there
            there = json.loads(
                ask(profile, PROBE, CRASHES, python=str(folder / model / "bin/python"))
            )
            yield profile, model, len(here), [name for name in here if here[name] != there[name]]


def tell_probes(folder: Path, differing: dict[str, set[str]]) -> Iterator[dict[str, Any]]:
    """Yield a figure for each profile and model; collect the names by profile."""
    for profile, model, count, names in compare_processors(folder):
        differing.setdefault(profile, set()).update(names)
        with_ = profile or "no profile"
        libraries = "numpy and torch" if find_spec("torch") else "numpy"
        yield {
            "figure": f"{model}, {with_}, {libraries}: differing of {count}",
            "unit": "probes",
            **measuring.spread([len(names)]),
            "names": names if len(names) < 8 else [*names[:8], "..."],
        }


def tell_costs(rounds: int, size: int) -> Iterator[dict[str, Any]]:
    """Yield the time of each workload under a profile by the one under none, CPU and wall."""
    times: dict[tuple[str, str], list[tuple[float, float]]] = {}
    possible = [""]
    for profile in FLOAT_PROFILES:
        with suppress(NumericPolicyRefused):
            require_possible(profile)
            possible.append(profile)
    for _ in range(rounds):
        for profile in possible:
            for line in ask(profile, WORK, str(size)).splitlines():
                name, cpu, wall = json.loads(line)
                times.setdefault((name, profile), []).append((cpu, wall))
    for (name, profile), found in times.items():
        if profile:
            for at, clock in enumerate(("cpu", "wall")):
                base = [each[at] for each in times[name, ""]]
                ratios = [each[at] / one for each, one in zip(found, base, strict=True)]
                figure = f"{name}: {profile} to no profile, {clock}"
                yield {"figure": figure, "unit": "x", **measuring.spread(ratios)}


def store(differing: dict[str, set[str]]) -> None:
    """Store the probes that were the same on every processor."""
    tables = json.loads(STORED.read_text(encoding="utf-8"))
    for profile in ("x86-64-v3", "x86-64-v2"):
        found, *_ = measure_numbers_in(apply_profile(for_recording({}), profile), profile)
        table = make_table(found)
        for name in {*differing[profile], CRASHES}:
            table["probes"].pop(name, None)
        tables[profile] = table
    STORED.write_text(json.dumps(tables, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _add_store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--store", action="store_true", help="write reference_probes.json")


def main() -> None:
    chosen = measuring.options(
        "float_profiles", __doc__.splitlines()[0], rounds=7, arrange=_add_store
    )
    differing: dict[str, set[str]] = {}
    if shutil.which(QEMU) and not chosen.small:
        with tempfile.TemporaryDirectory() as folder:
            for model in MODELS:
                make_interpreter(Path(folder) / model, model)
            measuring.tell("float_profiles", tell_probes(Path(folder), differing), chosen.output)
        if chosen.store:
            store(differing)
    size = 64 if chosen.small else 500
    measuring.tell("float_profiles", tell_costs(chosen.rounds, size), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
