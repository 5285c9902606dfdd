"""The bits of all reductions are the same under other instructions and thread counts.

Processes of their own: numpy and OpenBLAS choose their instructions when they are loaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

REDUCTIONS = Path(__file__).with_name("all_reductions.py")
SETTINGS = {
    "two threads": {"OPENBLAS_NUM_THREADS": "2"},
    "one thread, kernels of Nehalem": {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Nehalem"},
    "baseline": {"NPY_DISABLE_CPU_FEATURES": "{found}"},
    "other addresses": {"PYTHONMALLOC": "malloc", "MALLOC_TOP_PAD_": "7777", "PYTHONHASHSEED": "9"},
}


def compute_digests(settings: dict[str, str]) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, str(REDUCTIONS)],
        env={**os.environ, **settings}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())


@pytest.mark.integration
def test_no_setting_of_a_library_changes_a_bit() -> None:
    found = np._core._multiarray_umath if hasattr(np, "_core") else np.core._multiarray_umath
    dispatched = [name for name in found.__cpu_dispatch__ if found.__cpu_features__.get(name)]
    usual = compute_digests({})

    assert len(usual) > 40
    for name, settings in SETTINGS.items():
        chosen = {key: value.format(found=" ".join(dispatched)) for key, value in settings.items()}
        others = compute_digests(chosen)
        assert [each for each in usual if others[each] != usual[each]] == [], name
