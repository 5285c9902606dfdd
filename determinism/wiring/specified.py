# Laid down by twice scaffold from sheets 00, 01, 04, 05, 08 and 09; owned by it: change the sheet, or eject the file.
"""What the specification says of a run: program, seed, configuration, policies."""

from typing import Final

COMPONENT: Final = "twice"
RECORD: Final = (
    "record",
    "pipeline.py:main",
    "--seed",
    "5",
    "--set",
    "ticks=12",
    "--set",
    "master=20260101",
    "--class",
    "bit-exact",
    "--scope",
    "cross-host",
    "--compare",
    "tick",
    "--snapshots",
    "every=4",
    "--strategy",
    "hybrid",
    "--digest",
    "blake3",
)
"""Arguments of twice that record the run of the specification."""
