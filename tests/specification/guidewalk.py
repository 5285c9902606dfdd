"""The guide's way from an empty folder to a gate that passes, at tier M, with a program that runs for a second.

    python tests/specification/guidewalk.py [FOLDER]

Program, answers and commands are those of ``docs/guides/specified-system.md``; what tier M asks for besides is here.
It prints each command with its seconds on the clock and of CPU (children included), and fails where a command does, or
where the gate does not pass. Goals: at most 15 commands, 8 minutes; the gate at most 60 s of CPU, ``cost`` at most 60 s.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from twice.specification.location import FOLDER

GUIDE: Final = Path(__file__).parents[2] / "docs" / "guides" / "specified-system.md"
_BLOCKS: Final = re.compile(
    r'^```(?:(console)|\w+ title="([^"]+)")\n(.*?)^```$', re.MULTILINE | re.DOTALL
)
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
    ("TOWN = 1_000_000", "TOWN = 1_000"),
    ("\ndef main(run):\n", _EFFORT),
    (
        "        ferry.cross(shores)\n",
        '        ferry.cross(shores)\n        toil(run.config["effort"])\n',
    ),
)
_EFFORT_OF_A_SECOND: Final = 400_000
_AT_M: Final = {
    "answers/04.yaml": 'ownership: "one process keeps everything"\n',
    "answers/05.yaml": 'cross_process: "there is one process"\n',
}
_PROPERTIES: Final = f"""\
properties: ["replay-equivalence", "seed-matters", "seed-isolation", "snapshot-round-trip", "restore-idempotence", "fork-and-converge"]
tests: ["tests"]
generators: "seats=1..6, trips=1..6, effort=1..9"
database: "{FOLDER}/examples"
"""


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


def walk(folder: Path, effort: int = _EFFORT_OF_A_SECOND) -> int:
    """Follow the guide at tier M, up to its errors; how many commands of twice and pytest it took."""
    commands = 0
    steps = GUIDE.read_text("utf-8").partition("\n## After a change")[0]
    for match in _BLOCKS.finditer(steps):
        _, path, text = match.groups()
        if path is not None:
            _write(folder, path, text + _AT_M.get(path, ""))
            continue
        for line in re.sub(r"\\\n *", "", text).splitlines():
            if line.startswith("pip "):
                continue
            commands += line.startswith(("twice ", "python -m "))
            _run(folder, _raise_tier(line, effort))
            if line == "twice spec add":
                _write(folder, "answers/12.yaml", _PROPERTIES)
                _run(folder, "python write.py answers/12.yaml")
    return commands


def _write(folder: Path, path: str, text: str) -> None:
    if path == "ferry.py":
        for old, new in _CHANGED:
            assert old in text, old
            text = text.replace(old, new)
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, encoding="utf-8")


def _raise_tier(line: str, effort: int) -> str:
    """Let other systems consume replay, and the program run for a second."""
    line = line.replace("--no diverging,consumed,", "--no diverging,").replace(
        "--yes state,", "--yes state,consumed,"
    )
    return line.replace("--set trips=20", f"--set trips=20 --set effort={effort}").replace(
        "--by cpu --rounds 2 --write", "--by cpu --write"
    )


def _run(folder: Path, line: str) -> None:
    """Run a command, and print what it took; it ends with 0 or with the exit code that the guide names."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    python = f"{sys.executable} -m twice" if line.startswith("twice ") else sys.executable
    command = re.sub(r"^(twice|python)\b", python, line)
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{took:6.1f} s {cpu:6.1f} s CPU  {line[:90]}", flush=True)
    if line.startswith(("twice cost", "twice gate")):
        print("".join(f"    {each}\n" for each in done.stdout.splitlines()), end="", flush=True)
    codes = {0, *(int(code) for code in re.findall(r"exit code (\d)", line))}
    assert done.returncode in codes, (line, done.stdout, done.stderr)


if __name__ == "__main__":
    sys.exit(main())
