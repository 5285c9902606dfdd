"""From a log's recipe to a job: inputs by digest, and in what these surroundings differ from the recorded ones.

A rendering that is handed the asset shows nothing: what holds it, names its place or reads it is found here.

Invariant: an input is used only when its digest is the one that the log names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from twice.assets.errors import InputChanged
from twice.assets.log.block import NotApplicable, value_of
from twice.assets.log.models import DeterminismLog, Endpoint, Environment, Input, Payload, Recipe
from twice.assets.media.measure import digest_file
from twice.assets.media.payload import NO_PAYLOAD, RETIRED_METHODS, digest_payload
from twice.assets.render.command import TIMEOUT_S, RenderJob, find_program, is_recordable
from twice.assets.render.provenance import ask_version, list_packages
from twice.assets.render.runner import Rendering
from twice.errors import TwiceError
from twice.recorder.environment.fingerprint import measure

_SCRIPT_BYTES_MAX: Final = 4 << 20
"""The largest input that is looked through for the place of the asset."""


def find_obstacle(log: DeterminismLog) -> str:
    """Say why a log's asset cannot be rendered here at all; "" where nothing speaks against it."""
    if log.provider is not None and log.provider.endpoint is Endpoint.HOSTED:
        return f"{log.provider.name} is a hosted service: nobody pins what it runs"
    payload = log.asset.payload if log.asset is not None else None
    if payload is not None and payload.method in RETIRED_METHODS:
        return f"its payload is by {payload.method}, which is no longer computed: seal it again"
    recipe = log.recipe
    if isinstance(recipe, NotApplicable):
        return f"it has no recipe: {recipe.reason}"
    if recipe is None or not recipe.argv or recipe.output is None:
        return "it has no recipe"
    program = recipe.argv[0]
    is_here = is_recordable(recipe.argv) or program.startswith("./") or find_program(program)
    return "" if is_here else f"{program} is not installed here"


def build_job(log: DeterminismLog, base: Path, *, timeout_s: float | None = None) -> RenderJob:
    """Make a job of a log's recipe.

    Args:
        log: of an asset in whose way ``find_obstacle`` finds nothing.
        base: what paths of the recipe are relative to: the root of the store.
        timeout_s: a time limit instead of the recipe's.

    Raises:
        InputChanged: E-ASSET-RENDER-002, an input is not there, or is another one.
    """
    recipe = value_of(log.recipe)
    assert isinstance(recipe, Recipe), "asked for after find_obstacle"
    seed = value_of(log.seed)
    effective = value_of(seed.effective) if seed is not None else None
    return RenderJob(
        argv=tuple(recipe.argv or ()),
        inputs={str(each.path): _find_input(base, each) for each in value_of(recipe.inputs) or ()},
        outputs=(str(recipe.output),),
        env=dict(recipe.env or {}),
        seed=None if effective is None else int(effective),
        timeout_s=timeout_s or recipe.timeout_s or TIMEOUT_S,
    )


def _find_input(base: Path, logged: Input) -> Path:
    places = [base / str(logged.path), *([Path(logged.found_at)] if logged.found_at else [])]
    there = [each for each in places if each.is_file()]
    for each in there:
        if digest_file(each) == logged.sha256:
            return each
    why = f"{there[0]} is not the one that was logged" if there else f"{places[-1]} is not there"
    raise InputChanged(
        f"The input {logged.path} has changed: {why}.",
        f"Expected a file with the sha256 {logged.sha256}.",
        "Put the old one back, or record the render anew: twice asset record",
        path=str(logged.path),
    )


def find_asset_input(log: DeterminismLog, job: RenderJob, asset: Path | None) -> str:
    """Say how a rendering would be handed what it is to make; "" where nothing speaks for that.

    Args:
        log: of the asset.
        job: made of its recipe.
        asset: the sealed file; None where it is not there.
    """
    texts = [*job.argv[1:], *job.env.values()]
    for name, path in job.inputs.items():
        if _holds_asset(path, log):
            return f"its input {name} holds the asset itself"
    for part in texts:
        if ".." in part.replace("=", "/").split("/"):
            return f"its argument {part!r:.80} leads out of the folder that it runs in"
    place = "" if asset is None else str(asset.resolve())
    if not place:
        return ""
    if any(place in part for part in (job.argv[0], *texts)):
        return f"its arguments name the asset itself, {place}"
    for name, path in job.inputs.items():
        if path.stat().st_size <= _SCRIPT_BYTES_MAX and place.encode() in path.read_bytes():
            return f"its input {name} names the asset itself, {place}"
    return ""


def _holds_asset(path: Path, log: DeterminismLog) -> bool:
    """Whether a file is the asset: its bytes, or its payload in the same container if it has one."""
    about = log.asset
    assert about is not None, "a log without an asset is refused before"
    if digest_file(path) == about.file_sha256:
        return True
    try:
        taken = digest_payload(path)
    except TwiceError:
        return False
    is_same = taken.facts["media_type"] == about.media_type and taken.method != NO_PAYLOAD
    return is_same and about.payload == Payload(method=taken.method, digest=taken.digest)


def find_asset_read(run: Rendering, log: DeterminismLog, asset: Path | None) -> str:
    """Say which file a rendering took the asset from by itself; "" where it is not seen to have done so."""
    wanted = log.asset.file_sha256 if log.asset is not None else None
    for path in run.read:
        is_asset = asset is not None and path.resolve() == asset.resolve()
        if is_asset or (path.is_file() and digest_file(path) == wanted):
            return f"it read the asset itself, {path}"
    return ""


def list_differences(log: DeterminismLog, job: RenderJob) -> Iterator[str]:
    """Say in what these surroundings differ from those that the log pins: processor, versions, program."""
    name, is_python = job.argv[0], is_recordable(job.argv)
    program = job.find_program()
    environment = value_of(log.environment)
    if isinstance(environment, Environment):
        yield from _compare_processor(environment)
        here: dict[str, str] = {}
        if is_python:
            here = list_packages(path for path in job.inputs.values() if path.suffix == ".py")
        elif program is not None and not name.startswith("./"):
            here = {Path(name).name: ask_version(program)}
        logged: dict[str, Any] = dict(value_of(environment.packages) or {})
        for each, version in here.items():
            if version and logged.get(each, version) != version:
                yield f"{each} is {version}, not {logged[each]}"
    model = value_of(log.model)
    sha256 = value_of(model.sha256) if model is not None else None
    if model is None or sha256 is None or program is None or is_python:
        return
    # Another program may have the same name and version.
    if value_of(model.name) == Path(name).name and (found := digest_file(program)) != sha256:
        yield f"{name} is another program: its sha256 is {found[:12]}…, not {sha256[:12]}…"


def _compare_processor(environment: Environment) -> Iterator[str]:
    cpu, here = value_of(environment.cpu), measure(probes=False).cpu
    if cpu is None:
        return
    if cpu.arch is not None and cpu.arch != here.arch:
        yield f"the processor is {here.arch}, not {cpu.arch}"
    elif cpu.features is not None and set(cpu.features) != set(here.features):
        lost = [f"without {each}" for each in sorted(set(cpu.features) - set(here.features))]
        new = [f"with {each}" for each in sorted(set(here.features) - set(cpu.features))]
        yield f"the processor is another one: {', '.join([*lost, *new][:4])}"
