"""Inside a session's process: load the program, call it, and describe how it ended.

The order is the promise: streams and effects first, then interception, then the user's module is
imported (construction is tick -1), then the program runs, then the last compare-point is taken,
then the patches are undone.

Invariant: however the program ends, the session is finished exactly once, by this process alone.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import inspect
import os
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any, NoReturn

from twice.errors import Deadlock, Livelock, ProgramNotFound, PropertyViolated, TwiceError
from twice.foundation import source_files
from twice.foundation.printable import pluralize
from twice.foundation.with_blocks import gc_paused
from twice.recorder import user_code
from twice.recorder.audit import hook
from twice.recorder.audit.hook import Watch
from twice.recorder.audit.inventory import covered_sources, whole_inventory
from twice.recorder.auto_steps import AutoSteps
from twice.recorder.effects.actors import outside
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.ops import CALL
from twice.recorder.environment.fingerprint import numerics_at_end, settings_at_end
from twice.recorder.environment.libraries import list_imported_libraries
from twice.recorder.environment.process_start import call_at_one_depth, same_descriptors
from twice.recorder.environment.varied_numerics import read_kernels
from twice.recorder.interception import Interception
from twice.recorder.interrupts import Interrupts, Terminated
from twice.recorder.kernel.confinement import current
from twice.recorder.main_module import is_twice_code, restart_logging, run_main, show_exception
from twice.recorder.native_files import write_native_files
from twice.recorder.output import RESULTS
from twice.recorder.program import PathNames, load, takes_run
from twice.recorder.run import Run, enter_session, leave_session
from twice.recorder.session import Session
from twice.recorder.states import ORDERS, digest_orders
from twice.worker.process import NESTED as SCRATCH

_TRACE_LINES_MAX = 50
_UNMET_SHOWN_MAX = 5
_MESSAGE_MAX = 2000
WENT_UNHEARD = "was raised where nobody waits for it"
_FORKED = (
    "the program forked: what its child processes read from the world is not recorded, "
    "and what they print after it ended is not part of the run"
)


@contextmanager
def govern(session: Session) -> Iterator[Run]:
    """Govern this process for one session: globals seeded, sources patched, forks of a run with a record disowned."""
    # numpy's global generator is a column from the first point on, in every kind of session: it must
    # not depend on whether something of ours happened to load numpy before.
    importlib.import_module("numpy.random")
    setup, wiring = session.setup, session.wiring
    layer, in_force = wiring.layer, wiring.in_force
    enter_session(session)
    if in_force.generators:
        wiring.streams.govern_globals()
    files = Files(
        layer,
        PathNames(setup.program),
        policy=setup.files,
        file_policies=setup.file_policies,
        algorithm=setup.algorithm,
        contents=wiring.contents,
        scratch=os.environ.get(SCRATCH, ""),
        resumed=wiring.resume is not None,
        was_supervised=wiring.was_supervised,
    )
    interception = Interception(files, session.clock, lambda: session.tick, setup.records_loop)
    if layer.writes or not layer.live:  # there is a record that a child must not touch
        _disown_on_fork(session, interception)
    covered = covered_sources(
        is_recording=layer.live and layer.writes, was_supervised=wiring.was_supervised
    )
    watch = Watch(wiring.inventory, setup.program, wiring.refuse, layer.owned_descriptors, covered)
    wiring.inventory.allowed = setup.allow
    layer.remarks = session.caveats
    layer.owners.has_processes = wiring.inventory.has_repeated
    if in_force.reads:
        interception.install()
    if in_force.watch:
        layer.beside, layer.descriptors = watch.count_ungoverned, watch
        hook.begin(watch)
    session.caveats += [f"the session was run without its {name}" for name in in_force.missing()]
    session.caveats += [
        f"{name} was bound before the session: reads through it are not governed"
        for name in interception.late_aliases()
    ]
    layer.thread_ended.append(session.guard.at_thread_end)
    try:
        session.guard.begin(is_recording=layer.writes)
        with _govern_loops(session):
            yield Run(session)
    finally:
        session.guard.end()
        hook.end()
        interception.close()
        wiring.streams.release_globals()
        leave_session(session)


def _govern_loops(session: Session) -> AbstractContextManager[None]:
    """Record the program's event loops, or give them their schedule, if either is asked for."""
    if not session.setup.governs_loop:
        return nullcontext()
    from twice.recorder.foreign_loops import govern_all_loops

    return govern_all_loops(session)


def execute(
    session: Session,
    describe: Callable[[], Mapping[str, object]],
    *,
    begin: Callable[[], None] | None = None,
    leave: Callable[[Mapping[str, Any]], object] | None = None,
) -> dict[str, Any]:
    """Run a fresh session's program to its end, finish the session, and return the ending.

    Called last, ``describe`` returns the members of the ending besides how the program ended. ``begin`` is called when
    everything is governed, right before the program is loaded. Where the program leaves by ``os._exit``, ``leave`` is
    called with the ending, and the process ends after it; None lets it die there.

    Raises:
        TwiceError: a refusal of ours that the program did not handle; the session is finished.
    """
    is_whole = session.setup.program.whole
    interrupts = Interrupts(lambda: session.point_count)
    interrupts.install(ends=session.wiring.layer.live)
    restart_logging()
    with govern(session) as run:
        steps = AutoSteps(session)

        def close(ending: dict[str, Any]) -> tuple[dict[str, Any], BaseException | None]:
            interrupts.end()
            steps.finish()
            if os.getpid() != session.owner:
                # A process that the program forked ends as its interpreter would, without our ending.
                _flush_output()
                os._exit(int(ending["exit_code"] or 0))
            if interrupts.first_at is not None:
                ending["interrupted_at_point"] = interrupts.first_at
            return finish(session, ending, describe)

        if leave is not None and is_whole:
            _close_on_exit(
                session, lambda code: leave(close({"how": "exit", "exit_code": code})[0])
            )
        if is_whole and session.setup.auto_points:
            steps.watch()
        raised: BaseException | None = None
        try:
            if begin is not None:
                begin()
            with same_descriptors():
                program = partial(call_program, session, run)
                session.results.returned = call_at_one_depth(program)
        except BaseException as error:  # noqa: BLE001  (the program may raise anything)
            raised = error
        if session.schedule is not None:
            gc.collect()  # tasks that failed unheard say so when they are collected
        ending = conclude(session, raised)
        refusal = raised if is_refusal(raised) else None
        # As the interpreter does after a program's end: output and writes of this time count.
        for step in (threading._shutdown, atexit._run_exitfuncs):  # type: ignore[attr-defined]
            try:
                step()
            except BaseException:  # noqa: BLE001  (an interrupt ends the waiting, as it does there)
                traceback.print_exc()
        ending, problem = close(ending)
    interrupts.remove()
    if refusal is not None:
        raise refusal
    if isinstance(problem, TwiceError):
        raise problem
    return ending


def call_program(session: Session, run: Run) -> object:
    """Load the program and call it; return what it returned."""
    # Where finalisers run in a simulated loop must not follow from how much was allocated before.
    with gc_paused() if session.schedule is not None else nullcontext():
        program = session.setup.program
        if program.whole:
            run_main(program, run.caveat)
            return None
        # How the session's process was started is none of the program's business, and differs by mode.
        sys.argv = [str(program.path()) if program.kind == "function" else program.target]
        function = load(program, is_async=session.setup.governs_loop)
        if not inspect.iscoroutinefunction(function):
            return function(run)
        import asyncio

        return asyncio.run(function(run) if takes_run(function) else function())


def is_refusal(error: BaseException | None) -> bool:
    """Return whether an error is of ours, and not what a simulated loop found out about the program."""
    return isinstance(error, TwiceError) and not isinstance(
        error, Deadlock | Livelock | PropertyViolated
    )


def conclude(session: Session, raised: BaseException | None) -> dict[str, Any]:
    """Return how the program ended; print its last words as its own process would."""
    if raised is None:
        return {"how": "completed", "exit_code": 0}
    if is_refusal(raised):
        return describe_failure("refused", raised, 2)
    if isinstance(raised, SystemExit):
        code = 0 if raised.code is None else raised.code
        if not isinstance(code, int):
            sys.stderr.write(f"{code}\n")  # a text, as the interpreter prints it
            code = 1
        return {"how": "exit", "exit_code": int(code)}  # of an enumeration, where one was given
    if isinstance(raised, KeyboardInterrupt):
        if session.setup.program.whole:
            show_exception(raised)
        return describe_failure("interrupted", raised, 130)
    if isinstance(raised, Terminated):
        return describe_failure("interrupted", raised, 128 + raised.number)
    show_exception(raised)
    return describe_failure("exception", raised, 1)


def _close_on_exit(session: Session, close: Callable[[int], object]) -> None:
    """Let ``os._exit`` end the session first: without exit handlers, and nothing flushed."""
    real = os._exit
    main = threading.get_ident()

    def leave_at_once(status: int) -> NoReturn:
        is_own = os.getpid() == session.owner and threading.get_ident() == main
        if is_own and not is_twice_code(sys._getframe(1).f_code):
            os._exit = real
            sys.stdout = sys.stderr = None
            outside(close, status)  # its reads are not the program's
        real(status)

    os._exit = leave_at_once


def finish(
    session: Session, ending: dict[str, Any], describe: Callable[[], Mapping[str, object]]
) -> tuple[dict[str, Any], BaseException | None]:
    """Finish the session: last point, ending, close.

    Returns the whole ending, and the error of finishing a program that had not failed before. A record whose end cannot
    be written raises E-OUTPUT-002.
    """
    problem = session.end()
    hook.finish(declared=CALL.number in session.wiring.layer.counts)
    if ending["how"] not in {"completed", "exit"}:
        problem = None  # one way to end is enough
    elif isinstance(problem, TwiceError):
        ending = describe_failure("refused", problem, 2)
    elif problem is not None:
        traceback.print_exception(problem)
        ending = describe_failure("exception", problem, 1)
    if left := current().count_running_served():
        session.caveats.append(
            f"{pluralize(left, 'started process was', 'started processes were')} still running when the program "
            "ended: the record holds nothing that happened there afterwards"
        )
    native = write_native_files(session, current().collect())
    redaction = session.wiring.layer.redaction
    session.caveats = redaction.value(session.caveats, "ending")
    results = session.results.describe(session.setup.algorithm)
    orders = outside(digest_orders, session.points.components, session.setup.algorithm)
    whole = {**ending, **describe(), "native_files": native, RESULTS: results, ORDERS: orders}
    return session.close(redaction.value(whole, "ending")), problem


def name_type(error: BaseException) -> str:
    """Return the full name of an error's class; of a built-in one the name alone."""
    kind = type(error)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def describe_unheard(error: BaseException) -> str:
    """Describe an error of a task or a callback that nobody waited for."""
    return f"{name_type(error)} {WENT_UNHEARD}: {error}"


def describe_failure(how: str, error: BaseException, code: int) -> dict[str, Any]:
    """Describe the ending of a program that raised."""
    frames = [
        {"file": frame.filename, "line": frame.lineno or 0, "function": frame.name}
        for frame in traceback.extract_tb(error.__traceback__)
        if source_files.is_user_file(frame.filename)
    ]
    # Printed, not ``str``: a message's own ``__str__`` may fail, or give text that UTF-8 cannot encode.
    text = "".join(traceback.format_exception_only(error)).strip()
    text = text.removeprefix(f"{type(error).__module__}.").removeprefix(type(error).__qualname__)
    text = text.removeprefix(":").strip()[:_MESSAGE_MAX]
    return {
        "how": how,
        "exit_code": code,
        "exception": {
            "type": f"{type(error).__module__}.{type(error).__qualname__}",
            "message": text.encode("utf-8", "backslashreplace").decode(),
            "frames": frames[-_TRACE_LINES_MAX:],
        },
    }


def describe_ending(session: Session) -> dict[str, object]:
    """Describe a run that is over: manifest, streams, source files and configuration keys."""
    setup, wiring, components = session.setup, session.wiring, session.points.components
    if session.schedule is not None and (unmet := session.schedule.list_unmet()):
        session.caveats.append(
            f"{pluralize(len(unmet), 'order')} between steps never came about: {', '.join(unmet[:_UNMET_SHOWN_MAX])}"
        )
    if session.schedule is not None:
        session.caveats += map(describe_unheard, session.schedule.unheard)
    session.caveats += outside(session.guard.list_late)
    session.caveats += outside(session.guard.list_varying)
    tasks = {} if session.schedule is None else session.schedule.tasks
    manifest = wiring.layer.manifest()
    folder = setup.program.folder()
    files = [*user_code.list_user_modules(), *user_code.list_user_modules(".pyc")]
    files += user_code.list_linked_modules(folder)
    if setup.program.is_file:
        with suppress(ProgramNotFound):  # It may be gone by now; the identity has its digest.
            files.append(setup.program.path())
    within = {**session.tolerances, **session.compared_within}
    tolerances = {name: own.to_json() for name, own in sorted(within.items())}
    names: dict[int, list[str]] = {}
    for name, component in components.items():
        names.setdefault(id(component.target), []).append(name)
    tracked_twice = [each for each in names.values() if len(each) > 1]
    return {
        "ticks": session.tick + 1,
        "points": session.point_count,
        "effects": manifest,
        "inventory": whole_inventory(wiring.inventory, manifest, setup, os.environ),
        "streams": wiring.streams.ledger(),
        "globals_used": wiring.streams.globals_used(),
        "components": {name: component.form for name, component in components.items()},
        **({"tracked_twice": tracked_twice} if tracked_twice else {}),
        **({"tolerances": tolerances} if tolerances else {}),
        "files": user_code.digest_sources(dict.fromkeys(files), folder.resolve()),
        "imported": list_imported_libraries(),
        "config_unread": session.config.keys_unread,
        "printed": wiring.output.summary(),
        "settings": {**settings_at_end(), **outside(read_kernels)},
        "lineages": dict(sorted({**wiring.layer.main.started, **tasks}.items())),
        "numerics": {**outside(numerics_at_end), **session.guard.describe()},  # no reads of the run
    }


def _flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.flush()


def _disown_on_fork(session: Session, interception: Interception) -> None:
    """Stop a forked child from writing this record, and from being served from it."""
    # Python has no way to take such a hook back: it must not keep a session alive.
    session_ref, interception_ref = weakref.ref(session), weakref.ref(interception)

    def find_owned() -> Session | None:
        held = session_ref()
        return held if held is not None and held.owner == os.getpid() else None

    def disown_child() -> None:
        inherited, patches = session_ref(), interception_ref()
        if inherited is not None:
            inherited.disown()
            hook.end()
        if patches is not None:
            patches.close()

    def flush_first() -> None:
        if find_owned() is not None:  # a child must not print its parent's output a second time
            _flush_output()

    def note_fork() -> None:
        owned = find_owned()
        if owned is not None and owned.setup.program.whole and _FORKED not in owned.caveats:
            owned.caveats.append(_FORKED)

    os.register_at_fork(before=flush_first, after_in_child=disown_child, after_in_parent=note_fork)
