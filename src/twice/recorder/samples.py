"""The sample behind the statistical class: one program, N seeds, one number each.

Each member runs in a fresh process with a seed derived from the run's own (``derive_in``), reads the world afresh and
leaves no record; of what it reports by ``run.summary(name, value)`` the last value of the declared name counts. A
recording keeps its sample as journal frames at the front of the record, so a run that is killed later still has it.

Not covered: the comparison of two samples; ``foundation.two_sample_tests`` does that.

Invariant: a member's seed depends on the master seed and its index alone.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from twice.errors import ProgramFailed, SampleMissing
from twice.foundation.dataclass import dataclass
from twice.foundation.determinism_class import Predicate, Summary
from twice.foundation.encoding import decode, encode
from twice.foundation.environment import Fingerprint
from twice.foundation.printable import pluralize
from twice.foundation.seeds import Seed, derive_in
from twice.recorder.environment.probes import PROBES, read_known_probes
from twice.recorder.environment.surroundings import Surroundings, environ_for_child
from twice.recorder.runrecord import RunRecord
from twice.recorder.session_job import RECORDING, SAMPLE, WORLD, describe_copy, hear
from twice.recorder.setup import Setup
from twice.worker.process import FreshWorker

if TYPE_CHECKING:
    from twice.worker.executor import Executor

Progress = Callable[[int, int], None]
_DIED: Final[Mapping[str, Any]] = {"value": None, "how": "died"}


@dataclass(frozen=True, slots=True)
class Member:
    """One run of a sample: its number from 0 on, its master seed, its summary or None, and how it ended."""

    index: int
    seed: Seed
    value: float | None
    how: str

    def payload(self) -> bytes:
        """Encode the member as a journal frame."""
        return encode((self.index, self.seed.value, self.value, self.how))


@dataclass(frozen=True, slots=True)
class Sample:
    """A whole sample, and the environments it was drawn in, each once."""

    members: Sequence[Member] = ()
    environments: Sequence[Fingerprint] = ()

    @property
    def values(self) -> list[float | None]:
        """The numbers in the order of their seeds."""
        return [member.value for member in self.members]


def summary_of(predicate: Predicate) -> Summary | None:
    """Return the summary that judges the run, or its one statistical component; None where nothing is statistical.

    Raises:
        SampleMissing: E-CLASS-002, when something is statistical and no summary is declared for it.
        ClassRefused: E-CLASS-001, when no sample of the declared size can pass.
    """
    sampled = predicate.sampled_parts
    if not sampled:
        return None
    if len(sampled) > 1:
        raise SampleMissing(
            f"{pluralize(len(sampled), 'component')} are statistical: {', '.join(sampled)}.",
            "Expected one at most, because a record holds the sample of one summary.",
            "Leave one, or make the whole run statistical: --class statistical --summary NAME",
        )
    if predicate.sample is not None:
        from twice.foundation.sample_size import require_decidable  # most runs have no sample

        require_decidable(predicate.sample)
        return predicate.sample
    part = sampled[0]  # empty for the run as a whole
    raise SampleMissing(
        f"The component {part!r} is statistical, and no summary is declared for it."
        if part
        else "The class is statistical, and no summary is declared.",
        "Expected the name of a number that the program reports, a test and a margin.",
        f"For example: {f'--summary reward:{part}' if part else '--class statistical --summary reward'} "
        "--test means --epsilon 0.5",
    )


def draw(
    setup: Setup,
    surroundings: Surroundings,
    summary: Summary,
    *,
    cwd: str | None = None,
    measured: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Sample:
    """Run every member, several at a time, each with a seed of its own.

    Args:
        setup: of the run whose sample it is.
        surroundings: pinned around every member.
        summary: which number, and how many members.
        cwd: working folder of the members.
        measured: whether the environment is measured as well.
        progress: called with (members done, members).
        executor: where the members run; None for processes on this machine.

    Raises:
        SampleMissing: E-CLASS-002, when a member completes without reporting the summary, or no member reports it.
        TwiceError: what a member's process refused.
    """
    jobs = _list_jobs(setup, summary, measured=measured, all_measure=executor is not None)
    given = (
        _run_here(jobs, environ_for_child(os.environ, surroundings), cwd)
        if executor is None
        else _run_elsewhere(jobs, executor, surroundings, cwd)
    )
    members: list[Member] = []
    environments: list[Fingerprint] = []
    with closing(given):
        for (index, seed), message in given:
            members.append(Member(index, seed, message["value"], message["how"]))
            # A misspelt name costs one run, not N.
            if members[-1].value is None and members[-1].how == "completed":
                raise _refuse_unreported(summary, members)
            if message.get("environment") is not None:
                found = Fingerprint.from_json(message["environment"])
                if found not in environments:
                    environments.append(found)
            if progress is not None:
                progress(len(members), summary.n)
    if all(member.value is None for member in members):
        raise _refuse_unreported(summary, members)
    return Sample(members, environments)


_Place = tuple[int, Seed]
_Answers = Generator[tuple[_Place, Mapping[str, Any]], None, None]


def _list_jobs(
    setup: Setup, summary: Summary, *, measured: bool, all_measure: bool
) -> Iterator[tuple[_Place, dict[str, Any]]]:
    """List the jobs of the members; where each may be on another machine, each measures."""
    for index in range(summary.n):
        seed = derive_in(setup.seed, "sweep", index, rule=setup.rule)
        # Nobody looks at a member's compare-points, so it takes as few as can be.
        own = replace(setup, seed=seed, granularity="episode")
        yield (
            (index, seed),
            {
                "action": "sample",
                "setup": own.to_json(),
                "summary": summary.name,
                "measured": measured and (all_measure or not index),
                WORLD: describe_copy(setup.program),
            },
        )


def _run_here(
    jobs: Iterator[tuple[_Place, dict[str, Any]]], environ: Mapping[str, str], cwd: str | None
) -> _Answers:
    """Run members on this machine, as many at once as it has cores."""
    waiting: deque[tuple[_Place, FreshWorker]] = deque()
    with ExitStack() as running:
        while True:
            for place, job in islice(jobs, max(0, (os.cpu_count() or 1) - len(waiting))):
                child = running.enter_context(FreshWorker(RECORDING, environ, cwd=cwd, heard=hear))
                child.channel.send({**job, PROBES: read_known_probes()})
                waiting.append((place, child))
            if not waiting:
                return
            place, child = waiting.popleft()
            message: Mapping[str, Any] = _DIED
            with suppress(ProgramFailed), closing(child):
                message = child.answer()
            yield place, message


def _run_elsewhere(
    jobs: Iterator[tuple[_Place, dict[str, Any]]],
    executor: Executor,
    surroundings: Surroundings,
    cwd: str | None,
) -> _Answers:
    """Run members by an executor; they come back in their order."""
    from twice.worker.executor import Job, run_jobs  # few samples are drawn elsewhere

    told = surroundings.to_json()
    work = (
        Job(
            "twice.recorder.samples:run_member",
            {"job": job, "surroundings": told, "cwd": cwd},
            place,
        )
        for place, job in jobs
    )
    early: dict[int, tuple[_Place, Mapping[str, Any]]] = {}
    turn = 0
    for done in run_jobs(executor, work):
        if done.answer is None:
            assert done.error is not None, "a job has an answer or an error"
            raise done.error
        early[done.job.key[0]] = done.job.key, done.answer
        while turn in early:
            yield early.pop(turn)
            turn += 1


def run_member(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Run one member on the machine of a worker; return its value, its end and its environment."""
    environ = environ_for_child(os.environ, Surroundings.from_json(arguments["surroundings"]))
    message: Mapping[str, Any] = _DIED
    with (
        suppress(ProgramFailed),
        FreshWorker(RECORDING, environ, cwd=arguments["cwd"], heard=hear) as child,
    ):
        message = child.ask({**arguments["job"], PROBES: read_known_probes()})
    return {key: message.get(key) for key in ("value", "how", "environment")}


def read_sample(record: RunRecord) -> Sample:
    """Read the sample of a record; it has no members when the record has none."""
    members = []
    for frame in record.reader.frames(kinds=[SAMPLE]):
        fields: Any = decode(frame.payload)
        index, seed, value, how = fields
        members.append(Member(index, Seed(seed), value, how))
    return Sample(members)


def _refuse_unreported(summary: Summary, members: Sequence[Member]) -> SampleMissing:
    endings = ", ".join(sorted({member.how for member in members}))
    return SampleMissing(
        f"A run with seed {members[-1].seed.value} reported no summary {summary.name!r} "
        f"({endings}).",
        f"Expected every run of the program to call run.summary({summary.name!r}, value).",
        "Name a summary that it reports, or run it once without --class statistical.",
        summary=summary.name,
    )
