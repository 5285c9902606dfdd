# Laid down by twice scaffold from sheets 00, 01, 04, 05, 06, 08 and 09; owned by it: change the sheet, or eject the file.
"""Runs of twice: record them, replay them, leave them, as 06 says.

python scripts/determinism.py record -o a.twice
python scripts/determinism.py verify a.twice
python scripts/determinism.py replay a.twice --at 0
python scripts/determinism.py branch a.twice --at 0 -o b.twice
python scripts/determinism.py vector
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import twice

RECORD: Final = (
    "record",
    "pipeline.py:main",
    "--seed",
    "5",
    "--set",
    "ticks=12",
    "--set",
    "master=20260101",
    "--class",
    "bit-exact",
    "--scope",
    "cross-host",
    "--compare",
    "tick",
    "--snapshots",
    "every=4",
    "--strategy",
    "hybrid",
    "--digest",
    "blake3",
)
VECTOR: Final = "determinism-and-replay/evidence/vector.twice"
OFFERED: Final[tuple[str, ...]] = ("verify", "replay", "branch")
ROOT: Final = Path(__file__).resolve().parents[1]


def _twice(*arguments: str) -> int:
    command = [sys.executable, "-m", "twice", *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def vector() -> int:
    """Record the test vector anew, and say what 01 has to say of it."""
    (ROOT / VECTOR).parent.mkdir(parents=True, exist_ok=True)
    code = _twice(*RECORD, "--quiet", "--force", "-o", VECTOR)
    if code:
        return code
    with twice.open(ROOT / VECTOR) as record:
        last = record.reader.points.last
        assert last is not None, "a run has compare-points"
        digest = f"{record.setup.algorithm.value}:{last.chain.hex()}"
    print(f'01: vector: "{VECTOR}"')
    print(f'01: vector_digest: "{digest}"')
    return 0


def main(arguments: list[str]) -> int:
    """Do what the first argument says; the others are those of twice."""
    command, *rest = arguments or ["help"]
    if command == "record":
        return _twice(*RECORD, *rest)
    if command == "vector":
        return vector()
    if command in OFFERED:
        return _twice(command, *rest)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
