"""Many short records, verified by ``twice verify FOLDER --on ray`` and as bare tasks of Ray, on one local cluster.

Usage: python benchmarks/many_runs.py [--count N] [--peer N] [--small] [--output FILE.jsonl]

The bare tasks do the same work, the function that the jobs call, without jobs, journal and statements. A few more call
``twice.verify``, as a program of one's own would: each in a fresh process. Both go first and last, so that a machine that
grows slower counts against all. Times are of the wall clock, because the processes of a cluster are not children of this
one. Without Ray, only the processes of this machine are measured.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

import measuring

import twice
from twice.recorder.runrecord import RunRecord
from twice.runs.journal import Journal
from twice.runs.places import open_executor
from twice.runs.record_job import send_record
from twice.runs.verifications import Verifications, verify_here
from twice.runs.verify_options import VerifyOptions

PROGRAM = """
def main(run):
    rng = run.rng("steps")
    place = run.track("place", {"x": 0})
    for _ in run.ticks(20):
        place["x"] += rng.integers(-1, 2)
"""
RUNS = 20


def arrange(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--peer", type=int, default=1_000)


def make_records(folder: Path, count: int, distinct: int) -> list[Path]:
    """Record a few runs, and copy them in turn."""
    (folder / "walk.py").write_text(PROGRAM, "utf-8")
    made = []
    for seed in range(distinct):
        made.append(folder / f"seed{seed}.twice")
        twice.record(f"{folder / 'walk.py'}:main", seed=seed, out=made[-1]).close()
    paths = [folder / "many" / f"{at:06}.twice" for at in range(count)]
    paths[0].parent.mkdir()
    for at, path in enumerate(paths):
        shutil.copyfile(made[at % distinct], path)
    return paths


def verify_all(
    paths: list[Path], on: str, jobs: int | None, folder: Path
) -> tuple[float, dict[str, int]]:
    """Verify as the command does; seconds for each record, and the counts of results."""
    with open_executor(on, jobs) as executor, Journal(folder / f"{on}.jsonl", {}) as journal:
        made = Verifications(
            paths, VerifyOptions(), lambda _: (None, ()), writes=False, journal=journal
        )
        begun = time.perf_counter()
        made.run(executor, lambda *_: None)
        took = (time.perf_counter() - begun) / len(paths)
        for _ in made.entries():
            pass
    return took, dict(made.counts)


def verify_bare(paths: list[Path], *, alike: bool) -> float:
    """Verify by bare tasks, ``alike`` by the function that jobs call; seconds for each record."""
    import ray

    @ray.remote
    def task(path: str) -> str:
        if not alike:
            return str(twice.verify(path).result)
        with RunRecord.open(path) as record:
            sent = send_record(Path(path), record, is_here=True)
        options = VerifyOptions().to_json()
        answer = verify_here({"record": sent, "cited": None, "mismatches": [], "options": options})
        return str(json.loads(answer["statement"])["result"])

    begun = time.perf_counter()
    waiting = [task.remote(str(path)) for path in paths]
    assert set(ray.get(waiting)) == {"PASS"}
    return (time.perf_counter() - begun) / len(paths)


def row(figure: str, unit: str, samples: list[float]) -> dict[str, object]:
    return {"figure": figure, "unit": unit, **measuring.spread(samples)}


def main() -> None:
    options = measuring.options("many_runs", __doc__ or "", rounds=1, arrange=arrange)
    count, peer, distinct = (4, 2, 2) if options.small else (options.count, options.peer, RUNS)
    rows = []
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        paths = make_records(folder, count, distinct)
        few = paths[: max(2, peer // 5)]
        here, counts = verify_all(paths[:peer], "local", os.cpu_count(), folder)
        assert counts == {"PASS": peer}
        rows.append(row(f"{peer} records, processes here", "s/run", [here]))
        if importlib.util.find_spec("ray") is not None:
            import ray

            ray.init(num_cpus=os.cpu_count(), log_to_driver=False, include_dashboard=False)
            for alike in (True, False):  # the workers load what they need
                verify_bare(paths[: 2 * (os.cpu_count() or 1)], alike=alike)
            bare, usual = [verify_bare(paths[:peer], alike=True)], [verify_bare(few, alike=False)]
            ours, counts = verify_all(paths, "ray", None, folder)
            assert counts == {"PASS": count}
            bare.append(verify_bare(paths[:peer], alike=True))
            usual.append(verify_bare(few, alike=False))
            rows.append(row(f"{count} records on a cluster", "s/run", [ours]))
            for name, times in (("of the same work", bare), ("of twice.verify", usual)):
                beside = f"bare tasks {name}, before and after {count} records"
                rows.append(row(beside, "s/run", times))
                rows.append(
                    row(f"efficiency beside {beside}", "ratio", [each / ours for each in times])
                )
            ray.shutdown()
    measuring.tell("many_runs", rows, options.output)


if __name__ == "__main__":
    main()
