"""The compiled twin makes no wrong use of memory: its tests, in a build that watches each access."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from twice.foundation.version import VERSION

ROOT = Path(__file__).parents[2]
TRIED = (
    "foundation/test_compiled_twin.py",
    "foundation/test_encoding.py",
)


@pytest.mark.heavy  # compiles, and starts an interpreter below the sanitizers
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_its_tests_pass_under_sanitizers(tmp_path: Path) -> None:
    sources = sorted((ROOT / "native/src").glob("*.c"))
    module = tmp_path / f"twice_fast{sysconfig.get_config_var('EXT_SUFFIX')}"
    watch = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g"]
    built = subprocess.run(
        ["gcc", "-std=c11", *watch, "-shared", "-fPIC", f'-DTWICE_VERSION="{VERSION}"',
         f"-I{sysconfig.get_path('include')}", *map(str, sources), "-o", str(module)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    libraries = [
        subprocess.check_output(["gcc", f"-print-file-name=lib{name}.so"], text=True).strip()
        for name in ("asan", "ubsan")
    ]
    environ = os.environ | {
        "LD_PRELOAD": ":".join(libraries),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter keeps much at its end
        "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, ROOT / "src", ROOT / "tests"))),
    }

    tried = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-o", "addopts=",
         "-m", "not heavy", *(str(ROOT / "tests" / each) for each in TRIED)],
        env=environ, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert tried.returncode == 0, tried.stdout[-4000:] + tried.stderr[-2000:]
    assert "skipped" not in tried.stdout
