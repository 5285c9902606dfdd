"""What stands in the job of a session's process, besides what its action asks for, and what its messages leave behind.

Invariant: a job is plain data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from twice.recorder.environment.probe_cache import keep_probes
from twice.recorder.trust import remember_message

RECORDING: Final = "twice.recorder"
"""The module that records, runs members of samples and measures."""
SUPERVISED: Final = "supervised"
"""Set in a job whose process is supervised: a recording, which learns of every file that is touched."""
WORLD: Final = "world"
"""Set in a job whose process runs in a copy of the files: what else the keeper is told, by name."""
GO_ON: Final = "go-on"
"""What a recording does when its record cannot be written any more; the other way is ``stop``."""


def hear(message: Mapping[str, Any]) -> None:
    """Keep a session's reports on its record and on this machine."""
    remember_message(message)
    keep_probes(message)
