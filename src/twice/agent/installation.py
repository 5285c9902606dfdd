"""Write the agent pack into a project, bring it up to date, and remove it.

``owned_content`` finds what is ours in a file. The lock, ``twice-agent.lock``, stores a digest of it, so content that
the user changed is recognised and left.

Invariant: everything is read and judged before the first byte is written, and a failed write is undone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast

from twice.agent.owned_content import SECTION, dump_sorted, find_content
from twice.agent.pack import LAYOUTS, Target, render_entry, render_pack, render_section
from twice.errors import ConfigError, OutputUnwritable, UsageError
from twice.foundation.digests import digest_bytes
from twice.writing import make_folder, write

LOCK: Final = "twice-agent.lock"
FORMAT: Final = "twice.agent-lock/1"
_FOLDERS: Final = {
    Target.CLAUDE: (".claude", "CLAUDE.md"),
    Target.CODEX: (".codex", ".agents"),
    Target.CURSOR: (".cursor",),
    Target.GEMINI: (".gemini", "GEMINI.md"),
}


class InstallAction(StrEnum):
    """What happens to a file; ``edited`` is the user's content, which is left."""

    ADD = "add"
    UPDATE = "update"
    SAME = "same"
    EDITED = "edited"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class PackEntry:
    """Content of ours in a file: its digest, and whether the ``file``, its ``key`` of servers or neither is ours."""

    digest: str
    made: str


@dataclass(frozen=True, slots=True)
class InstallChange:
    """A file, before and after; None if it does not exist."""

    path: str
    action: InstallAction
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """Every change for the wanted targets, the last one of the lock, and the folders that are or will be ours."""

    project: Path
    targets: tuple[Target, ...]
    changes: tuple[InstallChange, ...]
    folders: frozenset[str]

    @property
    def is_changing(self) -> bool:
        """Return whether a file would be written or removed."""
        return any(each.before != each.after for each in self.changes)


def find_targets(project: Path) -> list[Target]:
    """Find the agents whose folders a project has; the generic one if there is none."""
    found = [
        target
        for target, names in _FOLDERS.items()
        if any((project / each).exists() for each in names)
    ]
    return found or [Target.GENERIC]


def plan_install(
    project: Path,
    asked: Iterable[Target],
    *,
    uninstalls: bool = False,
    allows_run: bool = False,
) -> InstallPlan:
    """Plan the files of a project for more targets, or for fewer.

    Args:
        project: its folder.
        asked: the targets; none for those that are found, or to uninstall for all.
        uninstalls: whether they are removed.
        allows_run: whether the server of every installed target may run programs; removing one changes no other's.

    Raises:
        ConfigError: E-CONFIG-001: settings, marks or the lock cannot be read.
        UsageError: E-USE-001: a path leads outside of the project.
    """
    document = _read_lock(project)
    old = {Target(each) for each in document["targets"]}
    entries = {path: PackEntry(**each) for path, each in document["files"].items()}
    chosen = {*asked} or (old if uninstalls else {*find_targets(project)})
    targets = tuple(
        each for each in Target if each in (old - chosen if uninstalls else old | chosen)
    )
    wanted = {path: text for each in targets for path, text in render_pack(each).items()}
    for each in targets:
        if path := LAYOUTS[each].settings:
            run = render_entry(path, allows_run=True)
            is_running = path in entries and entries[path].digest == _digest(run)
            allowed = is_running if uninstalls else allows_run
            wanted[path] = run if allowed else render_entry(path, allows_run=False)
    if targets:
        wanted[SECTION] = render_section([*targets])
    changes, left = [], {}
    for path in sorted({*wanted, *entries}):
        change, entry = _plan_path(project, path, wanted.get(path), entries.get(path))
        changes.append(change)
        if entry is not None:
            left[path] = entry
    folders = {*document["folders"]}
    for change in changes:
        if change.before is None and change.after is not None:
            above = [str(folder) for folder in PurePosixPath(change.path).parents][:-1]
            folders |= {folder for folder in above if not (project / folder).exists()}
    lock = None
    if targets:
        after = {"format": FORMAT, "targets": targets, "folders": sorted(folders)}
        lock = (
            dump_sorted(after | {"files": {path: asdict(each) for path, each in left.items()}})
            + "\n"
        )
    before = _read(project, LOCK)
    if before != lock:
        action = InstallAction.ADD if before is None else InstallAction.UPDATE
        changes.append(InstallChange(LOCK, action if lock else InstallAction.REMOVE, before, lock))
    return InstallPlan(project, targets, tuple(changes), frozenset(folders))


def apply_install(plan: InstallPlan) -> None:
    """Write and remove the files of a plan: all of them, or none.

    Raises:
        OutputUnwritable: E-OUTPUT-002.
    """
    done = []
    try:
        for each in plan.changes:
            if each.before != each.after:
                done.append(each)
                _put(plan, each.path, each.after)
    except OutputUnwritable:
        for each in reversed(done):
            with suppress(OutputUnwritable):
                _put(plan, each.path, each.before)
        raise


def _put(plan: InstallPlan, path: str, text: str | None) -> None:
    file = plan.project / path
    if text is not None:
        make_folder(file.parent)
        write(file, text.encode())
        return
    try:
        file.unlink(missing_ok=True)
    except NotADirectoryError:
        return
    except OSError as error:
        raise OutputUnwritable(
            f"{path} cannot be removed: {error.strerror or error}.",
            "Expected a folder that can be written.",
            "Change its permissions; nothing was changed.",
        ) from error
    for folder in PurePosixPath(path).parents:
        if str(folder) in plan.folders:
            with suppress(OSError):  # Files of the user are in it.
                (plan.project / folder).rmdir()


def _plan_path(
    project: Path, path: str, wanted: str | None, entry: PackEntry | None
) -> tuple[InstallChange, PackEntry | None]:
    """Compare a file with the wanted content; what happens to it, and its entry afterwards."""
    before = _read(project, path)
    content = find_content(path, before)
    current = content.current
    new = None if wanted is None else _digest(wanted)
    if current is None and wanted is None:
        return InstallChange(path, InstallAction.SAME, before, before), None
    if current is None:
        made = "file" if before is None else content.made
        change = InstallChange(path, InstallAction.ADD, before, content.insert(cast("str", wanted)))
        return change, PackEntry(cast("str", new), made)
    if _digest(current) == new:
        return InstallChange(path, InstallAction.SAME, before, before), entry or PackEntry(new, "")
    if entry is None or _digest(current) != entry.digest:
        kept = entry if wanted is not None else None
        return InstallChange(path, InstallAction.EDITED, before, before), kept
    if wanted is None:
        after = content.remove(entry.made)
        return InstallChange(path, InstallAction.REMOVE, before, after), None
    change = InstallChange(path, InstallAction.UPDATE, before, content.insert(wanted))
    return change, PackEntry(cast("str", new), entry.made)


def _read(project: Path, path: str) -> str | None:
    """Read a file of the project; None if it does not exist."""
    file = project / path
    if not file.resolve().is_relative_to(project.resolve()):
        raise UsageError(
            f"{path} leads to {file.resolve()}, outside of the project.",
            f"Expected a path inside of {project.resolve()}.",
            "Replace the symbolic link by a file or folder of the project.",
        )
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}.",
            "Expected a file with UTF-8 text, or none.",
            "Move it away, and run the command again.",
        ) from error


def _read_lock(project: Path) -> dict[str, Any]:
    text = _read(project, LOCK)
    if text is None:
        return {"targets": [], "folders": [], "files": {}}
    try:
        document = json.loads(text)
        return _check_lock(document)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"{LOCK} is not a lock of the agent pack: {type(error).__name__}: {error}.",
            f"Expected the JSON document that twice wrote, format {FORMAT!r}.",
            f"Take it from version control, or remove it: equal files are recognised without it: rm {LOCK}",
        ) from error


def _check_lock(document: dict[str, Any]) -> dict[str, Any]:
    """Return a lock whose paths, which may come from a stranger, stay in the project."""
    if document["format"] != FORMAT:
        raise ValueError(f"its format is {document['format']!r}")
    for path in (*document["files"], *document["folders"]):
        if path.startswith("/") or ".." in PurePosixPath(path).parts:
            raise ValueError(f"the path {path!r} leaves the project")
    for each in document["files"].values():
        PackEntry(**each)
    return {**document, "targets": [Target(each) for each in document["targets"]]}


def _digest(text: str) -> str:
    """Return the digest of a text; CRLF counts as LF, as version control may convert it."""
    return str(digest_bytes(text.replace("\r\n", "\n").encode()))
