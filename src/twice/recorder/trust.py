"""Which records may be executed here: those that this account made, and those that the caller trusts.

Opening a record executes nothing. Executing one runs the program that it names, with the arguments and the variables
that it holds, as the account that asks for it. So whoever executes a record that came from elsewhere says so, and says
again what the run may use of the world: a record opens no seal by itself.

A thing is yours when a command of twice made it here, under your account: an empty file in your state folder marks it,
by kind and digest. Copying or receiving a thing does not make it yours. Grants are of this process. Processes that it
starts are told with their job.

Not for: what another account of this machine may do; the folder is private to yours.

Invariant: nothing that stands in a record makes it trusted. Only this module writes marks, and a mark is never read
for more than that it is there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import rfc8785

from twice.errors import RecordUntrusted
from twice.foundation.digests import Algorithm, digest_bytes

GRANT: Final = "grant"
"""Key of a job."""
UNTRUSTED_BYTES_MAX: Final = 256 << 20
"""Size of the largest state that is opened of a record that nobody trusts."""
_KIND: Final = "records"
_made_here: set[str] = set()
_grants: dict[str, tuple[str, ...]] = {}


def digest_identity(identity: Mapping[str, Any]) -> str:
    """Return the digest of a record's identity, in hexadecimal digits."""
    return digest_bytes(rfc8785.dumps(dict(identity)), Algorithm.SHA256).hex


def remember_record(digest: str, *, is_passing: bool = False) -> None:
    """Remember a record that was just made here; one ``is_passing`` is executed by this process alone, and not marked."""
    _made_here.add(digest)
    if not is_passing:
        mark_own(_KIND, digest)


def remember_message(message: Mapping[str, Any]) -> None:
    """Remember the record that a worker says it has made: one is begun, or a branch is finished."""
    if (made := message.get("record")) is not None:
        remember_record(made, is_passing=bool(message.get("is_passing")))


def grant(digest: str, allow: Sequence[str]) -> None:
    """Trust a record in this process from here on; it may use the sources of ``allow`` without their being recorded."""
    _grants[digest] = tuple(allow)


@contextmanager
def grant_for_block(digest: str, allow: Sequence[str]) -> Iterator[None]:
    """Trust a record for as long as the block runs."""
    before = dict(_grants)
    grant(digest, allow)
    try:
        yield
    finally:
        _grants.clear()
        _grants.update(before)


def is_trusted(digest: str) -> bool:
    """Return whether a record may be executed."""
    return digest in _grants or is_made_here(digest)


def is_made_here(digest: str) -> bool:
    """Return whether this account made a record."""
    return digest in _made_here or is_own(_KIND, digest)


def choose_allowed(digest: str, recorded: Sequence[str]) -> tuple[str, ...]:
    """Return the sources that a run may use: those of its own record, or of another record's caller."""
    given = _grants.get(digest, ())
    return tuple(dict.fromkeys([*recorded, *given])) if is_made_here(digest) else given


def require_trusted(path: object, digest: str, program: object) -> None:
    """Refuse to execute a record from elsewhere that the caller did not trust.

    Raises:
        RecordUntrusted: E-TRUST-001.
    """
    if not is_trusted(digest):
        raise RecordUntrusted(
            f"{path} was not made by this account, and executing it runs its program: {program}.",
            "Expected a record that this account made, or one that you trust.",
            "Look at it with twice show, which executes nothing. If you trust who sent it: --trust "
            "(in Python: with twice.trusting(record): ...).",
            path=str(path),
        )


def mark_own(kind: str, name: str) -> bool:
    """Remember a thing that was just made; return whether that could be written down.

    Args:
        kind: what it is, one word in the plural: ``recipes``, ``records``.
        name: its digest, in hexadecimal digits.
    """
    for folder in _folders():
        path = folder / kind / name
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if _is_private(folder):
                path.touch(mode=0o600)
                return True
    return False


def is_own(kind: str, name: str) -> bool:
    """Return whether this account made a thing."""
    for folder in _folders():
        with suppress(OSError):
            if (folder / kind / name).is_file() and _is_private(folder):
                return True
    return False


def _folders() -> tuple[Path, Path]:
    """Return the folders of marks: the state folder, and one below /tmp for an account without a home."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "twice", Path("/tmp") / f"twice-{os.geteuid()}"  # noqa: S108


def _is_private(folder: Path) -> bool:
    """Return whether a folder is this account's, and not everybody may write into it."""
    # Anybody can make the one below /tmp first; not followed, so that a link there is none either.
    found = folder.lstat()
    return (
        stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o002
    )
