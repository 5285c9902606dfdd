"""Names that rules about generators still ask for here."""

from twice.checker.analysis.seed_expressions import (
    is_delay,
    is_entry,
    is_generator,
    is_global_draw,
    is_named_seed,
    is_none,
    is_set_later,
    is_unseeded,
    seed_of,
)

__all__ = ["is_delay", "is_entry", "is_generator", "is_global_draw", "is_named_seed", "is_none", "is_set_later", "is_unseeded", "seed_of"]  # fmt: skip
