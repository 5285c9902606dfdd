"""Streams of operations of two executions, aligned, and the first operation that differs.

Aligned by order. Where one side makes other operations, both go on at the next place where several operations in a row
are the same, with their inputs if possible.

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
"""Whether inputs must agree, and for how many operations in a row, for two places to be the same."""


@dataclass(frozen=True)
class OperationStream:
    """The operations of one execution, in order.

    Attributes:
        names: of operators, by number.
        numbers: number of the operator of each operation.
        inputs: digest of what each one read; 0 where it could not be read.
        outputs: digest of what each one gave; 0 where that has none.
        notes: what was not traced.
        captured: operations that were asked for.
        reproduces: whether the execution gave the recorded digests where the interval closes; None if it ended before.
    """

    names: Sequence[str]
    numbers: Array
    inputs: Array
    outputs: Array
    notes: Sequence[str] = ()
    captured: Sequence[Mapping[str, Any]] = ()
    reproduces: bool | None = None

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> OperationStream:
        """Read the answer of a process that traced."""
        import numpy as np

        traced = message["traced"] or {"names": [], "numbers": b"", "digests": b"", "notes": []}
        digests = np.frombuffer(traced["digests"], "<u8").reshape(-1, 2)
        return cls(
            traced["names"],
            np.frombuffer(traced["numbers"], "<u4"),
            digests[:, 0],
            digests[:, 1],
            traced["notes"],
            traced.get("captured", ()),
            message["reproduces"],
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def name(self, at: int) -> str:
        """Return the name of one operation."""
        return self.names[self.numbers[at]]


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
        entry: the first with other outputs whose inputs differ, or could not be read, before any such operation.
        branch: where the sides first make other operations.
        extra: how many operations each side makes that the other does not make.
    """

    operation: Pair | None
    entry: Pair | None
    branch: Pair | None
    extra: tuple[int, int] = (0, 0)

    @property
    def is_settled(self) -> bool:
        """Whether the first difference is one of an operation, whatever happened before the interval."""
        first = self.operation
        return first is not None and all(
            other is None or other.a >= first.a for other in (self.entry, self.branch)
        )


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
    operation = entry = None
    for at, to, length in segments:
        one, two = slice(at, at + length), slice(to, to + length)
        differs = a.outputs[one] != b.outputs[two]
        for place in np.flatnonzero(differs):
            pair = Pair(at + int(place), to + int(place))
            if pair.a in unsteady[0] or pair.b in unsteady[1]:
                continue
            is_known = a.inputs[pair.a] != _UNKNOWN
            if is_known and a.inputs[pair.a] == b.inputs[pair.b]:
                operation = pair
                break
            entry = entry or pair
        if operation is not None:
            break
    return Parting(operation, entry, branch, extra)


def find_unsteady(first: OperationStream, again: OperationStream) -> frozenset[int]:
    """Return the places of operations that gave other results for equal inputs in another execution of one side."""
    import numpy as np

    size = min(len(first), len(again))
    one, two = first.numbers[:size], again.numbers[:size]
    if list(first.names) != list(again.names)[: len(first.names)] and not np.array_equal(one, two):
        return frozenset()
    differs = (first.outputs[:size] != again.outputs[:size]) & (
        first.inputs[:size] == again.inputs[:size]
    )
    return frozenset(map(int, np.flatnonzero(differs)))


def _align(
    a: OperationStream, b: OperationStream
) -> tuple[list[tuple[int, int, int]], Pair | None, tuple[int, int]]:
    """Return segments of equal names, as place in a, place in b and length; the first branch; what is extra."""
    import numpy as np

    shared = {name: number for number, name in enumerate(dict.fromkeys([*a.names, *b.names]))}
    one = np.array([shared[name] for name in a.names], "<u4")[a.numbers]
    two = np.array([shared[name] for name in b.names], "<u4")[b.numbers]
    segments: list[tuple[int, int, int]] = []
    branch = None
    at = to = extra_a = extra_b = 0
    while at < len(one) and to < len(two):
        size = min(len(one) - at, len(two) - to)
        unlike = np.flatnonzero(one[at : at + size] != two[to : to + size])
        length = int(unlike[0]) if len(unlike) else size
        if length:
            segments.append((at, to, length))
        at, to = at + length, to + length
        if not len(unlike):
            break
        branch = branch or Pair(at, to)
        found = _find_common(_Ahead(one, a.inputs, at), _Ahead(two, b.inputs, to))
        if found is None:
            return segments, branch, (len(one) - at + extra_a, len(two) - to + extra_b)
        at, to = at + found[0], to + found[1]
        extra_a, extra_b = extra_a + found[0], extra_b + found[1]
    if branch is None and len(one) - at != len(two) - to:
        branch = Pair(at, to)
    return segments, branch, (extra_a + len(one) - at, extra_b + len(two) - to)


@dataclass(frozen=True)
class _Ahead:
    numbers: Array
    inputs: Array
    at: int

    def list_runs(self, length: int, *, with_inputs: bool) -> Iterator[tuple[int, bytes]]:
        """Yield the next places, each with the operations that begin there."""
        stop = min(self.at + _AHEAD, len(self.numbers) - length + 1)
        for place in range(self.at, stop):
            run = slice(place, place + length)
            inputs = self.inputs[run].tobytes() if with_inputs else b""
            yield place - self.at, self.numbers[run].tobytes() + inputs


def _find_common(a: _Ahead, b: _Ahead) -> tuple[int, int] | None:
    """Return how far each side has to go until both make the same operations; the shortest way."""
    for with_inputs, length in _RUNS:
        runs: dict[bytes, int] = {}
        for place, run in b.list_runs(length, with_inputs=with_inputs):
            runs.setdefault(run, place)
        ways = [
            (place + runs[run], place, runs[run])
            for place, run in a.list_runs(length, with_inputs=with_inputs)
            if run in runs
        ]
        if ways:
            _, at, to = min(ways)
            return at, to
    return None
