"""Compare-points: one digest per component, a root over those that are judged, and a chain.

At a compare-point every component's state becomes one 16-byte digest of its canonical form. The
root is the digest over the judged columns; the chain is the digest over the previous chain, the
point's name and tick, and the root, so two logs that differ once stay different and can be searched
by halves. Columns are always all written; what a class does not judge is evidence.

Invariant: equal states, positions and questions give equal points, on every platform.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from twice.errors import ComponentTaken, EncodingRefused
from twice.foundation.digests import Algorithm, new_hasher, short_digest
from twice.foundation.encoding import encode_parts
from twice.recorder.components import RESERVED, Component

CHAIN_START = bytes(16)
_PACK_TICK = struct.Struct("<q").pack
_WIDTH = 16
# Hashing a form in one piece costs less than its parts, up to where the copy costs more: blake3
# takes 2.5 us for 300 bytes and an array of 8 KB in one piece and 4.5 in two; at 256 KB it turns.
_COPIED_BYTES_MAX = 128 * 1024


@dataclass(frozen=True, slots=True)
class Taken:
    """A compare-point as it was taken.

    Attributes:
        tick: tick number, -1 before the first.
        name: ``start``, ``tick``, ``end``, a phase or an explicit compare.
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
    """Takes compare-points of a run's components.

    Args:
        algorithm: digest for every column.
        reserved: for each reserved name, what its position is as bytes.
        judged: whether a column takes part in the root.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        reserved: Mapping[str, Callable[[], bytes]],
        judged: Callable[[str], bool],
    ) -> None:
        assert set(reserved) == set(RESERVED), "every reserved column has a reader"
        self.algorithm = algorithm
        self.chain = CHAIN_START
        self.components: dict[str, Component] = {}
        self.short = short_digest(algorithm)
        self._reserved = dict(reserved)
        self._judged = judged
        self._readers: list[Callable[[], bytes]] = []
        self._columns: tuple[str, ...] = ()
        self._picks: list[int] = []
        self._names: dict[str, bytes] = {}
        self._rearrange()

    def add(self, component: Component) -> None:
        """Track one more component from here on.

        Raises:
            ComponentTaken: E-TRACK-002, when the name is in use.
        """
        if component.name in self.components:
            raise ComponentTaken(
                f"A component called {component.name!r} is tracked already.",
                "Expected one name for one component.",
                f"Give it a name of its own, for example {component.name + '/2'!r}.",
                name=component.name,
            )
        self.components[component.name] = component
        self._rearrange()

    def forget(self) -> None:
        """Forget the digests: state was put back directly, so the next point walks all of it."""
        self._rearrange()

    def take(self, tick: int, name: str) -> Taken:
        """Digest every column and extend the chain.

        Raises:
            EncodingRefused: E-ENCODE-001, when a component's state has no canonical form.
        """
        digests = b"".join([reader() for reader in self._readers])
        return self._sealed(tick, name, self._columns, digests, self._judged_bytes(digests))

    def take_value(self, tick: int, name: str, value: object, *, judged: bool = True) -> Taken:
        """Take an explicit compare-point over one value; it is not judged when it has a tolerance."""
        digest = self.digest(value, name)
        return self._sealed(tick, name, (name,), digest, digest if judged else b"")

    def digest(self, value: object, where: str) -> bytes:
        """Return 16 bytes for one value; a refusal names the value's place."""
        try:
            parts = encode_parts(value, threshold=_COPIED_BYTES_MAX)
        except EncodingRefused as error:
            raise _named(error, where) from error
        if len(parts) == 1:
            return self.short(parts[0])
        hasher = new_hasher(self.algorithm)
        for part in parts:
            hasher.update(part)
        return hasher.digest()[:_WIDTH]

    def _sealed(
        self, tick: int, name: str, columns: tuple[str, ...], digests: bytes, judged: bytes
    ) -> Taken:
        root = self.short(judged)
        label = self._names.get(name)
        if label is None:
            text = name.encode()
            label = self._names[name] = len(text).to_bytes(4, "little") + text
        self.chain = self.short(self.chain + root + _PACK_TICK(tick) + label)
        return Taken(tick, name, columns, root, self.chain, digests)

    def _judged_bytes(self, digests: bytes) -> bytes:
        if len(self._picks) == len(self._columns):
            return digests
        return b"".join([digests[at : at + _WIDTH] for at in self._picks])

    def _rearrange(self) -> None:
        self._columns = tuple(sorted([*self.components, *self._reserved]))
        self._picks = [at * _WIDTH for at, name in enumerate(self._columns) if self._judged(name)]
        self._readers = [self._reader(name) for name in self._columns]

    def _reader(self, name: str) -> Callable[[], bytes]:
        if name in self._reserved:
            return _remembering(self._reserved[name], self.short)
        component = self.components[name]
        read, digest = component.read, self.digest
        if component.changed is not None:
            from twice.recorder.incremental import IncrementalDigest

            return IncrementalDigest(component, self.algorithm)
        return lambda: digest(read(), name)


def _remembering(
    position: Callable[[], bytes], short: Callable[[bytes], bytes]
) -> Callable[[], bytes]:
    """Digest a position only when it moved: most ticks read no input and print nothing."""
    last, digest = b"", short(b"")

    def read() -> bytes:
        nonlocal last, digest
        now = position()
        if now != last:
            last, digest = now, short(now)
        return digest

    return read


def _named(error: EncodingRefused, where: str) -> EncodingRefused:
    """Copy the refusal, with the component in front of the path."""
    happened = f"In the component {where!r}: {error.happened}"
    return type(error)(
        happened, error.expected, error.remedy, **{**error.fields, "component": where}
    )
