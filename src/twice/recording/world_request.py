"""The world of a replay, from the record that is replayed: told by the parent, made by the keeper.

The parent reads the record. The keeper must not load numpy: what a process has loaded before it enters a
world is another file, to the system, than the one of the same name in it.

Invariant: nothing of the record is executed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from twice.recording.effects.filenames import kept, told
from twice.recording.effects.files.kept import Kept
from twice.recording.kernel.file_history import FileHistory
from twice.recording.kernel.mount_table import is_below
from twice.recording.kernel.package_paths import PackagePaths
from twice.recording.kernel.world_keeper import WorldRequest
from twice.recording.native_files import roots_of
from twice.recording.program import Program
from twice.recording.runrecord import RunRecord

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def describe_world(
    record: RunRecord,
    *,
    has_network: bool,
    compares: bool,
    keep: str | None = None,
    differing: str | None = None,
    is_recorded: bool = False,
    shared: Sequence[str] = (),
) -> dict[str, object]:
    """Return what the keeper of a replay is told, in plain values.

    Args:
        record: what is replayed; open until the replay has ended.
        has_network: whether the program may reach the network.
        compares: whether the files that the program leaves are held against the record.
        keep: a folder into which they are copied; None for nowhere.
        differing: a folder into which the first that differ are copied; None for nowhere.
        is_recorded: whether the program is recorded in its world.
        shared: real folders in which the product writes its own files.
    """
    files = record.native_files()
    return {
        "histories": [history.to_plain() for history in files.histories],
        "contents": record.contents_folder(),
        "roots": roots_of(record.setup.program),
        "own": [os.path.realpath(record.path)],
        "process": files.process,
        "has_network": has_network,
        "compares": compares and files.tier == "supervisor",
        "keep": keep,
        "differing": differing,
        "is_recorded": is_recorded,
        "shared": list(shared),
        "native_writes": list(map(kept, record.native_writes()[:1])),
    }


def describe_copy(
    program: Program, *, shared: Sequence[str] = (), is_recorded: bool = False
) -> dict[str, object]:
    """Return what the keeper is told of an execution in a copy of the files as they are.

    Args:
        program: what is executed.
        shared: real folders in which the product writes its own files.
        is_recorded: whether the program is recorded.
    """
    return {
        "histories": [],
        "contents": "",
        "roots": roots_of(program),
        "own": [],
        "process": None,
        "has_network": True,
        "compares": False,
        "keep": None,
        "differing": None,
        "is_recorded": is_recorded,
        "shared": list(shared),
        "native_writes": [],
    }


def request_of(described: Mapping[str, Any], folder: str) -> WorldRequest:
    """Return what a world is made of.

    Args:
        described: from ``describe_world``.
        folder: private to this execution.

    Raises:
        RecordForeign: E-RECORD-002, for histories that no recording writes.
    """
    packages = PackagePaths(described["roots"])
    own = frozenset(described["own"])
    # What is no part of the run stays in sight, whatever a listing of the recording says.
    private = [
        os.path.realpath(os.path.dirname(folder)),  # noqa: PTH120
        *map(os.path.realpath, described["shared"]),
    ]
    contents = Kept.found_in(described["contents"])

    def is_ignored(path: str) -> bool:
        if path in own or any(is_below(path, folder) for folder in private):
            return True
        return packages.is_of_machine(path)

    return WorldRequest(
        histories=[FileHistory.from_plain(fields) for fields in described["histories"]],
        content=contents.path,
        folder=f"{folder}/world",
        is_ignored=is_ignored,
        process=described["process"],
        has_network=described["has_network"],
        compares=described["compares"],
        keep=_opened(described["keep"]),
        differing=_opened(described["differing"]),
        is_recorded=described["is_recorded"],
        shared=described["shared"],
        native_writes=list(map(told, described["native_writes"])),
    )


def _opened(folder: str | None) -> int | None:
    """Return a descriptor of a real folder; its path leads into the world later."""
    return None if folder is None else os.open(folder, _FOLDER)
