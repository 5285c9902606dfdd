"""The process that measures one environment: ``python -m twice.recording.measuring_child``.

Invariant: it executes nothing of anybody's program.
"""

from __future__ import annotations

from twice.recording.measuring import measure_here
from twice.recording.serving import serve

if __name__ == "__main__":
    serve(measure_here)
