"""What a record holds of the contents of files, and how closely a file is compared, as the user says it.

Of a recording: ``digest`` compares a file by its digest, and carries whole what nobody else could have. ``contents``
carries everything that is read, so a replay needs none of the files. ``none`` records and compares nothing; writes
are kept away in replay all the same.

Of one file, by its name: some libraries fill files from entropy or a clock of their own, which nobody can serve them:
no two runs write the same. Such a file is compared by its existence alone, or not at all; the verdict says which.

Invariant: without a policy a file is compared by its whole content.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final, Literal, get_args

from twice.errors import UsageError

Policy = Literal["digest", "contents", "none"]
FilePolicy = Literal["content", "existence", "ignore"]
PolicyRow = tuple[str, FilePolicy]

KNOWN: Final[Sequence[tuple[str, FilePolicy, str]]] = (
    ("MUJOCO_LOG.TXT", "ignore", "MuJoCo writes the time of each warning into it"),
    ("*/.ses", "ignore", "ONNX Runtime numbers the sessions of its own statistics there"),
    ("*/.onnxruntime/*", "ignore", "ONNX Runtime keeps figures of its own use there"),
)
"""Files that libraries are known to fill from their own clock or entropy: pattern, policy, reason."""


def parse_files(text: str) -> Policy:
    """Read a recording's policy; E-USE-001 when it is none of the three."""
    for policy in get_args(Policy):
        if policy == text:
            return policy  # type: ignore[no-any-return]
    raise UsageError(
        f"There is no policy {text!r} for files.",
        f"Expected {', '.join(get_args(Policy))}.",
        "For example: --files contents",
    )


def parse_file_policy(text: str) -> PolicyRow:
    """Read ``PATTERN=POLICY``; E-USE-001 when it is none."""
    pattern, equals, policy = text.rpartition("=")
    for known in get_args(FilePolicy):
        if equals and pattern and policy == known:
            return (pattern, known)
    raise UsageError(
        f"--file-policy {text!r} is not a file and a policy.",
        f"Expected PATTERN=POLICY, with one of {', '.join(get_args(FilePolicy))}.",
        "For example: --file-policy 'out.duckdb=existence'",
        text=text,
    )


def find_policy(path: str, policies: Iterable[PolicyRow]) -> tuple[FilePolicy, str]:
    """Return how a file is compared, by its path in the verdict, and why; the last policy that fits counts."""
    found: tuple[FilePolicy, str] = ("content", "")
    for pattern, policy, reason in KNOWN:
        if _fits(path, pattern):
            found = (policy, reason)
    for pattern, policy in policies:
        if _fits(path, pattern):
            found = (policy, f"--file-policy {pattern}={policy}")
    return found


def _fits(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern) or fnmatchcase(posixpath.basename(path), pattern)
