"""The process that searches for failing schedules: ``python -m twice.schedules``."""

from __future__ import annotations

from twice.recorder.child import serve
from twice.schedules.worker import explore_here

if __name__ == "__main__":
    serve(explore_here)
