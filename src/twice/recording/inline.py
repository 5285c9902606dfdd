"""Record the code inside a ``with`` block: the one name of this room that the front door binds at once.

``twice.recording`` is this function, and this room as well: had the front door not bound the name, the
import of any module in here would bind the room to it. So this imports what it needs when it is called.

Invariant: importing this imports nothing else of the room.
"""

from __future__ import annotations

TYPE_CHECKING = False  # As in ``twice/__init__.py``.
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from twice.foundation.seeds import Seed
    from twice.recording.run import Run


def recording(
    out: str | os.PathLike[str],
    *,
    seed: int | Seed | None = None,
    config: Mapping[str, Any] | None = None,
    force: bool = False,
    **policies: Any,
) -> AbstractContextManager[Run]:
    """Record the code inside a ``with`` block: for notebooks and inline code.

    What is printed is not captured, names bound before the block (``from time import time``) are
    not governed, and the code cannot be started again: verifying such a record says UNKNOWN and
    names the form that could be.

    Args:
        out: path of the record.
        seed: master seed; the variable TWICE_SEED when None.
        config: plain values for ``run.config``.
        force: replace an existing output.
        **policies: fields of ``Setup``.

    Yields:
        The run.
    """
    from twice.recording.in_this_process import recording_here

    return recording_here(out, seed=seed, config=config, force=force, **policies)
