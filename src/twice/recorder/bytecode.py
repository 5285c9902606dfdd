"""Lets one source be one code: executed as it is now, whether its bytecode is there already or not.

Python takes compiled code for that of a source by its size and its time in whole seconds. A program that was
executed, changed and executed again within one second would run as it was before. And a set of constants iterates
in another order when it was read from bytecode than when it was compiled just now.

Not for: bytecode that is older than the second in which its source was written, or made by other means;
installed packages.

Invariant: a user's module is executed from its source where its bytecode might be of an earlier one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from marshal import dumps, loads
from types import CodeType
from typing import Any

from twice.recorder.effects.patches import Patch
from twice.recorder.user_code import is_user_file

_stat = os.stat
_SETTLED_S = 2


def patches() -> list[Patch]:
    """Return the patches of the loader's look at a source."""
    real, compiled = SourceFileLoader.path_stats, SourceFileLoader.source_to_code

    def path_stats(self: SourceFileLoader, path: Any) -> Mapping[str, Any]:
        if _is_user(os.fspath(path)) and _may_be_stale(path):
            raise OSError("its bytecode is not trusted")  # the loader goes on without any
        return real(self, path)

    def source_to_code(self: SourceFileLoader, data: Any, path: Any, **options: Any) -> CodeType:
        code: CodeType = compiled(self, data, path, **options)
        if not _is_user(os.fspath(path)):
            return code
        again: CodeType = loads(dumps(code))  # noqa: S302  (what this process compiled just now)
        return again

    return [
        Patch(SourceFileLoader, "path_stats", path_stats),
        Patch(SourceFileLoader, "source_to_code", source_to_code),
    ]


_is_user = lru_cache(maxsize=4096)(is_user_file)


def _may_be_stale(path: Any) -> bool:
    """Return whether bytecode was made within moments of its source's time."""
    try:
        made_s = _stat(cache_from_source(path)).st_mtime
    except (OSError, NotImplementedError):
        return True  # there is none, and none is made
    return made_s < int(_stat(path).st_mtime) + _SETTLED_S
