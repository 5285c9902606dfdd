"""What a report rests on, as digests: it stands as long as none of them moved.

Sheet 99 cites the report, so of it only what the gate judges counts. Of the folder of counterexamples the
part that Hypothesis keeps for itself does not: whatever it finds stands in twice's own file as well.

Not for: files outside of the project, installed libraries, and what the tests' own child processes read.

Invariant: reading digests executes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import rfc8785

from twice.foundation.digests import digest_bytes
from twice.specifying.artifact import Artifact
from twice.specifying.gate.evidence import Suite, Trial
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.plan import Plan
from twice.specifying.gate.settings import settling
from twice.specifying.lock import NAME as LOCK
from twice.specifying.lock import Lock
from twice.specifying.scaffold.lock import measure_drift
from twice.specifying.workspace import FOLDER, Workspace

_WHOLE: Final = "99"
_OF_WHOLE: Final = ("findings", "rule")
_PASSED_OVER: Final = frozenset(
    {"__pycache__", ".git", ".hypothesis", ".pytest_cache", ".venv", "found", "node_modules"}
)
CODE: Final = (".py", ".pyi", ".ipynb")
_RECORDS: Final = "__twice__"  # where the pytest plugin keeps them, beside the test


def digests_of(
    workspace: Workspace, lock: Lock, plan: Plan, seen: Iterable[str] = ()
) -> dict[str, str]:
    """Give a digest of everything that a report rests on, by path, in order.

    Args:
        workspace: the sheets.
        lock: the lock.
        plan: what is run.
        seen: paths from the project on that only running tells of; those of a report that is held against today.
    """
    found = {each.path: _of_sheet(each) for each in workspace.artifacts.values()}
    found[f"{FOLDER}/{LOCK}"] = _of_lock(lock)
    found |= _laid(workspace)
    for path in (*_files(workspace.project, plan), *seen):
        if path not in found:
            found[path] = _of_file(workspace.project, path)
    return dict(sorted(found.items()))


def seen_in(trial: Trial | Unavailable, suite: Suite | Unavailable) -> tuple[str, ...]:
    """Give the paths that only running told of: what the trial executed and read, what the tests loaded."""
    of_trial = () if isinstance(trial, Unavailable) else (*trial.files, *trial.read)
    of_suite = () if isinstance(suite, Unavailable) else suite.loaded
    return tuple(sorted({*of_trial, *of_suite}))


def _laid(workspace: Workspace) -> dict[str, str]:
    """Say of each file that a scaffold laid down how it stands; one that belongs to the user always holds."""
    return {
        f"{each.path} (as laid down)": "holds"
        if each.holds
        else ", ".join([each.state, *(f"{fact} moved" for fact in each.moved)])
        for each in measure_drift(workspace)
    }


def _of_sheet(sheet: Artifact) -> str:
    waivers = [dict(row) for row in sheet.rows("waivers")]
    if sheet.number == _WHOLE:
        said: dict[str, object] = {key: sheet.get(key) for key in _OF_WHOLE}
    else:
        own = [item.key for item in sheet.sheet.items]
        said = {
            "digest": str(sheet.digest()),
            # What decides nothing is evidence that the gate read: figures, digests of records.
            "values": {key: sheet.get(key) for key in own if key in sheet.head.entries},
            "version": sheet.version,
            "status": sheet.said("status"),
        }
    return str(digest_bytes(rfc8785.dumps(cast("Any", {**said, "waivers": waivers}))))


def _of_lock(lock: Lock) -> str:
    sheets = {number: each for number, each in lock.sheets.items() if number != _WHOLE}
    return str(digest_bytes(replace(lock, sheets=sheets).text().encode()))


def _of_file(project: Path, name: str) -> str:
    path = (project / name).resolve()
    if not (path.is_relative_to(project.resolve()) and path.is_file()):
        return "not there"
    try:
        return str(digest_bytes(path.read_bytes()))
    except OSError:
        return "not readable"


def _files(project: Path, plan: Plan) -> Iterator[str]:
    yield from (each for each in (plan.vector, plan.measured) if each)
    if plan.reference and ":" not in plan.reference:
        yield plan.reference.partition("#")[0]
    yield from settling(project, plan.tests) if plan.tests else ()
    for top in plan.sources:
        yield from _under(project, top, CODE)
    for top in plan.tests:
        name = top.partition("::")[0]
        yield from _under(project, name)
        if (project / name).is_file():
            yield from _under(project, str(Path(name).parent / _RECORDS))
    if plan.database:
        yield from _under(project, plan.database)


def _under(project: Path, top: str, suffixes: tuple[str, ...] = ("",)) -> Iterator[str]:
    """Give a file, or those in a folder, whose names end so."""
    path = project / top
    if path.is_file():
        yield os.path.normpath(top)
    elif path.is_dir():
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(set(folders) - _PASSED_OVER)
            for name in sorted(names):
                if name.endswith(suffixes):
                    yield (Path(folder) / name).relative_to(project).as_posix()
