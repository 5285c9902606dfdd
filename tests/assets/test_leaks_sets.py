"""Claims about the sets of files that were built before the scanner had seen them: found now, and their clean ones not accused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("PIL")
pytest.importorskip("soundfile")

from twice.assets.leaks.folders import scan_paths

pytestmark = pytest.mark.integration

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
COUNTS = {  # leaking and clean files
    "hidden": (20, 0), "later": (20, 0), "shipped": (24, 8), "public": (20, 6), "further": (20, 6), "blind": (20, 6),
    "third_blind": (60, 40),
}  # fmt: skip
UNSEEN = {  # as docs/guides/leaks.md says
    "story.mobi": "unread", "setup.exe": "clean", "extras.tar.gz": "clean",
}  # fmt: skip


def test_the_sets_are_found_and_their_clean_files_are_not_accused(tmp_path: Path) -> None:
    """The builders are run in a process of their own: their package has the name of a package of tests."""
    code = "import importlib, pathlib, sys\nfor name in sys.argv[2:]:\n"
    code += "  importlib.import_module(f'programs.{name}_leaks').build(pathlib.Path(sys.argv[1]) / name)"
    subprocess.run([sys.executable, "-c", code, tmp_path, *COUNTS], cwd=BENCHMARKS, check=True)

    for name, (leaking, clean) in COUNTS.items():
        files = [path for path in sorted((tmp_path / name).rglob("*")) if path.is_file()]
        results = {path: scan_paths([path]).result for path in files}
        in_clean = [result for path, result in results.items() if path.parent.name == "clean"]

        assert (len(results) - len(in_clean), len(in_clean)) == (leaking, clean)
        assert "leaks" not in in_clean
        for path, result in results.items():
            assert path.parent.name == "clean" or result == UNSEEN.get(path.name, "leaks"), (
                path.name
            )
