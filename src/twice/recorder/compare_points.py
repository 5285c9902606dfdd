"""Compare-points: one digest per component, a root over those that are judged, and a chain.

At a compare-point every component's state becomes one 16-byte digest of its canonical form. The root is the digest
over the judged columns; the chain is the digest over the previous chain, the point's name and tick, and the root, so
two logs that differ once stay different and can be searched by halves. Columns are always all written; what a class
does not judge is evidence.

Not covered: whether the ``changed()`` of an incremental component tells the truth. A verification in which the
object forgets a key fails or passes like the recording did; ``twice verify --restores`` walks everything.

Invariant: equal states, positions and questions give equal points, on every platform.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from twice.errors import ComponentRefused, ComponentTaken, EncodingRefused
from twice.foundation.comparison import Tolerance
from twice.foundation.determinism_class import DeterminismClass, Predicate
from twice.foundation.digests import Algorithm, new_hasher, short_digest
from twice.foundation.encoding import encode_hashed, encode_parts
from twice.recorder.components import RESERVED, Component

VALUE = "value"
"""Kind of the journal's frames with values that are compared with a tolerance."""
CHAIN_START = bytes(16)
_PACK_TICK = struct.Struct("<q").pack
_WIDTH = 16
# Hashing a form in one piece costs less than its parts, up to where the copy costs more: blake3
# takes 2.5 us for 300 bytes and an array of 8 KB in one piece and 4.5 in two; at 256 KB it turns.
_COPIED_BYTES_MAX = 128 * 1024


class ComparePoint(NamedTuple):
    """A compare-point as it was taken: at a tick, -1 before the first; ``start``, ``tick``, ``end``, a phase or a compare.

    Attributes:
        columns: names of the digests, sorted.
        root: 16 bytes over the judged columns.
        chain: 16 bytes over everything up to here.
        digests: 16 bytes per column, joined.
    """

    tick: int
    name: str
    columns: tuple[str, ...]
    root: bytes
    chain: bytes
    digests: bytes

    def column(self, name: str) -> bytes:
        """Return the digest of one column."""
        at = self.columns.index(name) * _WIDTH
        return self.digests[at : at + _WIDTH]


class ComparePoints:
    """Takes compare-points of a run's components; ``reserved`` reads the position of each reserved name."""

    def __init__(
        self,
        algorithm: Algorithm,
        reserved: Mapping[str, Callable[[], bytes]],
        is_judged: Callable[[str], bool],
    ) -> None:
        assert set(reserved) >= set(RESERVED), "every reserved column has a reader"
        self.chain = CHAIN_START
        self.components: dict[str, Component] = {}
        self.short = short_digest(algorithm)
        self._algorithm = algorithm
        self._encode = encode_hashed if algorithm is Algorithm.BLAKE3 else encode_parts
        self._reserved = dict(reserved)
        self._is_judged = is_judged
        self._labels: dict[str, bytes] = {}
        self.forget()

    def add(self, component: Component) -> None:
        """Track one more component from here on; E-TRACK-002 when its name is in use."""
        if component.name in self.components or component.name in self._reserved:
            raise ComponentTaken(
                f"A component called {component.name!r} is tracked already.",
                "Expected one name for one component.",
                f"Give it a name of its own, for example {component.name + '/2'!r}.",
                name=component.name,
            )
        self.components[component.name] = component
        self.forget()

    def forget(self) -> None:
        """Forget earlier digests, so that the next point walks all of the state."""
        self._columns = tuple(sorted([*self.components, *self._reserved]))
        judged = [at for at, name in enumerate(self._columns) if self._is_judged(name)]
        # None where the root is over all columns: the usual case joins nothing a second time.
        self._picks = None if len(judged) == len(self._columns) else [at * _WIDTH for at in judged]
        self._readers = [self._make_reader(name) for name in self._columns]

    def take(self, tick: int, name: str) -> ComparePoint:
        """Digest every column and extend the chain; E-ENCODE-001 when a state has no canonical form."""
        digests = judged = b"".join([read() for read in self._readers])
        if self._picks is not None:
            judged = b"".join([digests[at : at + _WIDTH] for at in self._picks])
        return self._chain_point(tick, name, self._columns, digests, judged)

    def take_value(self, tick: int, name: str, value: object, *, judged: bool) -> ComparePoint:
        """Take an explicit compare-point over one value; it is not judged when it has a tolerance."""
        digest = self._digest(value, name)
        return self._chain_point(tick, name, (name,), digest, digest if judged else b"")

    def _digest(self, value: object, where: str) -> bytes:
        try:
            parts = self._encode(value, threshold=_COPIED_BYTES_MAX)
        except EncodingRefused as error:
            happened = f"In the component {where!r}: {error.happened}"
            fields = {**error.fields, "component": where}
            raise type(error)(happened, error.expected, error.remedy, **fields) from error
        if isinstance(parts, bytes):
            return parts
        if len(parts) == 1:
            return self.short(parts[0])
        hasher = new_hasher(self._algorithm)
        for part in parts:
            hasher.update(part)
        return hasher.digest()[:_WIDTH]

    def _chain_point(
        self, tick: int, name: str, columns: tuple[str, ...], digests: bytes, judged: bytes
    ) -> ComparePoint:
        root = self.short(judged)
        label = self._labels.get(name)
        if label is None:
            label = self._labels[name] = _make_label(name)
        self.chain = self.short(self.chain + root + _PACK_TICK(tick) + label)
        return ComparePoint(tick, name, columns, root, self.chain, digests)

    def _make_reader(self, name: str) -> Callable[[], bytes]:
        if name in self._reserved:
            return self._read_position(self._reserved[name])
        component, digest = self.components[name], self._digest
        if component.changed is not None:
            return self._read_changed_keys(component, component.changed)
        read = component.read
        return lambda: digest(read(), name)

    def _read_position(self, position: Callable[[], bytes]) -> Callable[[], bytes]:
        short = self.short
        last, digest = b"", short(b"")

        # Most ticks read no input and print nothing: a position is digested when it moved.
        def read() -> bytes:
            nonlocal last, digest
            now = position()
            if now != last:
                last, digest = now, short(now)
            return digest

        return read

    def _read_changed_keys(
        self, component: Component, changed: Callable[[], Iterable[str] | None]
    ) -> Callable[[], bytes]:
        """Digest a component as a tree over its top-level keys, like a full walk if ``changed()`` named every changed one."""
        from twice.foundation.merkle import Node, rehash, tree

        node: Node | None = None

        def read() -> bytes:
            nonlocal node
            state = component.read()
            if not isinstance(state, dict):
                raise ComponentRefused(
                    f"The state of the incremental component {component.name!r} is a "
                    f"{type(state).__name__}.",
                    "Expected a dict, whose top-level keys are what changed() names.",
                    "Return a dict from state(), or track it without incremental=True.",
                )
            keys = changed()
            # The first walk sees all of it, and still asks: what changed before it is walked then.
            if node is None or keys is None:
                node = tree(state, self._algorithm)
            else:
                node = rehash(node, state, list(keys), self._algorithm)
            return node.digest[:_WIDTH]

        return read


def _make_label(name: str) -> bytes:
    text = name.encode()
    return len(text).to_bytes(4, "little") + text


def chain_link(before: bytes, root: bytes, tick: int, name: str) -> bytes:
    """Return the bytes whose digest is the chain of a point, from the chain of the point before it."""
    return before + root + _PACK_TICK(tick) + _make_label(name)


def is_judged(column: str, predicate: Predicate, tolerances: Mapping[str, Tolerance]) -> bool:
    """Return whether a column takes part in the root, by its own class or the one of the run.

    Bit-exact judges every column whose values have no tolerance. Logical judges decisions: inputs, output and explicit
    compares. Statistical judges no column; it compares summaries over many runs.
    """
    if column in tolerances:
        return False
    kind = predicate.class_of(column)
    is_decision = kind is DeterminismClass.LOGICAL and column in {"inputs", "output"}
    return kind is DeterminismClass.BIT_EXACT or is_decision
