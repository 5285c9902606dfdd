"""The process that makes one run and times it: ``python -m twice.specifying.costing``.

Invariant: what it does is decided by the one job that it receives.
"""

from __future__ import annotations

from twice.recording.serving import serve
from twice.specifying.costing.measuring import measure_here

if __name__ == "__main__":
    serve(measure_here)
