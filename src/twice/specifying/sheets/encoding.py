"""11: one state, one byte string."""

from __future__ import annotations

from typing import Final

from twice.specifying.kinds import DIGEST, Column, OneOf, Rows, Text
from twice.specifying.schema import Item, Sheet

SHEET: Final = Sheet(
    "11",
    "canonical-state-encoding",
    "Canonical state encoding",
    "How state becomes bytes and bytes become a digest, with known answers.",
    (
        Item("rule", Text(), "the canonical form, with its version"),
        Item(
            "pins",
            Rows(
                (Column("library", like="blake3"), Column("version", like="1.0.0")),
                least=1,
                unique="library",
            ),
            "libraries that make the bytes",
        ),
        Item(
            "hashing",
            OneOf(("merkle", "incremental", "projection", "whole")),
            "how states are hashed",
        ),
        Item("hash", Text(), "the digest; cryptographic at tier XL"),
        Item("delta", Text(), "how a snapshot that shares with others is hashed"),
        Item("lazy", Text(), "what becomes of values that are not computed yet"),
        Item("tensors", Text(), "byte order, contiguity and dtype of arrays"),
        Item("envelope", Text(), "what stands around a snapshot and is not hashed"),
        Item(
            "vectors",
            Rows((Column("value", like="[]"), Column("digest", DIGEST)), least=1, unique="value"),
            "known answers: a JSON document and its digest",
        ),
    ),
)
