"""Claims about the sets of files that were built before the scanner had seen them: found now, and their clean ones not accused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("PIL")
pytest.importorskip("soundfile")

from twice.assets.leaks.folders import scan_paths
from twice.assets.leaks.known import load_known_values

pytestmark = pytest.mark.integration

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
COUNTS = {  # leaking and clean files
    "hidden": (20, 0), "later": (20, 0), "shipped": (24, 8), "public": (20, 6), "further": (20, 6), "blind": (20, 6),
    "third_blind": (60, 40), "fourth_blind": (104, 34), "fifth_blind": (59, 35),
}  # fmt: skip
# As docs/guides/leaks.md says.
UNSEEN = {"story.mobi": "unread", "setup.exe": "clean", "extras.tar.gz": "clean"}


def test_the_sets_are_found_and_their_clean_files_are_not_accused(tmp_path: Path) -> None:
    """The builders are run in a process of their own: their package has the name of a package of tests."""
    code = (
        "import pathlib, sys\nfrom programs.leak_sets import SETS, build_set\nfor name in SETS:\n"
    )
    code += "  build_set(name, pathlib.Path(sys.argv[1]) / name)"
    subprocess.run([sys.executable, "-c", code, tmp_path], cwd=BENCHMARKS, check=True)

    assert {path.name for path in tmp_path.iterdir()} == set(COUNTS)
    for name, counts in COUNTS.items():
        listed = tmp_path / name / "known.txt"
        known = load_known_values([listed] if listed.exists() else [], [])
        results = {
            kind: {
                path.name: scan_paths([path], known=known).result
                for path in sorted((tmp_path / name / kind).rglob("*"))
                if path.is_file()
            }
            for kind in ("leaking", "clean")
        }

        assert tuple(map(len, results.values())) == counts
        assert "leaks" not in results["clean"].values()
        assert results["leaking"] == {
            file: UNSEEN.get(file, "leaks") for file in results["leaking"]
        }
