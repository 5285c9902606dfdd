"""Two values side by side, down to where they differ.

Each pair is compared by the digest of its canonical form, and only pairs that differ are taken
apart. The stack is explicit, so depth does not matter.

Invariant: every pair on the stack differs, and every such pair yields at least one difference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from twice.foundation.difference.fields import ABSENT, FieldDifference, clipped, short
from twice.foundation.difference.numbers import of_arrays, of_numbers, of_sequences
from twice.foundation.digests import Algorithm, digest_value
from twice.foundation.encoding import (
    Decomposed,
    OpaqueValue,
    Registry,
    decompose,
    encode,
    type_name,
)

Pair = tuple[str, Any, Any]

_ONE_KIND = ({int}, {float})


def walk(
    a: object, b: object, component: str | None, registry: Registry | None
) -> Iterator[FieldDifference]:
    """Yields every difference, in no promised order."""
    stack: list[Pair] = []
    root = "state" if component is None else component
    if _mark(a, registry) != _mark(b, registry):
        stack.append((root, a, b))
    member = component is not None
    while stack:
        path, one, two = stack.pop()
        found, inner = _compare(path, one, two, registry, member=member)
        member = False
        yield from found
        stack.extend(reversed(inner))


def _mark(value: object, registry: Registry | None) -> bytes:
    return digest_value(value, Algorithm.XXH3_128, registry=registry).raw


def _compare(
    path: str, a: Any, b: Any, registry: Registry | None, *, member: bool
) -> tuple[list[FieldDifference], list[Pair]]:
    """The differences that stand here, and the pairs that hold further ones."""
    kind, other = _kind_of(a, registry), _kind_of(b, registry)
    if kind != other:
        return [FieldDifference(path, "type", f"{short(a)} ({kind})", f"{short(b)} ({other})")], []
    if _is_numpy(a):
        return [of_arrays(path, a, b)], []
    if type(a) in (int, float):
        return [of_numbers(path, a, b)], []
    if type(a) in (set, frozenset):
        return [_of_sets(path, a, b, registry)], []
    if type(a) in (list, tuple):
        return _of_sequences(path, a, b, registry)
    one, two = decompose(a, registry=registry), decompose(b, registry=registry)
    if not len(one.keys) and not len(two.keys):
        return [FieldDifference(path, "value", short(a), short(b))], []
    return _of_keyed(path, one, two, registry, member=member and type(a) is dict)


def _is_numpy(value: object) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and (type(value) is numpy.ndarray or isinstance(value, numpy.generic))


def _kind_of(value: Any, registry: Registry | None) -> str:
    """The type as canonical form sees it: an opaque value is of the type that it stands for."""
    cls = type(value)
    if cls.__module__ in {"builtins", "numpy"}:
        return cls.__qualname__
    kind = decompose(value, registry=registry).kind
    named = value.name if isinstance(value, OpaqueValue) else type_name(cls)
    return named if kind == "leaf" else kind


def _of_sets(path: str, a: Any, b: Any, registry: Registry | None) -> FieldDifference:
    left = {encode(item, registry=registry): item for item in a}
    right = {encode(item, registry=registry): item for item in b}
    only_a = [left[form] for form in sorted(left) if form not in right]
    only_b = [right[form] for form in sorted(right) if form not in left]
    one, two = (", ".join(map(short, only[:3])) or ABSENT for only in (only_a, only_b))
    differing, of = len(only_a) + len(only_b), len(left) + len(only_b)
    return FieldDifference(path, "missing", one, two, differing=differing, of=of)


def _of_sequences(
    path: str, a: Any, b: Any, registry: Registry | None
) -> tuple[list[FieldDifference], list[Pair]]:
    if len(a) == len(b) and set(map(type, a)) == set(map(type, b)) in _ONE_KIND:
        return [of_sequences(path, a, b)], []
    marks = [[_mark(item, registry) for item in side] for side in (a, b)]
    unlike = [i for i, (x, y) in enumerate(zip(*marks, strict=False)) if x != y]
    pairs = [(f"{path}[{i}]", a[i], b[i]) for i in unlike]
    if len(a) != len(b):
        length = FieldDifference(
            path, "shape", f"{len(a)} items", f"{len(b)} items",
            differing=len(unlike) + abs(len(a) - len(b)), of=max(len(a), len(b)),
        )  # fmt: skip
        # One shift makes every later item differ: only the first place says something.
        return [length], pairs[:1]
    if sorted(marks[0]) == sorted(marks[1]):
        where, x, y = pairs[0]
        return [
            FieldDifference(where, "order", short(x), short(y), differing=len(pairs), of=len(a))
        ], []
    return [], pairs


def _of_keyed(
    path: str, one: Decomposed, two: Decomposed, registry: Registry | None, *, member: bool
) -> tuple[list[FieldDifference], list[Pair]]:
    left, right = (_by_key(path, side, registry, member=member) for side in (one, two))
    found, pairs = [], []
    for form, (place, value) in left.items():
        if form not in right:
            found.append(FieldDifference(place, "missing", short(value), ABSENT))
        elif _mark(value, registry) != _mark(right[form][1], registry):
            pairs.append((place, value, right[form][1]))
    for form, (place, value) in right.items():
        if form not in left:
            found.append(FieldDifference(place, "missing", ABSENT, short(value)))
    if not found and not pairs:  # the same fields in another order: two versions of a named tuple
        first, second = (clipped(", ".join(map(str, side.keys))) for side in (one, two))
        found.append(FieldDifference(path, "order", first, second, None, len(left), len(left)))
    return found, pairs


def _by_key(
    path: str, opened: Decomposed, registry: Registry | None, *, member: bool
) -> dict[bytes, tuple[str, object]]:
    places = {}
    for index, (key, value) in enumerate(zip(opened.keys, opened.children, strict=True)):
        plain = member and isinstance(key, str) and key.isidentifier()
        label = f".{key}" if plain else opened.label(index)
        places[encode(key, registry=registry)] = (path + label, value)
    return places
