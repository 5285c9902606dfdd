"""Claims about the sets of files that were built before the scanner had seen them: found now, and their clean ones not accused."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("PIL")
pytest.importorskip("soundfile")

from twice.assets.leaks.folders import scan_paths

pytestmark = pytest.mark.integration

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
HAS_BROTLI = importlib.util.find_spec("brotli") is not None
PACKED_BY_BROTLI = {"main.js.br", "title.woff2", "splash.jxl"}


@pytest.mark.parametrize(
    ("name", "leaking", "clean"),
    [("shipped", 24, 8), ("public", 20, 6), ("further", 20, 6), ("blind", 20, 6)],
)
def test_a_set_is_found_and_its_clean_files_are_not_accused(
    tmp_path: Path, name: str, leaking: int, clean: int
) -> None:
    subprocess.run(
        [sys.executable, "-m", f"programs.{name}_leaks", str(tmp_path)], cwd=BENCHMARKS, check=True
    )

    results = {path: scan_paths([path]).result for path in sorted(tmp_path.glob("*/*"))}

    kinds = [path.parent.name for path in results]
    assert (kinds.count("leaking"), kinds.count("clean")) == (leaking, clean)
    for path, result in results.items():
        if path.parent.name == "clean":
            assert result != "leaks", path.name
        elif HAS_BROTLI or path.name not in PACKED_BY_BROTLI:
            assert result == "leaks", path.name
        else:  # What cannot be looked into is said to be so.
            assert result == "unread", path.name
