"""Which files a recorded Python program read that it was not given.

What C code opens by itself (a font, a sound file) is in no record, and not seen here.

Invariant: nothing of the record is executed.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Final

from twice.recorder.effects.ops import FILE_READ
from twice.recorder.runrecord import RunRecord

_SYSTEM: Final = ("/etc", "/proc", "/sys", "/dev", "/lib", "/lib64", "/usr/lib", "/usr/local/lib")
"""Where a system keeps its own; nobody gives these to a rendering."""


def files_read(record: Path, place: Path) -> tuple[Path, ...]:
    """Name the files that were read from outside, in one order.

    Args:
        record: of the run.
        place: the private folder of the rendering, whose files count as given.
    """
    with RunRecord.open(record) as run:
        events = [*run.strict_reads(), *run.lenient_reads(), *chain(*run.actor_reads().values())]
    named = {str(value[0]) for number, value in events if number == FILE_READ.number}  # type: ignore[index]
    found = (Path(each) for each in sorted(named) if each.startswith("/"))
    return tuple(
        each for each in found
        if place not in each.parents and not any(each.is_relative_to(one) for one in _SYSTEM)
    )  # fmt: skip
