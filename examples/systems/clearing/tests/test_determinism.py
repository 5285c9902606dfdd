# Laid down by twice scaffold from sheets 00, 01, 07 and 12; owned by it: change the sheet, or eject the file.
"""The laws that clearing has to keep, tried on many configurations."""

from pathlib import Path

from hypothesis import strategies as st
from twice.testing import properties, strategies

ROOT = Path(__file__).parents[1]

TestDeterminism = properties.suite(
    str(ROOT / "clearing.py:main"),
    config=strategies.config(
        banks=st.integers(2, 5),
        rounds=st.integers(1, 6),
    ),
    tier="XL",
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

TestSessions = properties.stateful(
    str(ROOT / "clearing.py:main"),
    config=strategies.config(
        banks=st.integers(2, 5),
        rounds=st.integers(1, 6),
    ),
    examples_in=str(ROOT / "determinism-and-replay/examples"),
)
