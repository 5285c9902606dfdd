"""What a report rests on, as digests: it stands as long as none of them moved.

Sheet 99 cites the report, so of it only what the gate judges counts.

Invariant: reading digests executes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import rfc8785

from twice.foundation.digests import digest_bytes
from twice.specifying.artifact import Artifact
from twice.specifying.gate.plan import Plan
from twice.specifying.lock import NAME as LOCK
from twice.specifying.lock import Lock
from twice.specifying.workspace import FOLDER, Workspace

_WHOLE: Final = "99"
_OF_WHOLE: Final = ("findings", "rule")
_PASSED_OVER: Final = frozenset({"__pycache__", ".git", ".hypothesis", ".venv", "node_modules"})


def digests_of(workspace: Workspace, lock: Lock, plan: Plan) -> dict[str, str]:
    """Give a digest of everything that a report rests on, by path, in order."""
    found = {each.path: _of_sheet(each) for each in workspace.artifacts.values()}
    found[f"{FOLDER}/{LOCK}"] = _of_lock(lock)
    for path in _files(workspace.project, plan):
        found[path] = _of_file(workspace.project / path)
    return dict(sorted(found.items()))


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


def _of_file(path: Path) -> str:
    try:
        return str(digest_bytes(path.read_bytes()))
    except OSError:
        return "not there"


def _files(project: Path, plan: Plan) -> Iterator[str]:
    yield from (each for each in (plan.vector, plan.measured) if each)
    for top in (*plan.sources, *(each.partition("::")[0] for each in plan.tests)):
        path = project / top
        if path.is_file():
            yield os.path.normpath(top)
        elif path.is_dir():
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(set(folders) - _PASSED_OVER)
                for name in sorted(names):
                    if name.endswith(".py"):
                        yield (Path(folder) / name).relative_to(project).as_posix()
