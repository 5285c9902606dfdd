"""Claims about the benchmarks: each one runs, and the report is what the results say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
FOLDER = REPOSITORY / "benchmarks"
SHARED = {"measuring.py", "report.py", "run_all.py"}
PEERS = {"encoding": ["cbor2", "msgspec", "orjson"], "record": ["mcap"]}
PEERS |= {
    "catalogue": ["duckdb", "pyarrow"],
    "gymnasium_overhead": ["gymnasium", "mujoco"],
    "leaks": ["PIL", "soundfile"],
    "compiled": ["twice_fast", "msgspec"],
    "gpu": ["torch"],
    "page": ["playwright"],
    "torch_trace": ["torch", "stable_baselines3"],
}
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.name not in SHARED)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}
    return subprocess.run(
        [sys.executable, *arguments], env=environ, capture_output=True, text=True, check=False
    )


@pytest.mark.heavy
@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_runs_small_and_writes_figures(name: str, tmp_path: Path) -> None:
    for peer in PEERS.get(name, []):
        pytest.importorskip(peer)
    out = tmp_path / "results.jsonl"

    ran = run(str(FOLDER / f"{name}.py"), "--small", "--output", str(out))

    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert lines
    assert all({"benchmark", "machine", "python", "commit"} <= line.keys() for line in lines)


@pytest.mark.integration
def test_the_report_is_what_the_results_say() -> None:
    code = (
        "import report, sys; sys.stdout.reconfigure(encoding='utf-8'); print(report.text(), end='')"
    )

    ran = run("-c", f"import sys; sys.path.insert(0, {str(FOLDER)!r}); {code}")

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == (FOLDER / "README.md").read_text("utf-8"), "python benchmarks/report.py"


@pytest.mark.integration
def test_the_one_entry_point_knows_every_benchmark() -> None:
    code = "import run_all; print(*(path.stem for path in run_all.benchmarks()))"

    ran = run("-c", f"import sys; sys.path.insert(0, {str(FOLDER)!r}); {code}")

    assert ran.stdout.split() == NAMES, ran.stderr
