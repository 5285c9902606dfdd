"""The program of a tool session: calls come in, envelopes go out, each a tick of a run.

A call is the input ``call``, so a branch may replace one; its envelope is the compare-point
``envelope``, every part of a macro or of a tool that calls others is a compare-point of its own, and
the backend is the component ``backend``. Stack traces go to standard error, which is kept and not
compared.

In replay nobody is listening: what came over the line is served from the record.

Invariant: nothing that a call's outcome depends on reaches the session but by config and line.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

from twice.recorder.run import Run
from twice.tools import envelope
from twice.tools.backend import Backend, Restorable
from twice.tools.call import Note
from twice.tools.contract import negotiate
from twice.tools.determinism import Level
from twice.tools.errors import CallRefused, OfferRefused
from twice.tools.registry import Registry, find_registry
from twice.tools.session import Session
from twice.tools.worker.line import Line

PROGRAM: Final = "twice.tools.worker.program:session"
INPUT: Final = "call"


def session(run: Run) -> None:
    """Serve calls until the line is hung up.

    Config: ``registry``, its name; ``offer``, what the host offers for a contract; ``levels``, how
    far declarations were tried, by the tool's fingerprint.
    """
    run._session.wiring.output.leave_errors_out()
    run.caveat("standard error of a tool session is not compared: libraries of tools write there")
    line = Line(run)
    registry = find_registry(run.config["registry"])
    backend = registry.open_backend()
    if backend is not None:
        run.track(
            "backend", _Restored(backend) if isinstance(backend, Restorable) else _Read(backend)
        )
    try:
        contract = negotiate(run.config["offer"], registry, backend)
    except CallRefused as refusal:
        line.said({"refused": envelope.failure(refusal)})
        line.next()
        raise OfferRefused(refusal.happened, refusal.expected, refusal.remedy) from refusal
    levels = {key: Level(each) for key, each in run.config["levels"].items()}
    told = _Telling(run)
    opened = Session(registry, backend, contract, observer=told, levels=levels, alarms=False)
    run.compare("contract", contract.to_json())
    line.said({"contract": contract.to_json(), "tools": _tools(registry)})
    _serve(run, line, opened)


def _serve(run: Run, line: Line, opened: Session) -> None:
    for _ in run.ticks():
        run.flush()
        message = run.input(INPUT, line.next)
        if message is None:
            return
        found = _outcome(opened, line, message)
        run.compare("envelope", found)
        line.said({"envelope": found})


def _outcome(opened: Session, line: Line, message: Mapping[str, Any]) -> envelope.Envelope:
    if "lost" in message:
        return envelope.failure(_lost(message))
    return opened.call(
        message["tool"],
        message.get("arguments"),
        require=message.get("require"),
        time=message.get("time"),
        progress=line.progress,
        cancelled=lambda: line.cancelled,
    )


def _lost(message: Mapping[str, Any]) -> CallRefused:
    """Refuse a call whose worker died: it had no effect, and is not tried again."""
    return CallRefused(
        "timeout" if message["lost"] == "timeout" else "execution_failed",
        f"The worker that executed {str(message['tool'])[:80]} {_LOST[str(message['lost'])]}.",
        "Expected every call to be answered by the worker that began it.",
        "The state is what it was before this call; call again, with less if it was too much.",
        worker=message["lost"],
    )


_LOST: Final = {"died": "died", "timeout": "was stopped: it did not come back in time"}


def _tools(registry: Registry) -> list[dict[str, Any]]:
    """List the tools for hosts."""
    return [
        {**each.descriptor, "fingerprint": each.fingerprint, "macro": each.is_macro}
        for each in registry
    ]


class _Read:
    """A backend as a component that is compared."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def state(self) -> Mapping[str, Any]:
        """Return the state that the fingerprint covers."""
        return self._backend.state()


class _Restored(_Read):
    """A backend as a component that is compared and put back."""

    _backend: Any

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over a state of another process."""
        self._backend.restore(state)


class _Telling:
    """Writes the parts of calls into the run, and traces beside it."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def began(self, note: Note) -> None:
        """Nothing is known of it yet."""

    def ended(self, note: Note) -> None:
        """Compare a part as a point of its own; the session compares the whole."""
        if note.trace:
            sys.stderr.write(f"call {note.number} {'/'.join(note.path)}: {note.trace}\n")
        if note.path:
            self._run.compare(
                f"part:{'/'.join(note.path)}",
                {"tool": note.fingerprint, "draws": note.draws, "envelope": note.envelope},
            )
