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
from twice.tools.call import Host, Note, Observer, Operation
from twice.tools.contract import Contract, negotiate, read_require, read_time, write_time
from twice.tools.declaration import Tool
from twice.tools.determinism import Level, Requirement
from twice.tools.errors import CallRefused
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
        progress: Callable[[float, str], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> envelope.Envelope:
        """Call a tool; the outcome.

        Args:
            tool: its name.
            arguments: by name, as JSON; a seeded tool's seed and call key are among them.
            require: the weakest class that will do, on top of what the contract requires.
            time: what the host says the time is from here on; it does not go back.
            progress: told how far the call is: a fraction from 0 to 1, and a text.
            cancelled: asked now and then whether the host has given up.
        """
        if not self._busy.acquire(blocking=False):
            return envelope.failure(
                CallRefused(
                    "contract_violation",
                    "Another call of this session is at work.",
                    "Expected one call at a time: the state is one.",
                    "Wait for it, or open a session of its own; a tool calls another by its context.",
                    limit="concurrency",
                )
            )
        try:
            host = Host(progress or Host.progress, cancelled or Host.cancelled)
            return self._call(tool, arguments, require, time, host)
        finally:
            self.calls += 1
            self._busy.release()

    def _call(
        self, tool: Any, arguments: Any, require: str | None, time: str | None, host: Host
    ) -> envelope.Envelope:
        try:
            self._set_time(time)
            self._check_limits()
            asked = self.contract.requirement.and_also(_read_requirement(require))
            given = _read_arguments(arguments)
        except CallRefused as refusal:
            failed = envelope.failure(refusal)
            if self.observer is not None:
                note = Note(self.calls, (), str(tool)[:80], {})
                self.observer.on_begin(note)
                note.envelope = failed
                self.observer.on_end(note)
            return failed
        return Operation(self, str(tool), given, asked, host).run()

    def level(self, tool: Tool) -> Level:
        """How far a tool's declaration was tried."""
        return self._levels.get(tool.fingerprint, Level.DECLARED)

    def _set_time(self, time: str | None) -> None:
        if time is None:
            return
        try:
            said = read_time(time)
            if self.contract.time is None:
                raise ValueError("needs a contract with a time")  # noqa: TRY301  (one refusal for all)
            if said is None or (self.time is not None and said < self.time):
                raise ValueError(f"lies before {write_time(self.time)}")  # noqa: TRY301  (as above)
        except ValueError as error:
            raise CallRefused(
                "contract_violation",
                f"The time cannot be set: {time!r:.80} {error}.",
                "Expected a moment with a zone, not before the last one, under a contract with a time.",
                'For example: "2026-01-31T12:00:00Z".',
                limit="time",
            ) from error
        self.time = said

    def _check_limits(self) -> None:
        limits, why, limit = self.contract.limits, "", ""
        if limits.calls is not None and self.calls >= limits.calls:
            limit, why = "calls", f"it covers {limits.calls} calls"
        if limits.until is not None and self.time is not None and self.time > limits.until:
            limit, why = "until", f"it ended at {write_time(limits.until)}"
        if why:
            raise CallRefused(
                "contract_violation",
                f"The contract has expired: {why}.",
                "Expected calls within its limits.",
                "Negotiate another contract.",
                limit=limit,
            )


def _read_arguments(arguments: object) -> dict[str, Any]:
    if arguments is None or isinstance(arguments, Mapping):
        return dict(arguments or {})
    raise CallRefused(
        "invalid_arguments",
        f"The arguments are of type {type(arguments).__name__}.",
        "Expected an object: parameters by name.",
        "For example: {}.",
    )


def _read_requirement(require: str | None) -> Requirement:
    try:
        return Requirement(read_require(require))
    except ValueError as error:
        raise CallRefused(
            "invalid_arguments",
            f"The required class {require!r:.80} {error}.",
            "Expected a class, or none.",
            "For example: deterministic.",
        ) from error
