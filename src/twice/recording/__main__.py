"""The process that records one run: ``python -m twice.recording``.

Invariant: what it does is decided by the one job that it receives.
"""

from __future__ import annotations

from twice.recording.serving import serve
from twice.recording.writing import record_here

if __name__ == "__main__":
    serve(record_here)
