"""The guide's way from an empty folder to a gate that passes, at tier M, with a program that runs for a second.

    python tests/specification/guidewalk.py [FOLDER]

Program, answers and sheets are those of ``docs/guides/specified-system.md``; what tier M asks for besides stands here.
It prints each command with its seconds on the clock and of CPU (children included), and fails where a command does, or
where the gate does not pass. Goals: at most 15 commands, 8 minutes; the gate at most 60 s of CPU, ``cost`` at most 60 s.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from twice.specification.front_matter import parse_front_matter
from twice.specification.workspace import FOLDER, open_workspace, save

GUIDE: Final = Path(__file__).parents[2] / "docs" / "guides" / "specified-system.md"
_BLOCKS: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# An effort for each trip that makes a run of twenty trips take about a second, in whole numbers.
_EFFORT: Final = '''
def toil(effort):
    """Turn a wheel, as often as it takes."""
    at = 1
    for _ in range(effort):
        at = at * 48271 % 2147483647
    return at


def main(run):
'''
_CHANGED: Final = (
    ("\ndef main(run):\n", _EFFORT),
    (
        "        ferry.cross(shores)\n",
        '        ferry.cross(shores)\n        toil(run.config["effort"])\n',
    ),
)
_EFFORT_OF_A_SECOND: Final = 400_000
_AT_M: Final[dict[str, dict[str, Any]]] = {
    "04": {"ownership": "one process keeps everything"},
    "05": {"cross_process": "there is one process"},
    "12": {
        "properties": [
            "replay-equivalence", "seed-matters", "seed-isolation", "snapshot-round-trip", "restore-idempotence",
            "fork-and-converge",
        ],
        "tests": ["tests"],
        "generators": "seats=1..6, trips=1..6, effort=1..9",
        "database": f"{FOLDER}/examples",
    },
}  # fmt: skip


def main() -> int:
    """Walk, and print what each step took."""
    with tempfile.TemporaryDirectory(prefix="twice-walk-") as text:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else text).resolve()
        began = time.monotonic()
        commands = walk(folder)
        took = time.monotonic() - began
        report = json.loads((folder / FOLDER / "evidence" / "gate.json").read_bytes())
    print(f"{commands} commands, {took:.0f} s; gate {report['result']} at tier {report['tier']}")
    return 0 if report["result"] == "PASS" and commands <= 15 else 1


def blocks(until: str = "") -> Iterator[tuple[str, str]]:
    """Give the guide's blocks, with their language, up to a heading."""
    text = GUIDE.read_text("utf-8")
    if until:
        text = text.partition(f"\n## {until}")[0]
    return ((match[1], match[2]) for match in _BLOCKS.finditer(text))


def lines_of(block: str) -> list[str]:
    """Give the commands of a block; none of one that holds something else."""
    is_commands = block.startswith(("twice ", "python "))
    return block.replace("\\\n", " ").splitlines() if is_commands else []


def walk(folder: Path, effort: int = _EFFORT_OF_A_SECOND) -> int:
    """Follow the guide at tier M; how many commands it took."""
    commands = 0
    for kind, block in blocks():
        if kind == "python":
            for old, new in _CHANGED:
                assert old in block, old
                block = block.replace(old, new)
            (folder / "ferry.py").write_text(block, encoding="utf-8")
        elif block.startswith(f"# {FOLDER}/"):
            write_sheet(folder, block, _AT_M)
        for line in lines_of(block):
            commands += 1
            _run(folder, _raise_tier(line, effort))
            if line == "twice spec fill":
                _write_rest(folder)
    return commands


def _raise_tier(line: str, effort: int) -> str:
    """Let other systems consume replay, and the program run for a second."""
    line = line.replace("--no diverging,consumed,", "--no diverging,").replace(
        "--yes state,", "--yes state,consumed,"
    )
    return line.replace("--set trips=20", f"--set trips=20 --set effort={effort}").replace(
        "--by cpu --rounds 2 --write", "--by cpu --write"
    )


def _run(folder: Path, line: str) -> None:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = run_line(folder, line)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{took:6.1f} s {cpu:6.1f} s CPU  {line[:90]}", flush=True)
    if line.startswith(("twice cost", "twice gate")):
        print("".join(f"    {each}\n" for each in done.stdout.splitlines()), end="", flush=True)


def run_line(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the guide; it ends well, but for a fill, after which people have to write, and a short run's cost."""
    words = shlex.split(line)
    python = [sys.executable, *([] if words[0] == "python" else ["-m", "twice"])]
    done = subprocess.run(
        [*python, *words[1:]], cwd=folder, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    also = {"twice spec fill": 1, "twice cost": 2}
    codes = {0, *(code for start, code in also.items() if line.startswith(start))}
    assert done.returncode in codes, (line, done.stdout, done.stderr)
    return done


def write_sheet(folder: Path, block: str, more: Mapping[str, Mapping[str, Any]]) -> None:
    """Write what a block of the guide says, and more, into the sheet that it names; only what is open is written."""
    path, _, said = block.removeprefix("# ").partition("\n")
    number = Path(path).name[:2]
    source = open_workspace(folder).sheets[number].source
    entries = parse_front_matter(f"---\n{said}---\n", path)[0].entries
    for key in entries:
        assert '"?"' in re.findall(rf"^{key}:.*(?:\n  .*)*", source, re.MULTILINE)[0]
    _say(
        folder, number, {key: entry.value for key, entry in entries.items()} | more.get(number, {})
    )


def _write_rest(folder: Path) -> None:
    """Write what no block of the guide says: sheet 12, and the cells of 13 that are for people."""
    workspace = open_workspace(folder)
    if "12" in workspace.sheets and not workspace.strings("12", "properties"):
        _say(folder, "12", _AT_M["12"])
    sheet = workspace.get("13")
    rows = sheet.head.entries.get("rules") if sheet else None
    if rows is not None and isinstance(rows.value, list):
        told = [
            {key: "none" if each == "?" else each for key, each in row.items()}
            for row in rows.value
            if isinstance(row, dict)
        ]
        _say(folder, "13", {"rules": told})


def _say(folder: Path, number: str, values: Mapping[str, Any]) -> None:
    before = open_workspace(folder)
    sheet = before.sheets[number]
    for key, value in values.items():
        sheet = sheet.with_value(key, value)
    save(before, type(before)(folder, {**before.sheets, number: sheet}))


if __name__ == "__main__":
    sys.exit(main())
