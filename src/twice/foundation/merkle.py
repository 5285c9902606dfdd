"""A value as a tree of digests, which is renewed along the parts that changed.

A list, tuple, dict, dataclass, named tuple or registered value is a node over its children; an empty
one, a sequence of nothing but numbers, a set, an array and everything without parts is a leaf. A
leaf's digest is ``digest_value`` of it. What a node hashes begins with a zero byte, which no
canonical form does, so no leaf can pose as a node.

Invariant: a node's digest depends on the value alone; equal digests mean equal canonical form.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from struct import Struct
from types import MappingProxyType

from twice.errors import EncodingRefused
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import DEFAULT, Algorithm, Digest, digest_parts, raw_digest
from twice.foundation.encoding import Decomposed, Registry, decompose, encode
from twice.foundation.encoding.built_in_types import LEAVES

Key = bytes
"""The canonical form of an index, a dict key or a field name."""

_NODE = b"\0twice.node/1\0"
_NO_CHILDREN: Mapping[Key, Node] = MappingProxyType({})
_ONLY_TEXT = {str}
_pack_length = Struct("<Q").pack


@dataclass(frozen=True, slots=True)
class Node:
    """The digest of a value, and of the values inside it.

    Args:
        kind: ``leaf``, or the type of the container: ``list``, ``dict``, ``module:Class``, …
        algorithm: the hash of every node of the tree.
        digest: the raw digest of the whole value; ``labelled`` adds its algorithm.
        children: one node per item, by key, in canonical order; empty for a leaf.
        size: length of the canonical form in bytes.
        head: the canonical bytes before the children: tag, count, keys; empty for a leaf.
        names: the keys of a dict with text keys only, in insertion order. ``rehash`` recognises an
            unchanged set of keys by them.
    """

    kind: str
    algorithm: Algorithm
    digest: bytes
    children: Mapping[Key, Node] = field(repr=False)
    size: int
    head: bytes = field(default=b"", repr=False)
    names: tuple[object, ...] = field(default=(), repr=False, compare=False)

    @property
    def labelled(self) -> Digest:
        """The digest with its algorithm, for printing and storing."""
        return Digest(self.algorithm, self.digest)


class _Frame:
    """A container whose children are being hashed."""

    __slots__ = ("decomposed", "nodes", "owner")

    def __init__(self, owner: object, decomposed: Decomposed) -> None:
        self.owner = owner
        self.decomposed = decomposed
        self.nodes: list[Node] = []


def tree(
    value: object, algorithm: Algorithm = DEFAULT, *, registry: Registry | None = None
) -> Node:
    """Return the Merkle tree of a value.

    Args:
        value: anything with a canonical form.
        algorithm: the hash of every node.
        registry: the users' types that are known; the default one when None.

    Raises:
        EncodingRefused: E-ENCODE-001, a value has no canonical form; the path is named.
    """
    digest = raw_digest(algorithm)
    frames: list[_Frame] = []
    above: set[int] = set()
    child = value
    while True:
        leaf = LEAVES.get(type(child))
        if leaf is not None and (type(child) is not str or child.isascii()):
            form = leaf(child)
            node = Node("leaf", algorithm, digest(form), _NO_CHILDREN, len(form))
        else:
            decomposed = _decompose(value, child, above, registry)
            if len(decomposed.children):
                frames.append(_Frame(child, decomposed))
                above.add(id(child))
                child = decomposed.children[0]
                continue
            raw = digest_parts(decomposed.parts, algorithm).raw
            size = sum(map(len, decomposed.parts))
            node = Node("leaf", algorithm, raw, _NO_CHILDREN, size)
        while frames:
            frame = frames[-1]
            frame.nodes.append(node)
            if len(frame.nodes) < len(frame.decomposed.children):
                child = frame.decomposed.children[len(frame.nodes)]
                break
            frames.pop()
            above.discard(id(frame.owner))
            node = _join(frame.owner, frame.decomposed, frame.nodes, algorithm, registry)
        else:
            return node


def _decompose(
    root: object, child: object, above: set[int], registry: Registry | None
) -> Decomposed:
    """Take ``child`` apart by one level; a refusal names the path from ``root``."""
    if id(child) in above:
        encode(root, registry=registry)  # raises: the child contains itself
    try:
        return decompose(child, registry=registry)
    except EncodingRefused:
        encode(root, registry=registry)  # raises the same, with the whole path
        raise


def _make_node(
    kind: str,
    head: bytes,
    children: Mapping[Key, Node],
    names: tuple[object, ...],
    algorithm: Algorithm,
) -> Node:
    """Return the node over ``children``: prefix, length of the head, head, one raw digest per child.

    The head holds tag, count and every key or field name, so the digests need no keys of their own.
    """
    nodes = children.values()
    raws = b"".join([node.digest for node in nodes])
    digest = raw_digest(algorithm)(_NODE + _pack_length(len(head)) + head + raws)
    size = len(head) + sum([node.size for node in nodes])
    return Node(kind, algorithm, digest, children, size, head, names)


def _join(
    owner: object,
    decomposed: Decomposed,
    nodes: Sequence[Node],
    algorithm: Algorithm,
    registry: Registry | None,
) -> Node:
    keys = decomposed.key_forms or [encode(key, registry=registry) for key in decomposed.keys]
    names = tuple(owner) if type(owner) is dict and set(map(type, owner)) == _ONLY_TEXT else ()
    children = dict(zip(keys, nodes, strict=True))
    return _make_node(decomposed.kind, b"".join(decomposed.parts), children, names, algorithm)


def rehash(
    previous: Node,
    value: object,
    changed_keys: Collection[object],
    algorithm: Algorithm = DEFAULT,
    *,
    registry: Registry | None = None,
) -> Node:
    """Return the tree of a value that is known to differ from an earlier one only under some keys.

    Args:
        previous: the tree of the earlier value, made with the same algorithm.
        value: the value now. Keys that came or went are noticed without being named.
        changed_keys: top-level keys, indices or field names whose values may have changed.
        algorithm: as for ``tree``.
        registry: as for ``tree``.

    Returns:
        The result of ``tree(value)``, if ``changed_keys`` names every change.

    Raises:
        EncodingRefused: E-ENCODE-001, a changed value has no canonical form.
    """
    has_same_keys = (
        type(value) is dict
        and bool(previous.names)
        and tuple(value) == previous.names
        and set(map(type, value)) == _ONLY_TEXT
    )
    if previous.algorithm is algorithm and has_same_keys:
        assert isinstance(value, dict), "only a dict has names"
        children = dict(previous.children)
        for key in changed_keys:
            if type(key) is str and key in value:
                node = tree(value[key], algorithm, registry=registry)
                children[encode(key)] = node
        return _make_node(previous.kind, previous.head, children, previous.names, algorithm)
    decomposed = decompose(value, registry=registry)
    if not len(decomposed.children) or previous.algorithm is not algorithm:
        return tree(value, algorithm, registry=registry)
    changed = frozenset(encode(key, registry=registry) for key in changed_keys)
    nodes = []
    for key, child in zip(decomposed.keys, decomposed.children, strict=True):
        form = encode(key, registry=registry)
        known = None if form in changed else previous.children.get(form)
        nodes.append(tree(child, algorithm, registry=registry) if known is None else known)
    return _join(value, decomposed, nodes, algorithm, registry)
