# Laid down by twice scaffold from sheets 00 and 10; owned by it: change the sheet, or eject the file.
"""The world as orders may ask it: one door for each source of 10."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import twice

INVENTORY: Final[tuple[tuple[str, str, str], ...]] = (
    ("clock", "clock.time", "record-and-replay"),
    ("entropy", "entropy.urandom", "record-and-replay"),
    ("filesystem", "files.read", "record-and-replay"),
)
"""Source, what is asked, how it is substituted."""


class World:
    """What a program asks of the world goes through here, and through nothing else."""

    def __init__(self, run: twice.Run) -> None:
        self.clock = run.effects.clock
        self.entropy = run.effects.entropy
        self.fs = run.effects.fs
