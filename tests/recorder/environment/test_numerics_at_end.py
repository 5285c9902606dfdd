"""What a program brought along stands at the end of its record: what it started, and what decides numbers."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import twice
from twice.recorder.environment.fingerprint import numerics_at_end

STARTS = """
import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor


async def both():
    await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0))


def main(run):
    total = run.track("total", [])
    for tick in run.ticks(2):
        worker = threading.Thread(target=total.append, args=(tick,))
        worker.start()
        worker.join()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(abs, 1).result()
        asyncio.run(both())
"""
LIMITS = """
import threadpoolctl


def main(run):
    total = run.track("total", [0])
    for tick in run.ticks(1):
        threadpoolctl.threadpool_limits(3)
"""


def ending(folder: Path, text: str) -> dict[str, object]:
    (folder / "program.py").write_text(text, encoding="utf-8")
    with twice.record(f"{folder}/program.py:main", seed=1, out=folder / "a.twice") as record:
        assert record.ending is not None
        return dict(record.ending)


@pytest.mark.integration
def test_threads_jobs_and_tasks_are_counted_though_they_ask_the_world_nothing(
    tmp_path: Path,
) -> None:
    started = ending(tmp_path, STARTS)["lineages"]

    assert isinstance(started, dict)
    assert {name: started[name] for name in ("main/thread", "main/job", "main/task/task")} == {
        "main/thread": 2,
        "main/job": 2,
        "main/task/task": 4,
    }
    assert all(name.startswith("main/") for name in started)


@pytest.mark.integration
def test_threads_that_the_program_sets_are_read_back_when_it_ends(tmp_path: Path) -> None:
    numerics = ending(tmp_path, LIMITS)["numerics"]

    assert isinstance(numerics, dict)
    assert 3 in numerics["threads"].values()
    assert numerics["gpu"]["reached"] == []


def test_switches_are_read_of_what_is_loaded_and_nothing_is_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backends = SimpleNamespace(
        cudnn=SimpleNamespace(deterministic=True, benchmark=False, allow_tf32=True),
        cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=False)),
    )
    torch = SimpleNamespace(
        backends=backends,
        are_deterministic_algorithms_enabled=lambda: True,
        cuda=SimpleNamespace(
            is_initialized=lambda: True, device_count=lambda: 1, get_device_name=lambda _: "a card"
        ),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    for each in ("jax", "tensorflow", "torch._inductor.config", "torch.utils.deterministic"):
        monkeypatch.delitem(sys.modules, each, raising=False)

    gpu = numerics_at_end()["gpu"]

    assert isinstance(gpu, dict)
    assert "torch" in gpu["reached"]
    assert gpu["cards"] == ["a card"]
    assert {each: gpu["switches"][each] for each in sorted(gpu["switches"]) if "." in each} == {
        "cuda.matmul.allow_tf32": "false",
        "cudnn.allow_tf32": "true",
        "cudnn.benchmark": "false",
        "cudnn.deterministic": "true",
    }
    assert gpu["switches"]["use_deterministic_algorithms"] == "true"
    assert gpu["switches"]["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert not {"jax", "tensorflow"} & set(sys.modules)
