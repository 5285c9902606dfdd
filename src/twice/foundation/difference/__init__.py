"""Where two values differ, by path, with how much.

The walk goes down only where the canonical forms differ, so its work follows the difference and not
the state. What differs is judged by bytes: ``-0.0`` is not ``0.0``, ``1`` is not ``1.0``. Dicts have
no order here, as in canonical form. Tolerances are the business of ``equivalence``.

Invariant: the list is empty exactly when the two canonical forms are equal.
"""

from __future__ import annotations

from heapq import nsmallest

from twice.foundation.difference.fields import FieldDifference, Kind
from twice.foundation.difference.walking import walk
from twice.foundation.encoding import Registry

__all__ = ["FieldDifference", "Kind", "differences"]


def differences(
    a: object,
    b: object,
    *,
    limit: int = 100,
    component: str | None = None,
    registry: Registry | None = None,
) -> list[FieldDifference]:
    """The fields in which two values differ, smallest difference first.

    Args:
        a: a value with a canonical form.
        b: another.
        limit: how many to return at most; at least 1. All of them are looked at.
        component: the name of the tracked object whose state these are. With it, paths read
            ``swarm.position[3, 1]``; without, ``state['position'][3, 1]``.
        registry: the users' types that are known; the default one when None.

    Returns:
        Numbers first, by ULPs or integer steps; then what differs in order, value, presence, shape
        or type. Equal values give an empty list.

    Raises:
        EncodingRefused: E-ENCODE-001, a value has no canonical form.
    """
    found = walk(a, b, component, registry)
    return nsmallest(limit, found, key=FieldDifference.rank)
