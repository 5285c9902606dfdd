"""One call or one part of one, from arguments to envelope: the six phases.

validate -> capability -> plan -> execute -> verify -> return. What fails in or after ``execute``
leaves the state as it was, where the backend can go back; where it cannot, the envelope says whether
effects remain.

Invariant: nothing changes the state before ``execute``.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pydantic
import pydantic_core

from twice.recorder.interrupts import Terminated
from twice.tools import checking, envelope
from twice.tools.backend import Revertible
from twice.tools.context import Context
from twice.tools.determinism import Determinism, Requirement
from twice.tools.enforcement import unwatched, watching
from twice.tools.errors import CallRefused
from twice.tools.limiting import Deadline, OutOfTime
from twice.tools.observing import Note
from twice.tools.plain import NotPlain, canonical, plain
from twice.tools.schema import Arguments
from twice.tools.seeding import Seeded
from twice.tools.tool import Tool

if TYPE_CHECKING:
    from twice.tools.session import Session

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Host:
    """What the host gives with a call.

    Attributes:
        progress: told how far it is.
        cancelled: asked whether the host still wants it.
    """

    progress: Progress = lambda *_: None
    cancelled: Callable[[], bool] = lambda: False


class Operation:
    """One tool at work.

    Args:
        session: whose call it is.
        asked: the tool, or its name.
        given: arguments as they were given.
        require: what the caller asks for.
        host: of the whole call.
        outer: the operation that this is a part of, if any.
        step: what the part is called.
    """

    tool: Tool
    arguments: Arguments

    def __init__(
        self,
        session: Session,
        asked: Tool | str,
        given: Mapping[str, Any],
        require: Requirement,
        host: Host,
        *,
        outer: Operation | None = None,
        step: str = "",
    ) -> None:
        self.session = session
        self.outer = outer
        self.path: tuple[str, ...] = () if outer is None else (*outer.path, step)
        self.require = require
        self.seeded: Seeded | None = None
        self.deadline: Deadline | None = None
        self.steps_taken: set[str] = set()
        self.inexact = False
        self._asked = asked
        self._given = given
        self._host = host
        name = asked if isinstance(asked, str) else asked.name
        self.note = Note(session.calls, self.path, name, given)

    def run(self) -> envelope.Envelope:
        """Carry it out; every outcome is an envelope."""
        observer = self.session.observer
        observer.began(self.note)
        try:
            self.note.envelope = self._success()
        except CallRefused as refusal:
            self._failed(refusal)
        except OutOfTime:
            self._failed(self._out_of_time())
        except (Exception, SystemExit) as error:  # noqa: BLE001  (an outcome like any other)
            self._failed(_internal(error))
        finally:
            observer.ended(self.note)
        assert self.note.envelope is not None, "every outcome is an envelope"
        return self.note.envelope

    def _failed(self, refusal: CallRefused) -> None:
        self.note.trace = traceback.format_exc()
        if self.path:
            refusal.fields.setdefault("path", list(self.path))
        self.note.envelope = envelope.failure(refusal)

    def _success(self) -> envelope.Envelope:
        self._begin("validate")
        self.tool = checking.found(self.session.registry, self._asked)
        self.note.fingerprint = self.tool.fingerprint
        self.arguments = self._validated()
        self._begin("capability")
        checking.allowed(self)
        self._begin("plan")
        self.seeded = self.note.seeded = checking.seeded(self)
        outer = None if self.outer is None else self.outer.deadline
        seconds = [
            self.tool.seconds,
            self.session.contract.limits.seconds if outer is None else None,
        ]
        limit = min((each for each in seconds if each is not None), default=None)
        limit = limit if self.session.alarms else None
        self.deadline = Deadline(limit, outer)
        with self._atomic():
            result = self._executed()
            self._begin("verify")
            result = self._verified(result)
            self._begin("return")
            tool = self.tool
            return envelope.success(
                result, tool.determinism, self.seeded, tool.tolerance, exact=not self.inexact
            )

    def _begin(self, phase: str) -> None:
        self.note.phases.append(phase)

    # -- phases --------------------------------------------------------------------------------

    def _validated(self) -> Arguments:
        try:
            given = plain(self._given)
            size = len(canonical(given))
        except NotPlain as error:
            raise checking.arguments_refused(
                self.tool, [{"path": error.path, "problem": error.why}]
            ) from error
        checking.payload(self, size, "arguments")
        try:
            return self.tool.parameters.read(given)
        except pydantic.ValidationError as error:
            raise checking.arguments_refused(self.tool, checking.problems(error)) from error

    def _executed(self) -> Any:
        self._begin("execute")
        assert self.deadline is not None, "planned before it is executed"
        context = Context(self)
        try:
            with self.deadline.held(), self._watch():
                result = self.tool.body(context, self.arguments)
            self.deadline.check()
        except (CallRefused, OutOfTime, KeyboardInterrupt, Terminated):
            raise
        except BaseException as error:  # a tool may raise what asyncio cancels with, and worse
            raise _broke(self.tool, error) from error
        return result

    def _watch(self) -> AbstractContextManager[None]:
        if not self.session.watched:
            return nullcontext()
        return watching(self.tool, self.path, self.session.backend)

    def _verified(self, result: Any) -> Any:
        try:
            written = self.tool.result.write(result)
            size = len(canonical(written))
        except NotPlain as error:
            raise _undeclared(self.tool, str(error)) from error
        except pydantic.ValidationError as error:
            first = checking.problems(error)[0]
            raise _undeclared(self.tool, f"{first['path']}: {first['problem']}") from error
        except pydantic_core.PydanticSerializationError as error:
            raise _undeclared(self.tool, str(error).replace("\n", " ")[:300]) from error
        checking.payload(self, size, "result")
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
            except CallRefused as refusal:
                refusal.fields["partial_effects"] = backend.fingerprint() != before
                raise
            except OutOfTime:
                late = self._out_of_time()
                late.fields["partial_effects"] = backend.fingerprint() != before
                raise late from None
            return
        checkpoint = backend.checkpoint()
        try:
            yield
        except BaseException as error:
            _go_back(backend, checkpoint)
            if isinstance(error, CallRefused):
                error.fields.pop(
                    "partial_effects", None
                )  # A part's could not go back; this one's did.
            raise

    # -- what the context asks for -------------------------------------------------------------

    def sub_call(self, asked: Tool | str, given: Mapping[str, Any], step: str) -> Any:
        """Carry out a part; its result.

        Raises:
            CallRefused: as the part was refused, or because it cannot be a part here.
        """
        name = asked if isinstance(asked, str) else asked.name
        step = step or name
        checking.can_be_part(self, name, step)
        self.steps_taken.add(step)
        require = self.require.and_also(Requirement(promised(self.tool)))
        part = Operation(self.session, asked, given, require, self._host, outer=self, step=step)
        with unwatched():
            found = part.run()
        if self.deadline is not None:
            self.deadline.check()
        if found["ok"]:
            self.inexact |= part.inexact or part.tool.tolerance is not None
            return found["result"]
        error = found["error"]
        raise CallRefused(error["code"], error["message"], "", "", **error["details"])

    def progress(self, fraction: float, text: str) -> None:
        """Tell the host, and hear whether it still wants the call.

        Raises:
            CallRefused: when it does not.
        """
        with unwatched():
            if self.deadline is not None:
                self.deadline.check()
            self._host.progress(min(max(float(fraction), 0.0), 1.0), str(text))
            cancelled = self._host.cancelled()
        if cancelled:
            raise CallRefused(
                "execution_failed",
                f"{self.tool.name} was cancelled by the host.",
                "Nothing of it remains.",
                "Call it again when you want it.",
                cancelled=True,
            )

    def _out_of_time(self) -> CallRefused:
        return CallRefused(
            "timeout",
            f"{self.note.tool} took longer than it may.",
            "Expected it to end within the limits of the contract and its own.",
            "Ask for less, or for a contract with a longer limit.",
            limit_s=None
            if self.session.contract.limits.seconds is None
            else float(self.session.contract.limits.seconds),
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


def promised(tool: Tool) -> Determinism | None:
    """Return the promise that a tool requires of its parts: its own."""
    return None if tool.determinism is Determinism.NONDETERMINISTIC else tool.determinism


def _broke(tool: Tool, error: BaseException) -> CallRefused:
    said = str(error).splitlines()[0][:300] if str(error).strip() else ""
    return CallRefused(
        "execution_failed",
        f"{tool.name} failed: {type(error).__name__}{f': {said}' if said else ''}.",
        "Expected a result.",
        "Change the arguments or the state; whoever runs the session has the whole error.",
        error=type(error).__name__,
    )


def _undeclared(tool: Tool, why: str) -> CallRefused:
    return CallRefused(
        "execution_failed",
        f"{tool.name} gave back what it does not declare: {why}.",
        "Expected a result of its declared type, in plain JSON.",
        "This is a mistake in the tool: tell its author.",
    )


def _internal(error: BaseException) -> CallRefused:
    return CallRefused(
        "internal_error",
        f"The runtime or the backend failed: {type(error).__name__}.",
        "Expected every other outcome to have a code of its own.",
        "Whoever runs the session has the whole error: please report it.",
        error=type(error).__name__,
    )
