"""Measure the environment of this process as a ``Fingerprint``, and read back at its end what the program changed.

A variable may be ignored, misspelt or overruled, so a process is asked what took effect and not its variables. The
fingerprint is taken before the program begins; a library that it loads later, and a switch that it sets, show in
``settings_at_end`` and ``numerics_at_end`` alone. Names, folders and the like stand as a short digest: they are
compared, not read.

Invariant: measuring changes nothing that a program could see and initialises no device; two measurements in
processes with equal surroundings on one machine are equal.
"""

from __future__ import annotations

import gc
import importlib
import locale
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from twice.foundation.digests import digest_bytes
from twice.foundation.environment import Fingerprint
from twice.recorder.effects.varied_world import (
    clock_offset_read,
    listing_read,
    turns_read,
    zone_read,
)
from twice.recorder.environment import libraries
from twice.recorder.environment.gpu_device import describe_device
from twice.recorder.environment.knob_readers import read, read_denormals
from twice.recorder.environment.probes import KeptProbes, run_probes
from twice.recorder.environment.process_start import read_addresses
from twice.recorder.environment.surroundings import Surroundings, environ_for_child, is_relevant
from twice.recorder.redaction.fields import is_secret
from twice.recorder.session_job import RECORDING, hear
from twice.worker.channel import Channel
from twice.worker.process import FreshWorker, refuse_nesting

if TYPE_CHECKING:
    from twice.recorder.environment.knobs import Axis, KnobReading

_GPU_DRIVERS: Final = ("libcuda.so", "libamdhip64.so", "libhsa-runtime64.so", "libze_loader.so")
_THREAD_COUNTS: Final = {
    "numba": "config.NUMBA_NUM_THREADS", "polars": "thread_pool_size", "pyarrow": "cpu_count",
}  # fmt: skip
"""Where libraries tell how many threads they start."""
_GPU_VARIABLES: Final = (
    "CUDA_", "CUBLAS_", "CUDNN_", "NCCL_", "NVIDIA_TF32", "XLA_FLAGS", "TF_CUDNN", "TF_DETERMINISTIC",
    "JAX_", "NVTE_", "MAMBA_", "CAUSAL_CONV1D_", "TRITON_", "TORCHINDUCTOR_",
)  # fmt: skip

_LOADED_FOR_KNOBS: Final[Mapping[Axis, tuple[str, ...]]] = {
    "float": ("scipy.linalg", "numexpr", "numba", "torch"),
    "gpu": ("torch", "jax", "tensorflow", "triton.knobs"),
}
"""Modules with which the libraries come that knobs are for."""


def measure(*, probes: bool = True, kept: KeptProbes | None = None) -> Fingerprint:
    """Measure the present fingerprint of this process.

    Args:
        probes: whether to run the numeric probes (about a tenth of a second).
        kept: probes that need not run again.
    """
    features = libraries.read_numpy_features()  # it loads numpy, whose threads are imposed
    libraries.impose_counts()
    torch = libraries.read_torch()
    found = replace(
        libraries.measure_versions(),
        dispatch={
            **({"numpy": " ".join(features)} if features else {}),
            **({"torch": torch[0], "torch threads": torch[1]} if torch else {}),
        },
        variables={
            # JSON cannot carry bytes that are not UTF-8: they become escapes.
            name: "redacted"
            if is_secret(name)
            else value.encode(errors="surrogateescape").decode(errors="backslashreplace")
            for name, value in os.environ.items()
            if is_relevant(name)
        },
        settings=settings_at_start(),
    )
    if not probes:
        return found
    return replace(found, probes=run_probes() if kept is None else kept.run(found))


def measure_in(surroundings: Surroundings, *, python: str = "") -> Fingerprint:
    """Measure a fresh process in these surroundings, of another interpreter if one is named.

    This process sees something else than a run, which gets a pinned hash seed and thread counts. No program is
    executed.

    Raises:
        ProgramFailed: E-PROGRAM-003, when the interpreter cannot import twice.
        SurroundingsRefused: E-ENV-001, when they would load code that nobody asked for.
    """
    refuse_nesting()
    environ = environ_for_child(os.environ, surroundings)
    with FreshWorker(RECORDING, environ, python=python, heard=hear) as child:
        return Fingerprint.from_json(child.ask({"action": "measure"})["measured"])


def measure_numbers_in(
    surroundings: Surroundings, policy: str = "", axis: Axis = "float"
) -> tuple[Fingerprint, list[KnobReading], dict[str, Any]]:
    """Measure a fresh process as ``measure_in`` does, with every numeric library loaded, and judge its knobs.

    Args:
        surroundings: of the process, with what the policy sets.
        policy: that they were decided for; empty for none. Switches of the libraries are set as it wants them.
        axis: of floating-point arithmetic, or of a GPU.

    Returns:
        The fingerprint, the knobs, and the device as ``describe_device`` does.
    """
    from twice.recorder.environment.knobs import KnobReading  # no session needs it

    refuse_nesting()
    environ = environ_for_child(os.environ, surroundings)
    with FreshWorker(RECORDING, environ, heard=hear) as child:
        found = child.ask({"action": "measure", "axis": axis, "policy": policy})
    rows = [KnobReading(**row) for row in found["knobs"]]
    return Fingerprint.from_json(found["measured"]), rows, found["device"]


def measure_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Measure this process, every probe anew, and answer; judge its knobs where the job names their table."""
    kept = KeptProbes({})
    judged: dict[str, Any] = {}
    axis: Axis | None = job.get("axis")
    for name in _LOADED_FOR_KNOBS[axis] if axis else ():
        with suppress(Exception):  # a library that is not here, or is broken, has no knobs to judge
            importlib.import_module(name)
    measured = measure(probes=axis != "gpu", kept=kept).to_json()
    if axis is not None:
        from twice.recorder.environment.knobs import judge_knobs
        from twice.recorder.environment.switches import Switches

        if axis == "gpu":
            Switches(job["policy"]).watch()
        judged["knobs"] = [row.to_json() for row in judge_knobs(os.environ, job["policy"], axis)]
        judged["device"] = describe_device()
    channel.send({"kind": "measured", "measured": measured, **judged, **kept.message()})


def settings_at_start() -> dict[str, str]:
    """Return the settings that a program finds, by name."""
    length = sum(len(name) + len(value) for name, value in os.environ.items())
    # Asked of the system: Python reads the mask by changing it.
    status = libraries.read_system_file("/proc/self/status")
    umask = re.search(r"^Umask:\s*(\S+)", status, re.MULTILINE)
    return {
        "addresses": read_addresses(),
        "allocator": "Python's" if sys.getallocatedblocks() else "the system's",
        "clock offset": clock_offset_read(),
        "collection": " ".join(map(str, gc.get_threshold())),
        "denormals": read_denormals(),
        "environment": f"{length} characters",
        "folder": _shorten(str(Path.cwd())),
        "hash": f"{hash('twice') & 0xFFFF_FFFF:08x}",  # twice: ignore[salted-hash] it shows the salt
        "home": _shorten(os.path.expanduser("~"), os.environ.get("LOGNAME", "")),  # noqa: PTH111
        "libm": _shorten(*(made.hex() for at in range(400) for made in _curves(at / 97 + 0.01))),
        "listing": listing_read(),
        "locale": f"{locale.setlocale(locale.LC_CTYPE)} {os.environ.get('LC_ALL', '')}".strip(),
        "processors": str(len(libraries.find_usable_processors())),
        "switching": repr(sys.getswitchinterval()),
        "time zone": zone_read(),
        "umask": umask[1] if umask else "",
    }


def settings_at_end() -> dict[str, str]:
    """Return the settings of libraries that the program loaded, by name."""
    found = {}
    if (turns := turns_read()) != "0":
        found["task turns"] = turns
    if torch := libraries.read_torch():
        found["torch capability"], found["torch threads"] = torch
    for branch in read("mkl branch").values():
        found["mkl branch"] = branch
    with suppress(KeyError, AttributeError):
        found["matmul precision"] = sys.modules["torch"].get_float32_matmul_precision()
    for library, count in _THREAD_COUNTS.items():
        with suppress(KeyError, AttributeError):
            threads = attrgetter(count)(sys.modules[library])
            found[f"{library.removeprefix('py')} threads"] = str(
                threads() if callable(threads) else threads
            )
    return found


def numerics_at_end() -> dict[str, object]:
    """Return threads and kernels of numeric libraries, subnormal numbers, and signs of a GPU.

    Of ``gpu``, ``told`` is false where the system does not say which drivers are loaded.
    """
    blas = libraries.read_loaded_blas()
    mapped = libraries.list_mapped_files()
    names = [Path(path).name for path in mapped]
    drivers = {each for each in _GPU_DRIVERS if any(name.startswith(each) for name in names)}
    users, cards = _find_gpu_use(sys.modules.get("torch"))
    device = describe_device()
    variables = {
        name: value for name, value in os.environ.items() if name.startswith(_GPU_VARIABLES)
    }
    return {
        "threads": {each.where: each.threads for each in blas},
        "kernels": {each.where: each.architecture for each in blas},
        "probes": run_probes(("float",)),
        "gpu": {
            "told": bool(mapped),
            "reached": sorted({*drivers, *users}),
            "driver": device["driver"],
            "cards": cards,
            "versions": device["versions"],
            "used": device["used"],
            "switches": dict(sorted({**dict(_read_switches()), **variables}.items())),
        },
    }


def _find_gpu_use(torch: Any) -> tuple[list[str], list[str]]:
    """Return the libraries that report that they run on a GPU, and the names of the cards that torch uses."""
    users, cards = [], []
    with suppress(AttributeError, RuntimeError):
        if torch.cuda.is_initialized():
            users.append("torch")
            count = torch.cuda.device_count()
            cards = [str(torch.cuda.get_device_name(at)) for at in range(count)]
    bridge: Any = sys.modules.get("jax._src.xla_bridge")
    with suppress(AttributeError):
        if {"cuda", "gpu", "rocm"} & set(bridge._backends):
            users.append("jax")
    return users, cards


def _read_switches() -> Iterator[tuple[str, str]]:
    """Yield the switches of loaded libraries, by the names in their documentation."""
    if not any(name in sys.modules for name in _LOADED_FOR_KNOBS["gpu"]):
        return  # most runs: the table is not loaded for them
    from twice.recorder.environment.knobs import list_knobs

    for knob in list_knobs("gpu"):
        if not knob.variable:
            for value in read(knob.read).values():
                yield knob.name.removeprefix("torch.").removeprefix("backends."), value


def _curves(x: float) -> tuple[float, ...]:
    """Return functions whose last bits depend on the instructions that the C library chose."""
    return math.exp(x), math.sin(x), math.cos(x), math.pow(x, 1.7), math.atan(x)


def _shorten(*texts: str) -> str:
    return digest_bytes("\0".join(texts).encode("utf-8", "surrogatepass")).hex[:8]
