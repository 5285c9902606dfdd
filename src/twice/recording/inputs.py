"""Decisions that a branch may substitute: where an input's value comes from in each mode.

The thunk of an input runs in every mode, because it may draw from a stream or read the world.
Recording keeps its value; replaying compares it with the record and returns the recorded one;
branching returns what was substituted.

Invariant: the value the program gets is the value that the record holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from twice.errors import InputMismatch
from twice.foundation.encoding import decode, encode, loaded_types

INPUT = "input"


@dataclass(frozen=True, slots=True)
class InputEvent:
    """One input as the record holds it.

    Attributes:
        tick: when it was asked for.
        name: what it is called.
        value: the value the program got.
        substituted: whether a branch put it there instead of what the thunk gave.
    """

    tick: int
    name: str
    value: Any
    substituted: bool = False

    def payload(self) -> bytes:
        """The journal frame."""
        return encode((self.name, self.substituted, self.value))


def read_input(tick: int, payload: bytes | bytearray | memoryview) -> InputEvent:
    """Read a journal frame back."""
    fields: Any = decode(payload, resolve=loaded_types)
    name, substituted, value = fields
    return InputEvent(tick, name, value, substituted)


class Inputs(Protocol):
    """Decides what an input's value is."""

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """What the program gets, given what the thunk returned."""
        ...

    def serve(self, tick: int, name: str, value: Any) -> InputEvent:
        """As ``settle``, but nothing is compared: state stands as it was constructed."""
        ...

    def seek(self, count: int) -> None:
        """Continue after that many inputs."""
        ...


class LiveInputs:
    """The thunk's value is the input."""

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """Keep what the thunk returned."""
        return InputEvent(tick, name, value)

    serve = settle

    def seek(self, count: int) -> None:
        """A live run has no cursor."""


class RecordedInputs:
    """The record's value is the input; the thunk must give the same.

    Args:
        events: opens the recorded inputs at a count.
        differs: called with (tick, name, recorded, replayed) when the thunk gave something else.

    Raises:
        InputMismatch: E-EFFECT-003, from ``settle``, when another input is asked for.
    """

    def __init__(
        self,
        events: Callable[[int], Iterator[InputEvent]],
        differs: Callable[[int, str, Any, Any], None],
    ) -> None:
        self._open = events
        self._events = events(0)
        self._differs = differs

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """The recorded input, compared with what the thunk returned."""
        event = self.serve(tick, name, value)
        if event.substituted or encode(event.value) == encode(value):
            return event if event.substituted else InputEvent(tick, name, value)
        self._differs(tick, name, event.value, value)
        return event

    def serve(self, tick: int, name: str, value: Any) -> InputEvent:
        """The recorded input."""
        del value
        event = next(self._events, None)
        if event is None or (event.tick, event.name) != (tick, name):
            recorded = "no more inputs" if event is None else f"{event.name!r} at tick {event.tick}"
            raise InputMismatch(
                f"The program asks for the input {name!r} at tick {tick}; the record holds "
                f"{recorded}.",
                "Expected the same inputs in the same order.",
                "The program takes another path than it did: twice diagnose names where.",
                tick=tick,
                name=name,
            )
        return event

    def seek(self, count: int) -> None:
        """Continue after that many inputs."""
        self._events = self._open(count)


class BranchInputs:
    """Recorded inputs up to the fork, then what is substituted, then the thunk's own.

    Args:
        recorded: the parent's inputs.
        fork: first tick at which the branch may differ.
        substitutions: name -> value.
        onwards: whether substitutions hold at every later tick, or at the fork alone.
    """

    def __init__(
        self, recorded: Inputs, fork: int, substitutions: Mapping[str, Any], *, onwards: bool
    ) -> None:
        self._recorded = recorded
        self._fork = fork
        self._substitutions = dict(substitutions)
        self._onwards = onwards
        self._at = fork
        self.used: set[str] = set()

    def substitute(self, values: Mapping[str, Any], tick: int, *, onwards: bool) -> None:
        """Take other substitutions from a later tick on: a branching session's next step."""
        self._substitutions = dict(values)
        self._onwards = onwards
        self._at = tick

    def unused(self) -> list[str]:
        """Names that were to be substituted and were never asked for, sorted."""
        return sorted(set(self._substitutions) - self.used)

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """The branch's input at this tick."""
        if tick < self._fork:
            return self._recorded.settle(tick, name, value)
        here = tick >= self._at if self._onwards else tick == self._at
        if here and name in self._substitutions:
            self.used.add(name)
            return InputEvent(tick, name, self._substitutions[name], substituted=True)
        return InputEvent(tick, name, value)

    def serve(self, tick: int, name: str, value: Any) -> InputEvent:
        """The parent's input, in a loop's wake that is not executed again."""
        return self._recorded.serve(tick, name, value)

    def seek(self, count: int) -> None:
        """Continue after that many recorded inputs."""
        self._recorded.seek(count)
