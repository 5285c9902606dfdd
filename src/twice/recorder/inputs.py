"""Decisions that a branch may substitute: where an input's value comes from in each mode.

The thunk of an input runs in every mode, because it may draw from a stream or read the world.
Recording keeps its value; replaying compares it with the record and returns the recorded one;
branching returns what was substituted.

Invariant: the value the program gets is the value that the record holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from twice.errors import EncodingRefused, InputMismatch
from twice.foundation.dataclass import dataclass
from twice.foundation.encoding import decode, encode, loaded_types
from twice.recorder.record_form import reading


@dataclass(frozen=True, slots=True)
class InputEvent:
    """One input as the record holds it.

    Attributes:
        tick: when it was asked for.
        name: what it is called.
        value: the value the program got.
        substituted: whether a branch put it there instead of what the thunk gave.
        encoded: the journal frame, where it is known already; empty otherwise.
    """

    tick: int
    name: str
    value: Any
    substituted: bool = False
    encoded: bytes = b""

    def payload(self) -> bytes:
        """Return the journal frame."""
        return self.encoded or _frame(self.name, self.value, substituted=self.substituted)


def _frame(name: str, value: Any, *, substituted: bool = False) -> bytes:
    """Build one journal frame; a refusal of the value names the input."""
    try:
        return encode((name, substituted, value))
    except EncodingRefused as error:
        happened = error.happened.replace("state[2]", f"The value of the input {name!r}", 1)
        raise type(error)(happened, error.expected, error.remedy, **error.fields) from None


def read_input(tick: int, payload: bytes | bytearray | memoryview) -> InputEvent:
    """Read a journal frame back."""
    with reading("an input", "The record"):
        fields: Any = decode(payload, resolve=loaded_types)
        name, substituted, value = fields
    return InputEvent(tick, name, value, substituted)


class Inputs(Protocol):
    """Decides what an input's value is."""

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the program's input, given the thunk's result."""
        ...

    def serve(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the input like ``settle``, but compare nothing: state is as it was constructed."""
        ...

    def seek(self, count: int) -> None:
        """Continue after that many inputs."""
        ...


class LiveInputs:
    """The thunk's value is the input."""

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the thunk's result as the input."""
        return InputEvent(tick, name, value)

    serve = settle

    def seek(self, count: int) -> None:
        """Do nothing: a live run has no cursor."""


class RecordedInputs:
    """The record's value is the input; the thunk must give the same.

    Args:
        frames: opens the recorded inputs at a count, as (tick, journal frame).
        differs: called with (tick, name, recorded, replayed) when the thunk gave something else, or
            when another input is asked for.

    Raises:
        InputMismatch: E-EFFECT-003, from ``settle`` and ``serve``, when another input is asked for.
    """

    def __init__(
        self,
        frames: Callable[[int], Iterator[tuple[int, bytes]]],
        differs: Callable[[int, str, Any, Any], None],
    ) -> None:
        self._open = frames
        self._frames = frames(0)
        self._differs = differs

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the recorded input, after a comparison with the thunk's result.

        Frames are compared as bytes; a recorded value is decoded only where they differ.
        """
        encoded = _frame(name, value)
        frame = next(self._frames, None)
        if frame == (tick, encoded):
            return InputEvent(tick, name, value, encoded=encoded)
        event = self._expected(tick, name, frame)
        if not event.substituted:
            self._differs(tick, name, event.value, value)
        return event

    def serve(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the recorded input."""
        del value
        return self._expected(tick, name, next(self._frames, None))

    def seek(self, count: int) -> None:
        """Continue after that many inputs."""
        self._frames = self._open(count)

    def _expected(self, tick: int, name: str, frame: tuple[int, bytes] | None) -> InputEvent:
        """Return the recorded input, if the program asks for this one.

        It is told before it is raised: a program may catch the error, and it has happened all the
        same.
        """
        event = None if frame is None else read_input(*frame)
        if event is not None and (event.tick, event.name) == (tick, name):
            return event
        recorded = "no more inputs" if event is None else f"{event.name!r} at tick {event.tick}"
        self._differs(tick, name, recorded, f"{name!r} at tick {tick}")
        raise InputMismatch(
            f"The program asks for the input {name!r} at tick {tick}; the record holds {recorded}.",
            "Expected the same inputs in the same order.",
            "The program takes another path than it did: twice diagnose names where.",
            tick=tick,
            name=name,
        )


class BranchInputs:
    """Recorded inputs up to the fork, then what is substituted, then the thunk's own.

    Args:
        recorded: the parent's inputs.
        fork: first tick at which the branch may differ.
        substitutions: name -> value, at the fork alone.
    """

    def __init__(
        self, recorded: Inputs, fork: int, substitutions: Mapping[str, Any] | None = None
    ) -> None:
        self._recorded = recorded
        self._fork = self._at = fork
        self._substitutions = dict(substitutions or {})
        self._onwards = False
        self.used: set[str] = set()

    def substitute(self, values: Mapping[str, Any], tick: int, *, onwards: bool) -> None:
        """Take other substitutions from a tick on.

        Args:
            values: name -> value.
            tick: the first, the fork or a later one.
            onwards: whether they hold at every later tick, or at that one alone.
        """
        self._substitutions = dict(values)
        self._onwards = onwards
        self._at = tick

    def unused(self) -> list[str]:
        """Return the names of substitutions that the program never asked for, sorted."""
        return sorted(set(self._substitutions) - self.used)

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the branch's input at this tick."""
        if tick < self._fork:
            return self._recorded.settle(tick, name, value)
        here = tick >= self._at if self._onwards else tick == self._at
        if here and name in self._substitutions:
            self.used.add(name)
            return InputEvent(tick, name, self._substitutions[name], substituted=True)
        return InputEvent(tick, name, value)

    def serve(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the parent's input, in a loop's wake that is not executed again."""
        return self._recorded.serve(tick, name, value)

    def seek(self, count: int) -> None:
        """Continue after that many recorded inputs."""
        self._recorded.seek(count)
