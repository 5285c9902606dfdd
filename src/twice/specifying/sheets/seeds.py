"""02: where seeds come from and how they reach everything that draws."""

from __future__ import annotations

from typing import Final

from twice.specifying.kinds import Column, Many, OneOf, Rows, Text, Whole
from twice.specifying.schema import Item, Sheet
from twice.specifying.tiers import Condition, Tier, Trait

SHEET: Final = Sheet(
    "02",
    "seed-governance-spec",
    "Seed governance",
    "The master seed is an input; every sub-seed follows from it and a name, whatever is executed in which order.",
    (
        Item(
            "surface",
            Many(OneOf(("config", "flag", "environment")), 1),
            "where the master seed is given",
        ),
        Item("derivation", Text(), "the rule, with its version, by which sub-seeds follow"),
        Item(
            "names",
            Rows(
                (Column("stream", like="swarm"), Column("component", like="swarm")), unique="stream"
            ),
            "every stream that is drawn from, and the component that owns it",
        ),
        Item(
            "record_fields",
            Many(least=1),
            "what of it stands in each run record",
            like=["seed", "streams"],
        ),
        Item(
            "workers",
            OneOf(("rank", "name")),
            "by what workers derive their seeds",
            Condition(Tier.M, Trait.CONCURRENCY),
        ),
        Item("audit", Many(least=1), "folders and files whose draws are audited", like=["src"]),
        Item(
            "accepted",
            Rows(
                (
                    Column("place", like="swarm.py:jitter"),
                    Column("why", Text(), like="only colours of a plot"),
                ),
                unique="place",
            ),
            "draws that no stream owns and that are accepted: file.py:function",
            None,
        ),
        Item(
            "seedless",
            Text(),
            "why two seeds give the same run; left out where they part",
            None,
            like="its order of service is drawn by the callers",
        ),
        Item(
            "vectors",
            Rows(
                (
                    Column("master", Whole(), like=42),
                    Column("name", like="swarm"),
                    Column("seed", like="9f2c4e6a8b0d1f35"),
                ),
                least=1,
            ),
            "known sub-seeds: master seed and name to hexadecimal digits",
        ),
    ),
)
