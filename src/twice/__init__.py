"""Record a run, prove that it replays, and find the first operation where two runs part.

This is the front door: public names, no logic. ``twice.record`` and ``twice.recording`` make a
record, ``twice.open`` reads one, ``twice.verify`` proves it again, ``twice.replay`` looks around in
it, ``twice.rerun`` does it afresh, and ``twice.diagnose`` says where two of them part. The command
line ``twice`` has the same verbs.

Invariant: importing this imports no optional library, no numpy and no command line.
"""

from __future__ import annotations

from twice.diagnosing.diagnosing import diagnose
from twice.diagnosing.varying.varying import vary
from twice.errors import TwiceError
from twice.recording.active import effect
from twice.recording.recorder import record, recording
from twice.recording.run import Run
from twice.recording.runrecord import RunRecord
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
