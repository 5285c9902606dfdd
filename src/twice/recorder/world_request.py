"""The world of a replay, from the record that is replayed: told by the parent.

Invariant: nothing of the record is executed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from twice.recorder.effects.filenames import kept
from twice.recorder.native_files import roots_of
from twice.recorder.program import Program
from twice.recorder.runrecord import RunRecord


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
    """Return the request to the keeper of a replay, in plain values.

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
    """Return the request to the keeper of an execution in a copy of the present files.

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
