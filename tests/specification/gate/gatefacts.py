"""Facts as the gate gathers them of a system that is in order, made without running anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from gatesystems import COST, SENTENCE, VECTOR, Heads, heads_at, laid, locked

from twice.diagnosis.divergence import Divergence, OperationFound
from twice.diagnosis.log_comparison import PointRef
from twice.diagnosis.vary.report import FactorResult
from twice.foundation.comparison import FieldDifference
from twice.foundation.determinism_class import Predicate
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import encode
from twice.foundation.environment import Fingerprint
from twice.recorder.environment.libraries import measure_versions
from twice.replayer.outcome import Failure
from twice.replayer.verification import Verification
from twice.specification.gate.checks import CHECKS
from twice.specification.gate.evidence.context import (
    ReportedFinding,
    SourceFacts,
    SourcePlace,
    Unavailable,
)
from twice.specification.gate.evidence.files import Costs, EncodingAnswers
from twice.specification.gate.evidence.runs import GateTrial, KnownRun, RestoredSnapshots
from twice.specification.gate.evidence.suite import SuiteRun
from twice.specification.gate.evidence.trials import OperationTrial, PlantedDifference
from twice.specification.gate.model import CheckOutcome, CheckResult, GateFacts
from twice.specification.gate.runner import judge
from twice.specification.location import FOLDER
from twice.specification.lock import read_lock
from twice.specification.workspace import open_workspace

TODAY = date(2026, 1, 1)
BY_NUMBER = {each.id: each for each in CHECKS}
HERE = SourcePlace("src/herd.py", 3, "random.random()", "jitter")
PASS, FAIL, NA, BLOCKED = (
    CheckOutcome.PASS,
    CheckOutcome.FAIL,
    CheckOutcome.NA,
    CheckOutcome.BLOCKED,
)
RAINED = Unavailable("it rained")
ENDS = f"blake3:{'ab' * 16}"
MEASURED = {"snapshots": True}


def good_heads(tier: str) -> Heads:
    heads = heads_at(tier)
    heads["01"]["vector_digest"] = ENDS
    heads["99"]["findings"] = [{"sheet": "09", "rules": ["atomic-scatter", "warn-only"]}]
    return heads


def _gpu(heads: Heads) -> dict[str, Any]:
    if "09" not in heads:
        return {"told": True, "reached": [], "driver": "", "cards": [], "switches": {}}
    switches = {
        "use_deterministic_algorithms": "true",
        "cudnn.deterministic": "true",
        "cudnn.benchmark": "false",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        "cudnn.allow_tf32": "false",
        "cuda.matmul.allow_tf32": "false",
    }
    return {
        "told": True, "reached": ["libcuda.so"], "driver": "570.1.3", "cards": ["one card"],
        "switches": switches,
    }  # fmt: skip


def _surroundings() -> Fingerprint:
    """Return this machine with one thread, fused instructions, and subnormal numbers that are kept."""
    here = measure_versions()
    probes = {
        "float.denormals_are_zero": "4e62728f5c11b002",
        "float.flush_to_zero": "a152b464d2246820",
    }
    blas = tuple(replace(each, threads=1) for each in here.blas)
    return replace(here, probes=probes, dispatch={"numpy": "SSE41 FMA3"}, blas=blas)


def replayed(failure: Failure | None = None, **other: Any) -> Verification:
    """Build the verification of a replay that compared six points: PASS, or as a failure makes it."""
    return Verification(
        path=Path("a.twice"), run_id="a", predicate=Predicate(), subsystems=("herd",),
        counts={"evaluated": 6}, failure=failure, **other,
    )  # fmt: skip


def failed(name: str, tick: int) -> Failure:
    return Failure(0, tick, name, ("herd",), "aa", "bb")


def varied(**results: str) -> dict[str, tuple[FactorResult, ...]]:
    """Every factor as the same but those that are named, with _ for blanks."""
    same = dict.fromkeys(("task order", "switch interval", "threads"), "same")
    given = {name.replace("_", " "): result for name, result in results.items()}
    return {
        "varied": tuple(
            FactorResult(name, "", result, "" if result == "same" else "tick 2")  # type: ignore[arg-type]
            for name, result in {**same, **given}.items()
        )
    }


def planted(**other: Any) -> PlantedDifference:
    """Build a difference that was found where it was planted, except for the given fields."""
    operation = OperationFound(
        "planted_driver.py", 30, "plant", "part.restore(state)", "state", "0", "1", 0.9
    )
    found = Divergence(
        "straight.twice", "moved.twice", "localised", Predicate(), ("herd",),
        compare_point=PointRef(3, 2, "tick"), components=("herd",), operation=operation,
        fields=(FieldDifference("herd.places[0]", "value", "0.5", "1.5"),),
    )  # fmt: skip
    return PlantedDifference("herd", "places[0]", 2, replace(found, **other))


def good_evidence(heads: Heads) -> dict[str, Any]:
    """Every kind of evidence, as it is where nothing is wrong."""
    pins = {str(each["library"]): str(each["version"]) for each in heads["11"]["pins"]}
    vector = heads["11"]["vectors"][0]["value"]
    here = _surroundings()
    ending = {
        "components": {"herd": "state/restore", "weather": "state/restore"},
        "streams": {
            "global/random": {"kind": "python", "draws": 0, "seed": "0x1"},
            "herd": {"kind": "numpy", "draws": 8, "seed": "0x2"},
            "weather": {"kind": "python", "draws": 4, "seed": "0x3"},
        },
        "globals_used": [],
        "lineages": {"main/task": 4, "main/task/task": 8} if "07" in heads else {"main/task": 1},
        "numerics": {
            "gpu": _gpu(heads), "threads": {"libblas.so": 1}, "kernels": {"libblas.so": "Haswell"},
            "probes": dict(here.probes),
        },
        "effects": {"strict": {"clock.time": 4}, "lenient": {"entropy.urandom": 1}},
    }  # fmt: skip
    return {
        "code": SourceFacts(
            draws=(SourcePlace("src/herd.py", 13, "self.rng.random()", "Herd.step"),)
        ),
        "taken": "",
        "trial": GateTrial(
            ending=ending, environment=here, algorithm="blake3", points=6,
            columns=("herd", "output", "streams", "weather"), snapshots=2, floats="herd",
            numpy=True, files=("src/herd.py",),
        ),
        **varied(),
        "sealed": replayed(),
        "reseeded": True,
        "vector": KnownRun(
            ENDS, "src/herd.py:main", 4, SENTENCE, 7, ("n=2", "ticks=4"), verification=replayed()
        ),
        "restored": RestoredSnapshots(2, (), (), 1),
        "planted": planted(),
        "operations": tuple(
            OperationTrial(str(each["operation"]), worked=True, told="it worked")
            for each in heads["06"]["operations"]
        ),
        "policies": here,
        "encoded": EncodingAnswers(
            6,
            (),
            {vector: tuple(str(digest_bytes(encode({"a": [1, 2]}), each)) for each in Algorithm)},
            pins,
        ),
        "suite": SuiteRun(0, 2, (), tuple(heads.get("12", {}).get("properties", ())), "", "", 2),
        "laid": (),
        "costs": Costs(MEASURED, 12.5, (), "src/herd.py:main", ("src/herd.py",), "inside"),
    }  # fmt: skip


def with_ending(trial: GateTrial, **values: Any) -> GateTrial:
    """Copy a trial with another ending of its record; ``gpu`` and other numerics have their names there."""
    numerics = {name: values.pop(name) for name in ("gpu", "threads", "probes") if name in values}
    if "asked" in values:
        values["effects"] = {"strict": values.pop("asked"), "lenient": {}}
    ending = {**trial.ending, **values}
    return replace(trial, ending={**ending, "numerics": {**ending["numerics"], **numerics}})


def facts(project: Path, tier: str = "M", heads: Heads | None = None, **other: Any) -> GateFacts:
    """Facts of a system at a tier; what is given stands in place of what is good."""
    said = good_heads(tier) if heads is None else heads
    laid(project, said)
    locked(project)
    workspace = open_workspace(project)
    lock = read_lock(project / FOLDER / "spec.lock")
    found = {**good_evidence(good_heads(tier)), **other}
    today = found.pop("today", TODAY)
    return GateFacts(workspace, lock, today, **found)


def outcomes(project: Path, tier: str = "M", **other: Any) -> dict[int, CheckOutcome]:
    known = facts(project, tier, **other)
    return {each.id: judge(each, known).outcome for each in CHECKS}


def judged(project: Path, number: int, tier: str = "M", **other: Any) -> CheckResult:
    return judge(BY_NUMBER[number], facts(project, tier, **other))


Change = Callable[[dict[str, Any]], dict[str, Any]]
"""From evidence that is good to the kinds of it that are otherwise."""


def changed(kind: str, **values: Any) -> Change:
    return lambda good: {kind: replace(good[kind], **values)}


def ended(**values: Any) -> Change:
    return lambda good: {"trial": with_ending(good["trial"], **values)}


def given(**values: Any) -> Change:
    return lambda _: values


def reports(rule: str) -> Change:
    """Let the checker report something of a GPU, which sheet 99 does not forget."""
    return changed("code", reported=(ReportedFinding(rule, "09", HERE),))


__all__ = [
    "BLOCKED", "BY_NUMBER", "COST", "ENDS", "FAIL", "HERE", "NA", "PASS", "RAINED", "TODAY", "VECTOR", "Change", "changed",
    "ended", "facts", "failed", "given", "good_evidence", "good_heads", "judged", "outcomes", "planted", "replayed",
    "reports", "varied", "with_ending",
]  # fmt: skip
