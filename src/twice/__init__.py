"""Record a run, prove that it replays, and find the first operation where two runs part.

This is the front door: public names, no logic. ``twice.record`` and ``twice.recording`` make a
record, ``twice.open`` reads one, ``twice.verify`` proves it again, ``twice.replay`` looks around in
it, ``twice.rerun`` does it afresh, and ``twice.diagnose`` says where two of them part. The command
line ``twice`` has the same verbs.

What a name needs is imported when the name is first asked for: the command line passes here too, and
most of its commands need little.

Invariant: importing this imports no optional library, no numpy and no command line, and of the standard
library nothing.

PYTEST_DONT_REWRITE: a recorded test run has this loaded before pytest, which would warn of that.
"""

from __future__ import annotations

from twice.errors import TwiceError
from twice.foundation.version import VERSION

TYPE_CHECKING = False  # ``typing`` would be imported from the working folder: see ``__main__.py``.
if TYPE_CHECKING:
    from twice.diagnosis.diagnose import diagnose
    from twice.diagnosis.vary.search import vary
    from twice.foundation.comparison import Abs, Quantum, Rel, Ulp
    from twice.foundation.determinism_class import DeterminismClass, Predicate, Scope
    from twice.recorder.environment.libraries import read_versions
    from twice.recorder.recorder import record, recording
    from twice.recorder.run import Run, effect
    from twice.recorder.runrecord import RunRecord
    from twice.replayer.branch_session import branch
    from twice.replayer.preconditions import trusting
    from twice.replayer.replay_session import replay
    from twice.replayer.rerun import rerun
    from twice.replayer.verify import verify
    from twice.schedules.simulate import simulate

    open = RunRecord.open  # noqa: A001  (twice.open(path) reads as what it does)

__all__ = [
    "Abs",
    "DeterminismClass",
    "Predicate",
    "Quantum",
    "Rel",
    "Run",
    "RunRecord",
    "Scope",
    "TwiceError",
    "Ulp",
    "branch",
    "diagnose",
    "effect",
    "open",
    "read_versions",
    "record",
    "recording",
    "replay",
    "rerun",
    "simulate",
    "trusting",
    "vary",
    "verify",
]
__version__ = VERSION

_ASKED_FOR = {
    "Abs": "twice.foundation.comparison",
    "DeterminismClass": "twice.foundation.determinism_class",
    "Predicate": "twice.foundation.determinism_class",
    "Quantum": "twice.foundation.comparison",
    "Rel": "twice.foundation.comparison",
    "Run": "twice.recorder.run",
    "RunRecord": "twice.recorder.runrecord",
    "Scope": "twice.foundation.determinism_class",
    "Ulp": "twice.foundation.comparison",
    "branch": "twice.replayer.branch_session",
    "diagnose": "twice.diagnosis.diagnose",
    "effect": "twice.recorder.run",
    "load_ipython_extension": "twice.integrations.notebook",  # IPython asks for it at %load_ext twice
    "open": "twice.recorder.runrecord",
    "read_versions": "twice.recorder.environment.libraries",
    "record": "twice.recorder.recorder",
    "recording": "twice.recorder.recorder",
    "replay": "twice.replayer.replay_session",
    "rerun": "twice.replayer.rerun",
    "simulate": "twice.schedules.simulate",
    "trusting": "twice.replayer.preconditions",
    "vary": "twice.diagnosis.vary.search",
    "verify": "twice.replayer.verify",
}


def __getattr__(name: str) -> object:
    if name not in _ASKED_FOR:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(_ASKED_FOR[name])
    found = globals()[name] = module.RunRecord.open if name == "open" else getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_ASKED_FOR})
