"""A session: a registry, a backend and a contract, and calls one after the other.

Not covered: transport, processes, records. A host is answered with envelopes; whoever writes a
session down is its observer.

Invariant: ``call`` returns an envelope for whatever it is given, and raises for an interrupt alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from twice.tools import envelope
from twice.tools.backend import Backend
from twice.tools.call import Host, Observer, Operation
from twice.tools.contract import Contract, negotiate
from twice.tools.declaration import Tool
from twice.tools.determinism import Level
from twice.tools.errors import refuse_limit
from twice.tools.registry import Registry


class Session:
    """Calls under one contract.

    Args:
        registry: the tools.
        backend: what they act on; None for tools that act on nothing.
        contract: as negotiated; None for one that permits nothing and has no seed.
        observer: told of every call.
        levels: how far each tool's declaration was tried, by the tool's fingerprint.
        alarms: whether a call that takes too long is interrupted here. A host that stops the whole
            process says no: where a timer strikes is nothing that a replay could repeat.
        watched: whether tools are held to their needs while they run. Only verification says no: what
            enforcement refuses at once it also wants to see differ.

    Raises:
        CallRefused: E-TOOL-003, ``contract_violation``, when the contract is of another registry or
            backend.
    """

    def __init__(
        self,
        registry: Registry,
        backend: Backend | None = None,
        contract: Contract | None = None,
        *,
        observer: Observer | None = None,
        levels: Mapping[str, Level] | None = None,
        alarms: bool = True,
        watched: bool = True,
    ) -> None:
        document = {} if contract is None else contract.to_json()
        self.contract = negotiate(document, registry, backend)
        self.registry = registry
        self.backend = backend
        self.observer = observer
        self.alarms = alarms
        self.watched = watched
        self.calls = 0
        self.time = self.contract.time
        self._levels = dict(levels or {})
        self._busy = threading.Lock()

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        require: str | None = None,
        time: str | None = None,
        progress: Callable[[float, str], bool | None] | None = None,
    ) -> envelope.Envelope:
        """Call a tool; the outcome.

        Args:
            tool: its name.
            arguments: by name, as JSON; a seeded tool's seed and call key are among them.
            require: the weakest class that will do, on top of what the contract requires.
            time: what the host says the time is from here on; it does not go back.
            progress: told how far the call is: a fraction from 0 to 1, and a text; gives whether the host has given it up.
        """
        if not self._busy.acquire(blocking=False):
            busy = refuse_limit(
                "concurrency",
                "Another call of this session is at work.",
                "Expected one call at a time: the state is one.",
                "Wait for it, or open a session of its own; a tool calls another by its context.",
            )
            return envelope.failure(busy)
        try:
            host = Host(require, time, progress)
            return Operation(self, str(tool), arguments, host).run()
        finally:
            self.calls += 1
            self._busy.release()

    def level(self, tool: Tool) -> Level:
        """How far a tool's declaration was tried."""
        return self._levels.get(tool.fingerprint, Level.DECLARED)
