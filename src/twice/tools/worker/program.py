"""The program of a tool session: calls come in, envelopes go out, each a tick of a run.

A call is the input ``call``, so a branch may replace one; its envelope is the compare-point
``envelope``, every part of a macro or of a tool that calls others is a compare-point of its own, and
the backend is the component ``backend``. Stack traces go to standard error, which is kept and not
compared.

In replay nobody is listening: what came over the line is served from the record.

Invariant: nothing that a call's outcome depends on reaches the session but by config and line.
"""

from __future__ import annotations

import os
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
from twice.worker.channel import Channel, inherited

PROGRAM: Final = "twice.tools.worker.program:session"


def session(run: Run) -> None:
    """Serve calls until the line is hung up.

    Config: ``registry``, its name; ``offer``, what the host offers for a contract; ``levels``, how
    far declarations were tried, by the tool's fingerprint.
    """
    run.caveat("standard error of a tool session is not compared: libraries of tools write there")
    line = Line(run)
    registry = find_registry(run.config["registry"])
    backend = registry.open_backend()
    if backend is not None:
        run.track("backend", backend)
    try:
        contract = negotiate(run.config["offer"], registry, backend)
    except CallRefused as refusal:
        line.answer({"refused": envelope.failure(refusal)})
        line.next()
        raise OfferRefused(refusal.happened, refusal.expected, refusal.remedy) from refusal
    levels = {key: Level(each) for key, each in run.config["levels"].items()}
    observer = _RunObserver(run, registry)
    opened = Session(registry, backend, contract, observer=observer, levels=levels, alarms=False)
    run.compare("contract", contract.to_json())
    state = _read_fingerprint(backend)
    tools = [
        {**each.descriptor, "fingerprint": each.fingerprint, "macro": each.is_macro}
        for each in registry
    ]
    line.answer({"contract": contract.to_json(), "tools": tools, "state": state})
    for _ in run.ticks():
        run.flush()
        message = run.input("call", line.next)
        if message is None:
            return
        observer.may_have_written = False
        if "lost" in message:
            found = envelope.failure(_refuse_lost_call(message, backend))
        else:
            found = opened.call(
                message["tool"],
                message.get("arguments"),
                require=message.get("require"),
                time=message.get("time"),
                progress=line.tell_progress,
            )
        run.compare("envelope", found)
        if observer.may_have_written:
            state = found.get("state_fingerprint") or _read_fingerprint(backend)
        line.answer({"envelope": found, "state": state})


class Line:
    """The worker's end of the line to its host: one message each way, as declared effects.

    The line is the process's standard input, a socket that the host made. An answer is sent when the
    next call is asked for, never before: then it is in the record.
    """

    def __init__(self, run: Run) -> None:
        self._call = run.effects.call
        self._channel: Channel | None = None
        self._answer: Mapping[str, Any] | None = None

    def answer(self, message: Mapping[str, Any]) -> None:
        """Keep an answer until the next message is asked for."""
        self._answer = message

    def next(self) -> Any:
        """Send the answer and wait for the next message; None when the host has hung up."""
        answer, self._answer = self._answer, None
        return self._call("tools.next", lambda: self._exchange(answer))

    def tell_progress(self, fraction: float, text: str) -> bool:
        """Tell the host how far a call is, and hear whether it has given the call up."""
        message = {"progress": [fraction, text]}
        reply = self._call("tools.progress", lambda: self._exchange(message))
        return reply is None or bool(reply["cancelled"])

    def _exchange(self, message: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if self._channel is None:
            self._channel = inherited(0)
        if message is not None:
            self._channel.send(message)
        return self._channel.receive()


def _refuse_lost_call(message: Mapping[str, Any], backend: Backend | None) -> CallRefused:
    """Refuse a call whose worker was lost; say what remains of it only as far as fingerprints show."""
    state = None if message["state"] is None else _read_fingerprint(backend)
    if backend is None:
        doubt = "the registry has no backend whose state could be compared"
    elif not isinstance(backend, Restorable):
        doubt = "the backend cannot be restored, so its state may lie outside of the worker"
    elif state is None:
        doubt = "the backend gives no fingerprint"
    elif state != message["state"]:
        doubt = "the backend has another fingerprint than before it"
    else:
        doubt = ""
    if doubt:
        remedy = f"What remains of this call is not known: {doubt}. Look before you call again."
    else:
        remedy = (
            "The backend's state is what it was before this call, by its fingerprint; what the call "
            "did to files or other processes is not known. Call again, with less if it was too much."
        )
    return CallRefused(
        "timeout" if message["lost"] == "timeout" else "execution_failed",
        f"The worker that executed {str(message['tool'])[:80]} {_LOST[str(message['lost'])]}.",
        "Expected every call to be answered by the worker that began it.",
        remedy,
        worker=message["lost"],
        state_fingerprint=state,
        state_is_as_before=None if doubt else True,
    )


_LOST: Final = {"died": "died", "timeout": "was stopped: it did not come back in time"}


def _read_fingerprint(backend: Backend | None) -> str | None:
    """Return the fingerprint of the state; None without a backend, or when it cannot be read."""
    try:
        return None if backend is None else backend.fingerprint()
    except Exception:  # noqa: BLE001  (a backend may fail in any way; then nothing is claimed)
        return None


class _RunObserver:
    """Writes the parts of calls into the run, and traces beside it; notes whether a tool that may write was executed."""

    def __init__(self, run: Run, registry: Registry) -> None:
        self.may_have_written = False
        self._run = run
        self._registry = registry
        self._is_fork = False
        os.register_at_fork(after_in_child=self._note_fork)

    def on_begin(self, note: Note) -> None:
        """Begin to watch for forks: one between two calls is a branch of the run, and goes on."""
        if not note.path:
            self._is_fork = False

    def on_end(self, note: Note) -> None:
        """Compare a part as a point of its own; the session compares the whole."""
        if self._is_fork:
            # The tool forked, and this child came out of it as well: it would answer the next call.
            os._exit(0)
        if note.trace:
            sys.stderr.write(f"call {note.number} {'/'.join(note.path)}: {note.trace}\n")
        if note.path:
            self._run.compare(
                f"part:{'/'.join(note.path)}",
                {"tool": note.fingerprint, "draws": note.draws, "envelope": note.envelope},
            )
        tool = self._registry.get(note.tool)
        if tool is not None and not tool.reads_only and "execute" in note.phases:
            self.may_have_written = True

    def _note_fork(self) -> None:
        self._is_fork = True
