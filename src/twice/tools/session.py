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
from twice.tools.contract import Contract, read_require, read_time, written
from twice.tools.determinism import Level, Requirement
from twice.tools.errors import CallRefused
from twice.tools.negotiating import negotiate
from twice.tools.observing import Note, Observer, Unobserved
from twice.tools.operation import Host, Operation
from twice.tools.registry import Registry
from twice.tools.tool import Tool


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
        self.observer: Observer = observer or Unobserved()
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
            return envelope.failure(_busy())
        try:
            return self._call(tool, arguments, require, time, _host(progress, cancelled))
        finally:
            self.calls += 1
            self._busy.release()

    def _call(
        self, tool: Any, arguments: Any, require: str | None, time: str | None, host: Host
    ) -> envelope.Envelope:
        try:
            self._set_time(time)
            self._not_expired()
            asked = self._required(require)
            given = {} if arguments is None else _mapping(arguments)
        except CallRefused as refusal:
            note = Note(self.calls, (), str(tool)[:80], {})
            self.observer.began(note)
            note.envelope = envelope.failure(refusal)
            self.observer.ended(note)
            return note.envelope
        return Operation(self, str(tool), given, asked, host).run()

    def level(self, tool: Tool) -> Level:
        """How far a tool's declaration was tried."""
        return self._levels.get(tool.fingerprint, Level.DECLARED)

    def _required(self, require: str | None) -> Requirement:
        try:
            return self.contract.require.and_also(Requirement(read_require(require)))
        except ValueError as error:
            raise CallRefused(
                "invalid_arguments",
                f"The required class {require!r:.80} {error}.",
                "Expected a class, or none.",
                "For example: deterministic.",
            ) from error

    def _set_time(self, time: str | None) -> None:
        if time is None:
            return
        try:
            said = read_time(time)
        except ValueError as error:
            raise _time_refused(f"{time!r:.80} {error}") from error
        if self.contract.time is None:
            raise _time_refused("the contract has no time")
        if said is None or (self.time is not None and said < self.time):
            raise _time_refused(f"{time} lies before {written(self.time)}")
        self.time = said

    def _not_expired(self) -> None:
        limits = self.contract.limits
        if limits.calls is not None and self.calls >= limits.calls:
            raise _expired("calls", f"it covers {limits.calls} calls")
        if limits.until is not None and self.time is not None and self.time > limits.until:
            raise _expired("until", f"it ended at {written(limits.until)}")


def _host(
    progress: Callable[[float, str], None] | None, cancelled: Callable[[], bool] | None
) -> Host:
    return Host(progress or Host.progress, cancelled or Host.cancelled)


def _mapping(arguments: object) -> dict[str, Any]:
    if isinstance(arguments, Mapping):
        return dict(arguments)
    raise CallRefused(
        "invalid_arguments",
        f"The arguments are of type {type(arguments).__name__}.",
        "Expected an object: parameters by name.",
        "For example: {}.",
    )


def _expired(limit: str, why: str) -> CallRefused:
    return CallRefused(
        "contract_violation",
        f"The contract has expired: {why}.",
        "Expected calls within its limits.",
        "Negotiate another contract.",
        limit=limit,
    )


def _time_refused(why: str) -> CallRefused:
    return CallRefused(
        "contract_violation",
        f"The time cannot be set: {why}.",
        "Expected a moment with a zone, not before the last one, under a contract with a time.",
        'For example: "2026-01-31T12:00:00Z".',
        limit="time",
    )


def _busy() -> CallRefused:
    return CallRefused(
        "contract_violation",
        "Another call of this session is at work.",
        "Expected one call at a time: the state is one.",
        "Wait for it, or open a session of its own; a tool calls another by its context.",
        limit="concurrency",
    )
