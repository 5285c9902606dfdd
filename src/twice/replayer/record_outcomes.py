"""Compare two recorded runs beyond their compare-points: files, results, and ends.

Nothing is executed and no file is opened: the records have the digests. If a run found a file with other content
and changed a part of it, that file is not compared with the other run's.

Not for: files that code other than Python wrote, in records made without a supervisor.

Invariant: a fact that one record lacks is never a difference.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize
from twice.recorder.effects.ops import FILES_LEFT
from twice.recorder.kernel.file_state import ABSENT, FileHistory, FileState, locate_difference
from twice.recorder.kernel.paths import PackagePaths, unescape_path
from twice.recorder.output import RESULTS
from twice.recorder.program import PathNames
from twice.recorder.runrecord import RunRecord
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
        """Return the form of an entry of ``outcome``."""
        return {"what": self.what, "a": self.a, "b": self.b, "where": self.where}


def compare_outcomes(a: RunRecord, b: RunRecord) -> tuple[list[OutcomeDifference], list[str]]:
    """Return how the outcomes of two runs differ, and the parts that could not be compared."""
    found = compare_endings(a, b)
    if "none" in {a.setup.files, b.setup.files}:
        return found, ["files that were written are not compared (--files none)"]
    one, other = _find_changed(a), _find_changed(b)
    rows, caveats = [], []
    for path in sorted({*one, *other}):
        states = _pair_states(one.get(path), other.get(path))
        if states is None:
            caveats.append(f"{path} is not compared: the runs found other content in it")
            continue
        was, is_now, start = states
        if not was.has_same_content(is_now):
            rows.append((path, was, is_now, locate_difference(was, is_now, start)))
    names = PathDisplay(a.setup.program.roots())
    left, _, _ = compare_written_files(a, rows, {}, names)
    found += [OutcomeDifference(f"file {path}", *row) for path, *row in left[:_LISTED_MAX]]
    if len(left) > _LISTED_MAX:
        caveats.append(pluralize(len(left) - _LISTED_MAX, "more file differs", "more files differ"))
    return found, caveats


def compare_endings(a: RunRecord, b: RunRecord) -> list[OutcomeDifference]:
    """Return how two complete records of one program differ in their ends, returned values and summaries."""
    parts = [list_ending_parts(each.ending or {}, each.program_folders()) for each in (a, b)]
    found = []
    if parts[0] != parts[1]:
        found.append(OutcomeDifference("ending", *map(join_ending_parts, parts)))
    results = [(each.ending or {}).get(RESULTS) for each in (a, b)]
    if results[0] is not None and results[1] is not None:  # a record of an earlier version has none
        sampled = a.setup.predicate.sampled_summary
        for name, *texts in list_result_differences(results[0], results[1], sampled=sampled):
            found.append(OutcomeDifference(name_outcome(name), *texts))
    return found


def name_outcome(name: str) -> str:
    """Describe the subject of a failure of that name: ``summary loss`` for ``summary:loss``."""
    return "returned value" if name == "returned" else name.replace(":", " ", 1)


def _find_changed(record: RunRecord) -> dict[str, FileHistory]:
    """Return the files that a run changed, by the name under which they are shown."""
    files = record.native_files()
    found: dict[str, FileHistory] = {}
    roots, places = record.setup.program.roots(), PathNames(record.setup.program)
    names = PathDisplay(roots)
    if files.tier == "supervisor":
        packages, own = PackagePaths(roots), os.path.realpath(record.path)
        for history in files.histories:
            is_own = history.path == own or packages.is_of_machine(history.path)
            if history.was_changed and not is_own:
                found[names.show(history.path)] = history
        return found
    # Without a supervisor only the files that Python wrote are known.
    for number, value in record.lenient_reads():
        fields: Any = value
        if number == FILES_LEFT.number:
            left: Mapping[str, tuple[int, str, int]] = dict(fields[1] or ())
            for name, (_, digest, size) in left.items():
                path = names.show(places.to_local(unescape_path(name)))
                found[path] = FileHistory(path, ABSENT, FileState("file", digest, size))
    return found


def _pair_states(
    one: FileHistory | None, other: FileHistory | None
) -> tuple[FileState, FileState, int | None] | None:
    """Return how two runs left a file, and from where on that is known; None where it says nothing of them."""
    if one is None or other is None:
        only = one or other
        assert only is not None, "one of them changed it"
        pair = only.after, only.before  # the other run left it as it found it
        return (*pair, None) if one is not None else (*pair[::-1], None)
    pair = one.after, other.after
    is_known = all(state.kind != "file" or state.digest for state in pair)
    if one.problem or other.problem or not is_known:
        return None
    # The digests of appended files cover the added part, not the content before.
    if None not in {one.appended_from, other.appended_from}:
        return (*pair, one.appended_from)
    if one.before.has_same_content(other.before):
        return (*pair, None)
    keeps_some = any(each.was_read or each.appended_from is not None for each in (one, other))
    # Two runs may have added the same to files of different sizes.
    grown = [each.after.size - each.before.size for each in (one, other)]
    has_grown_alike = grown[0] == grown[1] and one.before.size != other.before.size
    return None if keeps_some or has_grown_alike else (*pair, None)
