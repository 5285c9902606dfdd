"""A stand-in for a recorded run: the histories of files that a function changes, and a world made of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from apart import run_apart

from twice.foundation.digests import DEFAULT
from twice.recorder.kernel.file_state import FileHistory, FileState, observe_state
from twice.recorder.kernel.namespaces import enter_namespaces
from twice.recorder.kernel.placements import ChangedInput
from twice.recorder.kernel.replay_differences import FileDifference
from twice.recorder.kernel.world import World, WorldReport

Result = TypeVar("Result")


def state_of(path: object, **options: object) -> FileState:
    return observe_state(os.fsdecode(path), DEFAULT, **{"with_content": True, **options})


@dataclass
class RecordedRun:
    """Files that a run read and changed."""

    kept: Path
    histories: list[FileHistory] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.kept.mkdir(exist_ok=True)

    def content(self, digest: str) -> str | None:
        path = self.kept / digest.partition(":")[2]
        return str(path) if path.exists() else None

    def run(
        self,
        change: Callable[[], object],
        *,
        changes: Iterable[object] = (),
        reads: Iterable[object] = (),
        keeps: bool = True,
    ) -> None:
        """Run a function, and note what the files were before and after it."""
        changed = {os.fsdecode(path) for path in changes}
        paths = sorted(changed | {os.fsdecode(path) for path in reads})
        before = {path: state_of(path) for path in paths}
        if keeps:
            for path in sorted(changed):
                if before[path].kind == "file":
                    shutil.copy(path, self.kept / before[path].digest.partition(":")[2])
        change()
        self.histories += [
            FileHistory(
                path, before[path], state_of(path), was_read=path not in changed or keeps,
                was_changed=path in changed, is_kept=keeps and path in changed,
            )
            for path in paths
        ]  # fmt: skip

    def world(self, folder: Path, **options: object) -> World:
        return World(self.histories, self.content, str(folder), **options)


@dataclass
class Replayed:
    """What came of a program in a world."""

    value: object
    changed: list[ChangedInput]
    report: WorldReport
    differences: list[FileDifference]

    def differing(self) -> dict[str, str]:
        return {one.path: one.where for one in self.differences}


def replay(
    world: World, program: Callable[[], object], *, before: Callable[[], object] = lambda: None
) -> Replayed:
    """Run a program in a world, in a process of its own.

    Args:
        world: not yet prepared.
        program: what it returns is the replay's value.
        before: runs in the same process first.
    """

    def run() -> Replayed:
        before()
        changed = world.prepare()
        report = world.enter(enter_namespaces())
        value = program()
        return Replayed(value, changed, report, world.compare())

    return run_apart(run)
