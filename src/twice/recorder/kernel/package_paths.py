"""Which files belong to the machine and not to the run: packages, the system, compiled Python.

Their place in a record is taken by the fingerprint of the environment. Reads of them are not noted;
writes are, unless they only fill a cache of compiled code.

Not for: files that Python opens; ``effects.files.places`` decides about those.

Invariant: nothing below the program's own folder is a system file, whatever that folder is.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable

_SHARED_MEMORY = "/dev/shm/"  # noqa: S108  (files there are files of the run)
_DEVICES = ("/proc/", "/sys/", "/dev/")
_SYSTEM = (
    "/usr/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/bin/", "/sbin/", "/etc/", "/boot/", "/snap/",
    "/nix/store/",
)  # fmt: skip
_PACKAGE = re.compile(r"/(?:site-packages|dist-packages|__pycache__)/|/lib/python3(?:\.\d+t?)?/")
_COMPILED = (".pyc", ".pyo")
_COMPILED_FOLDER = "/__pycache__"


class PackagePaths:
    """Tells files of the machine from files of the run.

    Args:
        roots: folders of the program; what lies in one is the run's, unless it is an installed package.
    """

    def __init__(self, roots: Iterable[str] = ()) -> None:
        prefixes = {sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix)}
        prefixes.add(os.path.realpath(sys.base_prefix))
        self._libraries = tuple(f"{prefix}/lib/" for prefix in sorted(prefixes))
        self._libraries += tuple(f"{prefix}/share/" for prefix in sorted(prefixes))
        own = os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
        self._libraries += (f"{own}/",)
        self._roots = tuple(f"{root.rstrip('/')}/" for root in roots if root not in {"", "/"})

    def is_device(self, path: str) -> bool:
        """Return whether a path is no file on a disk: a device, or the kernel's own."""
        return path.startswith(_DEVICES) and not path.startswith(_SHARED_MEMORY)

    def is_compiled(self, path: str) -> bool:
        """Return whether a path is a cache of compiled Python, or the folder of one."""
        return (
            path.endswith(_COMPILED) or f"{_COMPILED_FOLDER}/" in path
            or path.endswith(_COMPILED_FOLDER)
        )  # fmt: skip

    def is_of_machine(self, path: str) -> bool:
        """Return whether reading this file is no input of the run."""
        if path.startswith(self._libraries) or self.is_compiled(path):
            return True
        if _PACKAGE.search(path) is not None or self.is_device(path):
            return True
        return path.startswith(_SYSTEM) and not f"{path}/".startswith(self._roots)
