"""Clusters that cannot be used: one error each, and soon.

Real clusters of Ray, started and stopped: how workers are loaded is what is tested.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import twice
from programs import recorded
from twice.errors import WorkerUnlike
from twice.runs.errors import ClusterUnreachable
from twice.runs.journal import Journal
from twice.runs.places import open_executor
from twice.runs.verifications import Verifications
from twice.runs.verify_options import VerifyOptions

pytest.importorskip("ray")
pytestmark = pytest.mark.heavy
COUNTING = """
    def main(run):
        count = run.track("count", {"n": 0})
        for _ in run.ticks(5):
            count["n"] += 1
"""


@contextmanager
def cluster(monkeypatch: pytest.MonkeyPatch, **environ: str) -> Iterator[None]:
    """Start a cluster of its own, and name it."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    ray = [sys.executable, "-m", "ray.scripts.scripts"]
    given = [
        "--head",
        "--port",
        "6388",
        "--num-cpus",
        "1",
        "--disable-usage-stats",
        "--include-dashboard=false",
    ]
    subprocess.run(
        [*ray, "start", *given], env={**os.environ, **environ}, check=True, capture_output=True
    )
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:6388")
    try:
        yield
    finally:
        subprocess.run([*ray, "stop", "--force"], check=True, capture_output=True)


def results(paths: list[Path]) -> list[str]:
    """Verify records on the cluster; the result of each."""
    with open_executor("ray", None) as executor, Journal(None, {}) as journal:
        made = Verifications(
            paths, VerifyOptions(), lambda _: (None, ()), writes=False, journal=journal
        )
        made.run(executor, lambda *_: None)
        return [each["result"] for each in made.entries()]


def test_a_cluster_that_is_there_is_used_and_left_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(tmp_path, COUNTING).close()
    with cluster(monkeypatch):
        assert results([tmp_path / "a.twice"]) == ["PASS"]
        assert results([tmp_path / "a.twice"]) == ["PASS"]


def test_a_cluster_with_another_version_of_twice_judges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(tmp_path, COUNTING).close()
    source = Path(twice.__file__).parent
    shutil.copytree(
        source, tmp_path / "other" / "twice", ignore=shutil.ignore_patterns("__pycache__")
    )
    version = tmp_path / "other" / "twice" / "foundation" / "version.py"
    version.write_text('VERSION = "0.0.9"\n', "utf-8")
    with (
        cluster(monkeypatch, PYTHONPATH=str(tmp_path / "other")),
        pytest.raises(WorkerUnlike, match=r"has twice 0\.0\.9"),
    ):
        results([tmp_path / "a.twice"])


@pytest.mark.parametrize(
    "named", ["127.0.0.1:9", "ray://127.0.0.1:9", "ray://absent.invalid:10001"]
)
def test_an_address_where_nothing_answers_is_one_error(
    named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", named)
    with pytest.raises(ClusterUnreachable, match="cannot be used"):
        open_executor("ray" if "//" not in named else named, None)
