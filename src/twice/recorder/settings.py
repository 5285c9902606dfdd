"""What a process's surroundings really are, read back by asking the process and not its variables.

A variable may be ignored, misspelt or overruled, and then nothing was varied. So a run says what took
effect: at its beginning with the fingerprint, at its end for what only the program loads (torch, an
event loop). Names, folders and the like stand as a short digest: they are compared, not read.

Invariant: every setting is text, and reading one changes nothing that a program could see.
"""

from __future__ import annotations

import ctypes
import gc
import locale
import math
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from twice.foundation.digests import digest_bytes
from twice.recorder.effects.reordering import listing_read, turns_read
from twice.recorder.effects.shifting import (
    clock_offset_read,
    zone_read,
)
from twice.recorder.surroundings.isolating import addresses_read


def settings_at_start() -> dict[str, str]:
    """Return the settings that a program finds, by name."""
    return {
        "addresses": addresses_read(),
        "allocator": "Python's" if sys.getallocatedblocks() else "the system's",
        "clock offset": clock_offset_read(),
        "collection": " ".join(map(str, gc.get_threshold())),
        "environment": f"{sum(len(name) + len(value) for name, value in _environ())} characters",
        "folder": _short(str(Path.cwd())),
        "hash": f"{hash('twice') & 0xFFFF_FFFF:08x}",  # twice: ignore[salted-hash] it shows the salt
        "home": _short(os.path.expanduser("~"), os.environ.get("LOGNAME", "")),  # noqa: PTH111
        "libm": _short(*(made.hex() for at in range(400) for made in _curves(at / 97 + 0.01))),
        "listing": listing_read(),
        "locale": f"{locale.setlocale(locale.LC_CTYPE)} {os.environ.get('LC_ALL', '')}".strip(),
        "processors": _processors(),
        "switching": repr(sys.getswitchinterval()),
        "time zone": zone_read(),
        "umask": _mask(),
    }


def settings_at_end() -> dict[str, str]:
    """Return the settings of libraries that the program loaded, by name."""
    found = {}
    if (turns := turns_read()) != "0":
        found["task turns"] = turns
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        with suppress(AttributeError):
            found["torch capability"] = str(torch.backends.cpu.get_cpu_capability())
            found["torch threads"] = str(torch.get_num_threads())
    for path in _loaded("mkl", "libtorch_cpu"):
        with suppress(OSError, AttributeError):
            found["mkl branch"] = str(ctypes.CDLL(path).mkl_serv_cbwr_get(1))
            break
    return found


def _environ() -> Iterator[tuple[str, str]]:
    yield from os.environ.items()


def _curves(x: float) -> tuple[float, ...]:
    """Return functions whose last bits depend on the instructions that the C library chose."""
    return math.exp(x), math.sin(x), math.cos(x), math.pow(x, 1.7), math.atan(x)


def _processors() -> str:
    can_ask = hasattr(os, "sched_getaffinity")
    return str(len(os.sched_getaffinity(0)) if can_ask else os.cpu_count())


def _mask() -> str:
    """Return the file mode mask; empty where reading it would change it."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("Umask:"):
                return line.split()[1]
    return ""


def _loaded(*parts: str) -> list[str]:
    """Return paths of loaded libraries whose file name contains one of these parts."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    paths = sorted(
        {line.split(maxsplit=5)[5] for line in lines if line.endswith(".so") or ".so." in line}
    )
    return [path for path in paths if any(part in Path(path).name for part in parts)]


def _short(*texts: str) -> str:
    return digest_bytes("\0".join(texts).encode("utf-8", "surrogatepass")).hex[:8]
