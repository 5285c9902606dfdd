"""Results of probes, kept for as long as the machine runs: computing them anew takes longer than most programs.

A result follows from the processor, the libraries, and the variables and modes that choose among their kernels. All of
that stands in the key, so a result is used where each of them is as it was. The modes of the floating-point unit are
probed in every process, and so is the hash seed. The parent of a session reads and writes the file; the session is
handed what is known with its job, and tells what it had to compute.

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

from twice.foundation.digests import digest_bytes
from twice.foundation.environment import Fingerprint, is_numeric
from twice.recorder.probes import GROUPS, run_probes

PROBES: Final = "probes"
"""Key of a job: what is known."""
_FRESH: Final = "fresh_probes"
"""Key of a message: what had to be computed."""
_EVERY_TIME: Final = ("float", "hash", "torch")
"""Groups that a mode of this thread, this process's seed, or a library that is there by chance decides."""
_KEPT: Final = tuple(name for name in GROUPS if name not in _EVERY_TIME)
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_MAPS: Final = Path("/proc/self/maps")
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
        key = _key_of(facts, current)
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
            case {"boot": str(boot), "by_key": dict(by_key)} if boot == _boot():
                return {key: found for key, found in by_key.items() if _is_well_formed(found)}
    return {}


def keep_probes(message: Mapping[str, Any]) -> None:
    """Keep the results that a worker had to compute. A folder that takes no files keeps nothing."""
    fresh = message.get(_FRESH)
    if not fresh:
        return
    rows = list({**read_known_probes(), **fresh}.items())[-_ENTRIES_MAX:]
    path = _path()
    waiting = path.with_name(f".{path.name}-{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            waiting.write_text(json.dumps({"boot": _boot(), "by_key": dict(rows)}), "utf-8")
            waiting.replace(path)
        finally:
            waiting.unlink(missing_ok=True)


def _key_of(facts: Fingerprint, current: Results) -> str:
    """Digest the facts that results follow from; return nothing where the system does not say all."""
    boot, loaded = _boot(), _mapped_files()
    if not boot or not loaded:
        return ""
    # Other settings, other variables and the hash seed say nothing of numbers.
    variables = {name: value for name, value in facts.variables.items() if is_numeric(name)}
    told = {**facts.to_json(), "variables": variables, "settings": facts.settings.get("libm")}
    modes = {name: result for name, result in current.items() if not name.startswith("hash.")}
    probes = [_stamp(each) for each in sorted(Path(__file__).parent.glob("*.py"))]
    text = json.dumps([boot, loaded, probes, modes, told], sort_keys=True)
    return digest_bytes(text.encode("utf-8", "surrogatepass")).hex


def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _mapped_files() -> list[tuple[str, int, int]]:
    """Return every file whose code this process has loaded; none if one of them is missing."""
    try:
        lines = _MAPS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        paths = {line.split(maxsplit=5)[5] for line in lines if " r-xp " in line and "/" in line}
        return [_stamp(Path(path)) for path in sorted(paths)]
    except OSError:
        return []


def _stamp(path: Path) -> tuple[str, int, int]:
    state = path.stat()
    return str(path), state.st_size, state.st_mtime_ns


def _path() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111  (never raises)
    return Path(cache) / "twice" / "probes.json"


def _is_well_formed(found: object) -> bool:
    return isinstance(found, dict) and all(isinstance(each, str) for each in found.values())
