"""How right ``twice vary`` is on 31 phenomena of numbers, each a small program with a label.

Usage: python benchmarks/numeric_cases.py [--only NAME]… [--look WORD] [--reports FOLDER] [--small]
                                          [--output FILE.jsonl]

The programs and ``labels.toml`` lie in ``numeric_cases/``; the labels were written before the first
look. Each program is varied with seed 1. An answer is ``right`` if it names the labelled factors and no
innocent one, ``wrong`` if it blames an innocent one or says that the program differs from itself where
none is labelled, else ``missed``. ``policy`` says whether the answer contains the setting that removes
the difference. A program whose libraries are not installed is left out. Labels hold for any processor;
which results part on this one is the machine's: ``c26`` needs one that multiplies bfloat16.

This says nothing of programs with several causes, nor of a GPU.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import measuring

CASES = measuring.FOLDER / "numeric_cases"
SMALL = {"c04_libm", "c10_hash_seed"}
OUTCOMES = ("right", "wrong", "missed")


def arrange(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", action="append", help="one program, by the start of its name")
    parser.add_argument("--look", default="last", help="a word in the names of the figures")
    parser.add_argument("--reports", type=Path, help="keep the whole answers here")


def vary(program: Path) -> tuple[dict[str, Any] | None, float]:
    """Return the report of one program, or None if it does not run here; and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        plain = subprocess.run(
            [sys.executable, str(program)], cwd=folder, capture_output=True, check=False
        )
        if plain.returncode:
            return None, 0.0
        command = [sys.executable, "-m", "twice", "vary", str(program), "--seed", "1", "--json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return json.loads(done.stdout), time.monotonic() - start


def judge(label: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, object]:
    """Return the outcome of one report against its label."""
    rows = report.get("factors", [])
    itself = any(row["factor"] == "nothing" and row["result"] == "differs" for row in rows)
    named = [row["factor"] for row in rows if row["result"] == "differs"]
    named = [factor for factor in named if factor != "nothing"]
    answer = "negative" if lacks_hardware(label) else label["answer"]
    factors = set(label.get("factors", ())) if answer in {"factor", "itself"} else set()
    innocent = {part for name in named for part in name.split(" + ")} - factors
    innocent -= set(label.get("also", ()))
    is_itself = answer == "itself" or "itself" in label.get("also", ())
    if innocent or (itself and not is_itself) or "error" in report:
        outcome = "wrong"
    elif answer == "factor":
        outcome = "right" if factors <= set(named) else "missed"
    elif answer == "itself":
        outcome = "right" if itself or factors & set(named) else "missed"
    else:
        outcome = "right"
    policy = label.get("policy") if answer != "negative" else None
    return {
        "outcome": outcome,
        "named": (["itself"] if itself else []) + named,
        "innocent": sorted(innocent),
        "policy": None if policy is None else policy in json.dumps(report),
    }


def lacks_hardware(label: Mapping[str, Any]) -> bool:
    needed = label.get("needs")
    return needed is not None and needed not in Path("/proc/cpuinfo").read_text("utf-8").split()


def figures(chosen: argparse.Namespace) -> Iterator[dict[str, object]]:
    labels = tomllib.loads((CASES / "labels.toml").read_text("utf-8"))
    counts = dict.fromkeys(OUTCOMES, 0)
    policies = []
    for name, label in labels.items():
        if chosen.small and name not in SMALL:
            continue
        if chosen.only and not any(name.startswith(start) for start in chosen.only):
            continue
        report, seconds = vary(CASES / f"{name}.py")
        if report is None:
            continue
        if chosen.reports is not None:
            chosen.reports.mkdir(parents=True, exist_ok=True)
            (chosen.reports / f"{name}.json").write_text(json.dumps(report, indent=1), "utf-8")
        judged = judge(label, report)
        counts[str(judged["outcome"])] += 1
        if judged["policy"] is not None:
            policies.append(judged["policy"])
        about = {"figure": f"{name}, {chosen.look} look", "unit": "s"}
        yield about | measuring.spread([seconds], 1) | judged
    if chosen.only:
        return
    whole = {"unit": "cases", "of": sum(counts.values())}
    for outcome, count in counts.items():
        yield {"figure": f"all, {chosen.look} look: {outcome}"} | measuring.spread([count]) | whole
    named = {"figure": f"all, {chosen.look} look: with the policy", "unit": "cases"}
    yield named | measuring.spread([sum(policies)]) | {"of": len(policies)}


def main() -> None:
    summary = (__doc__ or "").splitlines()[0]
    chosen = measuring.options("numeric_cases", summary, rounds=1, arrange=arrange)
    measuring.tell("numeric_cases", figures(chosen), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
