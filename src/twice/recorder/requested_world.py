"""The world that a parent has described (``world_request``), as its keeper makes it.

The parent reads the record. The keeper must not load numpy: what a process has loaded before it enters a
world is another file, to the system, than the one of the same name in it.

Invariant: nothing of the record is executed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from twice.recorder.effects.filenames import told
from twice.recorder.effects.files.kept import Kept
from twice.recorder.kernel.file_history import FileHistory
from twice.recorder.kernel.mount_table import is_below
from twice.recorder.kernel.package_paths import PackagePaths
from twice.recorder.kernel.world_keeper import WorldRequest

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def request_of(described: Mapping[str, Any], folder: str) -> WorldRequest:
    """Build the request for a world.

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
