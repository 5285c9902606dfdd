"""Report on files below Python: which were seen, which were copies, which differ, and where.

The record says what the recorded processes did to files. The replay's keeper reports the files that it could not
show as recorded, and the files that the replay left behind. This module compares both. It finds the place inside a
file only while the recorded file is unchanged. For a file that changed since, the record has digests only.

``mkstemp`` and ``mkdtemp`` fill the last six letters of a name from entropy that no record can serve to C code.
Another run's file then has a name that differs in those letters only. Two such files in a temporary folder count as
one only if they have the same content.

Invariant: a file that twice did not see never counts as equal.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm
from twice.foundation.printable import pluralize, printable
from twice.recorder.kernel.file_policies import find_policy
from twice.recorder.kernel.file_state import (
    ABSENT,
    UNSETTLED,
    FileState,
    FileUnsettled,
    observe_state,
)
from twice.recorder.kernel.paths import unescape_path
from twice.recorder.redaction.redaction import Redaction
from twice.recorder.runrecord import RunRecord
from twice.worker.apart import run_apart

DifferingFile = tuple[str, FileState, FileState, str]
_NAMED_MAX = 5
_FORMATS = "twice.replayer.file_formats"
_FORMATS_S = 20.0
_DRAWN = re.compile(r"(?P<before>.+/[^/]+?)[A-Za-z0-9]{6}")
_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  (where they are looked for, not made)


@dataclass(frozen=True)
class FileJudgement:
    """The files of one verification.

    Attributes:
        recorded: tier of the recording: ``supervisor``, ``listing`` or ``none``.
        replayed: tier of the replay: ``world``, ``refusal`` or ``none``.
        refused: why the replay's tier is not the highest; empty if it is.
        read: how many files the recorded run read.
        written: how many it changed.
        changed_inputs: files that cannot be shown as they were: path, recorded, now.
        differing: files with other content after the replay: path, recorded, replayed and place.
        unknown: reasons for which the files cannot be judged.
        refused_writes: refused writes of code other than Python, which changed the run.
        notes: further facts for the reader of a failure.
        passed_over: files that differ and are not judged, by policy.
        processes: ``number`` if the program got the recorded process id again, ``world`` if processes had
            ids of their own namespace, else ``none``.
        connections: ``namespace`` if no network could be reached, else ``descriptors``.
        is_compared: whether files are part of the record at all.
        is_whole: whether the replay ran from the start of the program to its end, so that its files count.
        has_recorded_lengths: whether the files that differ are as long as they were, and no input changed.
    """

    recorded: str = "none"
    replayed: str = "none"
    refused: str = ""
    read: int = 0
    written: int = 0
    changed_inputs: Sequence[tuple[str, str, str]] = ()
    differing: Sequence[tuple[str, str, str, str]] = ()
    unknown: Sequence[str] = ()
    refused_writes: Sequence[str] = ()
    notes: Sequence[str] = ()
    passed_over: Sequence[str] = ()
    processes: str = "none"
    connections: str = "descriptors"
    is_compared: bool = True
    is_whole: bool = True
    has_recorded_lengths: bool = False

    @property
    def needs_copy(self) -> bool:
        """Return whether the run was recorded as one that a replay repeats in a copy of the files, and had none."""
        return self.recorded == "supervisor" and self.replayed != "world"

    def list_governed(self) -> dict[str, str]:
        """Return by which tier files, processes and connections were governed, for scripts."""
        files = self.replayed if self.recorded == "supervisor" else self.recorded
        return {"files": files, "processes": self.processes, "connections": self.connections}

    def to_json(self) -> dict[str, object]:
        """Return counts, and the files that differ, for scripts."""
        differing = [row[0] for row in (*self.changed_inputs, *self.differing)]
        return {"read": self.read, "written": self.written, "differing": differing}

    def describe_tiers(self) -> str:
        """Describe the treatment of files and processes in this replay, in words."""
        if self.replayed != "world":
            text = "files that Python opens are held against the record, and its writes kept away; "
            if self.replayed == "refusal":
                text += "writes of other code are refused"
            else:
                text += "files that other code reads and writes are not"
            return f"{text} ({self.refused})" if self.refused else text
        if self.recorded != "supervisor":
            text = (
                "the replay ran in a copy of the files as they are now; what other code than Python did to "
                "files was not seen while recording"
            )
        elif not self.is_compared:
            text = "the replay ran in a copy of the files; what files hold is not compared (--files none)"
        else:
            text = "the replay ran in a copy of the files as they were; it compared "
            text += f"{pluralize(self.read, 'file')} that the program read"
            if self.is_whole:
                text += f" and {self.written:,} that it wrote"
            else:
                text += (
                    ", and none that it wrote: the program did not run from its start to its end"
                )
        if self.processes == "number":
            text += "; the process id was given again"
        elif self.processes == "world":
            text += "; code in C saw another process id than the recorded one"
        return text

    def describe_differences(self) -> list[str]:
        """Return a line for each file that differs."""
        return [
            *(
                f"{path}, an input: it had {was}, now {now}"
                for path, was, now in self.changed_inputs
            ),
            *(
                f"{path}: recorded {was}; replayed {now}; {where}"
                for path, was, now, where in self.differing
            ),
        ]

    def suggest_policy(self) -> str:
        """Return which option of ``record`` helps where an input changed, or a library fills a file by itself."""
        if self.changed_inputs:
            return (
                f"if {self.changed_inputs[0][0]} may change between runs, record with --files contents, which keeps what "
                "Python reads in the record, or with --files none, which compares no files"
            )
        return suggest_file_policy(self.differing[0][0]) if self.differing else ""

    def first_difference(self) -> tuple[str, str] | None:
        """Return the recorded and the present content of the first file that differs."""
        if self.changed_inputs:
            path, recorded, now = self.changed_inputs[0]
            return f"{path} held {recorded} when the run read it", f"{path} holds {now} now"
        if self.differing:
            path, recorded, replayed, where = self.differing[0]
            if replayed == ABSENT.describe():
                return f"{path}: {recorded}", f"{path}: no file is there"
            return f"{path}: {recorded}", f"{path}: {replayed}{f' ({where})' if where else ''}"
        return None


def judge_files(
    record: RunRecord, kept: Mapping[str, Any], inside: Mapping[str, str], *, whole: bool
) -> FileJudgement:
    """Judge the files of a replay.

    Args:
        record: the replayed record.
        kept: the report of the replay's keeper; empty without one.
        inside: the place inside a file that differs, in the terms of its format, by path, if known.
        whole: whether the program ran from its start to its end, so that its files count.
    """
    files = record.native_files()
    names = PathDisplay(record.setup.program.roots())
    histories = [history for history in files.histories if history.problem]
    unknown = [f"{names.show(history.path)}: {history.problem}" for history in histories]
    if stalled := unescape_path(str(kept.get("stalled", ""))):
        shown = names.show(stalled)
        unknown.append(f"the program waits for {shown}, a FIFO whose other end no replay opens")
    unknown += [f"{pluralize(count, 'time')}: {problem}" for problem, count in files.problems]
    changed, notes = [], []
    for plain_path, recorded, now in kept.get("changed_inputs", ()):
        path = names.show(unescape_path(plain_path))
        was, is_now = FileState.from_plain(recorded), FileState.from_plain(now)
        if was.kind == "folder":
            gone = sorted({*(was.names or ())} - {*(is_now.names or ())})
            notes.append(f"{path} was listed and has lost {_some(gone)} since")
        # A file whose history has a problem is unknown already, for that reason.
        elif not any(history.path == unescape_path(plain_path) for history in histories):
            changed.append((path, was.describe(), is_now.describe()))
    is_judged = whole and files.tier == "supervisor" and record.setup.files != "none"
    # No replay starts the process that wrote a served file.
    served = {history.path for history in files.histories if history.is_served}
    rows = [
        (unescape_path(path), FileState.from_plain(was), FileState.from_plain(is_now), str(where))
        for path, was, is_now, where in kept.get("differences", ())
        if is_judged and unescape_path(path) not in served
    ]
    differing, passed_over, unsettled = compare_written_files(record, rows, inside, names)
    unknown += unsettled
    refused_writes = [
        f"not judged: code other than Python wants to write {names.show(unescape_path(plain_path))} ({call}), and "
        f"was refused, because there is no copy of the files here ({kept.get('refused')})"
        for plain_path, call in kept.get("refused_writes", ())
    ]
    # Python lists the program's own folder at each import: new files there mean nothing.
    hidden = [
        names.show(unescape_path(path))
        for path, is_looked_for in kept.get("hidden", ())
        if is_looked_for or not names.is_own_folder(unescape_path(path))
    ]
    if hidden:
        why = "because it was not there when the run looked for it"
        passed_over.append(f"hidden from the replay, {why}: {_some(hidden)}")
    uncovered = [names.show(unescape_path(path)) for path in kept.get("uncovered", ())]
    if uncovered:
        unknown.append(f"no copy could be made of {_some(uncovered)}")
    stated = (record.ending or {}).get("native_files") or {}
    tier = str(kept.get("tier", "none"))
    return FileJudgement(
        recorded=files.tier,
        replayed=tier,
        refused=str(kept.get("refused", "")),
        read=int(stated.get("read", 0)),
        written=int(stated.get("written", 0)),
        changed_inputs=changed,
        differing=differing,
        unknown=unknown,
        refused_writes=refused_writes,
        notes=notes,
        passed_over=passed_over,
        processes=_find_process_tier(kept.get("number") or {}, tier),
        is_compared=record.setup.files != "none",
        is_whole=whole,
        has_recorded_lengths=not changed
        and all(was.kind == now.kind and was.size == now.size for _, was, now, _ in rows),
        connections="namespace" if kept.get("is_cut_off") else "descriptors",
    )


def _find_process_tier(number: Mapping[str, Any], tier: str) -> str:
    if number and not number.get("problem"):
        return "number" if number.get("given") == number.get("wanted") else "world"
    return "world" if tier == "world" else "none"


def compare_written_files(
    record: RunRecord,
    rows: Sequence[DifferingFile],
    inside: Mapping[str, str],
    names: PathDisplay,
) -> tuple[list[tuple[str, str, str, str]], list[str], list[str]]:
    """Return which files count as left otherwise, those that policies pass over, and the unsettled.

    Args:
        record: of the policies.
        rows: files that differ.
        inside: where they differ in the terms of their formats, by path, as far as that is known.
        names: shows their paths.
    """
    rows, pairs = match_drawn_names(rows)
    differing, unsettled = [], []
    passed_over = [
        f"{path} is named {other} in the replay: the C library drew the name"
        for path, other in pairs
    ]
    for full_path, was, is_now, where in rows:
        path = names.show(full_path)
        if where == UNSETTLED:
            unsettled.append(f"{path} {where}")
            continue
        policy, why = find_policy(path, record.setup.file_policies)
        if policy == "ignore" or (policy == "existence" and was.kind == is_now.kind):
            passed_over.append(f"{path} differs and is not judged: {why}")
            continue
        detail = inside.get(full_path)
        text = f"{where}; {detail}" if where and detail else detail or where
        differing.append((path, was.describe(), is_now.describe(), text))
    return differing, passed_over, unsettled


def suggest_file_policy(path: str) -> str:
    """Return how to compare a file less closely that a library fills by itself."""
    why = f"if a library fills {path} from its own clock, entropy or addresses"
    return f"{why}, record with --file-policy {shlex.quote(f'{path}=existence')}"


class PathDisplay:
    """Shows paths as people know them: from the program's folder, where they lie in it."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = sorted(roots, key=len, reverse=True)

    def is_own_folder(self, path: str) -> bool:
        """Return whether a path lies directly in one of the folders."""
        return path.rpartition("/")[0] in self._roots

    def show(self, path: str) -> str:
        """Return a path as a verdict shows it."""
        for root in self._roots:
            if path.startswith(f"{root}/"):
                return str(Path(path).relative_to(root))
        return path


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED_MAX])
    more = len(names) - _NAMED_MAX
    return f"{shown} and {more} more" if more > 0 else shown


def match_drawn_names(
    differing: Sequence[DifferingFile],
) -> tuple[list[DifferingFile], list[tuple[str, str]]]:
    """Return which files differ in more than a drawn name, and pairs that do not.

    A pair is a path that only the recording left and one that only the replay did.

    Args:
        differing: path, state in the recording, state in the replay, and where they differ.
    """
    parents = {*_FOLDERS, tempfile.gettempdir()}

    def find_stem(path: str) -> str:
        """Return a path without its drawn letters; empty where none were drawn."""
        found = _DRAWN.fullmatch(path)
        return found["before"] if found and path.rpartition("/")[0] in parents else ""

    replayed: dict[str, list[str]] = {}
    for path, was, _, _ in differing:
        if was.kind == "absent" and (stem := find_stem(path)):
            replayed.setdefault(stem, []).append(path)
    rest, pairs = list(differing), []
    for path, _, is_now, _ in differing:
        candidates = replayed.get(find_stem(path), []) if is_now.kind == "absent" else []
        for other in candidates:
            # A folder counts with everything below it, by the rest of the path.
            left, right = (
                {
                    row[0].removeprefix(top): row
                    for row in rest
                    if f"{row[0]}/".startswith(f"{top}/")
                }
                for top in (path, other)
            )
            if left.keys() == right.keys() and all(
                row[1].has_same_content(right[name][2]) for name, row in left.items()
            ):
                paired = [*left.values(), *right.values()]
                rest = [row for row in rest if row not in paired]
                candidates.remove(other)
                pairs.append((path, other))
                break
    return rest, pairs


def locate_inside(record: RunRecord, kept: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Return where files differ, in words, by path; only of those whose recorded content is still there."""
    copied = {unescape_path(path): folder / name for path, name in kept.get("copied", ())}
    if not copied:
        return {}
    redaction = Redaction(record.setup.redaction, os.environ)
    found = {}
    for history in record.native_files().histories:
        recorded = history.after
        if history.path not in copied or not recorded.digest:
            continue
        algorithm = Algorithm(recorded.digest.partition(":")[0])
        try:
            now = observe_state(
                history.path, algorithm, with_content=True, appended_from=history.appended_from
            )
        except (OSError, FileUnsettled):
            continue
        # The digests of an appended file cover the added part, not the content before.
        if recorded.has_same_content(now) and recorded.size == now.size:
            arguments = [history.path, os.fspath(copied[history.path])]
            if printed := run_apart(_FORMATS, arguments, _FORMATS_S):
                where = printed.decode("utf-8", "replace")
                found[history.path] = printable(redaction.value(where, "message"))
    return found
