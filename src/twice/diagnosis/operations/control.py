"""Traces the operations of a library while an interval is executed: the worker's side.

The module that traces a library is loaded by name, once the program imports the library.

Invariant: the trace begins where the window opens, or where the library is imported within it; nothing outside of the
window is traced.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from twice.diagnosis.window import WindowControl
from twice.recorder.compare_points import ComparePoint
from twice.recorder.effects.actors import outside
from twice.recorder.imports import ImportWatch
from twice.worker.channel import Channel

TRACES: Final[Mapping[str, str]] = {
    "torch": "twice.integrations.torch_trace",
    "jax": "twice.integrations.jax_trace",
}
"""Library -> module whose ``begin(asked)`` traces it. Names, because nothing below imports an integration."""


class OperationControl(WindowControl):
    """Traces operations from one compare-point to another, instead of lines.

    Args:
        channel: to the parent.
        first: as of ``WindowControl``.
        last: as of ``WindowControl``.
        asked: numbers of operations that are captured.
    """

    def __init__(self, channel: Channel, first: int, last: int, asked: Sequence[int]) -> None:
        super().__init__(channel, first, last, None)
        self._asked = asked
        self._traces: list[Any] = []
        self._is_open = False
        self._watch = ImportWatch({name: partial(self._begin, name) for name in TRACES})

    def _open(self) -> None:
        if not self._is_open:
            self._is_open = True
            outside(self._watch.install)

    def _begin(self, library: str, _module: ModuleType) -> None:
        self._traces.append(import_module(TRACES[library]).begin(self._asked))

    def _close(self, taken: ComparePoint) -> None:
        del taken
        assert self.closing is not None, (
            "the session was made with what holds the point against the record"
        )
        self._send_operations(reproduces=self.closing.agrees)

    def report_missed(self) -> None:
        """Report what was traced before the program ended without closing the window."""
        self._send_operations(reproduces=None)

    def _send_operations(self, *, reproduces: bool | None) -> None:
        for trace in self._traces:
            trace.end()
        # Of two libraries, the one that the program calls more often.
        found = [trace.describe() for trace in self._traces]
        traced = max(found, key=lambda each: len(each["rows"]), default=None)
        self._channel.send({"kind": "operations", "traced": traced, "reproduces": reproduces})
        os._exit(0)
