"""Measure the environment that a run would have: in a process with pinned surroundings.

What this process sees is not what a run sees, because a run gets a pinned hash seed and thread
caps. No program is executed; the process measures, answers and ends.

Invariant: two measurements on one machine with equal surroundings are equal.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from twice.foundation.environment import Fingerprint
from twice.recorder.environment import measure
from twice.recorder.probes.kept import KeptProbes
from twice.recorder.session_job import RECORDING, hear
from twice.recorder.surroundings import Surroundings, environ_for_child
from twice.worker.channel import Channel
from twice.worker.process import FreshWorker, refuse_nesting


def measure_in(surroundings: Surroundings, *, python: str = "") -> Fingerprint:
    """Measure a fresh process in these surroundings, of another interpreter if one is named.

    Raises:
        ProgramFailed: E-PROGRAM-003, when the interpreter cannot import twice.
        SurroundingsRefused: E-ENV-001, when they would load code that nobody asked for.
    """
    refuse_nesting()
    environ = environ_for_child(os.environ, surroundings)
    with FreshWorker(RECORDING, environ, python=python, heard=hear) as child:
        return Fingerprint.from_json(child.ask({"action": "measure"})["measured"])


def measure_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Measure this process, every probe anew, and answer."""
    del job
    kept = KeptProbes({})
    channel.send({"kind": "measured", "measured": measure(kept=kept).to_json(), **kept.message()})
