"""Claims about the sets of files that were built before the scanner had seen them: found now, and their clean ones not accused."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("PIL")

from twice.assets.leaks.looking import look

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "programs"
HAS_BROTLI = importlib.util.find_spec("brotli") is not None
PACKED_BY_BROTLI = {"main.js.br", "title.woff2", "splash.jxl"}


@pytest.mark.parametrize(
    ("name", "leaking", "clean"), [("shipped", 24, 8), ("public", 20, 6), ("further", 20, 6)]
)
def test_a_set_is_found_and_its_clean_files_are_not_accused(
    tmp_path: Path, name: str, leaking: int, clean: int
) -> None:
    spec = importlib.util.spec_from_file_location(name, PROGRAMS / f"{name}_leaks.py")
    assert spec is not None
    assert spec.loader is not None
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)

    results = {path: look([path]).result for path in builder.build(tmp_path)}

    kinds = [path.parent.name for path in results]
    assert (kinds.count("leaking"), kinds.count("clean")) == (leaking, clean)
    for path, result in results.items():
        if path.parent.name == "clean":
            assert result != "leaks", path.name
        elif HAS_BROTLI or path.name not in PACKED_BY_BROTLI:
            assert result == "leaks", path.name
        else:  # What cannot be looked into is said to be so.
            assert result == "unread", path.name
