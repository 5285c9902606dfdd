"""One call or one part of one, from arguments to envelope: the six phases.

validate -> capability -> plan -> execute -> verify -> return. What fails in or after ``execute``
leaves the state as it was, where the backend can go back; where it cannot, the envelope says whether
effects remain. Observers see what the host does not: the stack trace of a failure, the draws of a step.

Invariant: nothing changes the state before ``execute``, and every ``on_begin`` is followed by one ``on_end``.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import pydantic
import pydantic_core

from twice.recorder.interrupts import Terminated
from twice.tools import envelope, preconditions
from twice.tools.backend import Revertible
from twice.tools.canonical_json import NotPlain, canonical, plain
from twice.tools.context import Context
from twice.tools.deadlines import Deadline, OutOfTime
from twice.tools.declaration import Tool
from twice.tools.determinism import Determinism, Requirement
from twice.tools.enforcement import pause_watch, watch_tool
from twice.tools.errors import CallRefused, blame_tool
from twice.tools.schema import Arguments
from twice.tools.seeds import RESERVED, Seeded

if TYPE_CHECKING:
    from twice.tools.session import Session

PHASES = ("validate", "capability", "plan", "execute", "verify", "return")


@dataclass
class Note:
    """One call, or one part of one, as an observer is told of it.

    Attributes:
        number: of the call in the session, from 0; parts have that of the whole.
        path: steps from the whole to this part; empty for the whole.
        tool: name, as it was asked for.
        arguments: as they were given.
        fingerprint: of the tool, once it is found.
        seeded: its seed, once it is known.
        phases: those that were begun, in order.
        draws: the steps for which it took a generator or a seed, in order.
        envelope: the outcome, once it is over.
        trace: the whole of an error, for the record alone; empty when there was none.
    """

    number: int
    path: tuple[str, ...]
    tool: str
    arguments: Mapping[str, Any]
    fingerprint: str = ""
    seeded: Seeded | None = None
    phases: list[str] = field(default_factory=list)
    draws: list[str] = field(default_factory=list)
    envelope: dict[str, Any] | None = None
    trace: str = ""


class Observer(Protocol):
    """Told of every call and every part, on the thread that makes it."""

    def on_begin(self, note: Note) -> None:
        """Observe the beginning of a call or a part of one, before any check."""

    def on_end(self, note: Note) -> None:
        """Observe its end, with the state that it left."""


@dataclass(frozen=True)
class Host:
    """What the host gives with a call, as ``Session.call`` takes it."""

    require: str | None
    time: str | None
    progress: Callable[[float, str], bool | None] | None


class Operation:
    """One tool at work, or what was asked for as one; ``outer`` is the operation that it is a part of, by ``step``."""

    tool: Tool
    arguments: Arguments
    require: Requirement

    def __init__(
        self,
        session: Session,
        asked: Tool | str,
        given: Any,
        host: Host,
        *,
        outer: Operation | None = None,
        step: str = "",
    ) -> None:
        self.session, self.outer = session, outer
        self.path: tuple[str, ...] = () if outer is None else (*outer.path, step)
        self.seeded: Seeded | None = None
        self.deadline: Deadline | None = None
        self.steps_taken: set[str] = set()
        self.inexact = False
        self.host = host
        self._asked, self._given = asked, given
        self._limit_s: float | None = None
        name = asked if isinstance(asked, str) else asked.name
        self.note = Note(session.calls, self.path, name, given)

    def run(self) -> envelope.Envelope:
        """Carry it out; every outcome is an envelope."""
        observer = self.session.observer
        if observer is not None:
            observer.on_begin(self.note)
        try:
            self.note.envelope = self._carry_out()
        except CallRefused as refusal:
            self._fail(refusal)
        except OutOfTime:
            self._fail(self._out_of_time())
        except (Exception, SystemExit) as error:  # noqa: BLE001  (an outcome like any other)
            self._fail(
                CallRefused(
                    "internal_error",
                    f"The runtime or the backend failed: {type(error).__name__}.",
                    "Expected every other outcome to have a code of its own.",
                    "Whoever runs the session has the whole error: please report it.",
                    error=type(error).__name__,
                )
            )
        finally:
            if observer is not None:
                observer.on_end(self.note)
        assert self.note.envelope is not None, "every outcome is an envelope"
        return self.note.envelope

    def _fail(self, refusal: CallRefused) -> None:
        self.note.trace = traceback.format_exc()
        if self.path:
            refusal.fields.setdefault("path", list(self.path))
        self.note.envelope = envelope.failure(refusal)

    def _carry_out(self) -> envelope.Envelope:
        phases = self.note.phases
        phases.append("validate")
        self.require = preconditions.find_requirement(self)
        self.tool = tool = preconditions.find_tool(self.session.registry, self._asked)
        self.note.fingerprint = tool.fingerprint
        self.arguments = self._validate()
        phases.append("capability")
        preconditions.check_permissions(self)
        phases.append("plan")
        self.seeded = self.note.seeded = preconditions.find_seed(self)
        outer = None if self.outer is None else self.outer.deadline
        limits = [self.tool.seconds]
        if outer is None:
            limits.append(self.session.contract.limits.seconds)
        self._limit_s = min((each for each in limits if each is not None), default=None)
        self.deadline = Deadline(self._limit_s if self.session.alarms else None, outer)
        with self._atomic():
            phases.append("execute")
            result = self._execute(self.deadline)
            phases.append("verify")
            result = self._verify(result)
            phases.append("return")
            backend, may_have_written = self.session.backend, not self.path and not tool.reads_only
            state = backend.fingerprint() if backend is not None and may_have_written else None
            return envelope.success(result, tool, self.seeded, exact=not self.inexact, state=state)

    def _validate(self) -> Arguments:
        given = {} if self._given is None else self._given
        try:
            if not isinstance(given, Mapping):
                raise NotPlain("", f"is of type {type(given).__name__}, and no object")  # noqa: TRY301  (one refusal)
            given = plain(dict(given))
            size = len(canonical(given))
        except NotPlain as error:
            problem = {"path": error.path, "problem": error.why}
            raise preconditions.refuse_arguments(self.tool, [problem]) from error
        preconditions.check_size(self, size, "arguments")
        try:
            return self.tool.parameters.read(given)
        except pydantic.ValidationError as error:
            problems = preconditions.list_problems(error)
            for each in problems:
                if each["path"] in RESERVED and self.tool.determinism is not Determinism.SEEDED:
                    kind = self.tool.determinism.value
                    each["problem"] = f"a {kind} tool draws nothing, and takes no {each['path']}"
            raise preconditions.refuse_arguments(self.tool, problems) from error

    def _execute(self, deadline: Deadline) -> Any:
        session, tool = self.session, self.tool
        watch = watch_tool(tool, self.path, session.backend) if session.watched else nullcontext()
        try:
            with deadline.interrupt(), watch:
                result = tool.execute(Context(self), self.arguments)
            deadline.check()
        except (CallRefused, OutOfTime, KeyboardInterrupt, Terminated):
            raise
        except BaseException as error:  # a tool may raise what asyncio cancels with, and worse
            said = envelope.hide_folders(str(error).strip().partition("\n")[0])
            raise CallRefused(
                "execution_failed",
                f"{tool.name} failed: {type(error).__name__}{f': {said}' if said else ''}.",
                "Expected a result.",
                "Change the arguments or the state; whoever runs the session has the whole error.",
                error=type(error).__name__,
            ) from error
        return result

    def _verify(self, result: Any) -> Any:
        try:
            written = self.tool.result.write(result)
            size = len(canonical(written))
        except (ValueError, pydantic_core.PydanticSerializationError) as error:
            said = str(error).replace("\n", " ")
            if isinstance(error, pydantic.ValidationError):
                said = "{path}: {problem}".format(**preconditions.list_problems(error)[0])
            raise blame_tool(
                f"{self.tool.name} gave back what it does not declare: {envelope.hide_folders(said)}.",
                "Expected a result of its declared type, in plain JSON.",
            ) from error
        preconditions.check_size(self, size, "result")
        return written

    @contextmanager
    def _atomic(self) -> Iterator[None]:
        """Go back to the state before, when what runs inside fails."""
        backend = self.session.backend
        if backend is None or self.tool.reads_only:
            yield
            return
        if not isinstance(backend, Revertible):
            before = backend.fingerprint()
            try:
                yield
            except (CallRefused, OutOfTime) as error:
                refusal = error if isinstance(error, CallRefused) else self._out_of_time()
                refusal.fields["partial_effects"] = backend.fingerprint() != before
                raise refusal from None
            return
        checkpoint = backend.checkpoint()
        try:
            yield
        except BaseException as error:
            _go_back(backend, checkpoint)
            if isinstance(error, CallRefused):
                # A part's could not go back; this one's did.
                error.fields.pop("partial_effects", None)
            raise

    def call_part(self, asked: Tool | str, given: Mapping[str, Any], step: str) -> Any:
        """Carry out a part, and return its result; raise what it was refused for."""
        name = asked if isinstance(asked, str) else asked.name
        step = step or name
        preconditions.check_part(self, name, step)
        self.steps_taken.add(step)
        part = Operation(self.session, asked, given, self.host, outer=self, step=step)
        with pause_watch():
            found = part.run()
        if self.deadline is not None:
            self.deadline.check()
        if found["ok"]:
            self.inexact |= part.inexact or part.tool.tolerance is not None
            return found["result"]
        error = found["error"]
        raise CallRefused(error["code"], error["message"], "", "", **error["details"])

    def list_folder(self, folder: str | os.PathLike[str]) -> list[str]:
        """List a folder's names, sorted, while nobody watches."""
        with pause_watch():
            return sorted(os.listdir(folder))  # noqa: PTH208  (names, not paths)

    def report_progress(self, fraction: float, text: str) -> None:
        """Tell the host, and refuse to go on when it does not want the call any more."""
        progress = self.host.progress
        with pause_watch():
            if self.deadline is not None:
                self.deadline.check()
            within = min(max(float(fraction), 0.0), 1.0)
            is_given_up = progress is not None and progress(within, str(text))
        if is_given_up:
            raise CallRefused(
                "execution_failed",
                f"{self.tool.name} was cancelled by the host.",
                "Nothing of it remains.",
                "Call it again when you want it.",
                cancelled=True,
            )

    def _out_of_time(self) -> CallRefused:
        limit_s = self._limit_s
        own = self.tool.seconds is not None and self.tool.seconds == limit_s
        return CallRefused(
            "timeout",
            f"{self.note.tool} took longer than it may.",
            f"Expected it to end within {limit_s:g} s, as {'it declares' if own else 'the contract says'}."
            if limit_s is not None
            else "Expected it to end before the call that it is a part of.",
            "Ask for less." if own else "Ask for less, or for a contract with a longer limit.",
            limit_s=None if limit_s is None else float(limit_s),
        )


def _go_back(backend: Revertible, checkpoint: Any) -> None:
    try:
        backend.rollback(checkpoint)
    except Exception as error:
        raise CallRefused(
            "internal_error",
            f"The backend did not go back to the state before the call: {type(error).__name__}.",
            "Expected nothing to remain of a call that failed.",
            "Open another session: what this one's state is, nobody knows.",
            error=type(error).__name__,
            partial_effects=True,
        ) from error
