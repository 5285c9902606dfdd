"""Record and verify every case once, two at a time, and write one JSON line for each.

    python native_look.py OUTPUT.jsonl [--only WORD] [--plain] [--resume] [--keep-folders]

The environment with twice and the libraries is this interpreter's, or the one that ``NATIVE_ENV`` names.
``--plain`` leaves twice out: each program runs two times from one state of its folder, which shows
whether it works and whether its own files differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from native_cases import CASES, MOVE, Case

ENVIRONMENT = Path(os.environ.get("NATIVE_ENV", sys.prefix))
PYTHON = ENVIRONMENT / "bin" / "python"
TWICE = ENVIRONMENT / "bin" / "twice"
LIMIT = 180


@dataclass
class Look:
    """What was seen of one case."""

    name: str
    kind: str
    expect: str
    names: tuple[str, ...]
    verdict: str = ""
    agreed: bool = False
    named: bool = True
    touched: list[str] = field(default_factory=list)
    litter: list[str] = field(default_factory=list)
    trouble: str = ""
    record_s: float = 0.0
    verify_s: float = 0.0
    record_output: str = ""
    verify_output: str = ""


def tree(folder: Path) -> dict[str, str]:
    """Kind, mode, time and content of everything below a folder."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        if stat.S_ISLNK(info.st_mode):
            what = os.readlink(path)
        elif stat.S_ISREG(info.st_mode):
            what = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            what = "folder"
        moment = 0 if what == "folder" else info.st_mtime_ns
        found[str(path.relative_to(folder))] = f"{info.st_mode:o} {moment} {what}"
    return found


def differences(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Paths that are not as they were."""
    return sorted(p for p in before.keys() | after.keys() if before.get(p) != after.get(p))


def call(command: list[str], folder: Path, home: Path) -> tuple[int, str, float]:
    """Run a command: its exit code, what it printed, how long it took."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TWICE"))}
    variables |= {"TMPDIR": str(folder.parent / "tmp"), "HOME": str(home), "COLUMNS": "120"}
    variables["PATH"] = f"{ENVIRONMENT / 'bin'}:{variables['PATH']}"
    begun = time.monotonic()
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired as late:
        return 124, (late.stdout or b"").decode(errors="replace"), time.monotonic() - begun
    return done.returncode, done.stdout.decode(errors="replace"), time.monotonic() - begun


def wait_for_next_second() -> None:
    """Return when the clock shows another whole second: some planted differences are no finer."""
    begun = int(time.time())
    while int(time.time()) == begun:
        time.sleep(0.01)


def prepare(case: Case, root: Path, home: Path) -> tuple[Path, str]:
    """Make the folders of a case and what stands before its program: the folder, or a trouble."""
    base = root / case.name
    shutil.rmtree(base, ignore_errors=True)
    for name in ("work", "rec", "tmp", "outside"):
        (base / name).mkdir(parents=True)
    work = base / "work"
    (work / "prog.py").write_text(case.program, encoding="utf-8")
    if case.setup:
        rc, said, _ = call([str(PYTHON), "-c", case.setup], work, home)
        if rc:
            return work, f"setup: {said[-800:]}"
    return work, ""


def look(case: Case, root: Path, home: Path) -> Look:
    """Record, change, verify."""
    seen = Look(case.name, case.kind, case.expect, case.names)
    work, seen.trouble = prepare(case, root, home)
    if seen.trouble:
        return seen
    record = work.parent / "rec" / "a.twice"
    command = [str(TWICE), "record", "--seed", "1", "--out", str(record), *case.options, "prog.py"]
    rc, seen.record_output, seen.record_s = call(command, work, home)
    if rc:
        seen.trouble = f"record: exit code {rc}"
        return seen
    if case.change == MOVE:
        shutil.move(str(work), str(work.parent / "moved"))
        work = work.parent / "moved"
    elif case.change:
        rc, said, _ = call([str(PYTHON), "-c", case.change], work, home)
        if rc:
            seen.trouble = f"change: {said[-800:]}"
            return seen
    if case.kind == "planted":
        wait_for_next_second()
    places = (work, work.parent / "outside", work.parent / "tmp")
    before = [tree(place) for place in places]
    rc, seen.verify_output, seen.verify_s = call([str(TWICE), "verify", str(record)], work, home)
    after = [tree(place) for place in places]
    for old, new in zip(before[:2], after[:2], strict=True):
        seen.touched += differences(old, new)
    seen.litter = differences(before[2], after[2])
    seen.litter += [p.name for p in record.parent.iterdir() if not p.name.startswith("a.twice")]
    seen.verdict = {0: "PASS", 1: "FAIL", 2: "UNKNOWN", 124: "HANG"}.get(rc, f"exit {rc}")
    if not seen.verify_output.startswith(seen.verdict):
        seen.trouble = f"verify: exit code {rc} beside {seen.verify_output[:60]!r}"
    if any("\nTraceback" in f"\n{text}" for text in (seen.verify_output, seen.record_output)):
        seen.trouble = "traceback"
    if seen.verdict == "FAIL" or case.expect == "UNKNOWN":
        seen.named = any(name in seen.verify_output for name in case.names)
    right = seen.verdict in case.expect.split("|") and seen.named
    seen.agreed = right and not (seen.touched or seen.litter or seen.trouble)
    return seen


def plain(case: Case, root: Path, home: Path) -> Look:
    """Run a program two times from one state, without twice."""
    seen = Look(case.name, case.kind, case.expect, case.names)
    work, seen.trouble = prepare(case, root, home)
    if seen.trouble:
        return seen
    saved = work.parent / "saved"
    shutil.copytree(work, saved, symlinks=True)
    rc, first, seen.record_s = call([str(PYTHON), "prog.py"], work, home)
    if rc:
        seen.trouble = first[-1500:]
        return seen
    one = {k: v.split()[-1] for k, v in tree(work).items()}
    shutil.rmtree(work)
    shutil.copytree(saved, work, symlinks=True)
    wait_for_next_second()
    _, second, seen.verify_s = call([str(PYTHON), "prog.py"], work, home)
    two = {k: v.split()[-1] for k, v in tree(work).items()}
    parts = [p for p in differences(one, two) if "__pycache__" not in p]
    seen.verdict = "DIFFERS" if parts or first != second else "SAME"
    seen.touched = parts[:12]
    return seen


def missing() -> set[str]:
    """Modules that the cases need and the environment has not."""
    needed = sorted({need for case in CASES for need in case.needs})
    code = (
        "import importlib.util as u, sys\n"
        "print(*[n for n in sys.argv[1:] if u.find_spec(n) is None])"
    )
    done = subprocess.run([PYTHON, "-c", code, *needed], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--resume", action="store_true", help="go on behind what is in OUTPUT")
    parser.add_argument("--keep-folders", action="store_true")
    asked = parser.parse_args()
    absent = missing()
    root = Path(tempfile.mkdtemp(prefix="native-set-"))
    home = root / "home"
    home.mkdir(parents=True, exist_ok=True)
    chosen = [case for case in CASES if asked.only in case.name]
    if asked.resume:
        text = asked.output.read_text(encoding="utf-8")
        there = {json.loads(line)["name"] for line in text.splitlines()}
        chosen = [case for case in chosen if case.name not in there]
    ready = [case for case in chosen if not absent & set(case.needs)]
    counts: Counter[str] = Counter(skipped=len(chosen) - len(ready))
    one = plain if asked.plain else look
    with (
        asked.output.open("a" if asked.resume else "w", encoding="utf-8") as lines,
        ThreadPoolExecutor(2) as pool,
    ):
        for case in chosen:
            if case not in ready:
                lack = sorted(absent & set(case.needs))
                lines.write(json.dumps({"name": case.name, "skipped": lack}) + "\n")
        for seen in pool.map(lambda case: one(case, root, home), ready):
            lines.write(json.dumps(asdict(seen)) + "\n")
            lines.flush()
            counts["agreed" if seen.agreed else "other"] += 1
            if not asked.keep_folders:
                shutil.rmtree(root / seen.name, ignore_errors=True)
    print(dict(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
