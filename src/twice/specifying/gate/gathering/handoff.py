"""Where sheet 04 hands over to an audit log's encoding: whether it is there, and whether it was copied.

Invariant: nothing is fetched; an address of the network is taken as it stands.
"""

from __future__ import annotations

import re
from typing import Final

from twice.specifying.gate.evidence import Handoff
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench

_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+|[a-z0-9-]+:[a-z0-9-]+")
_LINE_MIN: Final = 40  # a shorter line may stand in two documents by itself
_COPIED_MIN: Final = 3


def gather_handoff(bench: Bench) -> Handoff | Unavailable:
    """Look at what sheet 04 refers to."""
    reference = bench.plan.reference
    if not reference:
        return Unavailable("sheet 04 refers to nothing")
    if _ADDRESS.fullmatch(reference):
        return Handoff(None, ())
    path = bench.project / reference.partition("#")[0]
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return Handoff(False, ())
    theirs = {line.strip() for line in text.splitlines() if len(line.strip()) >= _LINE_MIN}
    ours = [line.strip() for line in bench.plan.snapshot_text.splitlines()]
    copied = tuple(line for line in ours if line in theirs)
    return Handoff(True, copied if len(copied) >= _COPIED_MIN else ())
