"""The worker's end of the line to its host: one message each way for a call, as declared effects.

The line is the process's standard input, a socket that the host made. What comes over it is
recorded as the result of an effect; in replay the effect is served and no line is opened.

Invariant: an answer is sent when the next call is asked for, never before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twice.recorder.run import Run
from twice.worker.channel import Channel, inherited


class Line:
    """One worker's line.

    Args:
        run: whose effects it uses.

    Attributes:
        cancelled: whether the host has given up the call that is at work.
    """

    def __init__(self, run: Run) -> None:
        self._call = run.effects.call
        self._channel: Channel | None = None
        self._answer: Mapping[str, Any] | None = None
        self.cancelled = False

    def said(self, answer: Mapping[str, Any]) -> None:
        """Keep an answer until the next message is asked for."""
        self._answer = answer

    def next(self) -> Any:
        """Give the answer and wait for the next message; None when the host has hung up."""
        self.cancelled = False
        answer, self._answer = self._answer, None
        return self._call("tools.next", lambda: self._exchanged(answer))

    def progress(self, fraction: float, text: str) -> None:
        """Tell the host how far a call is, and hear whether it still wants it."""
        told = {"progress": [fraction, text]}
        reply = self._call("tools.progress", lambda: self._exchanged(told))
        self.cancelled = reply is None or bool(reply["cancelled"])

    def _exchanged(self, message: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if self._channel is None:
            self._channel = inherited(0)
        if message is not None:
            self._channel.send(message)
        return self._channel.receive()
