"""Canonical form: one state, one byte string, on every platform and version.

A typed tag-length-value format of our own, because no library maps distinct states to distinct and
stable bytes. Lives here: value to bytes, bytes to value, users' types. Does not: digests of the
bytes (``digests``), trees of them (``merkle``), files of them (``recording.record``).

Invariant: ``encode(decode(encode(x))) == encode(x)``, and nothing is ever imported or executed
because bytes say so.
"""

from __future__ import annotations

from twice.foundation.encoding.apart import take_apart
from twice.foundation.encoding.forms import VERSION, type_name
from twice.foundation.encoding.instants import RecordedZone
from twice.foundation.encoding.opaque import (
    EnumValue,
    InstanceValue,
    NamedTupleValue,
    PathValue,
    RegisteredValue,
)
from twice.foundation.encoding.opened import Opened
from twice.foundation.encoding.reading import decode
from twice.foundation.encoding.registry import Registration, Registry, register, registry
from twice.foundation.encoding.resolving import Resolve, loaded_types
from twice.foundation.encoding.writing import encode, encode_parts

__all__ = [
    "VERSION",
    "EnumValue",
    "InstanceValue",
    "NamedTupleValue",
    "Opened",
    "PathValue",
    "RecordedZone",
    "RegisteredValue",
    "Registration",
    "Registry",
    "Resolve",
    "decode",
    "encode",
    "encode_parts",
    "loaded_types",
    "register",
    "registry",
    "take_apart",
    "type_name",
]
