"""What two runs ran on, and whether that can be why they part: versions of libraries, the processor, a GPU.

A run that gives its own record again on this machine shows that its environment does not matter. One that does not,
and whose executions here agree with each other, was made by something that is not here.

Invariant: nothing of the environment counts as a cause where the runs part in spite of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from twice.diagnosis.executions import Side
from twice.errors import ProgramFailed
from twice.foundation.channels import Channel
from twice.foundation.dataclass import dataclass
from twice.foundation.environment import (
    ORDER_PROBES,
    EnvironmentDifference,
    Fingerprint,
    diff_fingerprints,
)
from twice.foundation.printable import pluralize
from twice.recorder.effects.ops import FILE_WRITTEN
from twice.recorder.runrecord import RunRecord
from twice.replayer.evidence import keep_loaded
from twice.replayer.outcome import Failure
from twice.replayer.verification import Verification
from twice.worker.concurrency import run_concurrently

Role = Literal["suspected", "open", "input", "none"]
_WEIGHTS: Final[dict[Role, float]] = {"suspected": 3.0, "open": 1.0, "input": 0.0, "none": 0.0}
_BY_FILE: Final = 4.0
_COMPUTES_OTHERWISE: Final = 1.0
"""What differing results of the same short computations add."""
_SETTINGS: Final = (" threads", " architecture")
"""Ends of rows that a variable decides, which is compared among the surroundings."""
_ROWS_MAX: Final = 3
_FEATURES: Final = ("cpu features", "dispatch ")
_FIRST: Final = ("library ", "gpu ", "blas ", "cpu ", "os libc", "python version", "dispatch ")
"""What explains most comes first: a BLAS comes with its library, and its kernels with the processor."""


@dataclass(frozen=True)
class EnvironmentEvidence:
    """Rows in which environments differ, and what the executions say of them.

    Attributes:
        rows: the differences.
        role: ``suspected`` where executions show that something outside of the record differs, ``open`` where no
            execution tells, ``input`` where a file that was read has changed, ``none`` where the runs part in spite of it.
        why: what was seen, as a sentence without a full stop.
        used_gpu: whether a run computed on a GPU.
    """

    rows: Sequence[EnvironmentDifference] = ()
    role: Role = "none"
    why: str = ""
    used_gpu: bool = False

    @property
    def voting_rows(self) -> list[EnvironmentDifference]:
        """Rows that results can follow from."""
        return [row for row in self.rows if self._channel_of(row) is not None]

    @property
    def remedy(self) -> str:
        """What to do where the environment is suspected; empty otherwise."""
        if self.role == "input":
            return "bring the recorded file back, or record anew: --files contents keeps what a run reads"
        if self.role != "suspected" or not self.voting_rows:
            return ""
        first = min(self.voting_rows, key=_rank)
        is_features = first.what.startswith(_FEATURES)
        what = "the recorded processor" if is_features else f"{first.what}: {_show(first)[0]}"
        return f"execute it on what it was recorded on ({what}), or record it anew"

    def list_votes(self) -> Iterator[tuple[Channel, float, str]]:
        """Yield channel, weight and sentence for each channel that the rows speak for."""
        if self.role == "input":
            yield Channel.EFFECTS, _BY_FILE, self.why
        weight = _WEIGHTS[self.role]
        of_channel: dict[Channel, list[EnvironmentDifference]] = {}
        for row in self.rows if weight else ():
            channel = self._channel_of(row)
            if channel is not None:
                of_channel.setdefault(channel, []).append(row)
        for channel, rows in of_channel.items():
            # Text and order follow from a version less often than bits do.
            share = 1.0 if channel in {Channel.FLOATING_POINT, Channel.GPU} else 0.4
            is_shown = any(row.what.startswith("probe ") for row in rows)
            counted = weight * share + (_COMPUTES_OTHERWISE if is_shown else 0.0)
            yield channel, counted, f"{self.why}: {_name_rows(rows)}"

    def _channel_of(self, row: EnvironmentDifference) -> Channel | None:
        is_setting = row.what.startswith("variable ") or row.what.endswith(_SETTINGS)
        if row.affects == "note" or is_setting:
            return None
        if row.what.startswith("gpu ") or (
            row.what.startswith("library nvidia-") and self.used_gpu
        ):
            return Channel.GPU
        if row.affects == "numerics":
            return Channel.FLOATING_POINT
        is_order = row.what.startswith(f"probe {ORDER_PROBES}")
        return Channel.CONCURRENCY if is_order else Channel.ENCODING


def compare_two(a: RunRecord, b: RunRecord) -> list[EnvironmentDifference]:
    """Compare what two records say of their environments: libraries that neither loaded are left out."""
    one, two = (Fingerprint.from_json(record.identity["environment"]) for record in (a, b))
    return [*keep_loaded(diff_fingerprints(one, two), a, b), *_compare_switches(a, b)]


def judge_environment(
    rows: Sequence[EnvironmentDifference], a: Side, b: Side
) -> EnvironmentEvidence:
    """Say whether differing environments may be the cause, after the executions of two runs."""
    if not a.repeats and not b.repeats:
        why = "the runs were not executed again"
    elif b.python:
        why = "each run gives its own record by its own interpreter"
    else:
        return EnvironmentEvidence(rows)
    gpu = used_gpu(a.record, b.record)
    return EnvironmentEvidence(rows, "open", f"{why}, and what they ran on differs", gpu)


def suspect_environment(side: Side) -> EnvironmentEvidence:
    """Say what a run was made on that is not here, where it agrees with itself and not with its record.

    It is executed once more, as a whole: a file that it reads and that has changed since explains more.

    Raises:
        TimeLimitReached: E-DIAGNOSE-001.
    """
    if side.python:
        return EnvironmentEvidence()
    try:
        return _suspect(side, side.execute_whole())
    except ProgramFailed:
        return EnvironmentEvidence()


def _suspect(side: Side, statement: Verification) -> EnvironmentEvidence:
    changed = [path for path, *_ in statement.files.changed_inputs]
    if changed:
        why = f"a file that run {side.label} read is not here as it was: {', '.join(changed[:_ROWS_MAX])}"
        return EnvironmentEvidence(role="input", why=why)
    failure = statement.failure
    is_written = failure is not None and failure.recorded.startswith(f"{FILE_WRITTEN.name}(")
    if failure is None or (failure.name == "effect" and not is_written):
        return EnvironmentEvidence()  # the world answered otherwise
    why = f"run {side.label} agrees with itself here and not with its record, which was made on something else"
    return EnvironmentEvidence(statement.environment, "suspected", why, used_gpu(side.record))


def execute_whole_runs(
    rows: Sequence[EnvironmentDifference],
    both: tuple[Side, Side],
    progress: Callable[[str], None],
) -> EnvironmentEvidence:
    """Execute runs that differ in what they leave alone, and say whether one was made on something else.

    Args:
        rows: how their environments differ; where nothing can follow from that, nothing is executed.
        both: the two runs; or one and itself, which a verification found to leave its record.
        progress: called with what is being done.

    Raises:
        TimeLimitReached: E-DIAGNOSE-001.
    """
    if not EnvironmentEvidence(rows).voting_rows or any(side.python for side in both):
        return EnvironmentEvidence(rows)
    progress("executing the whole runs again")
    sides = both[:1] if both[0].record is both[1].record else both
    statements = run_concurrently([side.execute_whole for side in sides])
    for side, statement in zip(sides, statements, strict=True):
        if statement.failure is not None and side.execute_whole().failure == statement.failure:
            return _suspect(side, statement)
    return EnvironmentEvidence(rows)


def describe_change_since(failure: Failure) -> str:
    """Describe possible changes since the recording of a run that agrees with itself now."""
    if failure.name != "effect":
        return (
            "what differs from the record was not recorded (what a library or C code reads by itself, "
            "another library, the machine)"
        )
    where = f" at {failure.at}" if failure.at else ""
    return (
        f"its effects differ from the record{where}: recorded {failure.recorded}, now "
        f"{failure.replayed}"
    )


def used_gpu(*records: RunRecord) -> bool:
    """Return whether one of the runs reached a GPU."""
    return any(_gpu_at_end(each).get("reached") for each in records)


def _gpu_at_end(record: RunRecord) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (record.ending or {}).get("numerics", {}).get("gpu", {})
    return found


def _compare_switches(a: RunRecord, b: RunRecord) -> Iterator[EnvironmentDifference]:
    """Compare the switches of a GPU's libraries, as the runs left them."""
    one, two = (_gpu_at_end(each).get("switches", {}) for each in (a, b))
    for name in sorted({**one, **two}) if used_gpu(a, b) else ():
        if one.get(name) != two.get(name):
            yield EnvironmentDifference(
                f"gpu switch {name}", one.get(name), two.get(name), "numerics"
            )


def _name_rows(rows: Sequence[EnvironmentDifference]) -> str:
    """Name the most telling rows with both values, and count the others."""
    probes = [row for row in rows if row.what.startswith("probe ")]
    facts = sorted((row for row in rows if row not in probes), key=_rank)
    told = [f"{row.what} ({' / '.join(_show(row))})" for row in facts]
    more = len(told) - _ROWS_MAX
    ends = [pluralize(more, "more row")] if more > 0 else []
    if probes:
        differ = "differs" if len(probes) == 1 else "differ"
        ends.append(f"{pluralize(len(probes), 'numeric probe')} {differ}")
    return "; ".join([*told[:_ROWS_MAX], *ends])


def _show(row: EnvironmentDifference) -> tuple[str, str]:
    """Show both values; of two lists of processor features, those that the other lacks."""
    values = row.recorded or "", row.now or ""
    if not row.what.startswith(_FEATURES):
        return values[0] or "none", values[1] or "none"
    sides = [dict.fromkeys(value.split()) for value in values]
    return _list_only(sides[0], sides[1]), _list_only(sides[1], sides[0])


def _list_only(features: Mapping[str, None], others: Mapping[str, None]) -> str:
    only = [each for each in features if each not in others]
    more = f" and {len(only) - _ROWS_MAX} more" if len(only) > _ROWS_MAX else ""
    return f"with {' '.join(only[:_ROWS_MAX])}{more}" if only else "without"


def _rank(row: EnvironmentDifference) -> tuple[int, str]:
    found = [at for at, start in enumerate(_FIRST) if row.what.startswith(start)]
    return (found[0] if found else len(_FIRST)) * 2 + (row.affects != "numerics"), row.what
