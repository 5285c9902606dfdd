"""04: what a snapshot holds, and what becomes of everything else."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from twice.specifying.kinds import Column, OneOf, Rows, Text
from twice.specifying.schema import Item, Sheet
from twice.specifying.tiers import Condition, Tier, Trait

ANSWERS: Final = OneOf(("captured", "re-derived", "accepted", "pinned", "absent"))


class StateKind(StrEnum):
    """A kind of state that systems have and snapshots forget."""

    COMPONENTS = "components"
    STREAMS = "streams"
    EFFECT_CURSORS = "effect-cursors"
    CACHES = "caches"
    LAZY = "lazy-initialisation"
    JIT = "jit"
    SCHEDULER = "scheduler"
    GPU_MEMORY = "gpu-memory"
    MODULE_GLOBALS = "module-globals"
    CLASS_ATTRIBUTES = "class-attributes"
    OPEN_FILES = "open-files"
    ENVIRONMENT = "environment"


SHEET: Final = Sheet(
    "04",
    "snapshot-strategy",
    "Snapshot strategy",
    "What a snapshot holds, what is rebuilt, what is lost on purpose, and what is held still from outside.",
    (
        Item("strategy", OneOf(("full", "delta", "event-sourced", "hybrid")), "how state is kept"),
        Item("cadence", Text(), 'when: "tick", "decision", "episode", "every=50", "none"'),
        Item(
            "state",
            Rows(
                (
                    Column("kind", OneOf(tuple(StateKind))),
                    Column("answer", ANSWERS),
                    Column("how", Text(), like="state and restore of swarm"),
                ),
                least=len(StateKind),
                unique="kind",
            ),
            "every kind of state and what becomes of it",
        ),
        Item(
            "components",
            Rows(
                (
                    Column("name", like="swarm"),
                    Column("holds", optional=True, like="positions and speeds"),
                ),
                least=1,
                unique="name",
            ),
            "what is tracked, by name; twice scaffold wires these",
            None,
        ),
        Item("ownership", Text(), "which process keeps which state", Condition(Tier.M)),
        Item(
            "audit_encoding",
            Text(),
            "where the audit log's canonical encoding is specified: a reference, never a copy",
            Condition(trait=Trait.AUDIT_LOG),
        ),
        Item("encoding", Text(), "the form of the bytes, with its version"),
        Item("versioning", Text(), "how old snapshots are read after a change"),
    ),
)
