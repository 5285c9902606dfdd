"""The compiled twin of the slowest functions: the distribution ``twice-fast`` of the same version, where it is installed.

Invariant: no byte, error or path of twice depends on whether it is in force.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from twice.foundation.version import VERSION

_INTERFACE = 3


@cache
def load_twin() -> tuple[Any, str]:
    """Return the compiled module, or None and why it is not in force; ``TWICE_PURE=1`` asks for Python alone."""
    if os.environ.get("TWICE_PURE") == "1":
        return None, "TWICE_PURE is set"
    try:
        import twice_fast
    except ModuleNotFoundError:
        return None, "twice-fast is not installed"
    except ImportError as error:
        return None, f"twice-fast does not load: {error}"
    if twice_fast.version != VERSION:
        return None, f"twice-fast is of version {twice_fast.version}, and twice of {VERSION}"
    if getattr(twice_fast, "INTERFACE", 0) != _INTERFACE:
        return None, "twice-fast was built from other sources of this version: pip install ./native"
    return twice_fast, ""
