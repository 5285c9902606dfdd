"""Which ways out of a session the layer below Python covers: files of any code, and processes of the run.

While recording, the supervisor sees what any process does to files. In replay the same code runs in a copy of
the files, and so do the processes that it starts: nothing has to be refused.

Not for: what such a process reads of clocks, entropy and the network.

Invariant: a source is covered in a replay only when it was while recording.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from twice.recorder.audit.inventory import Class
from twice.recorder.kernel.confinement import current

_NATIVE: Final = "native.load"
_FILES: Final = ("files.change", "files.mmap", "files.open", "files.sqlite3", "files.write")
SIGNAL: Final = "process.signal"
"""Covered where it goes to a process of the run that runs again."""
_PROCESSES: Final = ("process.fork", "process.spawn", "process.start", SIGNAL)
LOADED: Final = (
    "what C code that is called by hand does to files is recorded, and compared in replay; what it asks "
    "clocks and entropy for is not"
)
_SEEN: Final = "files of code in any language are recorded, and compared in replay"
WITHIN_RUN: Final = (
    "both ends belong to processes of the run, which run again in a replay; in which order they are served "
    "is not recorded"
)
REPEATED: Final = (
    "the process runs again in a replay, in the same copy of the files; what it reads of clocks and "
    "entropy, and the order in which processes run, is not recorded"
)


KINDS: Final[Mapping[str, Class]] = {REPEATED: "repeated", LOADED: "assumed"}
"""Class of a covered source, by why it is covered; recorded, where it is not here."""


def covered_sources(*, is_recording: bool, was_supervised: bool) -> Mapping[str, str]:
    """Return the sources that need not be refused here, and why.

    Args:
        is_recording: whether this session asks the world and writes a record.
        was_supervised: whether the record that is replayed was made under supervision.
    """
    confinement = current()
    covers = confinement.is_watching if is_recording else confinement.is_world and was_supervised
    if not covers:
        return {}
    return {
        **dict.fromkeys(_FILES, _SEEN),
        **dict.fromkeys(_PROCESSES, REPEATED),
        _NATIVE: LOADED,
    }


def is_own_process(pid: int) -> bool:
    """Return whether a process descends from this one, and runs again in a replay."""
    return current().is_own_process(pid)
