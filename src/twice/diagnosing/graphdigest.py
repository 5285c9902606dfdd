"""Typed digest of live Python objects, one digest per named path.

For: telling which part of the reachable state differs between two executions of one program in two
processes. Roots are named; an instance and a dict with text keys give one path more per member
(``swarm.cache``, ``config['lr']``), so that noise in one path does not hide another.

Tried and rejected: ``repr`` and ``pickle`` (addresses, set order, user code: they blame the entry
of the function in every case tried); one digest for everything (one noisy cache hides the rest);
one numbering of shared objects across all paths (a difference in one path renumbers the others).

Rules. Scalars by type and bits. Functions by code position, with defaults and closure. Classes by
name, plus their data when their module is one of the caller's own. Modules by name. Sharing inside a
path by first visit; an object that has a path of its own is written as a reference to that path.
Sets by their sorted members' digests. Dicts in insertion order: it is behaviour. Integers equal to
the address of an object that was visited are masked, so a dict keyed by ``id`` is not a difference.
Generators of random numbers by state. Locks, files, iterators and running generators are opaque:
their type is digested, and each is named in ``caveats``.

Not for: canonical form of recorded state (``foundation.encoding``); these digests never leave one
diagnosis.

Invariant: never runs user code, and equal graphs give equal digests in any process of one Python.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from twice.diagnosing import librarystate
from twice.diagnosing.objectfacts import (
    all_strings,
    attributes,
    class_facts,
    class_name,
    class_namespace,
    has_attributes,
)

_DIGEST_BYTES = 12
_SPREAD_MAX = 512  # members of one root that get a path of their own
_DEPTH_MAX = 60  # nesting on the Python stack; what lies deeper is put off, not dropped
_ADDRESS_MIN = 1 << 16  # no object lives below; keeps small integers out of the address check
# Classes are told apart by identity: a metaclass may define equality and hash.
_SCALARS = frozenset(map(id, (int, float, str, bytes, bool, type(None), complex)))
_UNCLAIMED = _SCALARS | frozenset(map(id, (tuple, frozenset, range, slice)))


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of each path is read; what is beyond is a caveat.

    Args:
        nodes: values visited under one path.
    """

    nodes: int = 200_000


@dataclass(slots=True)
class Graph:
    """What was found: digests by path, references by path, the objects, and what is opaque."""

    digests: dict[str, bytes] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    objects: dict[str, object] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()


def digest_roots(
    roots: Mapping[str, object],
    *,
    limits: Limits | None = None,
    own_modules: Collection[str] = (),
) -> dict[str, bytes]:
    """Digests the objects under each root, one level deeper for instances and text-keyed dicts.

    Args:
        roots: name -> live object. Names become the first part of the paths.
        limits: how much is read under one path.
        own_modules: modules whose classes are read as state (class attributes), not only named.

    Returns:
        Path -> digest of 12 bytes. Comparable only within one diagnosis.
    """
    return digest_layers([roots], limits=limits, own_modules=own_modules).digests


def digest_layers(
    layers: list[Mapping[str, object]],
    *,
    limits: Limits | None = None,
    own_modules: Collection[str] = (),
) -> Graph:
    """Digests several layers of roots; a later layer refers to what an earlier one already named.

    The first layer holds what lives longest (components, globals), the next ones the locals of each
    frame from the outermost in. A layer never stops at an object named by a later layer, so a digest
    does not depend on which locals happen to point at the object.

    Args:
        layers: roots by layer, the longest-lived first.
        limits: how much is read under one path.
        own_modules: modules whose classes are read as state.

    Returns:
        Digests, references, objects by path, and caveats sorted by text.
    """
    graph = Graph()
    caveats: dict[str, None] = {}
    owners: dict[int, tuple[int, str]] = {}
    planned: list[tuple[int, str, object]] = []
    for rank, roots in enumerate(layers):
        for name, value in roots.items():
            _plan(graph, owners, planned, rank, name, value)
    bound = (limits or Limits()).nodes
    own = frozenset(own_modules)
    addresses: frozenset[int] = frozenset()
    seen_all: set[int] = set(owners)
    numbers: set[int] = set()
    for rank, name, value in planned:
        walk = _Walk(owners, rank, name, addresses, bound, own, caveats, seen_all, numbers)
        graph.digests[name] = walk.digest(value)
    masked = numbers & seen_all
    if masked:
        addresses = frozenset(masked)
        for rank, name, value in planned:
            walk = _Walk(owners, rank, name, addresses, bound, own, caveats, seen_all, numbers)
            graph.digests[name] = walk.digest(value)
    graph.caveats = tuple(sorted(caveats))
    return graph


class _Shape:
    """Stands for the members of a root that have paths of their own: type and names only."""

    __slots__ = ("kind", "names")

    def __init__(self, kind: str, names: list[str]) -> None:
        self.kind = kind
        self.names = names


def _plan(
    graph: Graph,
    owners: dict[int, tuple[int, str]],
    planned: list[tuple[int, str, object]],
    rank: int,
    name: str,
    value: object,
) -> None:
    """Gives a root, and its members where it has any, their paths; aliases become references."""
    if not _claim(graph, owners, rank, name, value):
        graph.digests[name] = _short_hash(b"alias:" + graph.aliases[name].encode())
        return
    members = _members(value)
    if members is None:
        planned.append((rank, name, value))
        return
    kind, pairs = members
    planned.append((rank, name, _Shape(kind, [label for label, _ in pairs])))
    for label, member in pairs:
        path = name + label
        if _claim(graph, owners, rank, path, member):
            planned.append((rank, path, member))
        else:
            graph.digests[path] = _short_hash(b"alias:" + graph.aliases[path].encode())


def _claim(
    graph: Graph, owners: dict[int, tuple[int, str]], rank: int, path: str, value: object
) -> bool:
    graph.objects[path] = value
    if id(type(value)) in _UNCLAIMED or _is_code(value):
        return True
    owner = owners.get(id(value))
    if owner is None:
        owners[id(value)] = (rank, path)
        return True
    graph.aliases[path] = owner[1]
    return False


def _is_code(value: object) -> bool:
    """Functions, classes and modules are named, not owned."""
    facts = class_facts(type(value))
    return facts.name in librarystate.NAMED_TYPES or facts.is_metaclass


def _members(value: object) -> tuple[str, list[tuple[str, object]]] | None:
    """Members that get paths of their own, or None when the value is one path."""
    kind = type(value)
    if kind is dict:
        held: Any = value
        if 0 < len(held) <= _SPREAD_MAX and all_strings(held):
            return "dict", [(f"[{key!r}]", member) for key, member in dict.items(held)]
        return None
    facts = class_facts(kind)
    if facts.is_metaclass or not facts.python_made or librarystate.knows(facts):
        return None
    if not has_attributes(facts):
        return None
    pairs = attributes(value, facts)
    if not pairs or len(pairs) > _SPREAD_MAX:
        return None
    return facts.name, [(f".{label}", member) for label, member in pairs]


def _short_hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


class _Walk:
    """One path: a depth-first walk that writes a typed, self-delimiting byte string."""

    __slots__ = (
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
    ) -> None:
        self.owners, self.rank, self.path, self.addresses = owners, rank, path, addresses
        self.left, self.own, self.caveats = nodes, own, caveats
        self.seen_all, self.numbers = seen_all, numbers
        self.parts: list[bytes] = []
        self.seen: dict[int, int] = {}
        self.order: list[int] = []
        self.later: list[object] = []
        self.keep: list[object] = []

    def digest(self, value: object) -> bytes:
        """The digest of everything under the path."""
        if type(value) is _Shape:
            self.parts.append(b"S" + _text(value.kind) + b"".join(map(_text, value.names)))
        else:
            try:
                self.write(value, 0)
                self.drain()
            except RecursionError:
                self.caveat("nested too deeply for the stack that was left; only partly compared")
        return _short_hash(b"".join(self.parts))

    def drain(self) -> None:
        """Writes what was put off because it lay too deep."""
        while self.later:
            self.parts.append(b"L")
            self.content(self.later.pop(0), 0)

    def caveat(self, what: str) -> None:
        """Notes what this path's digest does not see."""
        self.caveats[f"{self.path}: {what}"] = None

    def write(self, value: object, depth: int) -> None:
        """Writes one value: a scalar, a reference to what was met before, or new content."""
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
        """Writes a scalar by type and bits; an address becomes one fixed word."""
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
        """Writes the content of a value that is met for the first time."""
        kind = type(value)
        if kind is list or kind is tuple:
            self.parts.append((b"[%d:" if kind is list else b"(%d:") % len(value))
            for item in list(value):
                self.write(item, depth + 1)
        elif kind is dict:
            self.pairs(b"{", list(dict.items(value)), depth)
        elif kind is set or kind is frozenset:
            self.members(b"<", list(value), depth)
        else:
            self.other(value, depth)

    def pairs(self, tag: bytes, pairs: list[tuple[object, object]], depth: int) -> None:
        """Writes pairs in the order given."""
        self.parts.append(tag + b"%d:" % len(pairs))
        for key, held in pairs:
            self.write(key, depth + 1)
            self.write(held, depth + 1)

    def members(self, tag: bytes, items: list[object], depth: int) -> None:
        """Writes members without order; each is numbered as if it were met first."""
        outer, later = self.parts, self.later
        mark = len(self.order)
        digests = []
        for item in items:
            self.parts, self.later = [], []
            self.write(item, depth + 1)
            self.drain()
            digests.append(_short_hash(b"".join(self.parts)))
            for identity in self.order[mark:]:
                del self.seen[identity]
            del self.order[mark:]
        self.parts, self.later = outer, later
        self.parts.append(tag + b"%d:" % len(digests) + b"".join(sorted(digests)))

    def other(self, value: Any, depth: int) -> None:
        """Writes a class, a function, a library's value, or an instance by its attributes."""
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
        held_attributes = attributes(value, facts)
        if state is None and not facts.python_made and not held_attributes:
            self.caveat(f"{facts.name} is opaque; only its type was compared")
        self.parts.append(b".%d:" % len(held_attributes))
        for name, held in held_attributes:
            self.parts.append(_text(name))
            self.write(held, depth + 1)

    def klass(self, cls: type, depth: int) -> None:
        """Writes a class by name, and by its data when it is the user's."""
        name = class_name(cls)
        self.parts.append(_text(name))
        if name.rpartition(".")[0].partition("<")[0] not in self.own and not any(
            name.startswith(module + ".") for module in self.own
        ):
            return
        for label, held in class_namespace(cls):
            if label.startswith("__") or librarystate.is_code_member(held):
                continue
            self.parts.append(_text(label))
            self.write(held, depth + 1)


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return b"%d:" % len(data) + data
