"""The plan of a scaffold, what would become of each file, and the writing of it.

A file is written if it is absent, or if it is what the lock says was generated; any other is listed and
left, unless it is to be archived and replaced.

Invariant: a plan changes only files that were generated and not touched since, and copies what it replaces.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from twice.errors import OutputUnwritable, UsageError
from twice.specification.errors import ScaffoldUnfinished, SpecForeign
from twice.specification.location import find_base
from twice.specification.scaffold.lock import (
    NAME,
    Layer,
    LockEntry,
    ScaffoldLock,
    digest_content,
    read_lock,
)
from twice.specification.scaffold.readiness import check_layers
from twice.specification.scaffold.source import SOURCES, GeneratedFile, choose_package, find_places
from twice.specification.workspace import open_workspace

_GONE: Final = "the sheets do not ask for it any more"


class Action(StrEnum):
    """What becomes of a file."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    REMOVE = "remove"
    SAME = "same"
    KEEP = "keep"
    EJECTED = "ejected"
    EDITED = "edited"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """What becomes of one file. ``paste`` holds lines that the user's own file in its place needs.

    ``before`` is its content now, ``after`` what it would be, None for no file; ``archives`` whether the first is kept.
    """

    path: str
    layer: Layer
    action: Action
    why: str = ""
    paste: str = ""
    before: bytes | None = None
    after: bytes | None = None
    archives: bool = False

    @property
    def is_left(self) -> bool:
        """Whether the user has to settle something first."""
        return self.action in {Action.EDITED, Action.CONFLICT}

    @property
    def is_written(self) -> bool:
        """Whether the file changes."""
        return self.action in {Action.CREATE, Action.UPDATE, Action.REPLACE, Action.REMOVE}


class Plan(NamedTuple):
    """What would be done in a project, the lock afterwards, layers that it does not need, with the reason; the sheets' folder."""

    project: Path
    changes: Sequence[PlannedFile]
    lock: ScaffoldLock
    left_out: Mapping[Layer, str]
    base: str


def make_plan(
    project: Path,
    component: str,
    layers: Sequence[Layer] = (),
    *,
    replaces: bool = False,
    package: str = "",
    blocked: Collection[Layer] = (),
) -> Plan:
    """Say what generating code of some layers would change; of all that the specification has for ().

    Args:
        project: the folder that holds the workspace.
        component: the system that the specification is of.
        layers: which layers.
        replaces: whether files in the way are archived and replaced.
        package: the folder of the generated package; "" for the one that it has, or a fitting one.
        blocked: layers that are not to be touched.

    Raises:
        SpecForeign: E-SPEC-006: the workspace or the lock is of another component.
        SpecIncomplete: E-SPEC-005: a layer's sheets lack values.
    """
    workspace = open_workspace(project, find_base(project, component))
    lock = read_lock(workspace.folder)
    owners = {"the specification is": workspace.component(), "files were laid down": lock.component}
    for whose, said in owners.items():
        if said not in {"", component}:
            raise SpecForeign(
                f"{component!r} was asked for, and {whose} of {said!r}.",
                f"Expected the component of {workspace.base}/00-scope-and-goals.md.",
                f"Name that one: twice scaffold {said}",
                component=said,
            )
    asked = set(layers or Layer) - {Layer.BASE, *blocked}
    ready, left_out = check_layers(workspace, [each for each in Layer if each in asked])
    ready = ready if len(ready) > 1 else ()  # The base alone connects nothing.
    sources = workspace.require("00", "it says where the code is").strings("sources")
    package = package or lock.package or choose_package(project, sources)
    places = find_places(project, package)
    made = [each.generate(workspace, places) for each in SOURCES if each.layer in ready]
    wanted = {each.path: each for each in made if each}
    entries = dict(lock.files)
    old = [path for path, each in entries.items() if each.layer in {*ready, *left_out}]
    changes = []
    for path in sorted({*wanted, *old}):
        change = _plan_file(project, path, wanted.get(path), lock, replaces=replaces)
        changes.append(change)
        if change.is_left or change.action is Action.EJECTED:
            continue
        entries.pop(path, None)
        if path in wanted:
            entries[path] = wanted[path].entry
    after = ScaffoldLock(component, places.package, entries, lock.ejected)
    return Plan(project, changes, after, left_out, workspace.base)


def _plan_file(
    project: Path, path: str, new: GeneratedFile | None, lock: ScaffoldLock, *, replaces: bool
) -> PlannedFile:
    old = lock.files.get(path)
    entry = new.entry if new else old
    assert entry is not None, "a file is wanted, or in the lock"
    if path in lock.ejected:
        return PlannedFile(path, entry.layer, Action.EJECTED)
    obstacle = _find_obstacle(project, path)
    if obstacle:
        return PlannedFile(path, entry.layer, Action.CONFLICT, obstacle)
    data = _read(project / path)
    found = "" if data is None else digest_content(data)
    action, why = _decide(new.entry if new else None, old, found, replaces=replaces)
    paste = ""
    if new and data is not None and action is Action.KEEP and not (old or path.endswith(".md")):
        last = new.text.splitlines()[-1].strip()
        if last.encode() not in data:
            why, paste = f"{why}, without: {last}", new.text.partition("\n")[2]
    # Whatever is overwritten and is not as it was generated, a person wrote.
    archives = bool(found) and (old is None or found != old.digest)
    after = new.text.encode() if new else None
    return PlannedFile(path, entry.layer, action, why, paste, data, after, archives)


def _decide(
    new: LockEntry | None, old: LockEntry | None, found: str, *, replaces: bool
) -> tuple[Action, str]:
    """Decide what becomes of a file: what is wanted, what was generated, what is there ("" for no file)."""
    is_ours = old is not None and found == old.digest
    if new is None:
        if not found or (old is not None and old.once):
            return Action.KEEP, f"{_GONE}; it is yours"
        if is_ours or replaces:
            return Action.REMOVE, _GONE
        return Action.EDITED, f"it was changed, and {_GONE}"
    if new.once and (found or old):
        return Action.KEEP, "it is yours" if old else "it was there already"
    if not found:
        return Action.CREATE, ""
    if found == new.digest:
        return Action.SAME, ""
    if old is None:
        why = "a file that was not laid down stands there"
        return (Action.REPLACE, "") if replaces else (Action.CONFLICT, why)
    moved = [key for key in sorted({*old.facts, *new.facts}) if old.facts.get(key) != new.facts.get(key)]  # fmt: skip
    cause = ", ".join(moved) or "its template"
    if is_ours:
        return Action.UPDATE, cause
    if replaces:
        return Action.REPLACE, ""
    return Action.EDITED, "it was changed" + f", and so was {cause}" * (old.digest != new.digest)


def _find_obstacle(project: Path, path: str) -> str:
    """Say why nothing can be written at a path; "" if it can."""
    if Path(path).is_absolute() or ".." in Path(path).parts:
        return "it lies outside of the project"
    place = project / path
    for each in [place, *place.parents][: len(Path(path).parts)]:
        name = each.relative_to(project).as_posix()
        if each.is_symlink():  # What it points to is not this project's to write.
            return f"{name} is a link"
        if each != place and each.exists() and not each.is_dir():
            return f"{name} is no folder"
    return "a folder stands there" if place.is_dir() else ""


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def apply_plan(plan: Plan) -> bool:
    """Write what was planned: staged first, then renamed, the lock last; whether any byte changed.

    A process that is killed in between leaves whole files and the old lock; the next run finds that they
    are as it would write them, and goes on.

    Raises:
        OutputUnwritable: E-OUTPUT-002. ScaffoldUnfinished: E-SCAFFOLD-001: a file changed meanwhile.
    """
    project, folder = plan.project, plan.project / plan.base
    written = [each for each in plan.changes if each.is_written]
    numbers = [int(each.name) for each in folder.glob("archive/*") if each.name.isdecimal()]
    archive = f"{plan.base}/archive/{max(numbers, default=0) + 1:04}"
    files = {f"{archive}/{each.path}": each.before for each in written if each.archives}
    files |= {each.path: each.after for each in written}
    files[f"{plan.base}/{NAME}"] = plan.lock.to_bytes()
    if not written and _read(folder / NAME) == plan.lock.to_bytes():
        return False
    stage = folder / ".scaffold"
    staged = {
        path: stage / str(at) for at, (path, data) in enumerate(files.items()) if data is not None
    }
    try:
        if stage.exists():
            shutil.rmtree(stage)  # A killed process left it.
        stage.mkdir()
        for path, aside in staged.items():
            aside.write_bytes(files[path] or b"")
            if (project / path).exists():
                shutil.copymode(project / path, aside)
        for each in written:
            if _read(project / each.path) != each.before:
                raise ScaffoldUnfinished(
                    f"{each.path} was changed while the plan was made.",
                    "Expected it to stay as it was read.",
                    "Begin again; nothing was changed.",
                    path=each.path,
                )
        for path in files:
            if path in staged:
                (project / path).parent.mkdir(parents=True, exist_ok=True)
                staged[path].replace(project / path)
            else:
                (project / path).unlink(missing_ok=True)
    except OSError as error:
        raise OutputUnwritable(
            f"{error.filename or project} cannot be written: {error.strerror or error}.",
            "Expected folders that can be written, with room in them.",
            "Mend that and begin again: it goes on from there.",
        ) from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return True


def eject(project: Path, component: str, path: str) -> None:
    """Make a generated file, or one that stands in the way of it, the user's own: it is never looked at again.

    Raises:
        UsageError: E-USE-001: nothing is generated there.
    """
    base = find_base(project, component)
    lock = read_lock(project / base)
    planned = (
        [] if path in lock.files else [each.path for each in make_plan(project, component).changes]
    )
    if path not in {*lock.files, *planned}:
        raise UsageError(
            f"Nothing was laid down in {path!r}.",
            f"Expected one of: {', '.join(planned)}.",
            "Name it as the plan does: twice scaffold COMPONENT --plan",
        )
    left = {key: each for key, each in lock.files.items() if key != path}
    ejected = tuple(sorted({*lock.ejected, path}))
    after = replace(lock, component=lock.component or component, files=left, ejected=ejected)
    apply_plan(Plan(project, (), after, {}, base))
