"""Record a run, prove that it replays, and find the first operation where two runs part.

This is the front door: public names, no logic. ``twice.record`` and ``twice.recording`` make a
record, ``twice.open`` reads one, ``twice.verify`` proves it again, ``twice.replay`` looks around in
it, ``twice.rerun`` does it afresh, and ``twice.diagnose`` says where two of them part. The command
line ``twice`` has the same verbs.

What executes records again is imported when it is first asked for: every recorded program imports
this, and most never ask.

Invariant: importing this imports no optional library, no numpy and no command line.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from twice.errors import TwiceError
from twice.recording.active import effect
from twice.recording.recorder import record, recording
from twice.recording.run import Run
from twice.recording.runrecord import RunRecord

if TYPE_CHECKING:
    from twice.diagnosing.diagnosing import diagnose
    from twice.diagnosing.varying.varying import vary
    from twice.replaying.branching import branch
    from twice.replaying.reading import replay
    from twice.replaying.rerunning import rerun
    from twice.replaying.verifying import verify

open = RunRecord.open  # noqa: A001  (twice.open(path) reads as what it does)

__all__ = [
    "Run",
    "RunRecord",
    "TwiceError",
    "branch",
    "diagnose",
    "effect",
    "open",
    "record",
    "recording",
    "replay",
    "rerun",
    "vary",
    "verify",
]
__version__ = "0.1.0"

_ASKED_FOR = {
    "branch": "twice.replaying.branching",
    "diagnose": "twice.diagnosing.diagnosing",
    "replay": "twice.replaying.reading",
    "rerun": "twice.replaying.rerunning",
    "vary": "twice.diagnosing.varying.varying",
    "verify": "twice.replaying.verifying",
}


def __getattr__(name: str) -> object:
    if name not in _ASKED_FOR:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_ASKED_FOR[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_ASKED_FOR})
