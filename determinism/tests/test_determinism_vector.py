# Laid down by twice scaffold from sheet 01; owned by it: change the sheet, or eject the file.
"""The test vector: a run that this code and seed have to reproduce, bit by bit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import twice

ROOT = Path(__file__).parents[1]
VECTOR: Final = "determinism-and-replay/evidence/vector.twice"
VECTOR_DIGEST: Final = "blake3:c229c585f2e27a21ad2bd0ffcba54ff0"
"""Where the vector's chain of compare-points ends, as 01 says; "" while it does not."""


def test_the_vector_is_reproduced() -> None:
    if not VECTOR_DIGEST and not (ROOT / VECTOR).exists():
        pytest.skip("there is no vector yet: python scripts/determinism.py vector")
    verify = ["verify", "--no-statement", "--trust", VECTOR]  # it came with this code
    command = [sys.executable, "-m", "twice", *verify]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_vector_is_the_one_of_the_specification() -> None:
    if not VECTOR_DIGEST:
        pytest.skip("01 does not say the vector's digest yet")
    with twice.open(ROOT / VECTOR) as record:
        last = record.reader.points.last
        assert last is not None, "a run has compare-points"
        digest = f"{record.setup.algorithm.value}:{last.chain.hex()}"
    assert digest == VECTOR_DIGEST
