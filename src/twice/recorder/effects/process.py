"""Processes that a program starts: run while recording, never in replay.

Covered: ``subprocess.Popen`` when user code asks for it, by itself or through ``run``, ``call``,
``check_output``, ``getoutput`` and ``os.popen``; ``os.system``. What the program learns from a process
is recorded: its id, its exit code, what comes out of its pipes, an exception instead. What the
program asks is compared: command, folder, given variables with digests of their values, how the streams
are connected, what it writes to the process (by digest), signals. The path of this Python counts as ``{python}``.

A process that shares the run's own standard output or error writes to a file instead, and what it
wrote is printed when the program learns that it ended, in replay as well. It is lost, in both, when
the program never does.

Not covered: processes that libraries start (``multiprocessing``, ``asyncio``), which really start in
replay too and are counted as ungoverned; ``os.spawn*``, ``os.posix_spawn``, ``os.fork`` with ``exec``,
``pty``; a pipe's descriptor; files and other traces that a process leaves, which a replay finds as
they are; the order in which several processes end.

Invariant: in replay no process is started, signalled or waited for in their place.
"""

from __future__ import annotations

import locale
import os
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from inspect import signature
from operator import attrgetter
from sys import _getframe
from types import MappingProxyType
from typing import Any

from twice.errors import EffectRefused
from twice.recorder.effects import ops
from twice.recorder.effects.actors import Actor, asker_of, files_of, outside
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.outcomes import Outcome, given, outcome_of
from twice.recorder.effects.patches import Patch
from twice.recorder.effects.process_request import (
    STREAMS,
    GivenFiles,
    InheritedOutput,
    describe_request,
    describe_word,
    digest_input,
    find_real_pipes,
    list_descriptors,
    summarise_inherited,
)
from twice.recorder.effects.standard_input import BinaryReader, BinaryWriter, TextReader, TextWriter
from twice.recorder.kernel.confinement import current as current_confinement

_REAL = subprocess.Popen
_SIGNATURE = signature(_REAL)
_WRAPPERS = files_of(subprocess.run, os.popen) | {__file__}


def patches(layer: EffectLayer) -> list[Patch]:
    """Return the patches of the functions that start processes, for a session."""
    names = {"_layer": layer, "__module__": "subprocess", "__doc__": _REAL.__doc__}
    popen = type("Popen", (GovernedPopen,), names)
    system = _governed_system(layer, os.system)

    def probe(start: Any) -> None:
        # It asks for what cannot start, so that nothing does.
        with suppress(IndexError, ValueError):
            start([] if start is subprocess.Popen else "\0")

    return [Patch(subprocess, "Popen", popen, probe), Patch(os, "system", system, probe)]


class GovernedPopen(subprocess.Popen[Any]):
    """Stands for ``subprocess.Popen`` during a session; plainly the real one for libraries."""

    _layer: EffectLayer
    _key = ""  # Of a governed process, its lineage.
    _real: subprocess.Popen[Any] | None = None
    _child_created = False  # For the finalizer: the real one has its own.
    _sigint_wait_secs = (
        0  # For a block that an interrupt leaves: a served process is not waited for.
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        layer = self._layer
        actor = layer.actor()
        if actor is None or not layer.is_strict(asker_of(_getframe(1), _WRAPPERS)):
            layer.count_ungoverned(ops.PROCESS_START)
            super().__init__(*args, **kwargs)
            return
        asked = _SIGNATURE.bind(*args, **kwargs)
        asked.apply_defaults()
        options = asked.arguments
        self._key = _key(layer, actor)
        self.args = options["args"]
        self.returncode: int | None = None
        self._output, self._given = InheritedOutput(options), GivenFiles(options)
        for descriptor in list_descriptors(options):  # another hand writes there from now on
            for given_away in layer.descriptor_given:
                given_away(descriptor)
        self.stdin, self.stdout, self.stderr = None, None, None

        def start() -> int:
            whole: Any = {**options, **find_real_pipes(options)}
            self._real = _REAL(**self._output.connect(whole))
            current_confinement().note_served(self._real.pid)
            return self._real.pid

        self.pid = self._ask(
            ops.PROCESS_START, (self._key, *describe_request(layer, options)), start
        )
        if self._given.find_sizes():
            self._layer.running[self._key] = self._end
        self._connect(options)

    def poll(self) -> int | None:
        """Poll as the real one does, and record the answer."""
        if self._key and self.returncode is None:
            self._learn(ops.PROCESS_POLL, (), lambda real: real.poll())
            return self.returncode
        return super().poll() if not self._key else self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait as the real one does; no time passes in replay."""
        if not self._key:
            return super().wait(timeout)
        if self.returncode is None:
            question = (_seconds(timeout),)
            self._learn(ops.PROCESS_WAIT, question, lambda real: real.wait(timeout), timeout)
        assert self.returncode is not None, "a process that was waited for has ended"
        return self.returncode

    def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:  # noqa: A002
        """Communicate as the real one does, and record the output."""
        if not self._key:
            return super().communicate(input, timeout)
        question = (digest_input(self._layer, input), _seconds(timeout))
        communicate = lambda real: real.communicate(input, timeout)  # noqa: E731
        answer = self._learn(ops.PROCESS_COMMUNICATE, question, communicate, timeout)
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.mark_ended()  # type: ignore[attr-defined]
        return answer

    def send_signal(self, sig: int) -> None:
        """Send a signal as the real one does; send nothing in replay."""
        if not self._key:
            super().send_signal(sig)
        elif self.returncode is None:
            send = lambda: self._running().send_signal(sig)  # noqa: E731
            self._ask(ops.PROCESS_SIGNAL, (self._key, int(sig)), send)

    def _ask(self, op: ops.Op, question: tuple[Any, ...], act: Callable[[], Any]) -> Any:
        def live() -> Outcome:
            if op is not ops.PROCESS_START:
                self._running()
            # What it reads itself (clocks, for its timeouts) is part of its result.
            return outside(outcome_of, act)  # type: ignore[no-any-return]

        layer = self._layer
        return given(layer.read(layer.actor(), op, live, question))

    def _learn(
        self,
        op: ops.Op,
        question: tuple[Any, ...],
        act: Callable[[subprocess.Popen[Any]], Any],
        timeout: float | None = None,
    ) -> tuple[Any, Any]:
        """Ask a question that may end the process; keep its exit code, and print its output."""

        def learn() -> tuple[Any, ...]:
            real, late = self._running(), False
            both: tuple[Any, Any] = (None, None)
            try:
                result = act(real)
                both = result if isinstance(result, tuple) else both
            except subprocess.TimeoutExpired as error:
                late, both = True, (error.output, error.stderr)
            printed = self._output.read(ended=real.returncode is not None)
            return (late, *both, real.returncode, printed)

        late, out, err, code, printed = self._ask(op, (self._key, *question), learn)
        if code is not None and self.returncode is None:
            self._end()
        self.returncode = code
        _print(printed)
        if late:
            assert timeout is not None, "only what has a limit can be late"
            raise subprocess.TimeoutExpired(self.args, timeout, output=out, stderr=err)
        return out, err

    def _end(self) -> None:
        """Report the files that the process left, once it has ended or the run does."""
        pid = None if self._real is None else self._real.pid
        self._layer.running.pop(self._key, None)
        _tell_of_end(self._layer, self._key, pid, self._given.find_sizes())
        self._given.release(is_served=pid is None)

    def _running(self) -> subprocess.Popen[Any]:
        if self._real is not None:
            return self._real
        raise EffectRefused(
            f"The process {self._key} was served from the record: none is running.",
            "Expected the branch to leave the record before it starts a process, or after.",
            "Branch at a tick after the process has ended, or start it inside of a tick.",
            name=self._key,
        )

    def _connect(self, options: dict[str, Any]) -> None:
        """Put streams in place of the pipes."""
        text = any(options[name] for name in ("text", "universal_newlines", "encoding", "errors"))
        self.text_mode = text
        self.encoding, self.errors = options["encoding"], options["errors"]
        encoding = options["encoding"] or locale.getpreferredencoding(do_setlocale=False)
        for name in STREAMS:
            if options[name] == subprocess.PIPE:
                kind: Any = (BinaryReader, TextReader)[text]
                if name == "stdin":
                    kind = (BinaryWriter, TextWriter)[text]
                stream = self._make_stream(name, kind, encoding)
                setattr(self, name, stream)

    def _make_stream(self, name: str, kind: Any, encoding: str) -> Any:
        def ask(method: str, with_: Any) -> Any:
            question: tuple[Any, ...]
            if name == "stdin":
                op, question = ops.PROCESS_WRITE, (method, digest_input(self._layer, with_))
            else:
                op, question = ops.PROCESS_READ, (name, method, with_)
            given_ = () if with_ is None else (with_,)

            def act() -> Any:
                return attrgetter(method)(getattr(self._running(), name))(*given_)

            return self._ask(op, (self._key, *question), act)

        def close() -> None:
            if self._real is not None:
                getattr(self._real, name).close()

        def name_pipe() -> None:
            if self._layer.descriptors is not None:
                self._layer.descriptors.name_pipe()

        behind = lambda: getattr(self._real, name, None)  # noqa: E731
        return kind(ask, close, behind=behind, on_descriptor=name_pipe, encoding=encoding)


def _tell_of_end(
    layer: EffectLayer, key: str, pid: int | None, given: Mapping[str, int] = MappingProxyType({})
) -> None:
    """Report the end of a process to the keepers of files; ``pid`` is None if it was served."""
    for told in layer.process_ended:
        told(key, pid, given)


def _key(layer: EffectLayer, actor: Actor) -> str:
    """Name a process by who starts it and when.

    The main program counts its reads, because a run that starts at a snapshot knows how many there
    were, and not how many processes; a thread or task is never started in its middle.
    """
    if actor is not layer.main:
        return actor.next_key("process")
    layer.flush()
    return f"{actor.key}/process:{actor.reads}"


def _seconds(timeout: float | None) -> float | None:
    return None if timeout is None else float(timeout)


def _print(printed: tuple[bytes, bytes]) -> None:
    for descriptor, data in zip((1, 2), printed, strict=True):
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]


def _governed_system(layer: EffectLayer, real: Callable[[Any], int]) -> Callable[[Any], int]:
    def system(command: Any) -> int:
        actor = layer.actor()
        asker = _getframe(1).f_code
        if actor is None or not layer.is_strict(asker):
            layer.count_ungoverned(ops.PROCESS_SYSTEM)
            return real(command)

        def run() -> tuple[int, tuple[bytes, bytes]]:
            options = {"stdout": None, "stderr": None}
            output = InheritedOutput(options)
            shell = _REAL(["/bin/sh", "-c", command], **output.connect(options))
            started.append(shell.pid)
            current_confinement().note_served(shell.pid)
            code = shell.wait()
            return (code << 8 if code >= 0 else -code), output.read(ended=True)

        def live() -> Outcome:
            return outside(outcome_of, run)  # type: ignore[no-any-return]

        started: list[int] = []
        key = _key(layer, actor)
        inherited = summarise_inherited(layer)
        words = layer.redaction.command(describe_word(command))
        question = (words, inherited) if inherited else (words,)
        status, printed = given(layer.read(actor, ops.PROCESS_SYSTEM, live, question))
        _tell_of_end(layer, key, started[0] if started else None)
        _print(printed)
        return int(status)

    return system
