"""The bits of all reductions are the same under other instructions and thread counts.

Processes of their own: numpy and OpenBLAS choose their instructions when they are loaded.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from all_reductions import list_dispatched

from programs import environ

REDUCTIONS = Path(__file__).with_name("all_reductions.py")
BASELINE = {"NPY_DISABLE_CPU_FEATURES": list_dispatched()}
SETTINGS = {
    "two threads": {"OPENBLAS_NUM_THREADS": "2"},
    "one thread, kernels of Nehalem": {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Nehalem"},
    "numpy's baseline": BASELINE,
    "other addresses": {"PYTHONMALLOC": "malloc", "MALLOC_TOP_PAD_": "7777", "PYTHONHASHSEED": "9"},
}


def compute_digests(settings: dict[str, str]) -> tuple[str, list[str]]:
    done = subprocess.run(
        [sys.executable, str(REDUCTIONS)],
        env=environ(settings), capture_output=True, text=True, check=True,
    )  # fmt: skip
    instructions, *digests = done.stdout.splitlines()
    return instructions.partition(":")[2].strip(), digests


@pytest.mark.integration
def test_no_setting_of_a_library_changes_a_bit() -> None:
    _, usual = compute_digests({})

    assert len(usual) == len(set(usual)) > 60
    for name, settings in SETTINGS.items():
        instructions, digests = compute_digests(settings)
        assert [each for each in digests if each not in usual] == [], name
        assert len(digests) == len(usual)
        assert settings is not BASELINE or instructions == ""
