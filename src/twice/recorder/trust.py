"""Which records may be executed here: those that this account made, and those that the caller trusts.

Opening a record executes nothing. Executing one runs the program that it names, with the arguments and the variables
that it holds, as the account that asks for it. So whoever executes a record that came from elsewhere says so, and says
again what the run may use of the world: a record opens no seal by itself.

Grants are of this process. Processes that it starts are told with their job.

Invariant: nothing that stands in a record makes it trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import rfc8785

from twice.errors import RecordUntrusted
from twice.foundation.digests import Algorithm, digest_bytes
from twice.recorder.own_marks import is_own, mark_own

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
    """Remember a record that this process, or one that it started, has just made.

    Args:
        digest: of its identity.
        is_passing: whether only this process executes it; then nothing is written down.
    """
    _made_here.add(digest)
    if not is_passing:
        mark_own(_KIND, digest)


def remember_message(message: Mapping[str, Any]) -> None:
    """Remember the record that a worker says it has made: one is begun, or a branch is finished."""
    if (made := message.get("record")) is not None:
        remember_record(made, is_passing=bool(message.get("is_passing")))


def grant(digest: str, allow: Sequence[str]) -> None:
    """Trust a record in this process from here on.

    Args:
        digest: of its identity.
        allow: sources of the world that it may use although they are not recorded.
    """
    _grants[digest] = tuple(allow)


@contextmanager
def grant_for_block(digests: Sequence[str], allow: Sequence[str]) -> Iterator[None]:
    """Trust records for as long as the block runs."""
    before = dict(_grants)
    try:
        for digest in digests:
            grant(digest, allow)
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
    return tuple(dict.fromkeys([*recorded, *given])) if is_made_here(digest) else tuple(given)


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
