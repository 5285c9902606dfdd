"""Decisions that a branch may substitute: where an input's value comes from in each mode.

The thunk of an input runs in every mode, because it may draw from a stream or read the world. Recording keeps its
value; replaying compares it with the record and returns the recorded one; branching returns what was substituted.

Invariant: the value the program gets is the value that the record holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from twice.errors import EncodingRefused, InputMismatch
from twice.foundation.encoding import decode, encode, loaded_types
from twice.recorder.record_form import reading


class InputEvent(NamedTuple):
    """One input as the record holds it: asked for at a tick, and the value that the program got.

    Attributes:
        substituted: whether a branch put the value there instead of what the thunk gave.
        encoded: the journal frame, where it is known already.
    """

    tick: int
    name: str
    value: Any
    substituted: bool = False
    encoded: bytes = b""

    def payload(self) -> bytes:
        """Return the journal frame; a refusal of the value names the input."""
        if self.encoded:
            return self.encoded
        try:
            return encode((self.name, self.substituted, self.value))
        except EncodingRefused as error:
            named = f"The value of the input {self.name!r}"
            happened = error.happened.replace("state[2]", named, 1)
            raise type(error)(happened, error.expected, error.remedy, **error.fields) from None


def read_input(tick: int, payload: bytes | bytearray | memoryview) -> InputEvent:
    """Read a journal frame back."""
    with reading("an input", "The record"):
        fields: Any = decode(payload, resolve=loaded_types)
        name, substituted, value = fields
    return InputEvent(tick, name, value, substituted)


class Inputs:
    """Decides what an input's value is: in a live run, what its thunk gives.

    Where a loop is passed over, because a later snapshot follows, an input is served: its thunk saw a state as it was
    constructed, and is not compared.
    """

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the program's input, given the thunk's result."""
        return InputEvent(tick, name, value)

    def serve(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the program's input, and compare nothing."""
        return InputEvent(tick, name, value)

    def seek(self, count: int) -> None:
        """Continue after that many inputs; a live run has no cursor."""


class RecordedInputs(Inputs):
    """The record's value is the input; the thunk must give the same.

    Args:
        frames: opens the recorded inputs at a count, as (tick, journal frame).
        differs: called with (tick, name, recorded, replayed) when the thunk gave something else, or when another
            input is asked for, which is refused as well (E-EFFECT-003).
    """

    def __init__(
        self,
        frames: Callable[[int], Iterator[tuple[int, bytes]]],
        differs: Callable[[int, str, Any, Any], None],
    ) -> None:
        # Frames are read as they are needed: memory does not grow with the record.
        self._open, self._differs = frames, differs
        self._frames = frames(0)

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the recorded input, after a comparison with the thunk's result."""
        encoded = InputEvent(tick, name, value).payload()
        frame = next(self._frames, None)
        # Bytes are compared first: a recorded value is decoded only where they differ.
        if frame == (tick, encoded):
            return InputEvent(tick, name, value, encoded=encoded)
        event = self._require_asked(tick, name, frame)
        if not event.substituted:
            self._differs(tick, name, event.value, value)
        return event

    def serve(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the recorded input."""
        del value
        return self._require_asked(tick, name, next(self._frames, None))

    def seek(self, count: int) -> None:
        """Continue after that many inputs."""
        self._frames = self._open(count)

    def _require_asked(self, tick: int, name: str, frame: tuple[int, bytes] | None) -> InputEvent:
        """Return the recorded input, if the program asks for this one."""
        event = None if frame is None else read_input(*frame)
        if event is not None and (event.tick, event.name) == (tick, name):
            return event
        recorded = "no more inputs" if event is None else f"{event.name!r} at tick {event.tick}"
        # Reported before it is raised: a program may catch the error, and it has happened all the same.
        self._differs(tick, name, recorded, f"{name!r} at tick {tick}")
        raise InputMismatch(
            f"The program asks for the input {name!r} at tick {tick}; the record holds {recorded}.",
            "Expected the same inputs in the same order.",
            "The program takes another path than it did: twice diagnose names where.",
            tick=tick,
            name=name,
        )


class BranchInputs(RecordedInputs):
    """Recorded inputs up to the fork, the first tick that may differ; then substitutions, or the thunk's own."""

    def __init__(
        self,
        frames: Callable[[int], Iterator[tuple[int, bytes]]],
        differs: Callable[[int, str, Any, Any], None],
        fork: int,
        substitutions: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(frames, differs)
        self._fork = self._at = fork
        self._substitutions, self._onwards = dict(substitutions or {}), False
        self.used: set[str] = set()

    def substitute(self, values: Mapping[str, Any], tick: int, *, onwards: bool) -> None:
        """Take other substitutions: at a tick, the fork or a later one, and onwards or there alone."""
        self._substitutions, self._at, self._onwards = dict(values), tick, onwards

    def list_unused(self) -> list[str]:
        """Return the names of substitutions that the program never asked for, sorted."""
        return sorted(set(self._substitutions) - self.used)

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the branch's input at this tick."""
        if tick < self._fork:
            return super().settle(tick, name, value)
        here = tick >= self._at if self._onwards else tick == self._at
        if here and name in self._substitutions:
            self.used.add(name)
            return InputEvent(tick, name, self._substitutions[name], substituted=True)
        return InputEvent(tick, name, value)
