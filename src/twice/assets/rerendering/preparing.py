"""From a log to a job: inputs by digest, and in what these surroundings differ from the recorded ones.

Invariant: an input is used only when its digest is the one that the log names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from twice.assets.gate.facts import value_of
from twice.assets.measuring.file import file_sha256
from twice.assets.model.declaring import NotApplicable
from twice.assets.model.log import DeterminismLog
from twice.assets.model.making import Endpoint
from twice.assets.model.surroundings import Environment, Recipe
from twice.assets.rendering.executing import is_python
from twice.assets.rendering.job import TIMEOUT_S, Job
from twice.assets.rendering.machine import python_packages
from twice.assets.rendering.programs import ask
from twice.errors import InputChanged
from twice.recording.environment import measure


def unrenderable(log: DeterminismLog) -> str:
    """Say why a log's asset cannot be rendered here at all; "" where nothing speaks against it."""
    if log.provider is not None and log.provider.endpoint is Endpoint.HOSTED:
        return f"{log.provider.name} is a hosted service: nobody pins what it runs"
    recipe = log.recipe
    if isinstance(recipe, NotApplicable):
        return f"it has no recipe: {recipe.reason}"
    if recipe is None or not recipe.argv or recipe.output is None:
        return "it has no recipe"
    if (
        not is_python(recipe.argv)
        and not recipe.argv[0].startswith("./")
        and ask(recipe.argv[0]) is None
    ):
        return f"{recipe.argv[0]} is not installed here"
    return ""


def job_of(log: DeterminismLog, base: Path, *, timeout_s: float | None = None) -> Job:
    """Make a job of a log's recipe.

    Args:
        log: of an asset that can be rendered.
        base: what paths of the recipe are relative to: the root of the store.
        timeout_s: a time limit instead of the recipe's.

    Raises:
        InputChanged: E-ASSET-RENDER-002: an input is not there, or is another one.
    """
    recipe = value_of(log.recipe)
    assert isinstance(recipe, Recipe), "asked for after unrenderable"
    inputs = {
        str(each.path): _found(base, each.path, each.found_at, str(each.sha256))
        for each in value_of(recipe.inputs) or ()
    }
    seed = value_of(log.seed)
    effective = value_of(seed.effective) if seed is not None else None
    return Job(
        argv=tuple(recipe.argv or ()),
        inputs=inputs,
        env=dict(recipe.env or {}),
        seed=int(effective) if effective is not None else 0,
        timeout_s=timeout_s or recipe.timeout_s or TIMEOUT_S,
    )


def _found(base: Path, path: str | None, found_at: str | None, sha256: str) -> Path:
    places = [base / str(path), *([Path(found_at)] if found_at is not None else [])]
    there = [each for each in places if each.is_file()]
    for each in there:
        if file_sha256(each) == sha256:
            return each
    happened = (
        f"{there[0]} is not the one that was logged" if there else f"{places[-1]} is not there"
    )
    raise InputChanged(
        f"The input {path} has changed: {happened}.",
        f"Expected a file with the sha256 {sha256}.",
        "Put the old one back, or record the render anew: twice asset record",
        path=str(path),
    )


def differing(log: DeterminismLog, job: Job) -> list[str]:
    """Say in what these surroundings differ from those that the log pins: processor and versions."""
    environment = value_of(log.environment)
    if not isinstance(environment, Environment):
        return []
    return [*_processor(environment), *_versions(environment, job)]


def _processor(environment: Environment) -> Iterator[str]:
    cpu = value_of(environment.cpu)
    here = measure(probes=False).cpu
    if cpu is None:
        return
    if cpu.arch is not None and cpu.arch != here.arch:
        yield f"the processor is {here.arch}, not {cpu.arch}"
    elif cpu.features is not None and set(cpu.features) != set(here.features):
        lost, new = set(cpu.features) - set(here.features), set(here.features) - set(cpu.features)
        told = [f"without {each}" for each in sorted(lost)] + [
            f"with {each}" for each in sorted(new)
        ]
        yield f"the processor is another one: {', '.join(told[:4])}"


def _versions(environment: Environment, job: Job) -> Iterator[str]:
    logged: Mapping[str, Any] = value_of(environment.packages) or {}
    if is_python(job.argv):
        here = python_packages(path for path in job.inputs.values() if path.suffix == ".py")
    else:
        known = ask(job.argv[0]) if not job.argv[0].startswith("./") else None
        here = {job.argv[0]: known.version} if known is not None and known.version else {}
    for name, version in here.items():
        if name in logged and logged[name] != version:
            yield f"{name} is {version}, not {logged[name]}"
