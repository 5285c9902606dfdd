"""A log's recipe: whether it can and may run here, the job that it makes, and in what these surroundings differ.

A recipe is this account's when ``twice asset record`` ran that very command here, with those inputs, variables and that
seed. It is no sandbox: a program that is allowed can do whatever its arguments make it do, and allowing an interpreter
(python, sh, blender) allows whatever the script among the inputs says. A rendering that is handed the asset shows
nothing: what holds it, names its place or reads it is found here.

Invariant: nothing of a store, and no word of a log about itself, makes a recipe trusted. An input is used only when its
digest is the one that the log names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from twice.assets.errors import InputChanged, RecipeUntrusted
from twice.assets.log.block import NotApplicable, value_of
from twice.assets.log.io import canonical_document, to_document
from twice.assets.log.models import (
    DeterminismLog,
    Endpoint,
    Environment,
    Input,
    Payload,
    Recipe,
    Seeds,
)
from twice.assets.media.measure import digest_file
from twice.assets.media.payload import NO_PAYLOAD, RETIRED_METHODS, digest_payload
from twice.assets.render.command import TIMEOUT_S, RenderJob, find_program, is_recordable
from twice.assets.render.provenance import ask_version, list_packages
from twice.assets.render.runner import Rendering
from twice.assets.store.store import find_store
from twice.errors import TwiceError, UsageError
from twice.foundation.digests import Algorithm, digest_bytes
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.surroundings import loads_code
from twice.recorder.trust import is_own, mark_own

_DECIDING: Final = ("argv", "env", "inputs")
_KIND: Final = "recipes"
_SCRIPT_BYTES_MAX: Final = 4 << 20
"""The largest input that is looked through for the place of the asset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerenderOptions:
    """How often to render again, by which named tolerance instead of the log's, and what may run.

    ``trust`` lets recipes run that this account did not record, of the programs in ``allow`` alone. ``timeout_s`` is
    a time limit instead of the recipe's.
    """

    runs: int = 3
    profile: str = ""
    trust: bool = False
    allow: Collection[str] = ()
    timeout_s: float | None = None


def remember_recipe(log: Mapping[str, Any]) -> bool:
    """Remember the recipe and the seed of a log that was just recorded; return whether that could be written down."""
    return mark_own(_KIND, _digest_recipe(log))


def is_remembered(log: Mapping[str, Any]) -> bool:
    """Whether this account recorded the recipe of a log, as a document, with its seed."""
    return is_own(_KIND, _digest_recipe(log))


def _digest_recipe(log: Mapping[str, Any]) -> str:
    seed = log.get("seed", {}).get("effective")
    deciding = {name: log["recipe"][name] for name in _DECIDING if name in log["recipe"]}
    deciding["seed"] = seed if isinstance(seed, str) else ""
    return digest_bytes(canonical_document(deciding), Algorithm.SHA256).hex


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
    if any("***" in each for each in (*recipe.argv, *(recipe.env or {}).values())):
        return "a secret of its recipe is blanked: record it without one"
    program = recipe.argv[0]
    is_here = is_recordable(recipe.argv) or program.startswith("./") or find_program(program)
    return "" if is_here else f"{program} is not installed here"


def prepare_job(
    path: Path, log: DeterminismLog, how: RerenderOptions
) -> tuple[RenderJob, Path | None]:
    """Make a job of the recipe of the log at a path, and find the sealed asset beside it; None if it is not there.

    Args:
        path: the sidecar; its store is what paths of the recipe are relative to.
        log: in whose way ``find_obstacle`` finds nothing.
        how: which recipes may run, and for how long.

    Raises:
        RecipeUntrusted: E-ASSET-RENDER-004, the recipe is somebody else's.
        InputChanged: E-ASSET-RENDER-002, an input or the asset is another one than was logged.
        UsageError: E-USE-001, the log does not say what it is about.
    """
    recipe, about = value_of(log.recipe), log.asset
    assert isinstance(recipe, Recipe), "asked for after find_obstacle"
    if about is None or about.file is None or about.payload is None:
        raise UsageError(
            f"{path} does not say which asset it is about.",
            "Expected a log that was sealed.",
            "Seal it: twice asset seal ASSET --log DRAFT",
        )
    if not is_remembered(to_document(log)):
        _refuse_stranger(recipe, str(path), how)
    seed = log.seed.effective if isinstance(log.seed, Seeds) else None
    store = find_store(path.parent)
    base, asset = path.parent if store is None else store.root, path.parent / about.file
    job = RenderJob(
        argv=tuple(recipe.argv or ()),
        inputs={str(each.path): _find_input(base, each) for each in value_of(recipe.inputs) or ()},
        outputs=(str(recipe.output),),
        env=dict(recipe.env or {}),
        seed=int(seed) if isinstance(seed, str) else None,
        timeout_s=how.timeout_s or recipe.timeout_s or TIMEOUT_S,
    )
    if not asset.is_file():
        return job, None
    if read_payload(asset) != about.payload:
        raise InputChanged(
            f"The asset {asset} has changed: its payload is not the one that was sealed.",
            f"Expected the payload {about.payload.digest}.",
            "See what is wrong: twice asset verify",
            path=str(asset),
        )
    return job, asset


def _refuse_stranger(recipe: Recipe, where: str, how: RerenderOptions) -> None:
    """Refuse a recipe that this account did not record, unless its program is allowed and loads nothing else."""
    program = (recipe.argv or ("",))[0]
    loading = sorted(name for name in recipe.env or {} if loads_code(name))
    if not how.trust:
        why = f"was not recorded by this account: it would run {program}"
        expected = "Expected a recipe of twice asset record here, with the same inputs and seed."
        remedy = f"Read the recipe; then: twice asset rerender {where} --trust --allow {program}"
    elif program not in how.allow:
        why = f"runs {program}, which is not allowed"
        expected = f"Allowed: {', '.join(sorted(how.allow)) or 'nothing'}."
        remedy = f"Allow it by name: --allow {program}"
    elif loading:
        why = f"sets {loading[0]}, which chooses what is loaded"
        expected = "Expected a stranger's recipe to set no such variable."
        remedy = "Record the render here instead: twice asset record"
    else:
        return
    raise RecipeUntrusted(f"{where}: its recipe {why}.", expected, remedy, program=program)


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


def read_payload(path: Path) -> Payload:
    """Return the payload of a file as a log names it; raises as ``digest_payload`` does."""
    taken = digest_payload(path)
    return Payload(method=taken.method, digest=taken.digest)


def find_asset_input(log: DeterminismLog, job: RenderJob, asset: Path | None) -> str:
    """Say how a rendering would be handed the asset that it is to make; "" where nothing speaks for that."""
    texts = [*job.argv[1:], *job.env.values()]
    for name, path in job.inputs.items():
        if _holds_asset(path, log):
            return f"its input {name} holds the asset itself"
    for part in texts:
        if ".." in part.replace("=", "/").split("/"):
            return f"its argument {part!r:.80} leads out of the folder that it runs in"
    if asset is None:
        return ""
    place = str(asset.resolve())
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
    is_same = taken.media_type == about.media_type and taken.method != NO_PAYLOAD
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
        cpu, own = value_of(environment.cpu), measure(probes=False).cpu
        if cpu is not None and cpu.arch is not None and cpu.arch != own.arch:
            yield f"the processor is {own.arch}, not {cpu.arch}"
        elif cpu is not None and cpu.features is not None:
            lost = sorted(set(cpu.features) - set(own.features))
            new = sorted(set(own.features) - set(cpu.features))
            words = [*(f"without {each}" for each in lost), *(f"with {each}" for each in new)]
            if words:
                yield f"the processor is another one: {', '.join(words[:4])}"
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
