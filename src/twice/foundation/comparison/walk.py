"""Two values side by side, down to where they differ.

Without a tolerance, canonical bytes decide: ``-0.0`` is not ``0.0``, ``1`` is not ``1.0``, and dicts have no
order. The walk compares the digests of two values and descends only where they differ, so its work depends on
the difference and not on the state. Under a tolerance, it descends to the numbers of each pair. Values without
a canonical form are compared by ``==``.

The stack is explicit, so depth does not matter. Deep inside, the digests of all levels come from one reading.

Invariant: without a tolerance, the walk yields no difference exactly if the canonical forms are equal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import product, repeat
from typing import Any, Final, TypeAlias

from twice.errors import EncodingRefused
from twice.foundation.comparison.field_difference import (
    ABSENT,
    FieldDifference,
    clip,
    contrast,
    short,
)
from twice.foundation.comparison.numeric import compare_arrays, compare_numbers
from twice.foundation.comparison.tolerance import Tolerance
from twice.foundation.digests import Algorithm, digest_value
from twice.foundation.encoding import (
    Decomposed,
    OpaqueValue,
    Registry,
    decompose,
    encode,
    type_name,
)
from twice.foundation.merkle import Node, tree
from twice.foundation.printable import pluralize

Side: TypeAlias = tuple[Any, Node | None]
"""A value, with its digests where they are known."""
Pair: TypeAlias = tuple[str, Side, Side]
Found: TypeAlias = tuple[list[FieldDifference], list[Pair]]
"""The differences at this level, and the pairs that can contain more."""

_EXACT: Final = frozenset({str, bytes, int, bool})  # equal ones need no closer look
_DEEP: Final = 8
"""Down to this level each level is digested by itself, which needs no memory."""


def differences(
    a: object,
    b: object,
    *,
    limit: int = 100,
    component: str | None = None,
    registry: Registry | None = None,
) -> list[FieldDifference]:
    """Return the fields in which two values differ, smallest difference first.

    Args:
        a: a value with a canonical form.
        b: another.
        limit: the largest number to return, at least 1. The walk reads all values anyway.
        component: the name of the tracked object whose state these are. With it, paths read
            ``swarm.position[3, 1]``; without, ``state['position'][3, 1]``.
        registry: the users' types that are known; the default one when None.

    Returns:
        Numbers first, by ULPs or integer steps; then differences of order, value, presence, shape
        or type. Equal values give an empty list.

    Raises:
        EncodingRefused: E-ENCODE-001, a value has no canonical form.
    """
    root = "state" if component is None else component
    found = walk(a, b, root=root, is_component=component is not None, registry=registry)
    return nsmallest(limit, found, key=FieldDifference.rank)


def walk(
    a: object,
    b: object,
    *,
    root: str,
    is_component: bool = False,
    registry: Registry | None = None,
    tolerance: Tolerance | None = None,
) -> Iterator[FieldDifference]:
    """Yield every difference, each container's own before those inside it.

    Args:
        a: a value; the reference under a tolerance.
        b: another.
        root: the name of the values in paths.
        is_component: whether the text keys of the outermost dict read as attributes, ``.key``. Under
            a tolerance those of every dict do.
        registry: the users' types that are known; the default one when None.
        tolerance: the rule for equal numbers; None compares canonical bytes.
    """
    walker = _Walker(registry, tolerance)
    whole: Pair = (root, (a, None), (b, None))
    stack = [(0, whole)] if walker.differ(*whole[1:]) else []
    is_attribute = is_component or tolerance is not None
    # By identity, kept alive: values without a canonical form may contain themselves.
    met: dict[tuple[int, int], Pair] = {}
    while stack:
        depth, pair = stack.pop()
        path, one, two = pair
        if depth == _DEEP and tolerance is None:
            one, two = walker.digest(one), walker.digest(two)
        found, inner = walker.compare(path, one, two, is_attribute=is_attribute)
        is_attribute = tolerance is not None
        if inner and tolerance is not None:
            if (id(one[0]), id(two[0])) in met:
                continue
            met[id(one[0]), id(two[0])] = pair
        yield from found
        stack.extend((depth + 1, each) for each in reversed(inner))


class _Walker:
    """Compares one pair at a time."""

    def __init__(self, registry: Registry | None, tolerance: Tolerance | None) -> None:
        self._registry = registry
        self._tolerance = tolerance

    def differ(self, a: Side, b: Side) -> bool:
        """Return whether a pair is to be looked at: it differs, or may under a tolerance."""
        if self._tolerance is not None:
            one, two = a[0], b[0]
            return one is not two and not (
                type(one) is type(two) and type(one) in _EXACT and one == two
            )
        return self._mark(a) != self._mark(b)

    def digest(self, side: Side) -> Side:
        """Return a value with the digests of everything in it."""
        return side[0], tree(side[0], Algorithm.XXH3_128, registry=self._registry)

    def _mark(self, side: Side) -> bytes:
        value, node = side
        if node is not None:
            return node.digest
        return digest_value(value, Algorithm.XXH3_128, registry=self._registry).raw

    def compare(self, path: str, one: Side, two: Side, *, is_attribute: bool) -> Found:
        """Return the differences here, and the pairs inside that may differ."""
        a, b = one[0], two[0]
        kind, other = self._name_kind(a), self._name_kind(b)
        if kind != other:
            sides = (f"{short(a)} ({kind})", f"{short(b)} ({other})")
            return [FieldDifference(path, "type", *sides)], []
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(a, numpy.ndarray | numpy.generic):
            return self._compare_numpy(path, a, b)
        if self._is_measured(a):
            found = compare_numbers(path, [a], [b], self._tolerance, indexed=False)
            return [found] if found else [], []
        if type(a) in (list, tuple):
            return self._compare_sequences(path, one, two)
        if type(a) in (set, frozenset) and self._tolerance is None:
            return [self._compare_sets(path, a, b)], []
        try:
            parts = [decompose(side, registry=self._registry) for side in (a, b)]
        except EncodingRefused:
            if self._tolerance is None:
                raise
            parts = [Decomposed(())] * 2
        if parts[0].keys or parts[1].keys:
            is_attribute = is_attribute and type(a) is dict
            return self._compare_keyed(path, parts, (one, two), is_attribute=is_attribute)
        if self._tolerance is not None and self._are_equal(a, b):
            return [], []
        return [FieldDifference(path, "value", *contrast(a, b))], []

    def _name_kind(self, value: Any) -> str:
        """Return the type as canonical form sees it: an opaque value has the type that it replaces."""
        cls = type(value)
        if cls.__module__ in {"builtins", "numpy"}:
            return cls.__qualname__
        try:
            kind = decompose(value, registry=self._registry).kind
        except EncodingRefused:
            if self._tolerance is None:
                raise
            kind = "leaf"
        named = value.name if isinstance(value, OpaqueValue) else type_name(cls)
        return named if kind == "leaf" else kind

    def _are_equal(self, a: Any, b: Any) -> bool:
        try:
            if type(a) is type(b) and a == b:
                return True
            # Of a decimal NaN, and of an opaque value and what it stands for, the forms are equal.
            return self._mark((a, None)) == self._mark((b, None))
        except (EncodingRefused, ArithmeticError):  # no form; a signalling NaN
            return False

    def _is_measured(self, value: object) -> bool:
        kind = type(value)
        if self._tolerance is None:
            return kind in {int, float}
        return kind in {float, complex} or (kind is int and self._tolerance.integers)

    def _compare_numpy(self, path: str, a: Any, b: Any) -> Found:
        dtype = a.dtype
        if self._tolerance is not None and dtype == b.dtype and a.shape == b.shape:
            if dtype.names is not None:
                return [], [
                    (f"{path}[{name!r}]", (a[name], None), (b[name], None)) for name in dtype.names
                ]
            if dtype.hasobject:
                places = product(*map(range, a.shape))
                return [], [
                    (f"{path}[{', '.join(map(str, at))}]", (a[at], None), (b[at], None))
                    for at in places
                ]
        found = compare_arrays(path, a, b, self._tolerance)
        return [found] if found else [], []

    def _compare_sequences(self, path: str, one: Side, two: Side) -> Found:
        a, b = one[0], two[0]
        both = min(len(a), len(b))
        is_measured = (
            both > 0 and self._is_measured(a[0]) and len({*map(type, a), *map(type, b)}) == 1
        )
        if is_measured and len(a) == len(b):
            found = compare_numbers(path, a, b, self._tolerance, indexed=True)
            return [found] if found else [], []
        items, others = _open(a, one[1]), _open(b, two[1])
        unlike = [
            i for i, (x, y) in enumerate(zip(items, others, strict=False)) if self.differ(x, y)
        ]
        pairs = [(f"{path}[{i}]", items[i], others[i]) for i in unlike]
        if len(a) != len(b):
            # Under a tolerance, unlike items are those that may differ: each is followed, and none is counted here.
            is_exact = self._tolerance is None
            length = FieldDifference(
                path, "shape", pluralize(len(a), "item"), pluralize(len(b), "item"),
                differing=len(unlike) * is_exact + abs(len(a) - len(b)), of=max(len(a), len(b)),
            )  # fmt: skip
            # One shift makes every later item differ: then only the first place says something.
            if not unlike or (is_exact and unlike[0] + len(unlike) == both):
                return [length], pairs[:1]
            if is_measured:
                found = compare_numbers(path, a[:both], b[:both], self._tolerance, indexed=True)
                return [length, found] if found else [length], []
            return [length], pairs
        if self._tolerance is None and sorted(map(self._mark, items)) == sorted(
            map(self._mark, others)
        ):
            place, x, y = pairs[0]
            sides = contrast(x[0], y[0])
            return [FieldDifference(place, "order", *sides, differing=len(pairs), of=len(a))], []
        return [], pairs

    def _compare_sets(self, path: str, a: Any, b: Any) -> FieldDifference:
        left = {encode(item, registry=self._registry): item for item in a}
        right = {encode(item, registry=self._registry): item for item in b}
        only_a = [left[form] for form in sorted(left) if form not in right]
        only_b = [right[form] for form in sorted(right) if form not in left]
        one, two = (", ".join(map(short, only[:3])) or ABSENT for only in (only_a, only_b))
        differing, of = len(only_a) + len(only_b), len(left) + len(only_b)
        return FieldDifference(path, "missing", one, two, differing=differing, of=of)

    def _compare_keyed(
        self, path: str, parts: Sequence[Decomposed], sides: Sequence[Side], *, is_attribute: bool
    ) -> Found:
        left, right = (
            self._by_key(path, each, node, is_attribute=is_attribute)
            for each, (_, node) in zip(parts, sides, strict=True)
        )
        found = []
        pairs = []
        for form, (place, side) in left.items():
            if form not in right:
                found.append(FieldDifference(place, "missing", short(side[0]), ABSENT))
            elif self.differ(side, right[form][1]):
                pairs.append((place, side, right[form][1]))
        for form, (place, side) in right.items():
            if form not in left:
                found.append(FieldDifference(place, "missing", ABSENT, short(side[0])))
        if not found and not pairs and self._tolerance is None:
            # The same fields in another order: two versions of a named tuple.
            first, second = (clip(", ".join(map(str, each.keys))) for each in parts)
            found.append(FieldDifference(path, "order", first, second, None, len(left), len(left)))
        return found, pairs

    def _by_key(
        self, path: str, decomposed: Decomposed, node: Node | None, *, is_attribute: bool
    ) -> dict[bytes, tuple[str, Side]]:
        places = {}
        keys = decomposed.keys
        forms = decomposed.key_forms or [encode(key, registry=self._registry) for key in keys]
        for index, (key, side) in enumerate(
            zip(keys, _open(decomposed.children, node), strict=True)
        ):
            is_plain = is_attribute and isinstance(key, str) and key.isidentifier()
            label = f".{key}" if is_plain else decomposed.label(index)
            places[forms[index]] = (path + label, side)
        return places


def _open(children: Iterable[Any], node: Node | None) -> list[Side]:
    """Return the values inside one, with their digests if they are known; a list of nothing but numbers is a leaf."""
    nodes = node.children.values() if node is not None and node.children else repeat(None)
    return [*zip(children, nodes, strict=False)]
