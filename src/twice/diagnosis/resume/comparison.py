"""How two trials of one training end, and how their states differ at one moment.

A file that two executions of the same training leave differently says nothing, nor does a line with a measured time.
A text that only has more lines is a log to which the killed process had added.

Invariant: what is not compared is said.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from twice.diagnosis.resume.loops import ROUND
from twice.diagnosis.resume.moments import END, VARIABLE
from twice.diagnosis.resume.points import normalize
from twice.diagnosis.resume.trial import Trial
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import digest_bytes
from twice.foundation.printable import pluralize
from twice.recorder.output import select_compared
from twice.worker.apart import run_apart

PRINTED = "printed output"
_TIME_LIMIT_S = 30.0
_ABSENT = ("absent", "(absent)")
_LOOSE = frozenset({"__pycache__"})
_DOCUMENTS = frozenset({".json", ".yaml", ".yml", ".toml", ".xml"})
"""Texts that are one value: none of them is a log."""
_ARRAY_FILES = re.compile(rb"\x93NUMPY|.{8}\{", re.DOTALL)
"""How files of numpy and safetensors begin, in which equal arrays have equal bytes."""
_ARRAY_MEMBERS = re.compile(r"(?:^|/)data/\d+$|\.npy$")
"""Members of the archives of torch and numpy that are the elements of an array."""
_ARCHIVE = b"PK\x03\x04"
_GENERATOR_BYTES = 5056
"""Of the state of torch's generator, which may have moved where nothing draws from it any more."""

Fields = Mapping[str, Mapping[str, Sequence[str]]]
"""Digest and shown value of each leaf, by part and path."""


@dataclass(frozen=True)
class EndDifference:
    """A difference at the end of two trials: what it is of, and where, with both values."""

    what: str
    where: str


@dataclass(frozen=True)
class Noise:
    """Files and lines that differ between two executions that nobody stopped, and patterns of lines that the user ignores."""

    files: frozenset[str] = frozenset()
    output: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def compare_ends(
    straight: Trial, other: Trial, noise: Noise, *, is_resumed: bool
) -> list[EndDifference]:
    """Return the differences between the ends of two trials.

    Args:
        straight: the training that nobody stopped.
        other: another one.
        noise: what is not compared.
        is_resumed: whether the other one made only the last part.
    """
    found = [*_compare_exits(straight, other)]
    one, two = _end_fields(straight), _end_fields(other)
    found += [
        EndDifference(f"state of {name}", _show_pair(one, two, name, paths))
        for name, paths in list_differing(one, two).items()
    ]
    found += _compare_files(straight, other, noise.files, has_state=bool(one) and one == two)
    found += _compare_printed(
        straight, other, (*noise.ignored, *noise.output), is_resumed=is_resumed
    )
    return found


def list_differing(one: Fields, other: Fields) -> dict[str, list[str]]:
    """Return the paths of leaves whose digests differ, by part.

    A leaf that only one has is among them, but no part that only the other one has, and no variable of one of them.
    """
    found: dict[str, list[str]] = {}
    for name in sorted(one):
        if name.startswith(VARIABLE) and name not in other:
            continue
        leaves, others = one.get(name, {}), other.get(name, {})
        paths = [
            path
            for path in sorted({*leaves, *others})
            if leaves.get(path, _ABSENT)[0] != others.get(path, _ABSENT)[0]
        ]
        if paths:
            found[name] = paths
    return found


def name_field(part: str, paths: Sequence[str]) -> str:
    """Return a part with what its differing leaves have in common: ``optimizer.state``."""
    common: list[str] = []
    for names in zip(*(path.split(".") for path in paths), strict=False):
        if len({*names}) > 1:
            break
        common.append(names[0])
    is_element = all(each.isdigit() or not each for each in common)
    return part if is_element else ".".join([part, *common])


def _compare_exits(straight: Trial, other: Trial) -> Iterator[EndDifference]:
    if straight.exit_code != other.exit_code:
        raised = other.exception or {}
        how = (
            f"{raised.get('type', '')}: {raised.get('message', '')}"
            if raised
            else f"exit code {other.exit_code}"
        )
        yield EndDifference("the end of the program", how)


def _end_fields(trial: Trial) -> Fields:
    return next((each["fields"] for each in trial.moments() if each["kind"] == END), {})


def _show_pair(one: Fields, other: Fields, name: str, paths: Sequence[str]) -> str:
    path = paths[0]
    shown = [fields.get(name, {}).get(path, _ABSENT)[1] for fields in (one, other)]
    more = f", and {len(paths) - 1} more" if len(paths) > 1 else ""
    if shown[0] == shown[1]:
        return f"{path or 'value'}: other bits{more}"
    return f"{path or 'value'}: {shown[0]} and {shown[1]}{more}"


def list_files(folder: Path) -> dict[str, Path]:
    """Return the regular files below a folder by relative path."""
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if each not in _LOOSE)
        for name in sorted(files):
            path = Path(place, name)
            if path.is_file():
                found[str(path.relative_to(folder))] = path
    return found


def list_differing_files(one: Path, other: Path) -> list[str]:
    """Return the relative paths of files that differ between two folders."""
    first, second = list_files(one), list_files(other)
    return [
        path
        for path in sorted({*first, *second})
        if not _is_same_file(first.get(path), second.get(path))
    ]


def _is_same_file(one: Path | None, other: Path | None) -> bool:
    if one is None or other is None:
        return False
    if one.stat().st_size != other.stat().st_size:
        return False
    return digest_bytes(one.read_bytes()) == digest_bytes(other.read_bytes())


def _compare_files(
    straight: Trial, other: Trial, ignored: Collection[str], *, has_state: bool
) -> Iterator[EndDifference]:
    for path in list_differing_files(straight.folder, other.folder):
        if path in ignored or normalize(path) in ignored:
            continue
        one, two = straight.folder / path, other.folder / path
        if not (one.is_file() and two.is_file()):
            absent = "is missing" if one.is_file() else "is left over"
            yield EndDifference(f"file {path}", f"it {absent} after the resume")
            continue
        texts = [_read_text(each) for each in (one, two)]
        if None not in texts:
            lines, others = texts[0] or [], texts[1] or []
            is_log = one.suffix not in _DOCUMENTS
            if is_log and _only_adds(lines, others):
                continue
            where = _locate(one, two)
            if is_log and _only_adds(others, lines):
                fewer = pluralize(len(lines) - len(others), "line")
                where = f"{fewer} fewer, as of a log that is written behind the checkpoint, or late: {where}"
            yield EndDifference(f"file {path}", where)
        # Equal values can be pickled with other bytes: what was loaded from a file shares its objects otherwise.
        elif not has_state or _has_other_arrays(one, two):
            yield EndDifference(f"file {path}", _locate(one, two))


def _has_other_arrays(one: Path, two: Path) -> bool:
    """Return whether two binary files surely hold other arrays, however these are stored."""
    first, second = one.read_bytes(), two.read_bytes()
    if _ARRAY_FILES.match(first) or _ARRAY_FILES.match(second):
        return True
    return _list_arrays(first) != _list_arrays(second)


def _list_arrays(content: bytes) -> list[tuple[int, int]]:
    """Return length and checksum of each array in an archive, and in archives within it, without an order."""
    found: list[tuple[int, int]] = []
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            if _ARRAY_MEMBERS.search(member.filename):
                found.append((member.file_size, member.CRC))
            elif archive.open(member).read(4) == _ARCHIVE:
                found += _list_arrays(archive.read(member))
    return sorted(each for each in found if each[0] != _GENERATOR_BYTES)


def _read_text(path: Path) -> list[str] | None:
    try:
        return path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        return None


def _only_adds(lines: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether others are the lines, in order, and more of them."""
    rest = iter(others)
    return len(lines) > 1 and lines[-1:] == others[-1:] and all(line in rest for line in lines)


def _locate(one: Path, other: Path) -> str:
    said = run_apart("twice.replayer.file_formats", [str(one), str(other)], _TIME_LIMIT_S)
    text = (said or b"").decode("utf-8", "replace").strip() or "other bytes"
    return text.replace("recorded", "straight").replace("replayed", "resumed")


def _compare_printed(
    straight: Trial, other: Trial, ignored: Sequence[str], *, is_resumed: bool
) -> Iterator[EndDifference]:
    one, two = _pair_lines(straight, other, ignored, is_resumed=is_resumed)
    for first, second in zip(reversed(one), reversed(two), strict=False):
        if first != second:
            yield EndDifference(PRINTED, f"{first!r} and {second!r}")
            return
    if len(one) != len(two):
        yield EndDifference(PRINTED, f"{pluralize(len(one), 'line')} and {len(two)}")


def _pair_lines(
    straight: Trial, other: Trial, ignored: Sequence[str], *, is_resumed: bool
) -> tuple[list[str], list[str]]:
    """Return the printed lines of two trials that are compared."""
    begin = next((int(each["printed"]) for each in other.moments() if each["kind"] != END), None)
    one = _compared_lines(straight.printed[0], straight.folder, ignored)
    text = other.printed[0]
    two = _compared_lines(text[begin:] if is_resumed and begin else text, other.folder, ignored)
    if is_resumed:
        if begin is None:  # then only the last line surely belongs to the training
            two = two[-1:]
        one = one[len(one) - len(two) :] if len(two) <= len(one) else one
    return one, two


def has_evidence(straight: Trial, resumed: Trial, noise: Noise) -> bool:
    """Return whether anything that a resumed run leaves was compared: state, lines, or a file that the training writes."""
    if _end_fields(straight):
        return True
    if _pair_lines(straight, resumed, (*noise.ignored, *noise.output), is_resumed=True)[1]:
        return True
    paths = {each.path for each in straight.files.writes}
    return any(
        (straight.folder / path).is_file() and not {path, normalize(path)} & noise.files
        for path in paths
    )


def _compared_lines(text: bytes, folder: Path, ignored: Sequence[str]) -> list[str]:
    data = select_compared(text, ignored, [str(folder)], is_errors=False)
    return data.replace(str(folder).encode(), b"").decode("utf-8", "replace").splitlines()


def shift_moment(straight: Trial, resumed: Trial, moment: Mapping[str, Any]) -> int | None:
    """Return the number of the straight run's moment that a resumed run's moment is, counted from the end; None for none."""
    kind = moment["kind"]
    total, made = straight.counts.get(kind, 0), resumed.counts.get(kind, 0)
    number = total - made + int(moment["number"])
    # Rounds are counted from the first checkpoint on, the others from the beginning.
    return number if (kind.startswith(ROUND) or number > 0) and 0 <= number < total else None
