"""One trial, in a process that was forked for it: make the start, call, look at what changed.

The call is made a second time in the state that it left: what an idempotent tool changes then, and
which names a tool makes then, is looked at by ``laws``.

Invariant: every trial has a backend, a session and a folder of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from twice.foundation.encoding import encode
from twice.tools import envelope as envelopes
from twice.tools.backend import Backend, Restorable
from twice.tools.call import Note
from twice.tools.contract import negotiate
from twice.tools.errors import CallRefused
from twice.tools.registry import Registry
from twice.tools.seeding import shown
from twice.tools.session import Session
from twice.tools.verification.attempts import SEED, TIME, Attempt
from twice.tools.verification.perturbations import (
    CREATION_ORDER,
    EARLIER_CALLS,
    NETWORK_DENIED,
    RESTORED_START,
)

_STATE_BYTES_MAX: Final = 1 << 16
_PAST_SEED: Final = SEED + 4
_OTHER_STARTS: Final = (CREATION_ORDER, RESTORED_START)
_INTERNET: Final = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")


def try_once(registry: Registry, attempt: Attempt) -> dict[str, Any]:
    """Carry out a trial; what came of it as plain data."""
    backend = registry.open_backend()
    if NETWORK_DENIED in attempt.inside:
        sys.addaudithook(_deny)
    unable: dict[str, str] = {}
    if EARLIER_CALLS in attempt.inside:
        _earlier(registry, backend, attempt, unable)
    parts = _Parts(backend)
    session = _session(registry, backend, attempt, parts)
    unready = _started(session, backend, attempt, unable)
    found: dict[str, Any] = {"unready": unready, "unable": unable, "parts": []}
    if unready is not None:
        return found
    before, texts = _fingerprint(backend), set(_texts(_state(backend)))
    found["before"] = before
    if attempt.steps:
        found["steps"] = [_step(session, each) for each in attempt.steps]
        return {**found, "after": _fingerprint(backend)}
    parts.noted.clear()
    found["envelope"] = session.call(attempt.tool, attempt.case.arguments)
    found["parts"] = list(parts.noted)
    found["after"], found["state"] = _fingerprint(backend), _small(backend)
    if attempt.watched or not found["envelope"]["ok"]:
        return found
    texts |= set(_texts(_state(backend)))
    session.call(attempt.tool, attempt.case.arguments)
    made = sorted(set(_texts(_state(backend))) - texts)
    found["again"] = _fingerprint(backend)
    found["made_again"] = [each for each in made if backend is not None and backend.holds(each)]
    return found


def _session(
    registry: Registry, backend: Backend | None, attempt: Attempt, parts: _Parts
) -> Session:
    offer = {"session_seed": attempt.seed, "time": TIME, "limits": {"seconds": None}}
    contract = negotiate(offer, registry, backend)
    return Session(
        registry, backend, contract, observer=parts, alarms=False, watched=attempt.watched
    )


def _step(session: Session, call: Mapping[str, Any]) -> envelopes.Envelope:
    return session.call(call["tool"], call["arguments"])


# -- start -------------------------------------------------------------------------------------


def _started(
    session: Session, backend: Backend | None, attempt: Attempt, unable: dict[str, str]
) -> Mapping[str, Any] | None:
    """Make the start; the envelope of the call that failed, if one did."""
    failed = _made(session, attempt)
    another = next((each for each in _OTHER_STARTS if each in attempt.inside), None)
    if failed is not None or another is None:
        return failed
    if backend is None:
        unable[another] = "these tools act on no backend"
        return None
    straight, state = backend.fingerprint(), backend.state()
    if another == CREATION_ORDER and _made_backwards(session, backend, attempt, straight):
        return None
    backend.reset()
    if isinstance(backend, Restorable):
        backend.restore(_backwards(state) if another == CREATION_ORDER else state)
        if backend.fingerprint() == straight:
            return None
        unable[another] = "the restored state is another one"
        backend.reset()
    else:
        unable[another] = "the backend cannot take over a state"
    return _made(session, attempt)


def _made_backwards(session: Session, backend: Backend, attempt: Attempt, straight: str) -> bool:
    """Make the start by its calls in the opposite order; whether that gave the same state."""
    if len(attempt.case.start) < 2:
        return False
    backend.reset()
    calls = reversed(attempt.case.start)
    return (
        all(session.call(each.tool, each.arguments)["ok"] for each in calls)
        and backend.fingerprint() == straight
    )


def _made(session: Session, attempt: Attempt) -> Mapping[str, Any] | None:
    """Make the start as the case says; the envelope of the call that failed, if one did."""
    for each in attempt.case.start:
        found = session.call(each.tool, each.arguments)
        if not found["ok"]:
            return found
    return None


def _backwards(value: Any) -> Any:
    """Reverse the order of every map in a state; lists stay, because their order matters."""
    if isinstance(value, Mapping):
        return {key: _backwards(each) for key, each in reversed(list(value.items()))}
    if isinstance(value, list):
        return [_backwards(each) for each in value]
    return value


def _earlier(
    registry: Registry, backend: Backend | None, attempt: Attempt, unable: dict[str, str]
) -> None:
    """Let the process have a past that the backend forgets: other cases, another seed, this call.

    Other cases stand on both sides, for some tools keep what came first, and some what came last.
    """
    empty = _fingerprint(backend)
    others = [replace(attempt, case=each) for each in attempt.others]
    for past in (*others, attempt.with_seed(_PAST_SEED), attempt, *others):
        session = _session(registry, backend, past, _Parts(None))
        for each in past.case.start:
            session.call(each.tool, each.arguments)
        session.call(past.tool, past.case.arguments)
        if backend is not None:
            backend.reset()
    if _fingerprint(backend) != empty:
        unable[EARLIER_CALLS] = "the backend's reset does not lead back to its empty state"


# -- state -------------------------------------------------------------------------------------


def _fingerprint(backend: Backend | None) -> str:
    return "" if backend is None else backend.fingerprint()


def _state(backend: Backend | None) -> Any:
    return {} if backend is None else backend.state()


def _small(backend: Backend | None) -> Any:
    """Return the state, if showing a difference in it costs little; else None."""
    if backend is None:
        return None
    state = backend.state()
    with suppress(Exception):  # What has no encoding is not shown.
        if len(encode(dict(state))) <= _STATE_BYTES_MAX:
            return state
    return None


def _texts(value: Any) -> Iterator[str]:
    """Every text in a plain value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


class _Parts:
    """Writes down the parts of calls, with the state around each."""

    def __init__(self, backend: Backend | None) -> None:
        self._backend = backend
        self._before: list[str] = []
        self.noted: list[dict[str, Any]] = []

    def began(self, note: Note) -> None:
        """Read the state before a part."""
        if note.path:
            self._before.append(_fingerprint(self._backend))

    def ended(self, note: Note) -> None:
        """Write a part down."""
        if not note.path:
            return
        envelope = note.envelope or {}
        arguments = dict(note.arguments)
        if note.seeded is not None:
            arguments["seed"] = shown(note.seeded.seed)
        self.noted.append(
            {
                "path": list(note.path),
                "call": {"tool": note.tool, "arguments": arguments},
                "seeded": note.seeded is not None,
                "before": self._before.pop(),
                "after": _fingerprint(self._backend),
                "result": envelope.get("result"),
            }
        )


def _deny(event: str, args: tuple[Any, ...]) -> None:
    outward = event in _INTERNET or (event == "socket.connect" and isinstance(args[1], tuple))
    if outward:
        raise PermissionError("the network is denied in this trial")


def refused(error: CallRefused) -> dict[str, Any]:
    """Describe a trial that could not open a session."""
    return {"unready": envelopes.failure(error), "parts": []}
