"""The walk behind one path of ``graphdigest``: values in, one typed byte string out.

Not for: which objects have paths of their own; that is planned before the first walk.

Invariant: the bytes are self-delimiting, so two different graphs never run together.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import Any

from twice.diagnosis.object_digest import librarystate
from twice.diagnosis.object_digest.state import short_hash
from twice.foundation.object_attributes import (
    class_facts,
    class_name,
    class_namespace,
)

_DEPTH_MAX = 60  # nesting on the Python stack; what lies deeper is put off, not dropped
_ADDRESS_MIN = 1 << 16  # no object lives below; keeps small integers out of the address check
# Classes are told apart by identity: a metaclass may define equality and hash.
_SCALARS = frozenset(map(id, (int, float, str, bytes, bool, type(None), complex)))
UNCLAIMED = _SCALARS | frozenset(map(id, (tuple, frozenset, range, slice)))
"""Classes of values that cannot change, and so never own a path, by ``id``."""

_KEEPS_HASH = re.compile("^_.*hash")
"""Attributes in which classes of libraries keep the hash of the object, which another hash seed changes."""


class Shape:
    """Stands for the members of a root that have paths of their own: type and names only."""

    __slots__ = ("kind", "names")

    def __init__(self, kind: str, names: list[str]) -> None:
        self.kind = kind
        self.names = names


class Walk:
    """One path: a depth-first walk that writes a typed, self-delimiting byte string."""

    __slots__ = (
        "_drawn",
        "addresses",
        "caveats",
        "keep",
        "later",
        "left",
        "numbers",
        "order",
        "own",
        "owners",
        "parts",
        "path",
        "rank",
        "references",
        "seen",
        "seen_all",
    )

    def __init__(
        self,
        owners: dict[int, tuple[int, str]],
        rank: int,
        path: str,
        addresses: frozenset[int],
        nodes: int,
        own: frozenset[str],
        caveats: dict[str, None],
        seen_all: set[int],
        numbers: set[int],
        drawn: Mapping[str, str],
    ) -> None:
        self.owners, self.rank, self.path, self.addresses = owners, rank, path, addresses
        self.left, self.own, self.caveats = nodes, own, caveats
        self.seen_all, self.numbers = seen_all, numbers
        self._drawn = [(part.encode(), key.encode()) for part, key in drawn.items()]
        self.parts: list[bytes] = []
        self.references: dict[str, None] = {}
        self.seen: dict[int, int] = {}
        self.order: list[int] = []
        self.later: list[object] = []
        self.keep: list[object] = []

    def digest(self, value: object) -> bytes:
        """Digest everything under the path."""
        if type(value) is Shape:
            self.parts.append(b"S" + _text(value.kind) + b"".join(map(_text, value.names)))
        else:
            try:
                self.write(value, 0)
                self.drain()
            except RecursionError:
                self.caveat("nested too deeply for the stack that was left; only partly compared")
        return self._hash()

    def _hash(self) -> bytes:
        """Hash the written parts, with the names of random parts in their place."""
        written = b"".join(self.parts)
        for part, key in self._drawn:
            written = written.replace(part, key)
        return short_hash(written)

    def drain(self) -> None:
        """Write the values that were put off because they lie too deep."""
        while self.later:
            self.parts.append(b"L")
            self.content(self.later.pop(0), 0)

    def caveat(self, what: str) -> None:
        """Note a gap of this path's digest."""
        self.caveats[f"{self.path}: {what}"] = None

    def write(self, value: object, depth: int) -> None:
        """Write one value: a scalar, a reference to an earlier value, or new content."""
        kind = type(value)
        if id(kind) in _SCALARS:
            self.scalar(value)
            return
        identity = id(value)
        index = self.seen.get(identity)
        if index is not None:
            self.parts.append(b"r%d;" % index)
            return
        owner = self.owners.get(identity)
        if owner is not None and owner[1] != self.path and self._stops_at(owner[0]):
            self.parts.append(b"o" + _text(owner[1]))
            self.references[owner[1]] = None
            return
        self.left -= 1
        if self.left < 0:
            if self.left == -1:
                self.caveat("too large; only the first values were compared")
            return
        self.seen[identity] = len(self.seen)
        self.order.append(identity)
        self.seen_all.add(identity)
        if depth >= _DEPTH_MAX:
            self.parts.append(b"l")
            self.later.append(value)
        else:
            self.content(value, depth)

    def _stops_at(self, rank: int) -> bool:
        """Roots stop at roots, frames at roots and outer frames."""
        return rank < self.rank or rank == self.rank == 0

    def scalar(self, value: Any) -> None:
        """Write a scalar by type and bits; an address becomes one fixed word."""
        kind = type(value)
        if kind is int:
            if value > _ADDRESS_MIN:
                if value in self.addresses:
                    self.parts.append(b"@;")
                    return
                self.numbers.add(value)
            self.parts.append(b"i%x;" % value)
        elif kind is float:
            self.parts.append(b"f" + struct.pack("<d", value))
        elif kind is str:
            self.seen_all.add(id(value))
            self.parts.append(b"s" + _text(value))
        elif kind is bytes:
            self.parts.append(b"b%d:" % len(value) + value)
        elif kind is complex:
            self.parts.append(b"c" + struct.pack("<dd", value.real, value.imag))
        else:
            self.parts.append(b"T;" if value is True else b"F;" if value is False else b"N;")

    def content(self, value: Any, depth: int) -> None:
        """Write the content of a value at its first appearance."""
        kind = type(value)
        if kind is list or kind is tuple:
            self.parts.append((b"[%d:" if kind is list else b"(%d:") % len(value))
            for item in list(value):
                self.write(item, depth + 1)
        elif kind is dict:
            self.pairs(b"{", list(dict.items(value)), depth)
        elif kind is set or kind is frozenset:
            self.members(b"<" if kind is set else b"^", list(value), depth)
        else:
            self.other(value, depth)

    def pairs(self, tag: bytes, pairs: list[tuple[object, object]], depth: int) -> None:
        """Write pairs in the order given."""
        self.parts.append(tag + b"%d:" % len(pairs))
        for key, held in pairs:
            self.write(key, depth + 1)
            self.write(held, depth + 1)

    def members(self, tag: bytes, items: list[object], depth: int) -> None:
        """Write members without order; number each as if it came first."""
        outer, later = self.parts, self.later
        mark = len(self.order)
        digests = []
        for item in items:
            self.parts, self.later = [], []
            self.write(item, depth + 1)
            self.drain()
            digests.append(self._hash())
            for identity in self.order[mark:]:
                del self.seen[identity]
            del self.order[mark:]
        self.parts, self.later = outer, later
        self.parts.append(tag + b"%d:" % len(digests) + b"".join(sorted(digests)))

    def other(self, value: Any, depth: int) -> None:
        """Write a class, a function, a library's value, or an instance by its attributes."""
        facts = class_facts(type(value))
        self.parts.append(b"t" + _text(facts.name))
        if facts.is_metaclass:
            self.klass(value, depth)
            return
        state = librarystate.read(value, facts)
        if state is not None:
            self.keep.append(state)  # what was made for the reading must not lend its address
            if state.caveat:
                self.caveat(state.caveat)
            for chunk in state.chunks:
                self.parts.append(b"%d:" % len(chunk))
                self.parts.append(chunk)
            for held in state.values:
                self.write(held, depth + 1)
            if state.pairs is not None:
                self.pairs(b"{", state.pairs, depth)
            if state.members is not None:
                self.members(b"<", state.members, depth)
            if not state.attributes:
                return
        held_attributes = librarystate.state_attributes(value, facts)
        if state is None and not facts.python_made and not held_attributes:
            self.caveat(f"{facts.name} is opaque; only its type was compared")
        self.parts.append(b".%d:" % len(held_attributes))
        for name, held in held_attributes:
            self.parts.append(_text(name))
            if type(held) is int and _KEEPS_HASH.search(name) and not self._is_own(facts.name):
                self.parts.append(b"h;")
            else:
                self.write(held, depth + 1)

    def klass(self, cls: type, depth: int) -> None:
        """Write a class by name, and by its data if it is the user's."""
        name = class_name(cls)
        self.parts.append(_text(name))
        if not self._is_own(name):
            return
        for label, held in class_namespace(cls):
            if label.startswith("__") or librarystate.is_code_member(held):
                continue
            self.parts.append(_text(label))
            self.write(held, depth + 1)

    def _is_own(self, name: str) -> bool:
        """Whether a class belongs to one of the modules whose classes are state."""
        return name.rpartition(".")[0].partition("<")[0] in self.own or any(
            name.startswith(module + ".") for module in self.own
        )


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return b"%d:" % len(data) + data
