"""Everything that hangs on an object, path by path: to name what a snapshot leaves out.

A graph digest says that ``ant.env`` differs; this says that ``ant.env.env.data.qacc_warmstart`` does.
Attributes, dicts with text keys and short sequences are opened; arrays, numbers, text, generators
and whatever cannot be opened are leaves with a digest each. A MuJoCo ``MjData`` is opened into the
inputs of ``mj_step``.

Not for: comparing states at every event (``graphdigest`` does), or values that a class computes.

Invariant: no code of the user's runs; attributes are read past properties.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, cast

from twice.diagnosis.object_digest.graphdigest import digest_roots
from twice.diagnosis.object_digest.librarystate import is_stream, knows
from twice.diagnosis.object_digest.mujocostate import is_mjdata, mjdata_fields
from twice.foundation.object_attributes import all_strings, attributes, class_facts

PATHS_MAX = 20_000
_DEPTH_MAX = 10
_ITEMS_MAX = 64
_PLAIN = (int, float, str, bytes, bool, type(None))


def leaves(roots: Mapping[str, object]) -> dict[str, bytes]:
    """Digest of every leaf under the roots, by path; the first path to a shared object counts."""
    found: dict[str, object] = {}
    seen: set[int] = set()
    waiting: deque[tuple[str, object, int]] = deque(
        (name, roots[name], 0) for name in sorted(roots)
    )
    while waiting and len(found) < PATHS_MAX:
        path, value, depth = waiting.popleft()
        parts = None if depth >= _DEPTH_MAX else _parts(value)
        if parts is None:
            found[path] = value
        elif id(value) not in seen:
            seen.add(id(value))
            waiting.extend((f"{path}{step}", part, depth + 1) for step, part in parts)
    return {path: digest_roots({"leaf": value})["leaf"] for path, value in found.items()}


def _parts(value: object) -> list[tuple[str, object]] | None:
    """Return the members of a value, or None for a leaf."""
    if is_mjdata(value):
        return [(f".{name}", field) for name, field in mjdata_fields(value).items()]
    kind, plain = type(value), cast("Any", value)
    # Never isinstance: it asks an object for its class, which may be a property of the user's.
    if issubclass(kind, type) or is_stream(value):
        return None
    if kind is dict:
        named = all_strings(plain)
        return [(f"[{key!r}]", plain[key]) for key in sorted(plain)] if named else None
    if kind is list or kind is tuple:
        # A sequence that is long, or holds plain values alone, says as much as one leaf.
        if len(plain) > _ITEMS_MAX or all(issubclass(type(each), _PLAIN) for each in plain):
            return None
        return [(f"[{place}]", element) for place, element in enumerate(plain)]
    facts = class_facts(kind)
    if knows(facts):
        return None
    members = attributes(value, facts)
    return [(f".{name}", member) for name, member in members] or None


def paths_apart(one: Mapping[str, bytes], two: Mapping[str, bytes]) -> list[str]:
    """Paths whose leaves differ or stand on one side only, sorted."""
    return sorted(path for path in {**one, **two} if one.get(path) != two.get(path))
