"""Claims about probes: they stand still when nothing moved, and move when a knob did."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable

import pytest

from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.probes import GROUPS, UNPINNED, run_probes

X86 = platform.machine() in ("x86_64", "AMD64")
GLIBC_X86 = X86 and platform.libc_ver()[0] == "glibc"

PRINT = "import json; from twice.recorder.environment.probes import run_probes as r; print(json.dumps(r({})))"
STILL = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
KERNELS = {"OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "GLIBC_TUNABLES"}
"""Variables of the caller that would choose the kernels for every probe."""

# Sets the flush-to-zero and denormals-are-zero bits of this thread's MXCSR through glibc's fenv.
FLUSHING = """
import ctypes
libm, state = ctypes.CDLL("libm.so.6"), ctypes.create_string_buffer(64)
assert libm.fegetenv(state) == 0
mxcsr = int.from_bytes(state[28:32], "little") | 0x8040
state[28:32] = mxcsr.to_bytes(4, "little")
assert libm.fesetenv(state) == 0
"""


def probed(groups: Iterable[str] = GROUPS, first: str = "", **knobs: str) -> dict[str, str]:
    """Return the probes of a fresh process under some settings."""
    code = first + "\n" + PRINT.format(list(groups))
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **{name: value for name, value in os.environ.items() if name not in KERNELS},
            **STILL,
            **knobs,
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(ran.stdout)


def moved(a: dict[str, str], b: dict[str, str]) -> list[str]:
    return sorted(name for name in {**a, **b} if a.get(name) != b.get(name))


def openblas_dispatches() -> bool:
    import numpy  # noqa: F401, ICN001 - a library is seen only once it is loaded
    from threadpoolctl import threadpool_info

    return any(one["internal_api"] == "openblas" for one in threadpool_info())


def avx512() -> bool:
    return "X86_V4" in measure(probes=False).dispatch.get("numpy", "").split()


@pytest.fixture(scope="module")
def still() -> dict[str, str]:
    return probed()


@pytest.mark.integration
def test_equal_settings_give_equal_probes_in_five_processes(still: dict[str, str]) -> None:
    others = [probed() for _ in range(4)]

    assert [moved(still, other) for other in others] == [[], [], [], []]
    assert len(still) > 100


def test_every_probe_is_sixteen_hex_digits_under_a_known_group(still: dict[str, str]) -> None:
    odd = {
        name: value
        for name, value in still.items()
        if name.partition(".")[0] not in GROUPS or len(value) != 16 or not int(value, 16) + 1
    }

    assert odd == {}
    assert list(still) == sorted(still)


@pytest.mark.integration
def test_another_hash_seed_moves_the_order_of_text_and_nothing_else(
    still: dict[str, str],
) -> None:
    assert moved(still, probed(PYTHONHASHSEED="1")) == ["hash.text"]


@pytest.mark.integration
def test_an_unpinned_hash_seed_is_named_as_such() -> None:
    assert probed(["hash"], PYTHONHASHSEED="random")["hash.text"] == UNPINNED


@pytest.mark.heavy
@pytest.mark.skipif(not GLIBC_X86, reason="glibc picks its variants by tunable on x86 only")
def test_another_variant_of_the_c_library_moves_pure_python(still: dict[str, str]) -> None:
    found = moved(still, probed(GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2,-FMA"))

    if "fma" not in open("/proc/cpuinfo").read():
        assert found == []
    else:
        assert {"libm.exp", "libm.pow", "libm.sin", "libm.tan"} <= set(found)
        assert not [
            name for name in found if name.startswith(("blas", "lapack", "python", "float"))
        ]


@pytest.mark.integration
@pytest.mark.skipif(not GLIBC_X86, reason="sets MXCSR through glibc's fenv")
def test_flushed_denormals_move_exactly_the_denormal_probes(still: dict[str, str]) -> None:
    found = moved(still, probed(first=FLUSHING))

    assert found == ["float.denormals_are_zero", "float.flush_to_zero", "numpy.denormals"]


@pytest.mark.heavy
@pytest.mark.skipif(not X86 or not openblas_dispatches(), reason="kernel sets of OpenBLAS on x86")
def test_other_blas_kernels_move_matrices_and_not_the_c_library() -> None:
    groups = ["libm", "python", "float", "numpy", "blas", "lapack"]
    old, new = (probed(groups, OPENBLAS_CORETYPE=name) for name in ("Nehalem", "Haswell"))

    found = moved(old, new)

    assert {"blas.fma", "blas.matmul.f64", "blas.dot.f32", "lapack.solve"} <= set(found)
    assert not [name for name in found if name.startswith(("libm", "python", "float", "numpy"))]


@pytest.mark.heavy
@pytest.mark.skipif((os.cpu_count() or 1) < 2 or not openblas_dispatches(), reason="one core")
def test_another_thread_count_moves_only_large_products(still: dict[str, str]) -> None:
    found = moved(still, probed(OPENBLAS_NUM_THREADS="2"))

    assert len(found) > 0
    assert {name.partition(".")[0] for name in found} <= {"blas", "lapack"}
    assert not [name for name in found if "small" in name]


@pytest.mark.heavy
@pytest.mark.skipif(not X86 or not avx512(), reason="this processor has no AVX-512 to do without")
def test_numpy_without_its_widest_kernels_moves_ufuncs_and_the_order_of_ties(
    still: dict[str, str],
) -> None:
    found = moved(still, probed(NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR"))

    assert {"numpy.argsort_ties", "numpy.exp.f64", "numpy.tan.f64"} <= set(found)
    assert {name.partition(".")[0] for name in found} == {"numpy"}


@pytest.mark.heavy
def test_a_knob_with_a_name_that_nobody_knows_moves_nothing(still: dict[str, str]) -> None:
    assert moved(still, probed(OPENBLAS_CORETYPE="NoSuchKernel")) == []


def test_groups_choose_which_probes_run() -> None:
    names = run_probes(["libm", "float"])

    assert {name.partition(".")[0] for name in names} == {"libm", "float"}


def test_probes_leave_the_global_generators_alone() -> None:
    import random

    import numpy as np

    before = random.getstate(), np.random.get_state()[1].tolist()
    run_probes()

    assert before == (random.getstate(), np.random.get_state()[1].tolist())


@pytest.mark.integration
def test_torch_is_not_imported_for_its_probes() -> None:
    code = "import sys; from twice.recorder.environment.probes import run_probes as r; r(); print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "False"
