"""Keeps stale bytecode out of a run: what is executed is the source whose digest the record holds.

Python takes compiled code for that of a source by its size and its time in whole seconds. A program that was
executed, changed and executed again within one second would run as it was before.

Not for: bytecode that is older than the second in which its source was written, or made by other means.

Invariant: a user's module is executed from its source where its bytecode might be of an earlier one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from time import time  # the real one: bound before anything is patched
from typing import Any

from twice.recording.effects.patches import Patch
from twice.recording.program import is_user_file

_stat = os.stat
_SETTLED_S = 2


def patches() -> list[Patch]:
    """What stands in the place of the loader's look at a source."""
    real = SourceFileLoader.path_stats

    def path_stats(self: SourceFileLoader, path: Any) -> Mapping[str, Any]:
        if _is_user(os.fspath(path)) and _may_be_stale(path):
            raise OSError("its bytecode is not trusted")  # the loader goes on without any
        return real(self, path)

    return [Patch(SourceFileLoader, "path_stats", path_stats)]


_is_user = lru_cache(maxsize=4096)(is_user_file)


def _may_be_stale(path: Any) -> bool:
    """Whether bytecode was made within moments of its source's time."""
    changed_s = int(_stat(path).st_mtime)
    try:
        made_s = _stat(cache_from_source(path)).st_mtime
    except (OSError, NotImplementedError):
        made_s = time()  # there is none: the one that would be made now
    return made_s < changed_s + _SETTLED_S
