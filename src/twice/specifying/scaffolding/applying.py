"""Changing many files, all of them or none: staged beside, written down in a journal, then renamed.

A folder ``.scaffold`` in the workspace holds the new files, copies of the old ones and the journal.
While the journal stands, nothing counts as done; removing it is the one step that makes everything
count. Whoever begins next and finds it puts the old files back: after a kill, nothing was applied.

Invariant: at every moment the old files are on disk, or all of the new ones are in their places.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from twice.errors import OutputUnwritable, ScaffoldUnfinished
from twice.foundation.digests import digest_bytes
from twice.specifying.workspace import FOLDER

STAGE: Final = ".scaffold"
_JOURNAL: Final = "journal.json"
_FORMAT: Final = "twice.scaffold-journal/1"


@dataclass(frozen=True, slots=True)
class _Step:
    """One file: what it was and what it becomes, as digests; "" for no file."""

    path: str
    before: str
    after: str


def apply(
    project: Path, files: Mapping[str, bytes | None], seen: Mapping[str, bytes | None]
) -> None:
    """Write some files and remove others, all of it or nothing.

    Args:
        project: the folder that paths start from; it has a workspace.
        files: what each file holds afterwards; None for one that is removed.
        seen: what each held when that was decided; None for no file.

    Raises:
        OutputUnwritable: E-OUTPUT-002: a folder or the disk does not take them; nothing was changed.
        ScaffoldUnfinished: E-SCAFFOLD-001: another process is at it, an earlier one was killed and its files
            were changed since, or a file is not what was seen.
    """
    with _alone(project) as stage:
        try:
            steps = _stage(project, stage, files)
            _refuse_unseen(steps, seen)
            folders = _folders_missing(project, files)
            _write_journal(stage, steps, folders)
            try:
                _carry_out(project, stage, steps, folders)
            except OSError:
                _put_back(project, stage)
                raise
            (stage / _JOURNAL).unlink()
            _sync(stage)
        except OSError as error:
            raise OutputUnwritable(
                f"{error.filename or project} cannot be written: {error.strerror or error}.",
                "Expected folders that can be written, with room in them.",
                "Mend that and begin again; nothing was changed.",
            ) from error


def recover(project: Path) -> bool:
    """Put everything back that a killed process had begun to change.

    Returns:
        Whether there was anything.

    Raises:
        ScaffoldUnfinished: E-SCAFFOLD-001, as for ``apply``.
    """
    if not (project / FOLDER / STAGE).exists():
        return False
    with _alone(project):
        return True


@contextmanager
def _alone(project: Path) -> Iterator[Path]:
    """Hold the folder for staging, put back what a killed process left, and leave nothing of it behind."""
    stage = project / FOLDER / STAGE
    stage.mkdir(exist_ok=True)
    held = os.open(stage, os.O_RDONLY)
    try:
        _lock(held, stage)
        try:
            if (stage / _JOURNAL).exists():
                _put_back(project, stage)
            _empty(stage)
            yield stage
        finally:
            if not (stage / _JOURNAL).exists():
                _empty(stage)
                with suppress(OSError):
                    stage.rmdir()
    finally:
        os.close(held)


def _lock(held: int, stage: Path) -> None:
    """Refuse to begin beside a process that is at it; a killed one holds nothing."""
    try:
        import fcntl
    except ImportError:  # Not a system of the kind that has it: the journal alone has to do.
        return
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise ScaffoldUnfinished(
            f"Another process is laying down files; it holds {stage}.",
            "Expected one at a time.",
            "Wait until it is done.",
        ) from error


def _stage(project: Path, stage: Path, files: Mapping[str, bytes | None]) -> list[_Step]:
    steps = []
    for number, (path, data) in enumerate(sorted(files.items())):
        target = project / path
        before = target.read_bytes() if target.is_file() else None
        if before is not None:
            _copy(stage / f"{number}.old", before, target)
        if data is not None:
            _copy(stage / f"{number}.new", data, target)
        steps.append(_Step(path, _digest(before), _digest(data)))
    _sync(stage)
    return steps


def _refuse_unseen(steps: list[_Step], seen: Mapping[str, bytes | None]) -> None:
    for each in steps:
        if each.before != _digest(seen[each.path]):
            raise ScaffoldUnfinished(
                f"{each.path} was changed while the plan was made.",
                "Expected it to stay as it was read.",
                "Begin again; nothing was changed.",
                path=each.path,
            )


def _copy(place: Path, data: bytes, like: Path) -> None:
    """Write a file, with the permissions of the one that it stands for."""
    with place.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if like.exists():
        place.chmod(stat.S_IMODE(like.stat().st_mode))


def _folders_missing(project: Path, files: Mapping[str, bytes | None]) -> list[str]:
    """Give the folders to be made, each after those that it lies in."""
    found: dict[str, None] = {}
    for path in sorted(path for path, data in files.items() if data is not None):
        for each in reversed(PurePosixPath(path).parents):
            if each.parts and not (project / each).is_dir():
                found[each.as_posix()] = None
    return list(found)


def _write_journal(stage: Path, steps: list[_Step], folders: list[str]) -> None:
    document = {
        "format": _FORMAT,
        "folders": folders,
        "steps": [
            {"path": each.path, "before": each.before, "after": each.after} for each in steps
        ],
    }
    aside = stage / f"{_JOURNAL}.new"
    with aside.open("x", encoding="utf-8") as file:
        json.dump(document, file)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(stage / _JOURNAL)
    _sync(stage)


def _carry_out(project: Path, stage: Path, steps: list[_Step], folders: list[str]) -> None:
    for folder in folders:
        (project / folder).mkdir()
    for number, each in enumerate(steps):
        target = project / each.path
        if each.after:
            (stage / f"{number}.new").replace(target)
        else:
            target.unlink(missing_ok=True)
    for parent in sorted({(project / each.path).parent for each in steps}):
        if parent.is_dir():
            _sync(parent)


def _put_back(project: Path, stage: Path) -> None:
    """Give every file of a journal its old bytes again; doing it twice does no harm."""
    document = _read_journal(stage)
    steps = [_Step(each["path"], each["before"], each["after"]) for each in document["steps"]]
    for each in steps:
        _refuse_touched(project, stage, each)
    for number, each in enumerate(steps):
        target = project / each.path
        if _digest_at(target) == each.before:
            continue
        if each.before:
            again = stage / f"{number}.again"
            again.unlink(missing_ok=True)
            _copy(again, (stage / f"{number}.old").read_bytes(), stage / f"{number}.old")
            again.replace(target)
        else:
            target.unlink(missing_ok=True)
    for folder in reversed(document["folders"]):
        with suppress(OSError):  # Somebody has put something there.
            (project / folder).rmdir()
    (stage / _JOURNAL).unlink()
    _sync(stage)


def _refuse_touched(project: Path, stage: Path, each: _Step) -> None:
    if _digest_at(project / each.path) not in {each.before, each.after}:
        raise ScaffoldUnfinished(
            f"{each.path} was changed after a process that laid down files was killed.",
            f"Expected what it was, or what it was to become; both lie in {stage}.",
            f"Take what you need from there, then remove {stage} and begin again.",
            path=each.path,
        )


def _read_journal(stage: Path) -> Mapping[str, Any]:
    try:
        document: dict[str, Any] = json.loads((stage / _JOURNAL).read_bytes())
        paths = [*document["folders"], *(each["path"] for each in document["steps"])]
        leaves = any(".." in each.split("/") or each.startswith("/") for each in paths)
        why = "a path leaves the project" if leaves else ""
        if document["format"] != _FORMAT:
            why = f"its format is {document['format']!r}"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = str(error)
    if why:
        raise ScaffoldUnfinished(
            f"{stage / _JOURNAL} cannot be read: {why}.",
            "Expected the journal that twice wrote.",
            f"Look at the files in {stage}, then remove it and begin again.",
        )
    return document


def _digest(data: bytes | None) -> str:
    return "" if data is None else str(digest_bytes(data))


def _digest_at(path: Path) -> str:
    return _digest(path.read_bytes() if path.is_file() else None)


def _empty(stage: Path) -> None:
    """Remove whatever lies in the folder for staging."""
    for each in sorted(stage.iterdir()):
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()


def _sync(folder: Path) -> None:
    """Let the folder's entries be on disk before going on."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
