"""Streams of operations of two executions, aligned, and the first operation that differs.

Aligned by order. Where one side makes other operations, both go on at the next place where several operations in a row
are the same, with their results if possible.

Not for: executing (``inside``), or tracing (``integrations/torch_trace``).

Invariant: a pair of operations has one name on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from twice.foundation.dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_UNKNOWN: Final = 0
_AHEAD: Final = 4096
"""Operations in which a common way is looked for."""
_RUNS: Final = ((True, 3), (False, 12))
"""Whether results must agree, and for how many operations in a row, for two places to be the same."""


@dataclass(frozen=True)
class OperationStream:
    """The operations of one execution, in order.

    Attributes:
        names: of operators, by number.
        numbers: number of the operator of each operation.
        inputs: digest of what each one read; 0 where it was not read, or could not be.
        outputs: digest of what each one gave; 0 where that has none.
        notes: what was not traced.
        captured: operations that were asked for.
        reproduces: whether the execution gave the recorded digests where the interval closes; None if it ended before.
        library: what was traced, by its name in sentences.
    """

    names: Sequence[str]
    numbers: Array
    inputs: Array
    outputs: Array
    notes: Sequence[str] = ()
    captured: Sequence[Mapping[str, Any]] = ()
    reproduces: bool | None = None
    library: str = ""

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> OperationStream:
        """Read the answer of a process that traced."""
        import numpy as np

        nothing: Mapping[str, Any] = {
            "names": [],
            "rows": b"",
            "notes": [],
            "captured": [],
            "library": "",
        }
        traced: Mapping[str, Any] = message["traced"] or nothing
        numbers, inputs, outputs = np.frombuffer(traced["rows"], "<u8").reshape(-1, 3).T
        about = (traced["notes"], traced["captured"], message["reproduces"], traced["library"])
        return cls(traced["names"], numbers, inputs, outputs, *about)

    def __len__(self) -> int:
        return len(self.numbers)

    def name(self, at: int) -> str:
        """Return the name of one operation; ``nothing`` behind the last one."""
        return self.names[self.numbers[at]] if at < len(self) else "nothing"

    def number_by(self, names: Mapping[str, int]) -> Array:
        """Return the operator of each operation by a numbering that several streams share."""
        import numpy as np

        return np.array([names[name] for name in self.names], "<u8")[self.numbers]


@dataclass(frozen=True)
class Pair:
    """Places of one operation in two streams; a place may be the end."""

    a: int
    b: int


@dataclass(frozen=True)
class Parting:
    """Where two streams differ.

    Attributes:
        operation: the first with equal inputs and other outputs.
        other: the first with other outputs whose inputs differ, or are not known, before any such operation.
        branch: where the sides first make other operations.
        extra: how many operations each side makes that the other does not make.
    """

    operation: Pair | None
    other: Pair | None
    branch: Pair | None
    extra: tuple[int, int] = (0, 0)

    @property
    def first(self) -> Pair | None:
        """The first difference of any kind."""
        found = [pair for pair in (self.operation, self.other, self.branch) if pair is not None]
        return min(found, key=lambda pair: (pair.a, pair.b), default=None)


def compare_streams(
    a: OperationStream, b: OperationStream, unsteady: tuple[frozenset[int], frozenset[int]]
) -> Parting:
    """Return where two streams first differ.

    Args:
        a: one stream.
        b: the other.
        unsteady: places of operations that do not give the same twice on one side: their outputs are not compared.
    """
    import numpy as np

    segments, branch, extra = _align(a, b)
    operation = other = None
    for at, to, length in segments:
        differs = a.outputs[at : at + length] != b.outputs[to : to + length]
        for place in np.flatnonzero(differs):
            pair = Pair(at + int(place), to + int(place))
            if pair.a in unsteady[0] or pair.b in unsteady[1]:
                continue
            if a.inputs[pair.a] == b.inputs[pair.b] != _UNKNOWN:
                operation = pair
                break
            other = other or pair
        if operation is not None:
            break
    return Parting(operation, other, branch, extra)


def find_unsteady(first: OperationStream, again: OperationStream) -> frozenset[int]:
    """Return the places before the first branch at which another execution of one side gave other results."""
    import numpy as np

    names = _number_names(first, again)
    size = min(len(first), len(again))
    one, two = first.number_by(names)[:size], again.number_by(names)[:size]
    branches = np.flatnonzero(one != two)
    stop = int(branches[0]) if len(branches) else size
    return frozenset(map(int, np.flatnonzero(first.outputs[:stop] != again.outputs[:stop])))


def _number_names(*streams: OperationStream) -> dict[str, int]:
    names = dict.fromkeys(name for stream in streams for name in stream.names)
    return {name: number for number, name in enumerate(names)}


def _align(
    a: OperationStream, b: OperationStream
) -> tuple[list[tuple[int, int, int]], Pair | None, tuple[int, int]]:
    """Return segments of equal names, as place in a, place in b and length; the first branch; what is extra."""
    import numpy as np

    names = _number_names(a, b)
    one, two = a.number_by(names), b.number_by(names)
    segments: list[tuple[int, int, int]] = []
    branch = None
    at = to = extra_a = extra_b = 0
    while at < len(one) and to < len(two):
        size = min(len(one) - at, len(two) - to)
        unlike = np.flatnonzero(one[at : at + size] != two[to : to + size])
        length = int(unlike[0]) if len(unlike) else size
        segments.append((at, to, length))
        at, to = at + length, to + length
        if not len(unlike):
            break
        branch = branch or Pair(at, to)
        found = _find_common(_Ahead(one, a.outputs, at), _Ahead(two, b.outputs, to))
        if found is None:
            break
        at, to = at + found[0], to + found[1]
        extra_a, extra_b = extra_a + found[0], extra_b + found[1]
    left = len(one) - at, len(two) - to
    if any(left):
        branch = branch or Pair(at, to)
    return segments, branch, (extra_a + left[0], extra_b + left[1])


@dataclass(frozen=True)
class _Ahead:
    """The operations of one side from a place on."""

    numbers: Array
    outputs: Array
    at: int

    def list_runs(self, length: int, *, with_results: bool) -> Iterator[tuple[int, bytes]]:
        """Yield the next places, each with the operations that begin there."""
        stop = min(self.at + _AHEAD, len(self.numbers) - length + 1)
        for place in range(self.at, stop):
            run = slice(place, place + length)
            results = self.outputs[run].tobytes() if with_results else b""
            yield place - self.at, self.numbers[run].tobytes() + results


def _find_common(a: _Ahead, b: _Ahead) -> tuple[int, int] | None:
    """Return how far each side has to go until both make the same operations; the shortest way."""
    for with_results, length in _RUNS:
        runs: dict[bytes, int] = {}
        for place, run in b.list_runs(length, with_results=with_results):
            runs.setdefault(run, place)
        ways = [
            (place + runs[run], place, runs[run])
            for place, run in a.list_runs(length, with_results=with_results)
            if run in runs
        ]
        if ways:
            _, at, to = min(ways)
            return at, to
    return None
