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

from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.origin import asker_of, files_behind, files_of
from twice.recorder.effects.outcomes import given, outcome_of
from twice.recorder.effects.patches import Patch
from twice.recorder.user_code import is_ours

Made = Callable[[Any], Any]
"""Makes the value that the program is given from the plain one that the record holds."""


def _unchanged(value: Any) -> Any:
    return value


# By name, because not every platform and version has all of them; with the plain form, and what is made of it.
_OF_OS: dict[ops.Op, tuple[Made, Made]] = {
    ops.CWD: (_unchanged, _unchanged),
    ops.UNAME: (tuple, os.uname_result),
    ops.LOGIN: (_unchanged, _unchanged),
    ops.CPU_COUNT: (_unchanged, _unchanged),
    ops.PROCESS_CPU_COUNT: (_unchanged, _unchanged),
    ops.LOAD: (tuple, tuple),
    ops.TIMES: (tuple, os.times_result),
    ops.UID: (_unchanged, _unchanged),
    ops.EFFECTIVE_UID: (_unchanged, _unchanged),
    ops.GID: (_unchanged, _unchanged),
    ops.EFFECTIVE_GID: (_unchanged, _unchanged),
}


def patches(layer: EffectLayer) -> list[Patch]:
    """Return the patches of ``os``'s functions for a session."""
    rows = [
        _row(layer, os, op, plain, made)
        for op, (plain, made) in _OF_OS.items()
        if hasattr(os, _name(op))
    ]
    return [*rows, _address(layer), *_processes(layer), *_affinity(layer)]


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


def governed(
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
    plain: Made = _unchanged,
    made: Made = _unchanged,
) -> Patch:
    name = _name(op)
    real = getattr(module, name)

    def live() -> object:
        return outcome_of(lambda: plain(real()))

    def read() -> Any:
        return made(given(governed(layer, op, live, asked_by(_getframe(1)))))

    # The probe keeps what is raised: a machine may have no answer (nobody is logged in).
    return Patch(module, name, read, outcome_of)


def _name(op: ops.Op) -> str:
    return op.name.removeprefix("environment.")


def _address(layer: EffectLayer) -> Patch:
    """Patch ``uuid.getnode``: without a network a replay has no cards, and would invent an address.

    Without a probe, because it may have to start a process to know.
    """
    real = uuid.getnode

    def getnode() -> int:
        live = lambda: outside(real)  # noqa: E731
        address = governed(layer, ops.MACHINE_ADDRESS, live, asked_by(_getframe(1)))
        assert isinstance(address, int), "an address is a number of 48 bits"
        return address

    return Patch(uuid, "getnode", getnode)


def _processes(layer: EffectLayer) -> list[Patch]:
    """Patch process numbers: a program sees the recorded ones, and calls act on the real ones."""
    meant: dict[int, int] = {}
    own: list[int] = []

    def told_to_library(live: Callable[[], int]) -> int:
        if layer.actor() is None:
            return live()
        if not own:
            own.append(int(layer.fact(ops.OWN_PID, "", live, needed=False)))
        return own[0]

    rows = []
    for op, name in ((ops.PID, "getpid"), (ops.PARENT_PID, "getppid")):
        real = getattr(os, name)

        def read(op: ops.Op = op, real: Callable[[], int] = real) -> int:
            asker = asked_by(_getframe(1))
            if is_ours(asker.co_filename) and not layer.probing:
                return real()
            if op is ops.PID and not layer.is_strict(asker):
                told: object = told_to_library(real)
            else:
                told = given(governed(layer, op, lambda: outcome_of(real), asker))
            assert isinstance(told, int), "a process has a number"
            if layer.actor() is not None and told != (now := real()):
                meant[told] = now
            return told

        rows.append(Patch(os, name, read, call))
    real_kill = os.kill

    def kill(pid: int, signal: int, /) -> None:
        # In replay the number is that of another process by now, a stranger's.
        real_kill(meant.get(pid, pid), signal)

    return [*rows, Patch(os, "kill", kill)]


def _affinity(layer: EffectLayer) -> list[Patch]:
    real = getattr(os, "sched_getaffinity", None)
    if real is None:  # Linux alone has it
        return []

    def sched_getaffinity(pid: int, /) -> set[int]:
        def live() -> object:
            return outcome_of(lambda: tuple(sorted(real(pid))))

        told = governed(layer, ops.AFFINITY, live, asked_by(_getframe(1)), int(pid))
        return set(given(told))

    return [Patch(os, "sched_getaffinity", sched_getaffinity, lambda read: read(0))]


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
