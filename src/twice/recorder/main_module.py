"""Run a whole program as Python runs it: a script, or a module with ``-m``.

``sys.argv``, ``sys.path[0]`` and the module ``__main__`` are what Python would have made, and stay so
until the program's exit handlers have run. What is printed of an exception that ends it is what
Python prints: the frames that called the program, and those in between that are ours, are left out.

What differs: ``sys.orig_argv`` and ``sys.flags.safe_path`` are those of the session's process, modules
that a session has loaded before are found before files of the same name beside the program (named
as a caveat), a module run with ``-m`` is not preceded by the frames of ``runpy`` in a traceback, and the
``relativeCreated`` of ``logging`` counts from the first message, not from the import of ``logging``.

Invariant: the program's code sees no name of ours in its namespace.
"""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

from twice.errors import ProgramNotFound
from twice.recorder.effects.actors import outside
from twice.recorder.program import Program

_PACKAGE = str(Path(__file__).parents[1]) + os.sep


class _FirstMessageTime:
    """The time of the first message, in place of the time at which ``logging`` was loaded."""

    def __init__(self) -> None:
        self._first: float | None = None

    def __rsub__(self, created: float) -> float:
        if self._first is None:
            self._first = created
        return created - self._first


def restart_logging() -> None:
    """Let ``logging`` count from the first message of the program."""
    # A session loads ``logging`` before the program, at a time that no replay repeats.
    if "logging" in sys.modules:
        sys.modules["logging"]._startTime = _FirstMessageTime()  # type: ignore[attr-defined]


def run_main(program: Program, caveat: Callable[[str], None]) -> None:
    """Execute a whole program in the module ``__main__``; raises whatever it raises.

    A program without its file is E-PROGRAM-001. ``caveat`` takes a fact that the verdict on the run should mention.
    """
    module = ModuleType("__main__")
    # The module that a session's process began with keeps running below.
    sys.modules["__main__"] = module
    module.__dict__.update(__annotations__={}, __builtins__=builtins)
    if program.kind == "script":
        target = program.path()
        typed = os.path.join(program.folder(), program.typed)  # noqa: PTH118  (links and dots stay)
        path = typed if program.typed and Path(typed).is_file() else str(target)
        sys.argv = [program.typed or str(target), *program.arguments]
        sys.path.insert(0, str(target.parent))
        loader = SourceFileLoader("__main__", path)
        module.__dict__.update(__file__=path, __cached__=None, __loader__=loader)
        code = compile(outside(target.read_bytes), path, "exec", dont_inherit=True)
    else:
        code = _prepare_module(program, module)
    for name in _list_hidden(sys.path[0]):
        caveat(f"{name} is not what `import` finds: a session had loaded that module before")
    exec(code, module.__dict__)  # noqa: S102  (running it is what a session is for)


def _list_hidden(folder: str) -> list[str]:
    """Return modules in a folder that its programs do not reach: another has the name already."""
    try:
        names = outside(os.listdir, folder)
    except OSError:
        return []
    return [
        entry
        for entry in sorted(names)
        if (name := entry.removesuffix(".py")) in sys.modules
        and name != "__main__"
        and (entry != name or outside(Path(folder, entry, "__init__.py").is_file))
        and not os.path.realpath(getattr(sys.modules[name], "__file__", None) or os.sep).startswith(
            os.path.realpath(folder) + os.sep
        )
    ]


def show_exception(error: BaseException) -> None:
    """Print the program's last exception as its own process would: with its hook, without our frames."""
    _clean_tracebacks(error, [])
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    hook = sys.excepthook
    trace = error.__traceback__
    if hook is sys.__excepthook__:
        outside(hook, type(error), error, trace)
        return
    try:
        hook(type(error), error, trace)
    except BaseException as another:  # noqa: BLE001  (a hook may raise anything; Python says both)
        sys.stderr.write("Error in sys.excepthook:\n")
        another.__traceback__ = _clean_trace(another.__traceback__)
        outside(sys.__excepthook__, type(another), another, another.__traceback__)
        sys.stderr.write("\nOriginal exception was:\n")
        outside(sys.__excepthook__, type(error), error, trace)


def is_twice_code(code: CodeType) -> bool:
    """Return whether code belongs to this package."""
    return code.co_filename.startswith(_PACKAGE)


def _clean_trace(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package."""
    kept = []
    # In a loop: the trace of a RecursionError is as deep as recursion goes.
    while trace is not None:
        if not is_twice_code(trace.tb_frame.f_code):
            kept.append(trace)
        trace = trace.tb_next
    below: TracebackType | None = None
    for each in reversed(kept):
        below = TracebackType(below, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return below


def _clean_tracebacks(error: BaseException | None, seen: list[int]) -> None:
    """Clean an exception, those behind it and those in it."""
    if error is None or id(error) in seen:
        return
    seen.append(id(error))
    error.__traceback__ = _clean_trace(error.__traceback__)
    _clean_tracebacks(error.__cause__, seen)
    _clean_tracebacks(error.__context__, seen)
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            _clean_tracebacks(inner, seen)


def _prepare_module(program: Program, module: ModuleType) -> CodeType:
    sys.path.insert(0, str(program.folder().resolve()))
    sys.argv = ["-m", *program.arguments]
    spec = _find_spec(program.target)
    if spec.submodule_search_locations is not None:
        spec = _find_spec(f"{program.target}.__main__")
    get_code = getattr(spec.loader, "get_code", None)
    code = None if get_code is None else outside(get_code, spec.name)
    if code is None:
        raise ProgramNotFound(
            f"{program.target} cannot be executed: its loader gives no code.",
            "Expected a module written in Python.",
            "Name a module, or give the path of a script.",
            target=program.target,
        )
    module.__dict__.update(
        __file__=spec.origin,
        __cached__=spec.cached,
        __loader__=spec.loader,
        __package__=spec.parent,
        __spec__=spec,
    )
    sys.argv[0] = str(spec.origin)
    return code  # type: ignore[no-any-return]


def _find_spec(name: str) -> ModuleSpec:
    """Find a module as ``-m`` does: its packages are imported, and may raise."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        spec = None
    if spec is None:
        raise ProgramNotFound(
            f"There is no module {name}.",
            "Expected a module that can be imported from the program's folder.",
            "Install it, or run from the folder that it was moved to.",
            target=name,
        )
    return spec
