"""What two recorded runs left behind, besides their compare-points: files, a result, and how they ended.

Nothing is executed, and no file is opened: records hold what their runs left. A file that a run found with
another content, and added to or changed in part, is not held against the other run's.

Not for: files of records that were made without a supervisor, beyond those that Python wrote.

Invariant: what one record does not know is never called a difference.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from twice.recording.effects.filenames import told
from twice.recording.effects.ops import FILES_LEFT
from twice.recording.kernel.file_history import ABSENT, FileHistory, FileState
from twice.recording.kernel.file_observation import locate_difference
from twice.recording.kernel.package_paths import PackagePaths
from twice.recording.native_files import roots_of
from twice.recording.results import RESULTS
from twice.recording.runrecord import RunRecord
from twice.replayer.file_report import PathDisplay, compare_written_files
from twice.replayer.outcome import (
    join_ending_parts,
    list_ending_parts,
    list_result_differences,
)

_LISTED_MAX = 20


@dataclass(frozen=True)
class OutcomeDifference:
    """One thing that two runs left otherwise.

    Attributes:
        what: ``file out.csv``, ``ending``, ``returned value`` or ``summary loss``.
        a: as one run left it.
        b: as the other did.
        where: in a file, where the two begin to differ; empty where that is not known.
    """

    what: str
    a: str
    b: str
    where: str = ""

    def to_json(self) -> dict[str, str]:
        """As an entry of ``outcome``."""
        return {"what": self.what, "a": self.a, "b": self.b, "where": self.where}


def compare_outcomes(a: RunRecord, b: RunRecord) -> tuple[list[OutcomeDifference], list[str]]:
    """Return how the outcomes of two runs differ, and what could not be compared.

    Args:
        a: a complete record.
        b: another of the same program.
    """
    found = []
    was, now = (list_ending_parts(each.ending or {}, each.program_folders()) for each in (a, b))
    if was != now:
        found.append(OutcomeDifference("ending", join_ending_parts(was), join_ending_parts(now)))
    one, other = ((each.ending or {}).get(RESULTS) for each in (a, b))
    if one is not None and other is not None:  # records of an earlier version hold none
        rows = list_result_differences(one, other)
        found += [OutcomeDifference(name_outcome(name), *row) for name, *row in rows]
    left, caveats = _compare_files(a, b)
    found += [OutcomeDifference(f"file {path}", *row) for path, *row in left[:_LISTED_MAX]]
    if len(left) > _LISTED_MAX:
        caveats.append(f"{len(left) - _LISTED_MAX} more files differ")
    return found, caveats


def name_outcome(name: str) -> str:
    """Return in words what a failure of that name is about: ``summary loss`` for ``summary:loss``."""
    return "returned value" if name == "returned" else name.replace(":", " ", 1)


def _compare_files(a: RunRecord, b: RunRecord) -> tuple[list[tuple[str, str, str, str]], list[str]]:
    if "none" in {a.setup.files, b.setup.files}:
        return [], ["files that were written are not compared (--files none)"]
    names = PathDisplay(roots_of(a.setup.program))
    one, other = (_find_changed(each) for each in (a, b))
    rows, caveats = [], []
    for path in sorted({*one, *other}):
        was, is_now, start = _pair_states(one.get(path), other.get(path))
        if was is None or is_now is None:
            caveats.append(f"{path} is not compared: the runs found other content in it")
        elif not was.has_same_content(is_now):
            rows.append((path, was, is_now, locate_difference(was, is_now, start)))
    differing, _, _ = compare_written_files(a, rows, {}, names)
    return differing, caveats


def _find_changed(record: RunRecord) -> dict[str, FileHistory]:
    """Return the files that a run changed, by the name under which they are shown."""
    files = record.native_files()
    if files.tier != "supervisor":
        return dict(_list_python_files(record))
    roots, own = roots_of(record.setup.program), os.path.realpath(record.path)
    packages, names = PackagePaths(roots), PathDisplay(roots)
    return {
        names.show(history.path): history
        for history in files.histories
        if history.was_changed and history.path != own and not packages.is_of_machine(history.path)
    }


def _list_python_files(record: RunRecord) -> Iterator[tuple[str, FileHistory]]:
    for number, value in record.lenient_reads():
        fields: Any = value
        if number == FILES_LEFT.number:
            left: Mapping[str, tuple[int, str, int]] = dict(fields[1] or ())
            for name, (_, digest, size) in left.items():
                path = told(name)
                yield path, FileHistory(path, ABSENT, FileState("file", digest, size))


def _pair_states(
    one: FileHistory | None, other: FileHistory | None
) -> tuple[FileState | None, FileState | None, int | None]:
    """Return how two runs left a file; None for a state that says nothing about the run."""
    if one is None or other is None:
        only = one or other
        assert only is not None, "one of them changed it"
        pair = only.after, only.before  # the other run left it as it found it
        return (*(pair if one is not None else pair[::-1]), None)
    if one.problem or other.problem or not _is_known(one.after) or not _is_known(other.after):
        return None, None, None
    # The digests of files that were added to cover what was added, and nothing of what stood there before.
    if None not in {one.appended_from, other.appended_from}:  # the digests are of what was added
        return one.after, other.after, one.appended_from
    same_start = one.before.has_same_content(other.before)
    if not same_start and (_keeps_some(one) or _keeps_some(other) or _grew_alike(one, other)):
        return None, None, None
    return one.after, other.after, None


def _keeps_some(history: FileHistory) -> bool:
    return history.was_read or history.appended_from is not None


def _grew_alike(one: FileHistory, other: FileHistory) -> bool:
    """Return whether two runs may have added the same to files of different sizes."""
    grown = [each.after.size - each.before.size for each in (one, other)]
    return grown[0] == grown[1] and one.before.size != other.before.size


def _is_known(state: FileState) -> bool:
    return state.kind != "file" or bool(state.digest)
