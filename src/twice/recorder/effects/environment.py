"""The surroundings that a program asks for: where it runs, as whom, on which machine.

Covered, asked by user code: ``os.getcwd`` (also through ``os.path`` and ``pathlib``), ``getpid``,
``getppid``, ``getlogin``, ``uname``, ``cpu_count``, ``process_cpu_count``, ``sched_getaffinity``,
``getloadavg``, ``times``, the user's and group's numbers; ``getpass.getuser``,
``socket.gethostname``, ``platform.node``, ``uuid.getnode``, ``resource.getrusage``; the processor that ``platform``
asks ``uname -p`` for. The variables are ``environ``'s. ``os.kill`` takes the process number that the program was
told and reaches the process that it meant.

The standard library's and installed packages' own reads ask the real machine and are not written
down: they work with what there is (pools by processor count). One is recorded for them too, the number of the
process: it stands in lock files, in logged lines and in the names of files under ``/proc``.

Not covered: ``os.getcwdb``, ``platform.uname``, the names that ``posix`` has itself, what C code asks of a process
by its number (``psutil`` does, besides the files under ``/proc``). Limits (``getrlimit``) are the machine's and stay
as they are. A process that the program forks is told its
own. Where a program was moved, the folder served is the recorded one: files below it are looked for there.

Invariant: recording returns what the machine gave, and an exception is a result like another.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping
from operator import call
from pathlib import Path
from sys import _getframe
from types import CodeType, FrameType, ModuleType
from typing import Any

from twice.foundation.source_files import is_ours
from twice.recorder.effects import ops
from twice.recorder.effects.actors import asker_of, files_behind, files_of, outside
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.outcomes import given, outcome_of
from twice.recorder.effects.patches import Patch

Made = Callable[[Any], Any]
"""Makes the value that the program is given from the plain one that the record holds."""


def _identity(value: Any) -> Any:
    return value


# By name, because not every platform and version has all of them; with the plain form, and what is made of it.
_OF_OS: dict[ops.Op, tuple[Made, Made]] = {
    ops.CWD: (_identity, _identity),
    ops.UNAME: (tuple, os.uname_result),
    ops.LOGIN: (_identity, _identity),
    ops.CPU_COUNT: (_identity, _identity),
    ops.PROCESS_CPU_COUNT: (_identity, _identity),
    ops.LOAD: (tuple, tuple),
    ops.TIMES: (tuple, os.times_result),
    ops.UID: (_identity, _identity),
    ops.EFFECTIVE_UID: (_identity, _identity),
    ops.GID: (_identity, _identity),
    ops.EFFECTIVE_GID: (_identity, _identity),
    ops.AFFINITY: (lambda found: tuple(sorted(found)), set),
}


def patches(layer: EffectLayer) -> list[Patch]:
    """Return the patches of ``os``'s functions for a session."""
    rows = [
        _row(layer, os, op, plain, made)
        for op, (plain, made) in _OF_OS.items()
        if hasattr(os, _name(op))
    ]
    return [*rows, _address(layer), *_processes(layer)]


def user_patches(layer: EffectLayer, module: ModuleType) -> list[Patch]:
    """Return the patches of ``getpass``, once it is loaded."""
    return [_row(layer, module, ops.USER)]


def socket_patches(layer: EffectLayer, module: ModuleType) -> list[Patch]:
    """Return the patches of ``socket``, once it is loaded."""
    return [_row(layer, module, ops.HOSTNAME)]


def resource_patches(layer: EffectLayer, resource: Any) -> list[Patch]:
    """Return the patches of ``resource``, once it is loaded."""
    real: Callable[[int], Any] = resource.getrusage

    def getrusage(who: int, /) -> Any:
        asker = _getframe(1).f_code
        answer = layer.ask(ops.RUSAGE, lambda: tuple(real(who)), asker, int(who))
        return resource.struct_rusage(answer)

    return [Patch(resource, "getrusage", getrusage, lambda read: read(resource.RUSAGE_SELF))]


def platform_patches(layer: EffectLayer, module: ModuleType) -> list[Patch]:
    """Return the patches of ``platform``, once it is loaded."""
    # Not public: ``platform()``, ``processor()`` and a field of ``uname()`` all start ``uname -p`` by it.
    kind = module._Processor
    real = kind.from_subprocess

    def from_subprocess() -> Any:
        return given(layer.fact(ops.PROCESSOR, "", lambda: outside(outcome_of, real), needed=False))

    return [
        _row(layer, module, ops.NODE),
        Patch(kind, "from_subprocess", staticmethod(from_subprocess)),
    ]


def asked_by(frame: FrameType) -> CodeType:
    """Return the code that asks for surroundings, behind ``os.path``, ``pathlib`` and the like."""
    return asker_of(frame, _WRAPPERS)


def answer(
    layer: EffectLayer,
    op: ops.Op,
    live: Callable[[], object],
    asker: CodeType,
    arguments: object = None,
) -> Any:
    """Answer a read of the surroundings; libraries get the real ones."""
    if not layer.is_strict(asker):
        return live()
    return layer.ask(op, live, asker, arguments)


def _row(
    layer: EffectLayer,
    module: ModuleType,
    op: ops.Op,
    plain: Made = _identity,
    made: Made = _identity,
) -> Patch:
    name = _name(op)
    real = getattr(module, name)

    def read(*of: int) -> Any:
        live = lambda: outcome_of(lambda: plain(real(*of)))  # noqa: E731
        arguments = int(*of) if op.arguments else None
        return made(given(answer(layer, op, live, asked_by(_getframe(1)), arguments)))

    def probe(read: Callable[..., object]) -> None:
        # It keeps what is raised: a machine may have no answer (nobody is logged in).
        outcome_of(read, *([0] if op.arguments else []))

    return Patch(module, name, read, probe)


def _name(op: ops.Op) -> str:
    return op.name.removeprefix("environment.")


def _address(layer: EffectLayer) -> Patch:
    """Patch ``uuid.getnode``: without a network a replay has no cards, and would invent an address.

    Without a probe, because it may have to start a process to know.
    """
    real = uuid.getnode

    def getnode() -> int:
        live = lambda: outside(real)  # noqa: E731
        return int(answer(layer, ops.MACHINE_ADDRESS, live, asked_by(_getframe(1))))

    return Patch(uuid, "getnode", getnode)


def _processes(layer: EffectLayer) -> list[Patch]:
    """Patch process numbers: a program sees the recorded ones, and calls act on the real ones."""
    meant: dict[int, int] = {}
    own: list[int] = []
    real_kill = os.kill

    def tell_library(live: Callable[[], int]) -> int:
        if layer.actor() is None:
            return live()
        if not own:
            own.append(int(layer.fact(ops.OWN_PID, "", live, needed=False)))
        return own[0]

    def governed_number(op: ops.Op) -> Patch:
        real = getattr(os, _name(op))

        def read() -> int:
            asker = asked_by(_getframe(1))
            if is_ours(asker.co_filename) and not layer.probing:
                return int(real())
            if op is ops.PID and not layer.is_strict(asker):
                told = tell_library(real)
            else:
                told = int(given(answer(layer, op, lambda: outcome_of(real), asker)))
            if layer.actor() is not None and told != (now := real()):
                meant[told] = now
            return told

        return Patch(os, _name(op), read, call)

    def kill(pid: int, signal: int, /) -> None:
        # In replay the number is that of another process by now, a stranger's.
        real_kill(meant.get(pid, pid), signal)

    numbers = [governed_number(ops.PID), governed_number(ops.PARENT_PID)]
    groups = [_group(layer, op) for op in (ops.GROUP, ops.GROUP_OF, ops.SESSION_OF)]
    return [*numbers, *groups, Patch(os, "kill", kill)]


def _group(layer: EffectLayer, op: ops.Op) -> Patch:
    """Patch a function that names a group of processes, or their session: in a replay both are others."""
    real = getattr(os, _name(op))

    def read(*of: int) -> int:
        live = lambda: outcome_of(real, *of)  # noqa: E731
        if not layer.is_strict(asked_by(_getframe(1))):
            return int(real(*of))
        # A record of an earlier version has none: its replay asks the world.
        return int(given(layer.fact(op, of, live, needed=False)))

    return Patch(os, _name(op), read)


_WRAPPERS = (
    files_of(os.getenv, os.path.expandvars, os.path.abspath, Mapping.get)
    | files_behind(Path)
    | {
        str(Path(os.__file__).parent / name)
        # make_msgid puts the process number into a text that the program sends.
        for name in ("multiprocessing/context.py", "email/utils.py")
    }
)
"""Files of Python code that asks on behalf of its caller."""
