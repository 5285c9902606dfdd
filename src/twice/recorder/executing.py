"""Inside a session's process: load the program, call it, and say how it ended.

The order is the promise: streams and effects first, then interception, then the user's module is
imported (construction is tick -1), then the program runs, then the last compare-point is taken,
then the patches are undone.

Invariant: however the program ends, the session is finished exactly once, by this process alone.
"""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NoReturn

from twice.errors import TwiceError
from twice.foundation.printable import pluralize
from twice.recorder import active
from twice.recorder.audit import hook
from twice.recorder.audit.hook import Watch
from twice.recorder.audit.inventory import covered_sources
from twice.recorder.auto_steps import AutoSteps
from twice.recorder.effects.actors import outside
from twice.recorder.effects.files.making import files_of_session
from twice.recorder.effects.ops import CALL
from twice.recorder.environment.process_start import call_at_one_depth, same_descriptors
from twice.recorder.interception import Interception
from twice.recorder.interrupts import Interrupts, Terminated
from twice.recorder.kernel.confinement import current
from twice.recorder.mainprogram import is_ours, restart_logging, run_main, show_exception
from twice.recorder.native_files import write_native_files
from twice.recorder.ordering import ORDERS, digest_orders
from twice.recorder.placing import Placing
from twice.recorder.program import Program, is_user_file, load
from twice.recorder.results import RESULTS
from twice.recorder.run import Run
from twice.recorder.session import Session
from twice.worker.process import NESTED as SCRATCH

_TRACE_LINES_MAX = 50
_MESSAGE_MAX = 2000


@contextmanager
def governed(session: Session) -> Iterator[Run]:
    """Govern this process for one session: globals seeded, sources patched, forks disowned."""
    # numpy's global generator is a column from the first point on, in every kind of session: it must
    # not depend on whether something of ours happened to load numpy before.
    importlib.import_module("numpy.random")
    layer, in_force = session.wiring.layer, session.wiring.in_force
    active.enter(session)
    if in_force.generators:
        session.wiring.streams.govern_globals()
    placing = Placing(session.setup.program)
    files = files_of_session(
        layer,
        placing,
        policy=session.setup.files,
        file_policies=session.setup.file_policies,
        algorithm=session.setup.algorithm,
        contents=session.wiring.contents,
        scratch=os.environ.get(SCRATCH, ""),
        resumed=session.wiring.resume is not None,
        was_supervised=session.wiring.was_supervised,
    )
    interception = Interception(layer, session.setup.clock, lambda: session.tick, files)
    _disown_on_fork(session, interception)
    watch = Watch(
        session.wiring.inventory,
        session.setup.program,
        session.wiring.refuse,
        layer.owned_descriptors,
        covered_sources(
            is_recording=layer.live and layer.writes, was_supervised=session.wiring.was_supervised
        ),
    )
    session.wiring.inventory.allowed = session.setup.allow
    layer.remarks = session.caveats
    layer.owners.has_processes = session.wiring.inventory.has_repeated
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
    try:
        yield Run(session)
    finally:
        hook.end()
        interception.restore()
        session.wiring.streams.release_globals()
        active.leave(session)


def execute(
    session: Session,
    describe: Callable[[], Mapping[str, object]],
    *,
    begin: Callable[[], None] | None = None,
    leave: Callable[[Mapping[str, Any]], object] | None = None,
) -> dict[str, Any]:
    """Run the session's program to its end and finish the session.

    Args:
        session: fresh, not yet governed.
        describe: what the ending says besides how the program ended; called last.
        begin: called when everything is governed, right before the program is loaded.
        leave: called with the ending instead of returning it, where the program leaves by
            ``os._exit``; the process ends after it. None lets the process die there.

    Returns:
        The ending.

    Raises:
        TwiceError: a refusal of ours that the program did not handle; the session is finished.
    """
    interrupts = Interrupts(lambda: session.point_count)
    interrupts.install(ends=session.wiring.layer.live)
    restart_logging()
    with governed(session) as run:
        steps = AutoSteps(session)

        def over(ending: dict[str, Any]) -> tuple[dict[str, Any], BaseException | None]:
            interrupts.end()
            steps.finish()
            if os.getpid() != session.owner:
                _leave_fork(int(ending["exit_code"] or 0))
            if interrupts.first_at is not None:
                ending["interrupted_at_point"] = interrupts.first_at
            return finish(session, ending, describe)

        if leave is not None and session.setup.program.whole:
            _close_on_exit(session, lambda code: leave(over({"how": "exit", "exit_code": code})[0]))
        if session.setup.program.whole and session.setup.auto_points:
            steps.watch()
        raised: BaseException | None = None
        try:
            if begin is not None:
                begin()
            with same_descriptors():
                program = partial(_call, session.setup.program, run)
                session.results.returned = call_at_one_depth(program)
        except BaseException as error:  # noqa: BLE001  (the program may raise anything)
            raised = error
        ending = _ending(session, raised)
        refusal = raised if isinstance(raised, TwiceError) else None
        _wind_down()
        ending, problem = over(ending)
    interrupts.remove()
    if isinstance(refusal or problem, TwiceError):
        raise refusal or problem  # type: ignore[misc]
    return ending


def _ending(session: Session, raised: BaseException | None) -> dict[str, Any]:
    """Describe the program's ending; print its last words as its own process would."""
    if raised is None:
        return {"how": "completed", "exit_code": 0}
    if isinstance(raised, TwiceError):
        return failed("refused", raised, 2)
    if isinstance(raised, SystemExit):
        return {"how": "exit", "exit_code": _exit_code(raised)}
    if isinstance(raised, KeyboardInterrupt):
        if session.setup.program.whole:
            show_exception(raised)
        return failed("interrupted", raised, 130)
    if isinstance(raised, Terminated):
        return failed("interrupted", raised, 128 + raised.number)
    show_exception(raised)
    return failed("exception", raised, 1)


def _remark(session: Session, caveat: str) -> None:
    if caveat not in session.caveats:
        session.caveats.append(caveat)


def _close_on_exit(session: Session, close: Callable[[int], object]) -> None:
    """Let ``os._exit`` end the session first: without exit handlers, and nothing flushed."""
    real = os._exit
    main = threading.get_ident()

    def leave_at_once(status: int) -> NoReturn:
        asker = sys._getframe(1).f_code
        own = os.getpid() == session.owner and threading.get_ident() == main
        if own and not is_ours(asker):
            os._exit = real
            sys.stdout = sys.stderr = None
            outside(close, status)  # what it reads itself is not the program's
        real(status)

    os._exit = leave_at_once


def _call(program: Program, run: Run) -> object:
    if program.whole:
        run_main(program, run.caveat)
        return None
    # How the session's process was started is none of the program's business, and differs by mode.
    sys.argv = [str(program.path()) if program.kind == "function" else program.target]
    function = load(program)
    return function(run)


def _wind_down() -> None:
    """Act as the interpreter does after a program's end: output and writes of this time count."""
    for step in (threading._shutdown, atexit._run_exitfuncs):  # type: ignore[attr-defined]
        try:
            step()
        except BaseException:  # noqa: BLE001  (an interrupt ends the waiting, as it does there)
            traceback.print_exc()


def finish(
    session: Session, ending: dict[str, Any], describe: Callable[[], Mapping[str, object]]
) -> tuple[dict[str, Any], BaseException | None]:
    """Finish the session: last point, ending, close.

    Returns:
        The whole ending, and what went wrong while finishing a program that had not failed before.

    Raises:
        OutputUnwritable: E-OUTPUT-002, when the end of the record cannot be written.
    """
    problem = session.end()
    hook.finish(declared=CALL.number in session.wiring.layer.counts)
    if ending["how"] not in {"completed", "exit"}:
        problem = None
    elif isinstance(problem, TwiceError):
        ending = failed("refused", problem, 2)
    elif problem is not None:
        traceback.print_exception(problem)
        ending = failed("exception", problem, 1)
    if left := current().count_running_served():
        _remark(
            session,
            f"{pluralize(left, 'started process was', 'started processes were')} still running when the program "
            "ended: the record holds nothing that happened there afterwards",
        )
    native = write_native_files(session, current().collect())
    redaction = session.wiring.layer.redaction
    session.caveats = redaction.value(session.caveats, "ending")
    results = session.results.describe(session.setup.algorithm)
    orders = outside(digest_orders, session.points.components, session.setup.algorithm)
    whole = {**ending, **describe(), "native_files": native, RESULTS: results, ORDERS: orders}
    return session.close(redaction.value(whole, "ending")), problem


def _leave_fork(code: int) -> NoReturn:
    """End a process that the program forked, as its interpreter would, without our ending."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.flush()
    os._exit(code)


def _exit_code(error: SystemExit) -> int:
    """Return the exit code; print a text first, as the interpreter does."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return int(error.code)  # of an enumeration, where one was given
    sys.stderr.write(f"{error.code}\n")
    return 1


def failed(how: str, error: BaseException, code: int) -> dict[str, Any]:
    """Describe the ending of a program that raised."""
    frames = [
        {"file": frame.filename, "line": frame.lineno or 0, "function": frame.name}
        for frame in traceback.extract_tb(error.__traceback__)
        if is_user_file(frame.filename)
    ]
    return {
        "how": how,
        "exit_code": code,
        "exception": {
            "type": f"{type(error).__module__}.{type(error).__qualname__}",
            "message": _message(error),
            "frames": frames[-_TRACE_LINES_MAX:],
        },
    }


def _message(error: BaseException) -> str:
    """Return an exception's message; its own ``__str__`` may fail, or give text that UTF-8 cannot encode."""
    text = "".join(traceback.format_exception_only(error)).strip()
    text = text.removeprefix(f"{type(error).__module__}.").removeprefix(type(error).__qualname__)
    text = text.removeprefix(":").strip()
    return text[:_MESSAGE_MAX].encode("utf-8", "backslashreplace").decode()


def _disown_on_fork(session: Session, interception: Interception) -> None:
    """Stop a forked child from writing this record, and from being served from it."""
    session_ref, interception_ref = weakref.ref(session), weakref.ref(interception)

    def after_in_child() -> None:
        inherited, patches = session_ref(), interception_ref()
        if inherited is not None:
            inherited.disown()
            hook.end()
        if patches is not None:
            patches.restore()

    def before() -> None:
        """Flush the output: it is the parent's, and a child must not print it a second time."""
        owned = session_ref()
        if owned is not None and owned.owner == os.getpid():
            for stream in (sys.stdout, sys.stderr):
                with suppress(AttributeError, ValueError, OSError):
                    stream.flush()

    def after_in_parent() -> None:
        owned = session_ref()
        if owned is not None and owned.owner == os.getpid() and owned.setup.program.whole:
            caveat = (
                "the program forked: what its child processes read from the world is not recorded, "
                "and what they print after it ended is not part of the run"
            )
            _remark(owned, caveat)

    os.register_at_fork(
        before=before, after_in_child=after_in_child, after_in_parent=after_in_parent
    )
