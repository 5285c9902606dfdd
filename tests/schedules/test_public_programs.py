"""Public libraries, unchanged, under the simulated loop: what has no fault shows none, and known faults are found."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import twice
from twice.schedules.explore import explore

pytestmark = pytest.mark.heavy

PROGRAMS = Path(__file__).parents[1] / "corpora" / "schedule_programs"
SOUND = {
    "aiohttp_client_server": ("aiohttp",),
    "anyio_tasks": ("anyio",),
    "mcp_client_server": ("mcp",),
    "queue_libraries": ("aiojobs", "aiostream", "asyncstdlib"),
    "starlette_in_httpx": ("httpx", "starlette"),
    "uvicorn_server": ("uvicorn", "httpx", "starlette"),
    "websockets_echo": ("websockets",),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_program_without_a_fault_has_one_outcome(name: str, tmp_path: Path):
    for library in SOUND[name]:
        pytest.importorskip(library)

    found = explore(f"{PROGRAMS / name}.py:main", seed=1, schedules=40, out=tmp_path)

    assert (found.result, found.outcomes) == ("none-found", 1)


@pytest.mark.parametrize(
    ("name", "library", "fixed_in", "error"),
    [
        ("redis_desynchronised", "redis", (4, 5, 5), "AssertionError"),
        ("anyio_lock_strands", "anyio", (4, 14), "twice.errors.Deadlock"),
        ("httpcore_pool", "httpcore", (1, 0, 10), "httpcore.PoolTimeout"),
        ("wait_for_swallows", "", (3, 12), "twice.errors.Deadlock"),
    ],
)
def test_a_known_fault_is_found_in_affected_versions_alone(
    name: str, library: str, fixed_in: tuple[int, ...], error: str, tmp_path: Path
):
    if library:
        pytest.importorskip(library)
    at_hand = tuple(map(int, version(library).split("."))) if library else sys.version_info[:3]

    found = explore(f"{PROGRAMS / name}.py:main", seed=1, schedules=300, out=tmp_path)

    if at_hand >= fixed_in:
        assert found.result == "none-found"
        return
    (failure,) = found.failures
    assert failure.error["type"] == error
    assert failure.is_minimal
    assert failure.record is not None
    assert twice.verify(failure.record).result == "PASS"
