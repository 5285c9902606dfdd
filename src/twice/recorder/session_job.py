"""The job of a session's process: keys besides those of its action, and the world that its keeper makes.

The parent reads the record and describes the world in plain values. The keeper must not load numpy: what a process has
loaded before it enters a world is another file, to the system, than the one of the same name in it.

Invariant: a job is plain data, and nothing of a record is executed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from twice.recorder.effects.files.carried_contents import CarriedContents
from twice.recorder.environment.probes import keep_probes
from twice.recorder.kernel.file_state import FileHistory
from twice.recorder.kernel.paths import escape_path, unescape_path
from twice.recorder.trust import remember_message

if TYPE_CHECKING:
    from twice.recorder.kernel.world_keeper import WorldRequest
    from twice.recorder.program import Program
    from twice.recorder.runrecord import RunRecord

RECORDING: Final = "twice.recorder"
"""The module that records, runs members of samples and measures."""
SUPERVISED: Final = "supervised"
"""Set in a job whose process is supervised: a recording, which learns of every file that is touched."""
WORLD: Final = "world"
"""Set in a job whose process runs in a copy of the files: what else the keeper is told, by name."""
SAMPLE: Final = "sample"
"""Member of a job, and kind of the journal's frames, with the members of a sample."""
GO_ON: Final = "go-on"
"""What a recording does when its record cannot be written any more; the other way is ``stop``."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def hear(message: Mapping[str, Any]) -> None:
    """Keep a session's reports on its record and on this machine."""
    remember_message(message)
    keep_probes(message)


def describe_copy(program: Program, **others: object) -> dict[str, object]:
    """Return the request to the keeper of an execution of a program, in a copy of the present files."""
    return {"roots": program.roots(), **others}


def describe_world(
    record: RunRecord, *, has_network: bool, compares: bool, **others: object
) -> dict[str, object]:
    """Return the request to the keeper of a replay, in plain values.

    The record stays open until the replay has ended. Where it ``compares``, the files that the program leaves are held
    against the record. ``others`` are ``keep``, ``differing``, ``is_recorded``, ``shared`` and ``placed`` of
    ``WorldRequest``, with paths of folders.
    """
    files = record.native_files()
    return describe_copy(
        record.setup.program,
        histories=[history.to_plain() for history in files.histories],
        contents=record.contents_folder(),
        own=[os.path.realpath(record.path)],
        process=files.process,
        has_network=has_network,
        compares=compares and files.tier == "supervisor",
        native_writes=list(map(escape_path, record.native_writes()[:1])),
        **others,
    )


def parse_world(described: Mapping[str, Any], folder: str) -> WorldRequest:
    """Build the keeper's request from its description, for one execution to which ``folder`` is private.

    Histories that no recording writes are E-RECORD-002.
    """
    # No parent needs these, and they load ctypes.
    from twice.recorder.kernel.paths import PackagePaths, is_below
    from twice.recorder.kernel.world_keeper import WorldRequest

    packages, shared = PackagePaths(described["roots"]), described.get("shared", ())
    placed = described.get("placed", {})
    own = frozenset(described.get("own", ()))
    # What is no part of the run stays in sight, whatever a listing of the recording says.
    private = [os.path.realpath(each) for each in (os.path.dirname(folder), *shared, *placed)]  # noqa: PTH120

    def is_ignored(path: str) -> bool:
        if path in own or any(is_below(path, each) for each in private):
            return True
        return packages.is_of_machine(path)

    # Descriptors of the real folders: their paths lead into the world later.
    keep, differing = (
        os.open(described[name], _FOLDER) if described.get(name) is not None else None
        for name in ("keep", "differing")
    )
    return WorldRequest(
        histories=[FileHistory.from_plain(fields) for fields in described.get("histories", ())],
        content=CarriedContents.found_in(described.get("contents", "")).path,
        folder=f"{folder}/world",
        is_ignored=is_ignored,
        process=described.get("process"),
        has_network=described.get("has_network", True),
        compares=described.get("compares", False),
        keep=keep,
        differing=differing,
        is_recorded=described.get("is_recorded", False),
        shared=shared,
        placed=placed,
        native_writes=list(map(unescape_path, described.get("native_writes", ()))),
    )
