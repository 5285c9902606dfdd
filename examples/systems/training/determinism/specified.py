# Laid down by twice scaffold from sheets 00, 01, 04, 05, 08 and 09; owned by it: change the sheet, or eject the file.
"""What the specification says of a run: program, seed, configuration, policies."""

from typing import Final

COMPONENT: Final = "training"
RECORD: Final = (
    "record",
    "train.py:main",
    "--seed",
    "7",
    "--set",
    "steps=60",
    "--class",
    "bit-exact",
    "--scope",
    "host",
    "--compare",
    "tick",
    "--snapshots",
    "every=20",
    "--strategy",
    "hybrid",
    "--digest",
    "blake3",
)
"""Arguments of twice that record the run of the specification."""
