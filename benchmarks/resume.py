"""What ``twice resume-check`` says of trainings with the whole state in their checkpoints, and with the library's own.

Usage: python benchmarks/resume.py [--only NAME]… [--look WORD] [--reports FOLDER] [--small] [--output FILE.jsonl]

The trainings and ``labels.toml`` lie in ``resumed_trainings/``; the labels were written before the first look. An answer
is ``right`` if the result is the labelled one and each labelled field is among the missing ones, else ``wrong``. A
training whose libraries are not installed is left out. The figure is the wall-clock time of the command.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import measuring

TRAININGS = measuring.FOLDER / "resumed_trainings"
SMALL = {"boosting"}


def arrange(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", action="append", help="one training, by its whole name")
    parser.add_argument("--look", default="last", help="a word in the names of the figures")
    parser.add_argument("--reports", type=Path, help="keep the whole answers here")


def check(name: str, points: int) -> tuple[dict[str, Any] | None, float]:
    """Return the report on one training, or None if it does not run here; and the seconds it took."""
    program, *arguments = name.split()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(TRAININGS / f"{program}.py", folder)
        command = [
            sys.executable, "-m", "twice", "resume-check", f"{program}.py", "--seed", "1",
            "--at", str(points), "--json", "--", *arguments,
        ]  # fmt: skip
        start = time.monotonic()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        took = time.monotonic() - start
    report = json.loads(done.stdout)
    if "No module named" in str(report.get("error", "")):
        return None, took
    return report, took


def judge(label: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, object]:
    points = report.get("points", [])
    missing = sorted({field for point in points for field in point["missing"]})
    unnamed = [
        wanted
        for wanted in label.get("missing", ())
        if not any(re.search(wanted, field) for field in missing)
    ]
    is_right = report.get("result") == label["result"] and not unnamed
    return {
        "outcome": "right" if is_right else "wrong",
        "result": report.get("result", report.get("error", {}).get("id")),
        "points": len(points),
        "missing": missing,
        "unnamed": unnamed,
    }


def figures(chosen: argparse.Namespace) -> Iterator[dict[str, object]]:
    labels = tomllib.loads((TRAININGS / "labels.toml").read_text("utf-8"))
    outcomes = []
    for name, label in labels.items():
        if (chosen.small and name not in SMALL) or (chosen.only and name not in chosen.only):
            continue
        report, took = check(name, 1 if chosen.small else label["points"])
        if report is None:
            continue
        if chosen.reports is not None:
            chosen.reports.mkdir(parents=True, exist_ok=True)
            path = chosen.reports / f"{name.replace(' ', '_')}.json"
            path.write_text(json.dumps(report, indent=1), "utf-8")
        judged = judge(label, report)
        outcomes.append(judged["outcome"])
        about = {"figure": f"{name}, {chosen.look} look", "unit": "s"}
        yield about | measuring.spread([took], 1) | judged
    if not chosen.only:
        right = measuring.spread([outcomes.count("right")])
        about = {"figure": f"all, {chosen.look} look: right", "unit": "trainings"}
        yield about | right | {"of": len(outcomes)}


def main() -> None:
    summary = (__doc__ or "").splitlines()[0]
    chosen = measuring.options("resume", summary, rounds=1, arrange=arrange)
    measuring.tell("resume", figures(chosen), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
