"""Facts as the gate gathers them of a system that is in order, made without running anything."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from gatesystems import COST, SENTENCE, VECTOR, Heads, heads_at, laid, locked

from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import encode
from twice.recording.environment import measure_versions
from twice.specifying.gate import evidence as seen
from twice.specifying.gate.facts import Facts
from twice.specifying.gate.machine import Gpu, Varied
from twice.specifying.lock import read_lock
from twice.specifying.workspace import FOLDER, open_workspace

TODAY = date(2026, 1, 1)
ENDS = f"blake3:{'ab' * 16}"
MEASURED = {"snapshots": {"performance": "4 %", "storage": "300 bytes a tick"}}


def good_heads(tier: str) -> Heads:
    heads = heads_at(tier)
    heads["01"]["vector_digest"] = ENDS
    return heads


def _gpu(heads: Heads) -> Gpu:
    if "09" not in heads:
        return Gpu((), "", (), {})
    switches = {
        "use_deterministic_algorithms": "true",
        "cudnn.deterministic": "true",
        "cudnn.benchmark": "false",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        "cudnn.allow_tf32": "false",
        "cuda.matmul.allow_tf32": "false",
    }
    return Gpu(("libcuda.so",), "570.1.3", ("one card",), switches)


def good_evidence(heads: Heads) -> dict[str, Any]:
    """Every kind of evidence, as it is where nothing is wrong."""
    pins = {str(each["library"]): str(each["version"]) for each in heads["11"]["pins"]}
    vector = heads["11"]["vectors"][0]["value"]
    pinned = heads["08"]["pins"] if "08" in heads else []
    versions = {str(each["library"]): str(each["version"]) for each in pinned}
    kinds = measure_versions().arithmetic if "08" in heads else {}
    streams = {
        "global/random": seen.Stream("python", 0, adopted=False),
        "herd": seen.Stream("numpy", 8, adopted=False),
        "weather": seen.Stream("python", 4, adopted=False),
    }
    return {
        "code": seen.Code(draws=(seen.Place("src/herd.py", 13, "self.rng.random()", "Herd.step"),)),
        "taken": seen.Taken(""),
        "trial": seen.Trial(
            ticks=4,
            points=6,
            columns=("herd", "output", "streams", "weather"),
            components={"herd": "state/restore", "weather": "state/restore"},
            inputs=("push",),
            streams=streams,
            globals_used=(),
            lineages={"main/task": 4, "main/task/task": 8} if "07" in heads else {"main/task": 1},
            gpu=_gpu(heads),
            threads={"libblas.so": 1},
            kernels={"libblas.so": "Haswell"},
            dispatch=("SSE41", "FMA3"),
            numpy=True,
            kept=True,
            asked={"clock.time": 4},
            asked_by_libraries=("entropy.urandom",),
            floats=True,
            snapshots=2,
            algorithm="blake3",
            files=("src/herd.py",),
        ),
        "varied": Varied(dict.fromkeys(("task order", "switch interval", "threads"), ("same", ""))),
        "sealed": seen.Sealed("PASS", "", of_effects=True, beside=()),
        "reseeded": seen.Reseeded(is_moved=True),
        "vector": seen.Vector(
            ENDS, "src/herd.py:main", 4, (), SENTENCE, "PASS", "", "", 7, ("n=2", "ticks=4")
        ),
        "restored": seen.Restored(2, (), (), 1),
        "planted": seen.Planted(
            "herd", "places[0]", 2, "localised", 2, ("herd",), ("herd.places[0]",), operation=True
        ),
        "operations": tuple(
            seen.Tried(str(each["operation"]), worked=True, told="it worked")
            for each in heads["06"]["operations"]
        ),
        "policies": seen.Policies(
            versions, versions, kinds, {"libblas.so": 1}, {"OMP_NUM_THREADS": "1"}, True, {}
        ),
        "encoded": seen.Encoded(
            6,
            (),
            {vector: tuple(str(digest_bytes(encode({"a": [1, 2]}), each)) for each in Algorithm)},
            pins,
        ),
        "suite": seen.Suite(0, 2, (), tuple(heads.get("12", {}).get("properties", ())), "", "", 2),
        "laid": (),
        "costs": seen.Costs(MEASURED, 12.5, (), "src/herd.py:main", ("src/herd.py",), "inside"),
    }


def facts(project: Path, tier: str = "M", heads: Heads | None = None, **other: Any) -> Facts:
    """Facts of a system at a tier; what is given stands in place of what is good."""
    said = good_heads(tier) if heads is None else heads
    laid(project, said)
    locked(project)
    workspace = open_workspace(project)
    lock = read_lock(project / FOLDER / "spec.lock")
    found = {**good_evidence(good_heads(tier)), **other}
    today = found.pop("today", TODAY)
    return Facts(workspace, lock, today, **found)


__all__ = ["COST", "ENDS", "TODAY", "VECTOR", "facts", "good_evidence", "good_heads"]
