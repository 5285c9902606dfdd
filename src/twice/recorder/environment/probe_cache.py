"""Results of probes, kept for as long as the machine runs: computing them anew takes longer than most programs.

A result follows from the processor, the libraries, and the variables and modes that choose among their kernels. All of
that stands in the key, so a result is used where each of them is as it was. The modes of the floating-point unit are
probed in every process, and so is the hash seed. The parent of a session reads and writes the file; the session gets
the known results with its job, and reports those that it had to compute.

Not for: whoever asks what this machine computes now (``twice env``); a processor that starts to compute wrongly.

Invariant: without an answer to each question of the key nothing is kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from twice.errors import OutputUnwritable
from twice.foundation.digests import digest_bytes
from twice.foundation.environment import Fingerprint, is_numeric
from twice.recorder.environment.libraries import list_mapped_files
from twice.recorder.environment.probes import GROUPS, run_probes
from twice.writing import write

PROBES: Final = "probes"
"""Key of a job: what is known."""
_FRESH: Final = "fresh_probes"
"""Key of a message: what had to be computed."""
_EVERY_TIME: Final = ("float", "hash", "torch")
"""Groups that a mode of this thread, this process's seed, or a library that is there by chance decides."""
_KEPT: Final = tuple(name for name in GROUPS if name not in _EVERY_TIME)
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_ENTRIES_MAX: Final = 8
"""Sets of settings that are kept; the oldest goes first."""

Results = Mapping[str, str]


class KeptProbes:
    """What a session's process knows of probes.

    Args:
        job: of the process; what its parent knew stands there.
    """

    def __init__(self, job: Mapping[str, Any]) -> None:
        self._known: Mapping[str, Results] = job.get(PROBES) or {}
        self._fresh: dict[str, Results] = {}

    def run(self, facts: Fingerprint) -> dict[str, str]:
        """Return the results of all probes in this process; compute only unknown ones.

        Args:
            facts: everything else that was measured in this process.
        """
        import numpy.fft  # noqa: F401  (the program finds the same modules, whether probes ran or not)

        current = run_probes(_EVERY_TIME)
        key = _digest_causes(facts, current)
        found = self._known.get(key)
        if found is None:
            found = run_probes(_KEPT)
            if key:
                self._fresh[key] = found
        return dict(sorted({**found, **current}.items()))

    def message(self) -> dict[str, object]:
        """Return newly computed results for the parent, to be added to a message."""
        return {_FRESH: self._fresh} if self._fresh else {}


def read_known_probes() -> dict[str, Results]:
    """Return the results of this machine since its start, by key, without malformed ones."""
    with suppress(OSError, ValueError):
        stored = json.loads(_path().read_text(encoding="utf-8"))
        match stored:
            case {"boot": str(boot), "by_key": dict(by_key)} if boot == _read_boot():
                return {
                    key: found
                    for key, found in by_key.items()
                    if isinstance(found, dict) and all(isinstance(each, str) for each in found.values())
                }  # fmt: skip
    return {}


def keep_probes(message: Mapping[str, Any]) -> None:
    """Keep the results that a worker had to compute. A folder that takes no files keeps nothing."""
    fresh = message.get(_FRESH)
    if not fresh:
        return  # the usual case: nothing is read or written
    rows = list({**read_known_probes(), **fresh}.items())[-_ENTRIES_MAX:]
    path = _path()
    with suppress(OSError, OutputUnwritable):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write(path, json.dumps({"boot": _read_boot(), "by_key": dict(rows)}).encode())


def _digest_causes(facts: Fingerprint, current: Results) -> str:
    """Digest the facts that results follow from; return nothing where the system does not say all."""
    boot, paths = _read_boot(), list_mapped_files("r-xp")
    if not boot or not paths:
        return ""
    own = [str(path) for path in sorted(Path(__file__).parent.glob("*probes.py"))]
    try:
        states = [(path, Path(path).stat()) for path in [*paths, *own]]
    except OSError:  # a file whose code is loaded is gone
        return ""
    # Other settings, other variables and the hash seed say nothing of numbers.
    variables = {name: value for name, value in facts.variables.items() if is_numeric(name)}
    causes = {**facts.to_json(), "variables": variables, "settings": facts.settings.get("libm")}
    modes = {name: result for name, result in current.items() if not name.startswith("hash.")}
    stamps = [(path, state.st_size, state.st_mtime_ns) for path, state in states]
    text = json.dumps([boot, stamps, modes, causes], sort_keys=True)
    return digest_bytes(text.encode("utf-8", "surrogatepass")).hex


def _read_boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _path() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111  (never raises)
    return Path(cache) / "twice" / "probes.json"
