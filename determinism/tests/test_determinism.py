# Laid down by twice scaffold from sheets 00, 01, 07 and 12; owned by it: change the sheet, or eject the file.
"""The laws that twice has to keep, tried on many configurations."""

from pathlib import Path

from hypothesis import strategies as st
from twice.testing import properties, strategies

ROOT = Path(__file__).parents[1]

TestDeterminism = properties.suite(
    str(ROOT / "pipeline.py:main"),
    config=strategies.config(
        master=st.integers(0, 1000000),
        ticks=st.integers(2, 5),
    ),
    tier="L",
    only=(
        "replay_equivalence",
        "seed_matters",
        "seed_isolation",
        "snapshot_round_trip",
        "restore_idempotence",
        "fork_and_converge",
    ),
    examples_in=str(ROOT / "determinism-and-replay/examples"),
)
