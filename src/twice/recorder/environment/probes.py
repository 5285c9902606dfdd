"""Numeric probes: short computations whose result bits tell one machine or setting from another.

Knobs lie silently (an unknown kernel name, a renamed CPU feature and a missing colon are all accepted and ignored),
so the effect of a setting is read from results. Each probe runs a fixed computation on exact inputs and keeps the
first 16 hex digits of BLAKE3 of its little-endian results.

Here are the probes of the interpreter, of the C library, which picks its variants of ``exp`` and others by processor
when it is loaded, and of the floating-point unit: denormal handling is a flag of the thread that any loaded library
may flip. ``array_probes.py`` has those of numpy, BLAS and PyTorch.

Results are kept for as long as the machine runs: computing them anew takes longer than most programs. A result
follows from the processor, the libraries, and the variables and modes that choose among their kernels. All of that
stands in the key, so a result is used where each of them is as it was. The modes of the floating-point unit are
probed in every process, and so is the hash seed. The parent of a session reads and writes the file; the session gets
the known results with its job, and reports those that it had to compute.

Not for: deciding what a moved probe means (``twice.foundation.environment``). Not covered by kept results: a
processor that starts to compute wrongly.

Invariant: a probe draws from no global generator, changes no global setting, and its name stands for this one
computation for ever; a changed computation gets a new name. Without an answer to each question of the key nothing
is kept.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from twice.errors import OutputUnwritable
from twice.foundation.digests import digest_bytes
from twice.foundation.environment import Fingerprint, is_numeric
from twice.recorder.environment.libraries import list_mapped_files, read_system_file
from twice.writing import write

Probe = Callable[[], bytes]
Results = Mapping[str, str]

UNPINNED: Final = "unpinned"
"""Stands for a probe whose result no setting holds still: the hash order of an unpinned seed."""
_SCALAR_GROUPS: Final = ("float", "hash", "libm", "python")
GROUPS: Final = (*_SCALAR_GROUPS, "numpy", "random", "blas", "lapack", "torch")
PROBES: Final = "probes"
"""Key of a job: what is known."""
_FRESH: Final = "fresh_probes"
"""Key of a message: what had to be computed."""
_EVERY_TIME: Final = ("float", "hash", "torch")
"""Groups that a mode of this thread, this process's seed, or a library that is there by chance decides."""
_KEPT: Final = tuple(name for name in GROUPS if name not in _EVERY_TIME)
_BOOT: Final = "/proc/sys/kernel/random/boot_id"
_ENTRIES_MAX: Final = 8
"""Sets of settings that are kept; the oldest goes first."""
_POINTS: Final = 10_000
"""Fewer miss where two variants of ``atan`` or ``tan`` part: with 2 000, seven of twelve did not."""


def run_probes(groups: Collection[str] | None = None) -> dict[str, str]:
    """Run the probes of some of the ``GROUPS``, all by default; return 16 hex digits or ``UNPINNED`` by probe name, sorted.

    Those of ``torch`` are run where the process has loaded it. The result belongs to the calling thread: denormal and
    rounding modes are per thread.
    """
    wanted = GROUPS if groups is None else tuple(groups)
    assert {*wanted} <= {*GROUPS}, "there are no such groups"
    probes = dict(_SCALAR_PROBES)
    if not {*wanted} <= {*_SCALAR_GROUPS}:
        from twice.recorder.environment.array_probes import list_probes  # it loads numpy

        probes |= list_probes(wanted)
    return {
        name: digest_bytes(bits).hex[:16] if (bits := probe()) else UNPINNED
        for name, probe in sorted(probes.items())
        if name.partition(".")[0] in wanted
    }


@cache
def _fractions(count: int, salt: int) -> tuple[float, ...]:
    """Return ``count`` exact fractions in [0, 1): a linear congruence, the top 53 bits of 64."""
    state, found = salt, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        found.append((state >> 11) * 2.0**-53)
    return tuple(found)


@cache
def _spread(low: float, high: float) -> tuple[float, ...]:
    """Spread the fractions over a range, once for the several functions that use it."""
    span = high - low
    return tuple(low + span * x for x in _fractions(_POINTS, 1))


def _pack(values: Iterable[float]) -> bytes:
    packed = list(values)
    return struct.pack(f"<{len(packed)}d", *packed)


def _probe_libm(function: Callable[[float], float], low: float, high: float) -> bytes:
    return _pack(map(function, _spread(low, high)))


def _probe_sum() -> bytes:
    values = _fractions(2000, 2)
    return _pack((sum(values), sum([*values, 2.0**53, *values, -(2.0**53)])))


def _probe_text() -> bytes:
    values = _fractions(200, 4)
    read_back = (float(repr(x * 1e-7)) for x in values)
    return _pack(read_back) + "".join(format(x * 1e9, ".6g") for x in values).encode("ascii")


# No operand of these three is a literal in an expression: the compiler folds those, before the thread's settings act.


def _probe_flush_to_zero() -> bytes:
    smallest_normal, half, factors = 2.0**-1022, 0.5, (0.25, 0.75)
    return _pack((smallest_normal * half, *(smallest_normal * factor for factor in factors)))


def _probe_denormals_are_zero() -> bytes:
    denormals = struct.unpack("<3d", struct.pack("<3Q", 1, 2**20 + 1, 2**51))
    grow = float(2**600)
    return _pack(value * grow for value in denormals)


def _probe_rounding() -> bytes:
    one, three, tiny = float(1), float(3), 2.0**-53
    return _pack(
        (one / three, -one / three, one + tiny, one + tiny * three, -one - tiny, one - tiny / three)
    )


def _probe_hash_of_text() -> bytes:
    # Without a fixed seed the value differs in each process and says nothing about the machine.
    if not os.environ.get("PYTHONHASHSEED", "").isdigit():
        return b""
    return struct.pack("<2q", hash("probe"), hash(b"probe"))


_LIBM: tuple[tuple[str, Callable[[float], float], float, float], ...] = (
    ("acos", math.acos, -1.0, 1.0), ("asin", math.asin, -1.0, 1.0), ("atan", math.atan, -20.0, 20.0),
    ("cbrt", math.cbrt, -20.0, 20.0), ("cos", math.cos, -50.0, 50.0), ("cosh", math.cosh, -9.0, 9.0),
    ("erf", math.erf, -3.0, 3.0), ("exp", math.exp, -30.0, 30.0), ("exp2", math.exp2, -30.0, 30.0),
    ("expm1", math.expm1, -3.0, 3.0), ("gamma", math.gamma, 0.1, 30.0),
    ("lgamma", math.lgamma, 0.1, 99.0), ("log", math.log, 1e-9, 1e9), ("log10", math.log10, 1e-9, 1e9),
    ("log1p", math.log1p, -0.9, 20.0), ("log2", math.log2, 1e-9, 1e9), ("sin", math.sin, -50.0, 50.0),
    ("sinh", math.sinh, -9.0, 9.0), ("sqrt", math.sqrt, 0.0, 1e9), ("tan", math.tan, -50.0, 50.0),
    ("tanh", math.tanh, -3.0, 3.0),
)  # fmt: skip

_SCALAR_PROBES: Mapping[str, Probe] = {
    **{f"libm.{name}": partial(_probe_libm, f, low, high) for name, f, low, high in _LIBM},
    "libm.pow": lambda: _pack(math.pow(20.0 * x + 0.01, 1.7) for x in _fractions(_POINTS, 1)),
    "python.sum": _probe_sum,
    "python.sum_in_order": lambda: _pack(accumulate(x - 0.5 for x in _fractions(2000, 3))),
    "python.text": _probe_text,
    "float.flush_to_zero": _probe_flush_to_zero,
    "float.denormals_are_zero": _probe_denormals_are_zero,
    "float.rounding": _probe_rounding,
    "hash.numbers": lambda: struct.pack("<4q", *map(hash, (0.1, 2**70, (1, 2.5), float("inf")))),
    "hash.text": _probe_hash_of_text,
}


class KeptProbes:
    """What a session's process knows of probes, from its job, and what it had to compute."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        self._known: Mapping[str, Results] = job.get(PROBES) or {}
        self._fresh: dict[str, Results] = {}

    def run(self, facts: Fingerprint) -> dict[str, str]:
        """Return the results of all probes in this process, for which ``facts`` holds; compute only unknown ones."""
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
    return read_system_file(_BOOT).strip()


def _path() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111  (never raises)
    return Path(cache) / "twice" / "probes.json"
