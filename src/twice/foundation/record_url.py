"""The URL of a record in an object store, as a path.

Commands and functions take paths. A URL is one of them that no call of the operating system finds: its name, its folder
and its text are those of the object. Whoever opens a record asks `to_path` what it was given; a URL that was a `Path`
on the way, which makes one slash of two, is known again.

Invariant: no URL with a user name or a password in it becomes a path, so none is ever printed or stored.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PosixPath
from typing import Final
from urllib.parse import unquote

from twice.errors import UsageError

_URL: Final = re.compile(r"(s3|gs|az|file):/+(.*)", re.DOTALL)


class RecordUrl(PosixPath):
    """A URL of an object, ``s3://bucket/folder/a.twice``, or of a folder of objects."""

    def __str__(self) -> str:
        scheme, *rest = self.parts
        return f"{scheme}//{'/'.join(rest)}"

    def absolute(self) -> RecordUrl:
        """Return itself: no folder stands before it."""
        return self


def to_path(path: str | os.PathLike[str]) -> Path:
    """Return a path; of ``s3://``, ``gs://`` and ``az://`` a `RecordUrl`, of ``file://`` that of the file.

    Raises:
        UsageError: E-USE-001, for a URL without a bucket, or with credentials in it.
    """
    found = _URL.fullmatch(os.fspath(path))
    if found is None:
        return Path(path)
    scheme, rest = found.groups()
    if scheme == "file":
        return Path("/" + unquote(rest))
    bucket = rest.partition("/")[0]
    if not bucket or "@" in bucket or "?" in rest:
        why = "holds credentials, or parameters" if bucket else "names no bucket"
        raise UsageError(
            f"A URL of {scheme}:// {why}.",
            f"Expected {scheme}://BUCKET/NAME, and credentials in the variables that the store's own tools read.",
            f"For example: {scheme}://runs/a.twice",
        )
    return RecordUrl(f"{scheme}:", *rest.split("/"))
