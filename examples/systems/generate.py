"""Build one of the example systems that are kept as a program and its sheets alone, and pass its gate.

python examples/systems/generate.py market /tmp/market

Copies the program and the sheets to a new folder, and runs there the commands below: what they write
(wiring, tests, test vector, costs, lock, sheet 99) is nothing that a person would edit.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

SYSTEMS = Path(__file__).parent
TWICE = (sys.executable, "-m", "twice")


def generate(name: str, folder: Path) -> int:
    """Build the system in a folder that does not exist yet; return the exit code of the first command that fails, or 0.

    The costs of a program that runs for milliseconds are UNKNOWN; the gate decides whether they suffice.
    """
    shutil.copytree(SYSTEMS / name, folder)
    for command in (
        (*TWICE, "scaffold", name),
        (sys.executable, "scripts/determinism.py", "vector"),
        (*TWICE, "cost", "--by", "cpu", "--rounds", "2", "--write"),
        (*TWICE, "spec", "bump"),
        (*TWICE, "gate"),
    ):
        print("$", *command, flush=True)
        code = subprocess.run(command, cwd=folder, check=False).returncode
        if code and "cost" not in command:
            return code
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or not (SYSTEMS / sys.argv[1]).is_dir() or Path(sys.argv[2]).exists():
        sys.exit(f"{__doc__}\nA system beside this file, and a folder that does not exist yet.")
    sys.exit(generate(sys.argv[1], Path(sys.argv[2])))
