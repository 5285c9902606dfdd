"""What every benchmark shares: conditions, samples with their spread, and the result file.

A figure is a JSON line: which benchmark, what was measured, value, lowest, highest, rounds, and the
conditions (machine, cores, load when it began, Python, commit). Times are CPU seconds unless a
benchmark says otherwise: on a shared machine the wall clock measures the neighbours.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
PROGRAMS = FOLDER / "programs"


def options(
    name: str,
    summary: str,
    *,
    rounds: int,
    arrange: Callable[[argparse.ArgumentParser], object] | None = None,
) -> argparse.Namespace:
    """Parse ``--rounds``, ``--small``, ``--output``, and the options that ``arrange`` adds."""
    parser = argparse.ArgumentParser(description=summary)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--small", action="store_true", help="quick and meaningless: for tests")
    parser.add_argument("--output", type=Path, default=RESULTS / f"{name}.jsonl")
    if arrange is not None:
        arrange(parser)
    chosen = parser.parse_args()
    if chosen.small:
        chosen.rounds = 1
    return chosen


def spread(samples: Sequence[float], digits: int = 3) -> dict[str, object]:
    """Median with lowest and highest."""
    return {
        "value": round(statistics.median(samples), digits),
        "lowest": round(min(samples), digits),
        "highest": round(max(samples), digits),
        "rounds": len(samples),
    }


def conditions() -> dict[str, object]:
    """Return the conditions that the figures depend on."""
    commit = describe_commit(FOLDER)
    # The results that are being written are no change of what is measured.
    if _git("status", "--porcelain", "--", ":/", ":(exclude,top)benchmarks/results"):
        commit += "-dirty"
    return {
        "machine": f"{platform.system()} {platform.machine()} {_processor()}, {os.cpu_count()} cores",
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "commit": commit,
    }


def describe_commit(folder: Path) -> str:
    """Return the commit that a folder is checked out at."""
    return _git("describe", "--always", folder=folder)


def _git(*arguments: str, folder: Path = FOLDER) -> str:
    done = subprocess.run(
        ["git", *arguments], capture_output=True, text=True, check=False, cwd=folder
    )
    return done.stdout.strip()


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    named = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor())


def tell(name: str, figures: Iterable[Mapping[str, object]], output: Path) -> None:
    """Print the figures, and append them to the result file."""
    where = conditions()
    print(f"{where['machine']}, load {where['load']}, Python {where['python']}, {where['commit']}")
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("a", encoding="utf-8") as out:
        for figure in figures:
            range_ = f"{figure['lowest']} .. {figure['highest']}"
            print(f"  {figure['figure']!s:58}{figure['value']!s:>12} {figure['unit']!s:10}{range_}")
            out.write(json.dumps({"benchmark": name} | dict(figure) | where) + "\n")
            out.flush()


def read_lines(path: Path) -> list[dict[str, float]]:
    """JSON lines that a measured program left."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
