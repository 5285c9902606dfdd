"""A small system with a program, tests of its own and a specification that says everything."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from twice.foundation.seeds import Seed, derive
from twice.recorder.environment.libraries import measure_versions
from twice.specification.create import render_template
from twice.specification.front_matter import Value
from twice.specification.location import FOLDER
from twice.specification.record_traits import first_draws
from twice.specification.schema import SHEETS
from twice.specification.tiers import Situation, StateKind, Tier, Trait

PROGRAM = '''"""A swarm that drifts and is pushed."""

from __future__ import annotations

from typing import Any

import numpy as np
import twice


class Swarm:
    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.position = rng.standard_normal(n)

    def step(self, push: float) -> None:
        noise = self.rng.standard_normal(len(self.position))
        self.position = self.position + push + 0.01 * noise

    def state(self) -> dict[str, Any]:
        return {"position": self.position}

    def restore(self, state: dict[str, Any]) -> None:
        self.position = state["position"]


def main(run: twice.Run) -> None:
    swarm = run.track("swarm", Swarm(run.config["n"], run.rng("swarm")))
    noise = run.python("noise")
    started = run.effects.clock.time()
    for _ in run.ticks(run.config["ticks"]):
        swarm.step(run.input("push", lambda: 0.1 * noise.random()))
    run.compare("took", run.effects.clock.time() >= started)
'''
TEST = """from swarm.flock import Swarm


def test_a_swarm_has_a_state() -> None:
    assert Swarm.state is not None
"""
HERE = (Trait.FLOATING_POINT, Trait.EXTERNAL_EFFECTS, Trait.BRANCHING)


def _seed(name: str) -> Seed:
    return derive(Seed(42), name)


def sheets() -> dict[str, dict[str, Value]]:
    """Return the content of each of its sheets."""
    traits: list[dict[str, object]] = [
        {"name": each.value, "here": each in HERE, "why": "it is so"} for each in Trait
    ]
    streams = {"swarm": "numpy", "noise": "python"}
    here = measure_versions()
    pins = [{"library": each, "version": here.versions[each]} for each in here.arithmetic]
    said: dict[str, Mapping[str, object]] = {
        "00": {
            "tier": "L", "program": "swarm/flock.py:main", "seed": 42,
            "config": ["n=4", "ticks=6"], "sources": ["swarm"], "goals": ["bugs come back"],
            "traits": traits,
        },
        "01": {
            "tier": "L", "class": "bit-exact", "scope": "host", "axis": "determinism",
            "predicate": "two runs are equivalent iff on one host, the canonical bytes of their "
            "state are equal at every compare-point",
            "contested": False, "vector": f"{FOLDER}/evidence/vector.twice", "closed_world": True,
        },
        "02": {
            "surface": ["flag"], "derivation": "rule 1",
            "names": [{"stream": each, "component": each} for each in streams],
            "record_fields": ["seed"], "audit": ["swarm"],
            "vectors": [{"master": 42, "name": "swarm", "seed": _seed("swarm").hex}],
        },
        "03": {
            "library": "numpy PCG64",
            "slots": [
                {"stream": each, "owner": each, "kind": kind} for each, kind in streams.items()
            ],
            "serialisation": "in every snapshot", "adding": "a name of its own",
            "vectors": [
                {"master": 42, "stream": each, "draws": first_draws(kind, Seed(42), each)}
                for each, kind in streams.items()
            ],
        },
        "04": {
            "strategy": "full", "cadence": "every=2",
            "state": [
                {"kind": each.value, "answer": "captured", "how": "by state()"}
                for each in StateKind
            ],
            "components": [{"name": "swarm", "holds": "positions"}],
            "encoding": "twice.canonical/1", "versioning": "migrated",
            "ownership": "one process keeps all of it",
        },
        "05": {
            "granularity": "tick", "projection": ["*"], "hash": "blake3", "emission": "run.ticks",
            "procedure": ["compare-points", "binary-search"], "retention": "a year",
            "cross_process": "there is one process",
        },
        "06": {
            "operations": [
                {"kind": "read-only", "operation": "seek", "workload": "debugging"},
                {"kind": "branching", "operation": "branch", "workload": "what if"},
                {"kind": "read-only", "operation": "verify", "workload": "CI"},
                {"kind": "read-only", "operation": "rerun", "workload": "CI"},
            ],
            "lifecycle": "one at a time", "validation": "same code",
            "replay_or_rerun": "replay in CI", "throughput": "as fast", "branches": 4,
            "processes": "one each",
        },
        "08": {
            "implication": "equal bits", "reductions": "sequential", "fma": "as-compiled",
            "pins": pins, "threads": 1, "denormals": "kept", "hash_policy": "all bits",
        },
        "10": {
            "inventory": [
                {
                    "source": "clock", "what": "how long it took",
                    "pattern": "record-and-replay", "substitutable": True,
                },
                {
                    "source": "call", "what": "a model's answer",
                    "pattern": "record-and-replay", "substitutable": True,
                },
            ],
            "manifest": "in each record", "audit": ["swarm"],
        },
        "12": {
            "properties": ["replay-equivalence", "seed-isolation", "fork-and-converge"],
            "tests": ["tests"], "generators": "n=1..4, ticks=2..4", "database": "tests/examples",
        },
    }  # fmt: skip
    return {number: dict(each) for number, each in said.items()}  # type: ignore[arg-type]


def lay_sheets(project: Path, said: Mapping[str, Mapping[str, Value]]) -> None:
    """Write sheets, whole."""
    (project / FOLDER).mkdir(parents=True, exist_ok=True)
    situation = Situation(Tier.L, "bit-exact", {each: each in HERE for each in Trait})
    for number, values in said.items():
        common = {"version": "1.0.0", "status": "accepted", "owner": "simulation team"}
        text = render_template(SHEETS[number], "swarm", situation, {**common, **values})
        (project / FOLDER / SHEETS[number].file_name).write_text(text, encoding="utf-8")


def build(project: Path, **changed: Mapping[str, Value]) -> Path:
    """Write the whole system; ``s05={...}`` says something else in sheet 05."""
    (project / "swarm").mkdir(parents=True)
    (project / "tests").mkdir()
    (project / "swarm/__init__.py").write_text('"""A swarm."""\n', encoding="utf-8")
    (project / "swarm/flock.py").write_text(PROGRAM, encoding="utf-8")
    (project / "tests/test_swarm.py").write_text(TEST, encoding="utf-8")
    said = sheets()
    for name, values in changed.items():
        said[name[1:]] |= values
    lay_sheets(project, said)
    return project


def python(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the project, as its people do."""
    environ = {**os.environ, "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=project, capture_output=True, text=True, check=False, env=environ,
    )  # fmt: skip


def tree(project: Path) -> dict[str, bytes]:
    """Every file of a project and its bytes."""
    return {
        each.relative_to(project).as_posix(): each.read_bytes()
        for each in sorted(project.rglob("*"))
        if each.is_file() and "__pycache__" not in each.parts
    }
