"""03: which generator belongs to whom."""

from __future__ import annotations

from typing import Final

from twice.specifying.kinds import Column, Many, OneOf, Rows, Text, Whole
from twice.specifying.schema import Item, Sheet

SHEET: Final = Sheet(
    "03",
    "rng-isolation-spec",
    "RNG isolation",
    "One generator for each component that draws, one owner for each generator; a new component shifts nobody's draws.",
    (
        Item("library", Text(), "library, bit generator and version range"),
        Item(
            "slots",
            Rows(
                (
                    Column("stream", like="swarm"),
                    Column("owner", like="swarm"),
                    Column("kind", OneOf(("numpy", "python", "torch", "jax", "other"))),
                ),
                unique="stream",
            ),
            "each stream, the one component that draws from it, and its kind",
        ),
        Item(
            "shared",
            Rows(
                (
                    Column("stream", like="swarm"),
                    Column("owners", Many(least=2), like=["swarm", "weather"]),
                    Column("why", Text(), like="one source of noise for both"),
                ),
                unique="stream",
            ),
            "streams that several draw from, accepted with the reason",
            None,
        ),
        Item("serialisation", Text(), "how positions are kept in snapshots"),
        Item("adding", Text(), "what is done when a component is added"),
        Item(
            "vectors",
            Rows(
                (
                    Column("master", Whole(), like=42),
                    Column("stream", like="swarm"),
                    Column("draws", Many(least=1), like=["9f2c4e6a8b0d1f35"]),
                ),
                least=1,
            ),
            "known first draws: master seed and stream to 64-bit hexadecimal numbers",
        ),
    ),
)
