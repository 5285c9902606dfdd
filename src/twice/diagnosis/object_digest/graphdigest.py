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
their type is digested, and each is named in ``caveats``. A local that is an object inside of a root has
one path more, which tells its place there: another object with the same values is another object.

Not for: canonical form of recorded state (``foundation.encoding``); these digests never leave one
diagnosis.

Invariant: never runs user code, and equal graphs give equal digests in any process of one Python.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

from twice.diagnosis.object_digest import librarystate
from twice.diagnosis.object_digest.graphwalk import UNCLAIMED, Shape, Walk
from twice.diagnosis.object_digest.state import short_hash
from twice.diagnosis.tracing.paths import which
from twice.foundation.dataclass import dataclass
from twice.foundation.object_attributes import (
    all_strings,
    class_facts,
    has_attributes,
)

_SPREAD_MAX = 512  # members of one root that get a path of their own


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of each path is read; what is beyond is a caveat.

    Args:
        nodes: values visited under one path.
    """

    nodes: int = 200_000


@dataclass(slots=True)
class Graph:
    """What was found: digests by path, aliases and references by path, the objects, and what is opaque."""

    digests: dict[str, bytes] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    references: dict[str, tuple[str, ...]] = field(default_factory=dict)
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
        Path -> digest of 16 bytes. Comparable only within one diagnosis.
    """
    return digest_layers([roots], limits=limits, own_modules=own_modules).digests


def digest_layers(
    layers: list[Mapping[str, object]],
    *,
    limits: Limits | None = None,
    own_modules: Collection[str] = (),
    drawn: Mapping[str, str] = MappingProxyType({}),
) -> Graph:
    """Digests several layers of roots; a later layer refers to what an earlier one already named.

    The first layer holds what lives longest (components, globals), the next ones the locals of each
    frame from the outermost in. A layer never stops at an object named by a later layer, so a digest
    does not depend on which locals happen to point at the object.

    Args:
        layers: roots by layer, the longest-lived first.
        limits: how much is read under one path.
        own_modules: modules whose classes are read as state.
        drawn: parts of names that were drawn at random, and what stands for each in a digest.

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
    named = {name for roots in layers[1:] for name in roots}
    locals_of = {identity: path for identity, (_, path) in owners.items() if path in named}
    addresses: frozenset[int] = frozenset()
    seen_all: set[int] = set(owners)
    numbers: set[int] = set()
    for rank, name, value in planned:
        walk = Walk(owners, rank, name, addresses, bound, own, caveats, seen_all, numbers, drawn)
        graph.digests[name] = walk.digest(value)
        if walk.references:
            graph.references[name] = tuple(walk.references)
        if rank == 0:
            _tell_which(graph, locals_of, name, walk.seen)
    masked = numbers & seen_all
    if masked:
        addresses = frozenset(masked)
        for rank, name, value in planned:
            walk = Walk(
                owners, rank, name, addresses, bound, own, caveats, seen_all, numbers, drawn
            )
            graph.digests[name] = walk.digest(value)
    graph.caveats = tuple(sorted(caveats))
    return graph


def _plan(
    graph: Graph,
    owners: dict[int, tuple[int, str]],
    planned: list[tuple[int, str, object]],
    rank: int,
    name: str,
    value: object,
) -> None:
    """Assign paths to a root, and to its members if it has any; aliases become references."""
    if not _claim(graph, owners, rank, name, value):
        graph.digests[name] = short_hash(b"alias:" + graph.aliases[name].encode())
        return
    members = _members(value)
    if members is None:
        planned.append((rank, name, value))
        return
    kind, pairs = members
    planned.append((rank, name, Shape(kind, [label for label, _ in pairs])))
    for label, member in pairs:
        path = name + label
        if _claim(graph, owners, rank, path, member):
            planned.append((rank, path, member))
        else:
            graph.digests[path] = short_hash(b"alias:" + graph.aliases[path].encode())


def _tell_which(
    graph: Graph, locals_of: Mapping[int, str], root: str, seen: Mapping[int, int]
) -> None:
    """Where the objects that locals hold were met under a root; the first root that holds one counts."""
    for identity, name in locals_of.items():
        path = which(name)
        if identity in seen and path not in graph.digests:
            graph.digests[path] = short_hash(b"%d in " % seen[identity] + root.encode())
            graph.aliases[path] = root


def _claim(
    graph: Graph, owners: dict[int, tuple[int, str]], rank: int, path: str, value: object
) -> bool:
    graph.objects[path] = value
    if id(type(value)) in UNCLAIMED or _is_code(value):
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
    pairs = librarystate.state_attributes(value, facts)
    if not pairs or len(pairs) > _SPREAD_MAX:
        return None
    return facts.name, [(f".{label}", member) for label, member in pairs]
