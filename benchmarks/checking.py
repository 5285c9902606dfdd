"""How fast `twice check` reads, beside ruff, bandit and pylint on the same files in the same run.

Usage: python benchmarks/checking.py [--rounds N] [--small] [--output FILE.jsonl] [--peers FOLDER] [TREE ...]

Trees are folders of Python files: by default the standard library without its tests, and the installed
packages of simulation kind. Their files are copied to one temporary folder, so that everybody reads the
same ones and finds no settings. Each way is a whole process, start and output included, by wall and CPU time;
they take turns, and ratios are of neighbours. ``--peers`` names a folder with their programs.
Goals: 100,000 lines in a second of one process without following values and 60,000 with it, by CPU time;
180,000 and 110,000 in two, by wall; 150,000 lines again from the cache in less than 200 ms.

The peers look for less: ruff for the nine rules of RUFF, bandit for its tests on random and pickle, pylint
for its default checks, none of which is on determinism, and it gets a part of the files only.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import measuring

from twice.checker.files import find_files

RUFF = "S311,NPY002,DTZ,S301,S403,PTH207,PTH208,PLC0208"
BANDIT = "B301,B311,B403"
SIMULATION = ("gymnasium", "mesa", "networkx")
_LEFT_OUT = ("test", "tests", "idlelib", "lib2to3", "turtledemo")
_PART_LINES = 4_000
_SMALL_LINES = 600


@dataclass(frozen=True)
class Corpus:
    """What is read: a folder, and how much is in it."""

    folder: Path
    files: int
    lines: int


@dataclass
class Way:
    """One program with its options, measured over and over.

    Attributes:
        name: for the figures.
        command: the whole command line.
        corpus: what it reads.
        variables: of its environment, beside ours.
        wall: seconds of each round.
        cpu: seconds of each round, children included.
    """

    name: str
    command: list[str]
    corpus: Corpus
    variables: dict[str, str] = field(default_factory=dict)
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def run(self) -> None:
        """Measure once more."""
        before, start = _children_s(), time.perf_counter()
        done = subprocess.run(
            self.command,
            cwd=self.corpus.folder,
            env={**os.environ, **self.variables},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        self.wall.append(time.perf_counter() - start)
        self.cpu.append(_children_s() - before)
        assert done.returncode in {0, 1, 2}, f"{self.name}: {done.stderr}"
        assert "Traceback" not in done.stderr, f"{self.name}: {done.stderr}"

    def figures(self) -> Iterator[dict[str, object]]:
        """Lines in a second, by wall and by CPU time, and the seconds themselves."""
        about = {"files": self.corpus.files, "lines": self.corpus.lines}
        for what, taken in (("wall", self.wall), ("CPU", self.cpu)):
            rates = [self.corpus.lines / seconds for seconds in taken]
            named = {"figure": f"{self.name}: lines by {what}", "unit": "lines/s"}
            yield named | measuring.spread(rates, 0) | about
            milliseconds = [seconds * 1000 for seconds in taken]
            named = {"figure": f"{self.name}: {what}", "unit": "ms"}
            yield named | measuring.spread(milliseconds, 1) | about


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def default_trees() -> list[Path]:
    """Return the standard library and the installed packages for simulation."""
    found = [Path(sysconfig.get_path("stdlib"))]
    for name in SIMULATION:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            found.append(Path(spec.origin).parent)
    return found


def gathered(
    trees: list[Path], into: Path, left_out: Sequence[str], lines_max: int | None
) -> Corpus:
    """Copy files of some trees to one folder, by turns, until there are enough lines."""
    into.mkdir()
    (into / "pyproject.toml").touch()  # Nobody looks for settings further up.
    files = lines = 0
    for number, tree in enumerate(trees):
        for path in find_files([tree], left_out):
            text = Path(path).read_bytes()
            count = text.count(b"\n")
            if lines_max is not None and lines + count > lines_max * (number + 1) / len(trees):
                continue
            inside = Path(path).resolve().relative_to(tree.resolve())
            to = into / f"tree{number}" / inside
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(text)
            files, lines = files + 1, lines + count
    return Corpus(into, files, lines)


def ours(corpus: Corpus) -> list[Way]:
    """List the checker's ways: cold in one and two processes, following values or not, and warm."""
    check = [sys.executable, "-m", "twice", "check", "-q"]
    found = []
    for jobs, processes in ((1, "one process"), (2, "two processes")):
        for follow in (["--no-follow"], []):
            words = "not followed" if follow else "followed"
            command = [*check, "--no-cache", "-j", str(jobs), *follow, "."]
            found.append(Way(f"twice, {processes}, {words}", command, corpus))
    found.append(Way("twice, warm", [*check, "."], corpus))
    return found


def peers(corpus: Corpus, part: Corpus, folder: Path | None) -> list[Way]:
    """Those that are here."""
    found = []
    ruff, bandit, pylint = (_program(name, folder) for name in ("ruff", "bandit", "pylint"))
    if ruff is not None:
        command = [ruff, "check", "--isolated", "--preview", "--no-cache", "--quiet", "--exit-zero"]
        for threads, said in (("1", "one thread"), ("2", "two threads")):
            variables = {"RAYON_NUM_THREADS": threads}
            found.append(Way(f"ruff, {said}", [*command, "--select", RUFF, "."], corpus, variables))
    if bandit is not None:
        command = [bandit, "--quiet", "--recursive", "--exit-zero", "--tests", BANDIT, "."]
        found.append(Way("bandit", command, corpus))
    if pylint is not None:
        names = [path.relative_to(part.folder).as_posix() for path in part.folder.rglob("*.py")]
        command = [pylint, "--jobs=1", "--exit-zero", "--score=n", *sorted(names)]
        found.append(Way("pylint, a part of the files", command, part))
    return found


def _program(name: str, folder: Path | None) -> str | None:
    """Where a peer is: in the folder that was named, beside this Python, or on the path."""
    places = [str(each) for each in (folder, Path(sys.executable).parent) if each is not None]
    return shutil.which(name, path=os.pathsep.join(places)) or shutil.which(name)


def figures(
    rounds: int, trees: list[Path], folder: Path | None, *, small: bool
) -> Iterator[dict[str, object]]:
    """Everything, by turns."""
    left_out = () if trees else _LEFT_OUT
    trees = trees or default_trees()
    with tempfile.TemporaryDirectory(prefix="twice-bench-") as name:
        corpus = gathered(trees, Path(name, "all"), left_out, _SMALL_LINES if small else None)
        part = gathered(trees, Path(name, "part"), left_out, _SMALL_LINES if small else _PART_LINES)
        print(f"{corpus.files} files, {corpus.lines} lines; pylint: {part.files}, {part.lines}")
        mine = ours(corpus)
        ways = [*mine, *peers(corpus, part, folder)]
        _require_all_read(mine[-1], corpus)
        for _ in range(rounds):
            for way in ways:
                way.run()
        for way in ways:
            yield from way.figures()
        yield from _ratios(mine, ways[len(mine) :])


def _require_all_read(warm: Way, corpus: Corpus) -> None:
    """Fill the cache, and see that what is measured reads what it is said to."""
    told = [word for word in warm.command if word != "-q"]
    done = subprocess.run(
        [*told, "--json"], cwd=corpus.folder, check=False, capture_output=True, text=True
    )
    assert done.stdout, done.stderr
    assert json.loads(done.stdout)["summary"]["files"] == corpus.files, "every file is read"


def _ratios(mine: list[Way], others: list[Way]) -> Iterator[dict[str, object]]:
    """How often the time of a peer for one line goes into ours, both in one process."""
    followed = next(way for way in mine if way.name.endswith("one process, followed"))
    for other in others:
        if other.name == "ruff, two threads":
            continue
        pairs = zip(followed.cpu, other.cpu, strict=True)
        share = other.corpus.lines / followed.corpus.lines
        ratios = [own * share / its for own, its in pairs]
        named = {"figure": f"twice followed to {other.name}, CPU for a line", "unit": "x"}
        yield named | measuring.spread(ratios)


def main() -> None:
    chosen = measuring.options("checking", __doc__.splitlines()[0], rounds=5, arrange=_arrange)
    found = figures(chosen.rounds, chosen.trees, chosen.peers, small=chosen.small)
    measuring.tell("checking", found, chosen.output)


def _arrange(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trees", nargs="*", type=Path, metavar="TREE", help="folders to read")
    parser.add_argument("--peers", type=Path, help="folder with the programs of the peers")


if __name__ == "__main__":
    sys.exit(main())
