"""Canonical form: one state, one byte string, on every platform and version.

A typed tag-length-value format of our own, because no library maps distinct states to distinct and
stable bytes. Lives here: value to bytes, bytes to value, users' types. Does not: digests of the
bytes (``digests``), trees of them (``merkle``), files of them (``recording.record``).

Invariant: ``encode(decode(encode(x))) == encode(x)``, and nothing is ever imported or executed
because bytes say so.
"""

from __future__ import annotations

from twice.foundation.encoding.built_in_types import Decomposed
from twice.foundation.encoding.decoder import decode, loaded_types
from twice.foundation.encoding.encoder import decompose, encode, encode_hashed, encode_parts
from twice.foundation.encoding.format import VERSION, type_name
from twice.foundation.encoding.leaf_decoder import Resolve
from twice.foundation.encoding.opaque import OpaqueKind, OpaqueValue, RecordedZone
from twice.foundation.encoding.registry import Registration, Registry, register, registry

__all__ = [
    "VERSION",
    "Decomposed",
    "OpaqueKind",
    "OpaqueValue",
    "RecordedZone",
    "Registration",
    "Registry",
    "Resolve",
    "decode",
    "decompose",
    "encode",
    "encode_hashed",
    "encode_parts",
    "loaded_types",
    "register",
    "registry",
    "type_name",
]
