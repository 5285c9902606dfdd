"""Record a run: in a fresh process with pinned surroundings, or the code that has no name where it runs.

The first form can be verified, seeked and branched. The second form writes the same record, but its code cannot be
started again, and the record says so.

Invariant: an existing output is never touched unless ``force`` says so.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twice.errors import FilesUnprotected, OutputExists, OutputUnwritable, SeedMissing, SeedRefused
from twice.foundation.printable import pluralize, printable_lines
from twice.foundation.seeds import Seed
from twice.recorder.audit.inventory import in_words
from twice.recorder.cadence import default_cadence
from twice.recorder.environment.probes import PROBES, read_known_probes
from twice.recorder.environment.surroundings import Surroundings, environ_for_child, for_recording
from twice.recorder.kernel.paths import unescape_path
from twice.recorder.program import Program, name_function, require_runnable
from twice.recorder.program_spec import parse_program
from twice.recorder.record import discard_hidden
from twice.recorder.record.block_writer import add_caveat, unwritable
from twice.recorder.record.layout import MAGIC
from twice.recorder.runrecord import RunRecord
from twice.recorder.samples import Progress, Sample, draw, summary_of
from twice.recorder.session_job import (
    GO_ON,
    RECORDING,
    SAMPLE,
    SUPERVISED,
    WORLD,
    describe_copy,
    hear,
)
from twice.recorder.setup import Setup
from twice.worker.process import FreshWorker, refuse_nesting

if TYPE_CHECKING:
    from twice.recorder.run import Run
    from twice.worker.executor import Executor

SEED_VARIABLE = "TWICE_SEED"


def choose_master_seed(given: int | Seed | None) -> Seed:
    """Return the given master seed, else that of the variable TWICE_SEED; never a default.

    Raises:
        SeedMissing: E-SEED-001. SeedRefused: E-SEED-003, when it is no integer in range.
    """
    if given is not None:
        return given if isinstance(given, Seed) else Seed(given)
    text = os.environ.get(SEED_VARIABLE)
    if text is None:
        raise SeedMissing(
            "No master seed was given.",
            "A run is a function of its seed: there is no default and no fallback.",
            f"Give one: --seed 42, seed=42, or the environment variable {SEED_VARIABLE}=42.",
        )
    try:
        return Seed.parse(text)
    except SeedRefused as error:
        raise SeedRefused(
            f"{SEED_VARIABLE}: {error.happened}",
            error.expected,
            f"Correct or unset {SEED_VARIABLE}, or give --seed 42.",
            **error.fields,
        ) from None


def _make_setup(
    program: Program,
    seed: int | Seed | None,
    config: Mapping[str, Any] | None,
    policies: dict[str, Any],
) -> Setup:
    policies.setdefault("cadence", default_cadence(policies.get("granularity", "tick")))
    return Setup(program, choose_master_seed(seed), dict(config or {}), **policies)


def to_program(program: str | os.PathLike[str] | Program | Callable[..., object]) -> Program:
    """Return a program as a value, from its text or path, its value, or a function."""
    if isinstance(program, Program):
        return program
    if isinstance(program, str | os.PathLike):
        return parse_program(os.fspath(program))
    return name_function(program)


def record(
    program: str | os.PathLike[str] | Program | Callable[..., object],
    *,
    seed: int | Seed | None = None,
    config: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str],
    env: Mapping[str, str] | None = None,
    force: bool = False,
    show: bool = False,
    in_copy: bool = False,
    **policies: Any,
) -> RunRecord:
    """Record one run of a program in a fresh process with pinned surroundings.

    Args:
        program: ``"file.py:function"``, ``"module:function"``, ``"script.py"``, or a function that a fresh process can
            find; a closure is recorded in this process instead.
        seed: master seed, 0 <= seed < 2**256; the variable TWICE_SEED when None.
        config: plain values for ``run.config``.
        out: path of the record.
        env: environment variables of the run; part of its recorded surroundings.
        force: replace an existing output.
        show: pass the program's output on while it runs.
        in_copy: let the program change a copy of the files, and none of the user's.
        **policies: fields of ``Setup``: predicate, algorithm, granularity, cadence, strategy, clock, compare_errors,
            ignored_output, strict_packages, redaction, allow, float_profile, gpu_policy,
            audit_operations.

    Returns:
        The record, open for reading. A program that raised leaves a record that says so; see ``RunRecord.ending``.

    Raises:
        SeedMissing: E-SEED-001. ProgramNotFound: E-PROGRAM-001. OutputExists: E-OUTPUT-001.
        ProgramFailed: E-PROGRAM-003, when the process died; what it recorded is kept.
    """
    found, path = to_program(program), Path(out)
    setup = _make_setup(found, seed, config, policies)
    refuse_existing(path, force=force, is_record=True)
    if found.rerunnable:
        surroundings = for_recording(os.environ, explicit=dict(env or {}))
        record_program(setup, surroundings, path, force=force, show=show, in_copy=in_copy)
        return RunRecord.open(path)
    # What starts a fresh process does not load all that a process that is recorded needs.
    from twice.recorder.record_session import record_block

    assert callable(program), "only a function can lack a name to find it by"
    require_runnable(program, found.target)
    with record_block(setup, path, force=force, warn=warn, is_function=True) as run:
        program(run)
    return RunRecord.open(path)


@contextmanager
def recording(
    out: str | os.PathLike[str],
    *,
    seed: int | Seed | None = None,
    config: Mapping[str, Any] | None = None,
    force: bool = False,
    **policies: Any,
) -> Iterator[Run]:
    """Record the code inside a ``with`` block: for notebooks and inline code.

    What is printed is not captured, names bound before the block (``from time import time``) are not governed, and the
    code cannot be started again: verifying such a record says UNKNOWN and names the form that could be.

    Args:
        out: path of the record.
        seed: as of ``record``, like all that follows.
        config: plain values for ``run.config``.
        force: replace an existing output.
        **policies: fields of ``Setup``.
    """
    from twice.recorder.record_session import record_block

    setup = _make_setup(Program("inline", "inline code"), seed, config, policies)
    refuse_existing(Path(out), force=force, is_record=True)
    with record_block(setup, Path(out), force=force, warn=warn) as run:
        yield run


def record_program(
    setup: Setup,
    surroundings: Surroundings,
    out: Path,
    *,
    force: bool = False,
    show: bool = False,
    stdin: bool | int = False,
    parent: Mapping[str, object] | None = None,
    progress: Progress | None = None,
    python: str = "",
    began: Callable[[int], None] | None = None,
    in_copy: bool = False,
    on_full: str = GO_ON,
    executor: Executor | None = None,
) -> dict[str, Any]:
    """Record a program in a fresh process; return the message with which that process ended.

    Args:
        setup: everything decided about the run.
        surroundings: of the process.
        out: path of the record.
        force: as of ``record``.
        show: as of ``record``.
        stdin: as of ``FreshWorker``.
        parent: of a branch: the run it left.
        progress: is called with (members done, members) of a sample.
        python: another interpreter's path, for runs that have no sample.
        began: is called with the number of the process once it is there.
        in_copy: as of ``record``.
        on_full: whether the program goes on (``go-on``) or ends (``stop``) if its record cannot be written any more.
        executor: where the members of a sample run; None for this machine.

    Raises:
        TwiceError: the error of a process that refused.
        ProgramFailed: E-PROGRAM-003, when it died; what it recorded is kept.
        SampleMissing: E-CLASS-002, when the class is statistical and no summary comes.
        FilesUnprotected: E-FILE-002, when the program needs a copy of the files, and none can be made here.
    """
    refuse_nesting()
    setup.require_recordable()
    surroundings = setup.apply_policies(surroundings)
    # The sample of a statistical run is drawn first, so that it stands at the front of the record.
    summary = summary_of(setup.predicate)
    sample = (
        draw(setup, surroundings, summary, progress=progress, executor=executor)
        if summary
        else Sample()
    )
    aside = make_aside_folder(out) if in_copy else None
    written, is_kept = out if aside is None else aside / out.name, True
    job = build_record_job(
        setup, surroundings, written, force=force, parent=parent, sample=sample, in_copy=in_copy,
        on_full=on_full,
    )  # fmt: skip
    environ = environ_for_child(os.environ, surroundings)
    worker = FreshWorker(
        RECORDING,
        environ,
        show=show,
        stdin=stdin,
        passes_interrupts=True,
        python=python,
        heard=hear,
    )
    with worker as child:
        try:
            if began is not None:
                began(child.pid)
            child.ask(job)
            while (message := child.answer())["kind"] in {"noticed", "full"}:
                warn(message)
            if in_copy:
                refuse_lack_of_copy(message, child.read_keeper_report())
            child.wait()
            late = [
                now - then
                for now, then in zip(child.count_printed(), message["printed_until"], strict=True)
            ]
            if message["complete"] and any(late):
                add_caveat(written, _describe_late_output(late))
        except FilesUnprotected:
            is_kept = False  # the program ran into files that it could not change: no run to keep
            raise
        finally:
            child.close()
            discard_hidden(written, child.program_pid)
            if aside is not None:
                # Also the record of a process that died: how far it came is all that is known of it.
                if is_kept and written.exists():
                    written.replace(out)
                shutil.rmtree(aside, ignore_errors=True)
    return message


def _describe_late_output(sizes: Sequence[int]) -> str:
    """Describe the bytes that came on standard output and standard error when the record was closed."""
    streams = zip(sizes, ("output", "error"), strict=True)
    texts = [f"{pluralize(size, 'byte')} to standard {name}" for size, name in streams if size]
    return (
        f"{' and '.join(texts)} came after the end of the run, while the interpreter ended or from a process that "
        "went on: they are not compared. Print before the program ends, or from a function of atexit"
    )


def refuse_lack_of_copy(ended: Mapping[str, Any], report: Mapping[str, Any]) -> None:
    """Refuse a recording, by its last message and its keeper's report, that had no copy of the files to change: E-FILE-002."""
    refused = report.get("refused_writes")
    if refused and ended["how"] == "exception":
        path = unescape_path(refused[0][0])
        raise FilesUnprotected(
            f"The program changes {path}, and here no copy of the files can be made that takes it: "
            f"{report['refused']}.",
            "An experiment executes the program on a copy, and changes nothing of yours.",
            "Run it on a Linux where unprivileged user namespaces are allowed: see docs/guides/files.md, Tiers.",
            path=path,
        )


def make_aside_folder(out: Path) -> Path:
    """Make a folder beside a path, for a process in a copy of the files: writes there are real. E-OUTPUT-002 if it can not."""
    # Beside it, because the finished record is moved there: a move within one file system is whole or not at all.
    folder = out.absolute().with_name(f".twice-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        folder.mkdir()
    except OSError as error:
        raise unwritable(out, error) from error
    return folder


def build_record_job(
    setup: Setup,
    surroundings: Surroundings,
    out: Path,
    *,
    force: bool = False,
    parent: Mapping[str, object] | None = None,
    sample: Sample = Sample(),  # noqa: B008  (it never changes)
    in_copy: bool = False,
    on_full: str = GO_ON,
) -> dict[str, object]:
    """Build the job of a process that records one run."""
    shared = [str(out.absolute().parent)]
    world = describe_copy(setup.program, shared=shared, is_recorded=True)
    return {
        **({WORLD: world} if in_copy else {}),
        "action": "record",
        "setup": setup.to_json(),
        "surroundings": surroundings.to_json(),
        "out": str(out.absolute()),
        "force": force,
        "parent": parent,
        SUPERVISED: True,
        "on_full": on_full,
        PROBES: read_known_probes(),
        SAMPLE: [member.payload() for member in sample.members],
    }


def warn(message: Mapping[str, object]) -> None:
    """Warn at once that the record will not pass, by a row of the inventory, or that it ends before the program does."""
    if message.get("kind") == "full":
        text = (
            f"{message['why']}\nwarning: the record ends here, and the program goes on without; to end "
            "it instead: --on-full stop"
        )
    else:
        text = (
            f"{in_words(message)}. Verifying will not say PASS: {message.get('remedy')}, or record "
            f"with --allow {message.get('source')}."
        )
    sys.stderr.write(f"{printable_lines(f'warning: {text}')}\n")
    sys.stderr.flush()


def refuse_existing(out: Path, *, force: bool, is_record: bool = False) -> None:
    """Refuse to replace a file unless ``force`` says that it may go, and a device whatever was said.

    For what ``is_record``, only a record may go, or an empty file.

    Raises:
        OutputExists: E-OUTPUT-001. OutputUnwritable: E-OUTPUT-002, for a device or a pipe.
    """
    if not os.path.exists(out):  # noqa: PTH110  (Path.exists raises where a name is too long)
        return
    if not force:
        raise OutputExists(
            f"{out} is there already.",
            "Expected a path that is free.",
            "Choose another with -o, or replace it with --force (in Python: force=True).",
            path=str(out),
        )
    if not (out.is_file() or out.is_dir()):
        raise OutputUnwritable(
            f"{out} cannot be replaced: it is not a regular file.",
            "Expected the path of a file, or one that is free.",
            "Choose another path with -o.",
            path=str(out),
        )
    if is_record and out.is_file():
        head = None
        with suppress(OSError), out.open("rb") as file:  # what cannot be read may be anything
            head = file.read(len(MAGIC))
        if head not in {MAGIC, b""}:
            raise OutputExists(
                f"{out} is no run record, and --force replaces nothing else.",
                "Expected a path that is free, or a record.",
                "Choose another path with -o, or remove the file first.",
                path=str(out),
            )
