"""One level of a value at a time, for those who walk values by themselves.

Invariant: the parts, then the canonical forms of the children, are the canonical form of the value.
"""

from __future__ import annotations

from twice.foundation.encoding.hot import GIVE_UP
from twice.foundation.encoding.opened import Opened, no_label
from twice.foundation.encoding.registry import Registry
from twice.foundation.encoding.registry import registry as _default
from twice.foundation.encoding.walking import Frame, open_at
from twice.foundation.encoding.writing import ROOT, encode


def take_apart(value: object, *, registry: Registry | None = None) -> Opened:
    """One level of a value: its head, the values inside, and how each is reached.

    Args:
        value: anything with a canonical form.
        registry: the users' types that are known; the default one when None.

    Returns:
        For a value without parts, all its bytes and no children. Whether the children have a
        canonical form is not asked.

    Raises:
        EncodingRefused: E-ENCODE-001, the value itself or one of its keys has no canonical form.
    """
    known = _default if registry is None else registry

    def sub(key: object) -> bytes:
        return encode(key, registry=known)

    try:
        return known.opener_of(type(value))(value, sub)
    except GIVE_UP:
        return open_at(value, known, ROOT, [Frame(None, Opened((), (value,), no_label))], set(), 0)
