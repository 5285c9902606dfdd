"""Where the files that a replay left otherwise differ inside, while the recorded ones still lie where they were.

Not for: files that were changed or removed since; of those the record knows digests of pieces.

Invariant: a file that is not the recorded one, byte for byte, is compared with nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twice.foundation.digests import Algorithm
from twice.foundation.printable import printable
from twice.recording.effects.filenames import told
from twice.recording.kernel.file_history import FileHistory
from twice.recording.kernel.file_observation import FileUnsettled, observe_state
from twice.recording.launch import run_apart
from twice.recording.redaction.redaction import Redaction
from twice.recording.runrecord import RunRecord

_FORMATS = "twice.replaying.file_formats"
_TIMEOUT_S = 20.0


def locate_inside(record: RunRecord, kept: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Return where files differ, in words, by path; only of those whose recorded content is still there.

    Args:
        record: what was replayed.
        kept: what the replay's keeper reported.
        folder: where it copied files to.
    """
    copied = {told(path): folder / name for path, name in kept.get("copied", ())}
    if not copied:
        return {}
    redaction = Redaction(record.setup.redaction, os.environ)
    found = {}
    for history in record.native_files().histories:
        if history.path in copied and _is_still_there(history):
            arguments = [history.path, os.fspath(copied[history.path])]
            printed = run_apart(_FORMATS, arguments, _TIMEOUT_S)
            if printed:
                where = printed.decode("utf-8", "replace")
                found[history.path] = printable(redaction.value(where, "message"))
    return found


def _is_still_there(history: FileHistory) -> bool:
    if not history.after.digest:
        return False
    algorithm = Algorithm(history.after.digest.partition(":")[0])
    try:
        now = observe_state(
            history.path, algorithm, with_content=True, appended_from=history.appended_from
        )
    except (OSError, FileUnsettled):
        return False
    return history.after.has_same_content(now) and history.after.size == now.size
