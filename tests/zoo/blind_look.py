"""Record both runs of every program of a blind set, diagnose them, and write one JSON line for each.

    python blind_look.py blind_set OUTPUT.jsonl [--only WORD] [--resume]

The programs and labels of a set were written without looking at the code under test. The first look at it stands
in its ``first_look.jsonl`` for ever.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CORPORA = Path(__file__).parents[1] / "corpora"
TWICE = Path(sys.prefix, "bin", "twice")
LIMIT_S = 400


def call(
    command: list[str], folder: Path, variables: dict[str, str]
) -> tuple[int, str, str, float]:
    """Run a command: exit code, output, errors, and seconds of CPU of all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environ = {**os.environ, "PYTHONHASHSEED": "0", **variables}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environ, capture_output=True, text=True, timeout=LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return 124, "", "too late", LIMIT_S
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, done.stdout, done.stderr, cpu


def look(name: str, label: dict[str, Any], programs: Path, folder: Path) -> dict[str, Any]:
    """Record, diagnose, judge."""
    shutil.copytree(programs, folder, dirs_exist_ok=True)
    program = f"{name}.py:main" if label["kind"] == "function" else f"{name}.py"
    seen: dict[str, Any] = {"name": name, "expect": label["result"], "channel": label["channel"]}
    for side in ("a", "b"):
        command = [str(TWICE), "record", program, "--seed", "1", "--out", f"{side}.twice"]
        code, _, errors, _ = call(command, folder, label[side])
        if code:
            return {**seen, "trouble": f"record {side}: exit code {code}: {errors[-300:]}"}
    begun = time.monotonic()
    code, output, errors, cpu = call(
        [str(TWICE), "diagnose", "a.twice", "b.twice", "--json"], folder, {}
    )
    try:
        found = json.loads(output)
    except ValueError:
        return {**seen, "trouble": f"diagnose: exit code {code}: {errors[-300:]}"}
    operation = found.get("operation")
    line = f"{Path(operation['file']).name}:{operation['line']}" if operation else ""
    ranked = [row["channel"] for row in found["attribution"]]
    is_right = line in label.get("guilty", [])
    is_canary = label["result"] in {"same", "extra-read"}
    return {
        **seen,
        "result": found["result"],
        "line": line,
        "candidates": [
            f"{Path(one['file']).name}:{one['line']}" for one in found.get("candidates") or []
        ],
        "confidence": (operation or next(iter(found.get("candidates") or []), {})).get(
            "confidence"
        ),
        "guilty": label.get("guilty", []),
        "is_right_line": is_right,
        "is_innocent_blamed": found["result"] == "localised" and not is_right,
        "channels": ranked,
        "is_right_channel": bool(ranked)
        and ranked[0] in {label["channel"], *label["also_channels"]},
        "is_right_result": found["result"] == label["result"],
        "is_canary": is_canary,
        "is_far": label["far"],
        "field": label["field"],
        "fields": [row["path"] for row in found["fields"]][:5],
        "cpu_s": round(cpu, 2),
        "wall_s": round(time.monotonic() - begun, 2),
    }


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("set", help="name of the set's folder")
    parser.add_argument("output", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--resume", action="store_true", help="go on behind what is in OUTPUT")
    asked = parser.parse_args()
    there = set()
    if asked.resume and asked.output.exists():
        lines = asked.output.read_text(encoding="utf-8").splitlines()
        there = {json.loads(line)["name"] for line in lines}
    labels = json.loads((CORPORA / asked.set / "labels.json").read_text(encoding="utf-8"))
    with asked.output.open("a" if asked.resume else "w", encoding="utf-8") as lines:
        for name in sorted(labels):
            if asked.only in name and name not in there:
                with tempfile.TemporaryDirectory(prefix="blind-") as folder:
                    seen = look(name, labels[name], CORPORA / asked.set / "programs", Path(folder))
                    lines.write(json.dumps(seen) + "\n")
                    lines.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
