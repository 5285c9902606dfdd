"""The process that executes a recorded program again: ``python -m twice.replayer``.

Invariant: what it does is decided by the one job that it receives.
"""

from __future__ import annotations

import gc

if __name__ == "__main__":
    gc.disable()  # until ``serve``: imported objects stay

from twice.recorder.child import serve_actions
from twice.replayer.session_worker import branch_here, replay_here
from twice.replayer.verify_worker import verify_here

ACTIONS = {"branch": branch_here, "replay": replay_here, "verify": verify_here}

if __name__ == "__main__":
    serve_actions(ACTIONS)
