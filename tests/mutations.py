"""Plant faults in the core, one after the other, and see which tier of the tests catches each.

A suite that passes says little when it would pass over broken code as well. Here twenty small
faults are planted, each by itself, in a copy of the tree, and the default tier is run over it, then
the integration tier. They were picked from the product alone, without a look at the tests::

    python tests/mutations.py                             # all of them, for some hours
    python tests/mutations.py --only trust-own-grants     # one of them
    python tests/mutations.py --workers 4 --skip-baseline

First both tiers run over the copy as it is: a test that fails there would seem to catch everything.
Then a table grows by a row for each fault. The exit code is 0 when at least 18 of the twenty are
caught; of those named by ``--only``, when every one is.

What it does not show: how many other faults would be caught, as twenty are a sample; whether the
test that fails is about the fault, as the first one that fails ends a run (read its name); what the
heavy tier would catch. A test that fails now and then catches what it does not see. A test that
gives a process an environment without ``PYTHONPATH`` has that process import the installed twice,
without the fault.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tiers import DEFAULT, INTEGRATION

ROOT = Path(__file__).resolve().parent.parent
TIERS = {"default": DEFAULT, "integration": INTEGRATION}
"""The expression of each tier, in the order in which they are run."""
CAUGHT_MIN = 18
HANGS_AFTER_S = 3600
"""A tier that takes longer hangs, which nobody overlooks: the fault counts as caught."""
_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Mutation:
    """One fault.

    Attributes:
        name: what it is called by.
        path: of the file, from ``src/twice``.
        old: what stands there, exactly once.
        new: what stands there instead.
        about: what goes wrong, in a few words.
    """

    name: str
    path: str
    old: str
    new: str
    about: str

    def apply(self, text: str) -> str:
        """Return the text of the file with the fault in it."""
        found = text.count(self.old)
        assert found == 1, f"{self.name}: {self.old!r} stands {found} times in {self.path}"
        changed = text.replace(self.old, self.new)
        compile(changed, self.path, "exec")
        return changed


@dataclass(frozen=True)
class Catch:
    """What came of one fault.

    Attributes:
        tier: that caught it; ``none`` where both passed.
        test: the first one that failed, or how the run ended where no test is named.
        seconds: that all runs took.
    """

    tier: str
    test: str
    seconds: float


MUTATIONS = (
    Mutation(
        "merkle-keys-dropped",
        "foundation/merkle.py",
        "(_NODE + _pack_length(len(head)) + head + raws)",
        "(_NODE + raws)",
        "a node hashes its children and not its keys",
    ),
    Mutation(
        "seed-last-segment",
        "foundation/seeds.py",
        'seed = _step(seed, "name", (segment,), rule)',
        'seed = _step(parent, "name", (segment,), rule)',
        "the seed of a path depends on its last segment alone",
    ),
    Mutation(
        "relative-symmetric",
        "foundation/comparison/distances.py",
        "return distance / abs(recorded) if recorded else math.inf",
        "return distance / max(abs(recorded), abs(replayed)) if recorded else math.inf",
        "a relative distance is measured by the larger value, not by the recorded one",
    ),
    Mutation(
        "decode-last-pair",
        "foundation/encoding/decoder.py",
        "for index in range(count - 1):",
        "for index in range(count - 2):",
        "the order of the last two keys or set elements is not checked",
    ),
    Mutation(
        "chain-unlinked",
        "recorder/record/layout.py",
        "        hasher.update(previous)\n",
        "",
        "the checksum of a block does not cover the block before it",
    ),
    Mutation(
        "snapshot-by-size",
        "recorder/states.py",
        "if again == form:",
        "if len(again) == len(form):",
        "a restored component passes when its state is as long as the captured one",
    ),
    Mutation(
        "stream-not-rewound",
        "recorder/streams/registry.py",
        "            stream.write(self._starts[name])\n",
        "",
        "a stream that a rollback gives back stays where it was",
    ),
    Mutation(
        "question-by-type",
        "recorder/effects/sources.py",
        "if asked != arguments:",
        "if type(asked) is not type(arguments):",
        "a replay serves an answer to a question with other arguments",
    ),
    Mutation(
        "seal-unseen-covered",
        "recorder/audit/inventory.py",
        "else confinement.is_world and was_supervised",
        "else confinement.is_world",
        "a replay refuses nothing of what the recording did not watch",
    ),
    Mutation(
        "answer-unredacted",
        "recorder/effects/layer.py",
        "noted = redaction.value(value, op.name) if redaction.active else value",
        "noted = value",
        "what the world answers is written down with its secrets",
    ),
    Mutation(
        "trust-own-grants",
        "recorder/trust.py",
        "[*recorded, *given])) if is_made_here(digest) else tuple(given)",
        "[*recorded, *given]))",
        "a record from elsewhere opens the seal as it likes",
    ),
    Mutation(
        "compare-by-class",
        "replayer/compare_sink.py",
        "elif explicit or self._judged(name):",
        "elif self._judged(name):",
        "the logical class does not judge values that are compared by name",
    ),
    Mutation(
        "unsupported-passes",
        "replayer/verdict.py",
        "lambda found: bool(unsupported_rows(found.inventory)),",
        "lambda _: False,",
        "a run that reached the world beside the layer passes",
    ),
    Mutation(
        "restores-last-skipped",
        "replayer/restore_test.py",
        "step = (count - 1) / (RESTORES_MAX - 1)",
        "step = count / RESTORES_MAX",
        "of many snapshots the last one is never restored",
    ),
    Mutation(
        "shorter-log-equal",
        "recorder/record/points.py",
        "return None if len(a) == len(b) else common",
        "return None",
        "two logs do not differ where one of them ends early",
    ),
    Mutation(
        "open-refutes",
        "diagnosing/attribution.py",
        '        if each.outcome == "open":\n            continue\n',
        "",
        "an experiment that tells nothing refutes its channel",
    ),
    Mutation(
        "extra-files-unseen",
        "recorder/kernel/replay_differences.py",
        "for file in written if file.path not in known]",
        "for file in written if file.path in known]",
        "files that only the replay wrote are no difference",
    ),
    Mutation(
        "removed-not-kept",
        "recorder/kernel/file_ledger.py",
        "if not entry.was_changed and entry.was_read:",
        "if not entry.was_changed and not entry.was_read:",
        "a file that was read and then removed is not kept for a replay",
    ),
    Mutation(
        "gate-snapshot-on-the-way",
        "specification/gate/checks/runs.py",
        "if not restored.failed and not restored.on_the_way:",
        "if not restored.failed and restored.on_the_way is None:",
        "check 5 passes although no snapshot stands after the first tick",
    ),
    Mutation(
        "gate-declared-witness",
        "assets/gate/provenance_checks.py",
        "if each.level is not EvidenceLevel.DECLARED]",
        "if each.level is not None]",
        "a person's word counts as evidence for a deterministic promise",
    ),
)


def main() -> int:
    """Plant what the command line names, print a table, and return the exit code."""
    given = parse_arguments()
    assert len(MUTATIONS) == len({each.name for each in MUTATIONS}) == 20, "twenty, by name"
    for each in MUTATIONS:
        each.apply((ROOT / "src/twice" / each.path).read_text(encoding="utf-8"))
    chosen = [each for each in MUTATIONS if not given.only or each.name in given.only]
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        copy = Path(folder).resolve() / "tree"
        environ = clean_environ(PYTHONPATH=str(copy / "src"))
        copy_tree(copy, environ)
        require_copy_imported(copy, environ)
        if not given.skip_baseline:
            require_passing(copy, environ, given.workers)
        print("| fault | file | what goes wrong | caught by | first failing test | seconds |")
        print("|---|---|---|---|---|---|", flush=True)
        caught = 0
        for each in chosen:
            with planted(each, copy):
                found = run_tiers(copy, environ, given.workers)
            caught += found.tier != "none"
            print(write_row(each, found), flush=True)
    print(f"\ncaught {caught} of {len(chosen)}", flush=True)
    needed = len(chosen) if given.only else CAUGHT_MIN
    return 0 if caught >= needed else 1


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    names = [each.name for each in MUTATIONS]
    parser.add_argument(
        "--only", nargs="+", choices=names, default=[], metavar="NAME", help=", ".join(names)
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument(
        "--skip-baseline", action="store_true", help="take it that the tree passes without a fault"
    )
    return parser.parse_args()


def clean_environ(**added: str) -> dict[str, str]:
    """Return the environment of all processes; a git hook's variables lead into the real tree."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, **added}


def copy_tree(copy: Path, environ: Mapping[str, str]) -> None:
    """Copy what git knows of the tree, or does not ignore, into a repository of its own."""
    listing = run_git(ROOT, environ, "ls-files", "-co", "--exclude-standard", "-z")
    for name in filter(None, listing.split("\0")):
        if os.path.lexists(ROOT / name):  # a file may be removed and still be in the index
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    run_git(copy, environ, "init", "-q")
    run_git(copy, environ, "add", "-A")
    settings = ("user.name=mutations", "user.email=mutations@localhost", "commit.gpgsign=false")
    given = [part for each in settings for part in ("-c", each)]
    run_git(copy, environ, *given, "commit", "-q", "--no-verify", "-m", "A copy for faults")


def run_git(folder: Path, environ: Mapping[str, str], *arguments: str) -> str:
    """Run git in a folder and return what it prints."""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(
        command, env=environ, check=True, stdout=subprocess.PIPE, encoding="utf-8"
    ).stdout


def require_copy_imported(copy: Path, environ: Mapping[str, str]) -> None:
    """Refuse to go on where the tests would import another twice than the copy's."""
    command = [sys.executable, "-c", "import twice; print(twice.__file__)"]
    done = subprocess.run(
        command, cwd=copy, env=environ, check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    found, expected = Path(done.stdout.strip()).resolve(), copy / "src/twice/__init__.py"
    if found != expected:
        sys.exit(f"The tests would import {found}, without the faults; expected {expected}.")


def require_passing(copy: Path, environ: Mapping[str, str], workers: int) -> None:
    """Refuse to go on where a test fails without any fault."""
    found = run_tiers(copy, environ, workers)
    if found.tier != "none":
        sys.exit(f"Without any fault, the {found.tier} tier fails: {found.test}.")
    print(f"Without a fault both tiers pass, in {found.seconds:.0f} s.\n", flush=True)


@contextmanager
def planted(mutation: Mutation, copy: Path) -> Iterator[None]:
    """Have a fault in the copy for as long as the block runs."""
    path = copy / "src/twice" / mutation.path
    text = path.read_text(encoding="utf-8")
    try:
        write_source(path, mutation.apply(text))
        yield
    finally:
        write_source(path, text)


def write_source(path: Path, text: str) -> None:
    """Write a source file and remove what was compiled of it, which may have its size and time."""
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def run_tiers(copy: Path, environ: Mapping[str, str], workers: int) -> Catch:
    """Run the tiers in their order, up to the first failing test."""
    began = time.monotonic()
    # Examples that were found under one fault must not help to catch the next.
    shutil.rmtree(copy / ".hypothesis", ignore_errors=True)
    for tier, expression in TIERS.items():
        test = run_pytest(copy, environ, ["-n", str(workers), "-m", expression])
        if test is not None:
            return Catch(tier, test, time.monotonic() - began)
    return Catch("none", "", time.monotonic() - began)


def run_pytest(copy: Path, environ: Mapping[str, str], options: Sequence[str]) -> str | None:
    """Run tests up to a failure; return its node id, or how the run ended; None for a pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *options]
    # Into a file: a process that a test leaves behind would hold the end of a pipe.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            command,
            cwd=copy,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(HANGS_AFTER_S)
        except subprocess.TimeoutExpired:
            return f"(no end after {HANGS_AFTER_S} s)"
        finally:
            end_group(process)
        if code == 0:
            return None
        output.seek(0)
        failed = _FAILED.search(output.read())
    return failed[1] if failed else f"(exit code {code})"


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a run that goes on, with its workers."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def write_row(mutation: Mutation, found: Catch) -> str:
    """Return a row of the table."""
    test = f"`{found.test}`" if found.test else ""
    cells = (
        mutation.name,
        f"`{mutation.path}`",
        mutation.about,
        found.tier,
        test,
        f"{found.seconds:.0f}",
    )
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
