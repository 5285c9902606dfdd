"""Judge a corrected repository of the repair trials: ``python judge.py FOLDER NAME`` prints JSON.

The entry program runs in varied surroundings: hash seed, time zone, locale, umask, load, and copies of the
folder whose files were created in another order. Nothing is written to FOLDER.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from meanings import MEANINGS

CORPUS = Path(__file__).parent
ENTRY = "main.py"
LIMIT_S = 60
IGNORED = ("__pycache__", "*.twice", ".twice*", "*.pyc", "*.bak")


@dataclass(frozen=True)
class Surroundings:
    """What one run gets: its environment, and the order in which the files of its folder were created."""

    hash_seed: int
    time_zone: str
    locale: str
    umask: int
    order: str = ""
    is_loaded: bool = False


RUNS = (
    Surroundings(0, "UTC", "C", 0o022),
    Surroundings(1, "Asia/Tokyo", "C.UTF-8", 0o077, "sorted"),
    Surroundings(2, "America/Los_Angeles", "POSIX", 0o002, "reversed"),
    Surroundings(3, "Australia/Adelaide", "C", 0o027, "shuffled", is_loaded=True),
    Surroundings(4, "Atlantic/Azores", "C.UTF-8", 0o022, is_loaded=True),
    Surroundings(0, "UTC", "C", 0o022),
)


@dataclass(frozen=True)
class Judgement:
    """What the runs of a repository show.

    Attributes:
        reproducible: all runs ended well and printed the same.
        keeps_meaning: the program still does its work, with its own data and settings.
        complaints: why it does not.
        changed_files: files of the corpus that are not as they were, and new modules.
        changed_lines: lines added and removed in them.
        right: the whole outcome.
    """

    name: str
    reproducible: bool
    keeps_meaning: bool
    complaints: tuple[str, ...]
    changed_files: tuple[str, ...]
    changed_lines: int
    right: bool


def judge(folder: Path, name: str) -> Judgement:
    """Run the repository and compare it with the corpus.

    Args:
        folder: the repository as it was left.
        name: which trial it is.

    Raises:
        KeyError: there is no such trial.
    """
    meaning = MEANINGS[name]
    changed = compare_trees(CORPUS / name, folder)
    outputs: list[str | None] = []
    for surroundings in RUNS:
        outputs.append(run_once(folder, surroundings))
        if None in outputs or outputs[-1] != outputs[0]:
            break
    is_reproducible = len(outputs) == len(RUNS) and len(set(outputs)) == 1
    touched = [each for each in changed if (CORPUS / name / each).is_file()]
    complaints = [f"changed {each}" for each in touched if not each.endswith((".py", ".md"))]
    complaints += meaning.refuse_sources({path.name: path.read_text() for path in folder.glob("*.py")})
    if outputs[0] is None:
        complaints.append("the program fails")
    elif is_reproducible:
        complaints += meaning.complain(folder, outputs[0])
        for alter in meaning.alterations:
            with copied(folder, "sorted") as copy:
                alter(copy)
                other = run_once(copy, RUNS[0])
                complaints += meaning.complain(copy, other or "")
                if other == outputs[0]:
                    complaints.append(f"{alter.__doc__} and the output stays")
    is_mended = any(each.endswith(".py") for each in touched)
    is_innocent = json.loads((CORPUS / "answers.json").read_text())[name]["innocent"]
    return Judgement(
        name,
        is_reproducible,
        not complaints,
        tuple(complaints),
        tuple(changed),
        sum(changed.values()),
        is_reproducible and not complaints and is_mended is not is_innocent,
    )


def run_once(folder: Path, surroundings: Surroundings) -> str | None:
    """Return the printed text of one run, or None if the program fails or takes too long."""
    environment = {
        **{key: os.environ[key] for key in ("PATH", "HOME", "LD_LIBRARY_PATH") if key in os.environ},
        "PYTHONHASHSEED": str(surroundings.hash_seed),
        "TZ": surroundings.time_zone,
        "LC_ALL": surroundings.locale,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with copied(folder, surroundings.order) as place, load(2 * surroundings.is_loaded):
        try:
            ended = subprocess.run(
                [sys.executable, ENTRY],
                cwd=place,
                env=environment,
                umask=surroundings.umask,
                capture_output=True,
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
    return None if ended.returncode else ended.stdout.decode("utf-8", errors="replace")


@contextmanager
def copied(folder: Path, order: str) -> Iterator[Path]:
    """Yield a copy whose files were created in an order; without an order, the folder itself."""
    if not order:
        yield folder
        return
    # Only a file system in memory lists files by the time of their creation, so it is taken where there is one.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as place:
        names = sorted(list_files(folder))
        if order == "reversed":
            names.reverse()
        elif order == "shuffled":
            random.Random(11).shuffle(names)
        for name in names:
            target = Path(place, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, target)
        yield Path(place)


@contextmanager
def load(count: int) -> Iterator[None]:
    """Keep processors busy, so that threads meet in another order."""
    busy = [subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()


def list_files(folder: Path) -> set[str]:
    """Return the files of a repository; records and caches are not part of it."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
        and not any(Path(part).match(each) for part in path.relative_to(folder).parts for each in IGNORED)
    }


def compare_trees(original: Path, folder: Path) -> dict[str, int]:
    """Return each changed file and each new module, with its count of added and removed lines."""
    new = {name for name in list_files(folder) if name.endswith(".py")}
    counts = {}
    for name in sorted(list_files(original) | new):
        before, after = (
            path.read_text("utf-8", errors="replace").splitlines() if path.is_file() else []
            for path in (original / name, folder / name)
        )
        changes = [line for line in difflib.unified_diff(before, after, n=0) if line[:2] != "@@"]
        if changes:
            counts[name] = len(changes) - 2  # without the names of both
    return counts


def main() -> None:
    """Print the judgement of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("name", choices=sorted(MEANINGS))
    options = parser.parse_args()
    print(json.dumps(asdict(judge(options.folder.resolve(), options.name)), indent=1))


if __name__ == "__main__":
    main()
