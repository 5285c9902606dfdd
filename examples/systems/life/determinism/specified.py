# Laid down by twice scaffold from sheets 00, 01, 04, 05, 08 and 09; owned by it: change the sheet, or eject the file.
"""What the specification says of a run: program, seed, configuration, policies."""

from typing import Final

COMPONENT: Final = "life"
RECORD: Final = (
    "record",
    "life.py:main",
    "--seed",
    "5",
    "--set",
    "side=8",
    "--set",
    "steps=12",
    "--class",
    "bit-exact",
    "--scope",
    "host",
)
"""Arguments of twice that record the run of the specification."""
