"""The factors of numerics: threads, kernels and modes of the libraries that compute, each with the setting that removes it.

Not here: factors of the world around a program (``factors.py``).

Invariant: each row names what the child reads back, from the library or, where it does not tell, from a result.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
from collections.abc import Callable
from typing import Final

from twice.diagnosis.vary.factor import (
    Factor,
    FactorSetting,
    VaryContext,
    choose_between,
    skip,
)
from twice.recorder.environment.process_start import CHILD_DENORMALS, CHILD_MATMUL
from twice.recorder.environment.surroundings import THREAD_CAPS
from twice.recorder.environment.varied_numerics import can_flush_denormals

ONE_PROCESSOR: Final = "there is one processor only"
_PROFILES: Final = (
    "twice record --float-profile native (what this machine takes), x86-64-v3 (the same on processors since Haswell and Zen), "
    "or x86-64-v2 (since Nehalem)"
)
_XLA_ISA: Final = "--xla_cpu_max_isa"
RACES: Final = {
    "torch": "torch.use_deterministic_algorithms(True), which raises an exception where torch has no such algorithm",
    "pyarrow": "give use_threads=False to Arrow's group_by, to_pandas and to_table",
    "lightgbm": "give LightGBM deterministic=True with force_row_wise=True",
    "xgboost": "do not use XGBoost's updater 'shotgun'",
}
"""What keeps threads of a library from racing, by its name."""


def count_processors() -> int:
    """Return how many processors this process may use."""
    can_ask = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if can_ask else os.cpu_count() or 1


def _choose_threads(context: VaryContext) -> FactorSetting:
    is_single = all(context.value(name) in {"", "1"} for name in THREAD_CAPS)
    if is_single and count_processors() < 2:
        return skip(ONE_PROCESSOR)
    return FactorSetting(limit_threads(2 if is_single else 1))


def limit_threads(count: int) -> dict[str, str]:
    """Return the variables by which numerical libraries start that many threads."""
    return dict.fromkeys((*THREAD_CAPS, "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), str(count))


def _choose_on_x86(
    variable: str, first: str, second: str
) -> Callable[[VaryContext], FactorSetting]:
    choose = choose_between(variable, first, second)

    def choose_here(context: VaryContext) -> FactorSetting:
        if platform.machine().lower() not in {"x86_64", "amd64"}:
            return skip(f"no other kernel set is known for {platform.machine()}")
        return choose(context)

    return choose_here


def _choose_cpu_features(context: VaryContext) -> FactorSetting:
    if context.value("NPY_ENABLE_CPU_FEATURES"):
        return skip("NPY_ENABLE_CPU_FEATURES is set, and numpy takes only one of the two")
    core = "numpy._core" if importlib.util.find_spec("numpy._core") else "numpy.core"
    umath = importlib.import_module(f"{core}._multiarray_umath")
    given = context.value("NPY_DISABLE_CPU_FEATURES").replace(",", " ").split()
    # Only what numpy chooses at run time: the features of its baseline are compiled in.
    more = [
        name
        for name in umath.__cpu_dispatch__
        if umath.__cpu_features__.get(name) and name not in given
    ]
    if not more:
        return skip("numpy uses no processor feature here that could be switched off")
    return FactorSetting({"NPY_DISABLE_CPU_FEATURES": " ".join([*given, *more])})


def _choose_libm(context: VaryContext) -> FactorSetting:
    if not platform.libc_ver()[0].startswith("glibc"):
        return skip("only the GNU C library can be told which instructions to use")
    given = context.value("GLIBC_TUNABLES")
    if "glibc.cpu.hwcaps" in given:
        return skip("GLIBC_TUNABLES chooses instructions already")
    wanted = "glibc.cpu.hwcaps=-AVX2,-FMA"
    return FactorSetting({"GLIBC_TUNABLES": f"{given}:{wanted}" if given else wanted})


def _choose_xla(context: VaryContext) -> FactorSetting:
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return skip(f"no other instruction set of XLA is known for {platform.machine()}")
    given = context.value("XLA_FLAGS")
    if _XLA_ISA in given:
        return skip(f"XLA_FLAGS has {_XLA_ISA} already")
    return FactorSetting({"XLA_FLAGS": f"{given} {_XLA_ISA}=SSE4_2".strip()})


def _choose_denormals(context: VaryContext) -> FactorSetting:
    if not can_flush_denormals():
        return skip("how to flush denormal numbers is known for glibc on x86-64 only")
    if context.value(CHILD_DENORMALS):
        return skip("denormal numbers are flushed already")
    return FactorSetting({CHILD_DENORMALS: "flushed"}, "flushed to zero")


def _choose_matmul_precision(context: VaryContext) -> FactorSetting:
    if context.value(CHILD_MATMUL):
        return skip("it is lowered already")
    return FactorSetting({CHILD_MATMUL: "medium"}, "medium")


# A table, as in ``factors.py``.
# fmt: off
NUMERIC_FACTORS: Final = (
    Factor("threads", "thread counts of BLAS, OpenMP, numba and the like",
           _choose_threads, ("blas threads", "torch threads", "arrow threads", "numba threads", "polars threads"),
           remedy=f"fix the number of threads: {_PROFILES}",
           remedies={"lightgbm": RACES["lightgbm"]}),
    Factor("blas kernels", "OpenBLAS kernels of another processor",
           _choose_on_x86("OPENBLAS_CORETYPE", "Nehalem", "Haswell"), ("blas",),
           remedy=f"pin the kernels: {_PROFILES}"),
    Factor("cpu features", "numpy without this processor's vector extensions",
           _choose_cpu_features, ("dispatch numpy",),
           remedy=f"pin the extensions: {_PROFILES}; order of equal keys alone: sort with kind='stable'"),
    Factor("aten", "torch without this processor's vector extensions",
           choose_between("ATEN_CPU_CAPABILITY", "default", "avx2"), ("torch capability",),
           remedy=f"pin the extensions: {_PROFILES}"),
    Factor("onednn", "oneDNN, which convolves in torch, without this processor's vector extensions",
           _choose_on_x86("ONEDNN_MAX_CPU_ISA", "SSE41", "AVX2"), ("onednn",),
           remedy=f"pin the extensions: {_PROFILES}"),
    Factor("mkl", "MKL by the branch that every processor has",
           choose_between("MKL_CBWR", "COMPATIBLE", "AUTO"), ("mkl branch",),
           remedy=f"pin the branch: {_PROFILES}; dependence on addresses alone: twice record --env MKL_CBWR=AUTO"),
    Factor("xla", "XLA, which compiles for JAX, without this processor's vector extensions",
           _choose_xla, ("xla",),
           remedy=f"pin the instructions: twice record --env XLA_FLAGS={_XLA_ISA}=AVX2 (the same on processors since Haswell and Zen), "
                  "or SSE4_2 (since Nehalem)"),
    Factor("libm", "exp, sin and the like without AVX2 and FMA", _choose_libm, ("libm",),
           remedy=f"pin the instructions: {_PROFILES}"),
    Factor("denormals", "denormal numbers as zero, as some libraries set it", _choose_denormals, ("denormals",),
           remedy="let a run stop where a library sets that: twice record --float-profile native"),
    Factor("matmul precision", "float32 products of torch in bfloat16 or TF32, where the hardware has it",
           _choose_matmul_precision, ("matmul precision",),
           remedy="state the precision: torch.set_float32_matmul_precision('highest')"),
)
# fmt: on
