"""What the streams say when they refuse: every error of this folder that has more than one cause.

Invariant: each names the stream, and a name or a command that would work.
"""

from __future__ import annotations

from collections.abc import Sequence

from twice.errors import (
    StreamOffThread,
    StreamReseeded,
    StreamShared,
    StreamStateRefused,
    StreamTaken,
    UsageError,
)
from twice.foundation.seeds import SHARED_BY_MODULES


def taken_refused(name: str, kind: str) -> StreamTaken:
    """Make the error for a name that has an owner."""
    return StreamTaken(
        f"The stream {name!r} was taken before (kind {kind}).",
        "Each stream has one owner, so that no component shifts another's draws.",
        f"Pass the generator you have, or take another path, such as {name + '/2'!r}.",
        name=name,
    )


def reserved_refused(name: str) -> StreamTaken:
    """Make the error for a name that belongs to the shared generators."""
    return StreamTaken(
        f"The name {name!r} is reserved.",
        f"Names under '{SHARED_BY_MODULES}/' belong to the generators that modules share.",
        f"Take another path, such as {'my-' + name!r}.",
        name=name,
    )


def off_thread_refused(name: str, thread: str) -> StreamOffThread:
    """Make the error for taking a stream on a thread that the run did not begin on."""
    return StreamOffThread(
        f"The stream {name!r} was taken on thread {thread!r}.",
        "Streams are taken on the thread that the run began on, in the program's order.",
        "Take it before the thread starts and pass it in; no other may draw from it.",
        name=name,
    )


def adoption_refused(name: str, other: str) -> StreamShared:
    """Make the error for a generator that is governed under another name."""
    return StreamShared(
        f"The generator adopted as {name!r} is governed as {other!r} already.",
        "A generator has one owner and one name.",
        f"Adopt it once, or give {name!r} a generator of its own.",
        name=name,
    )


def owners_refused(name: str, kind: str, owners: Sequence[str]) -> StreamShared:
    """Build the error for a stream of several components."""
    own = " and ".join(
        f"run.{'python' if kind == 'python' else 'rng'}({f'{owner}/{name}'!r})"
        for owner in owners[:2]
    )
    return StreamShared(
        f"The stream {name!r} is held by the components {', '.join(map(repr, owners))}.",
        "Each stream has one owner, so that no component shifts another's draws.",
        f"Take one for each, {own}; or say that it is meant: run.streams.share({name!r})",
        name=name,
    )


def unknown_refused(name: str, known: Sequence[str]) -> UsageError:
    """Make the error for a declaration that names no stream."""
    return UsageError(
        f"There is no stream {name!r} to be shared.",
        f"Expected one of {', '.join(known) or 'none: no stream was taken yet'}.",
        "Take the stream first, and then declare it.",
        name=name,
    )


def sharing_refused(name: str, what: str) -> StreamShared:
    """Make the error for a stream that would get a second owner."""
    return StreamShared(
        f"The stream {name!r} was {what}.",
        "A stream has one owner: two that draw from it depend on each other's order.",
        f"Take a stream of its own for the other owner, such as {name + '/copy'!r}.",
        name=name,
    )


def reseeding_refused(name: str) -> StreamReseeded:
    """Make the error for a stream that would get another seed."""
    return StreamReseeded(
        f"The stream {name!r} was given a new seed.",
        "A stream keeps the seed that its name derives, for the whole run.",
        f"Take another name for fresh numbers, such as {name + '/2'!r}.",
        name=name,
    )


def state_refused(why: str, kind: str) -> StreamStateRefused:
    """Make the error for a state that does not fit a generator."""
    return StreamStateRefused(
        f"The stored position {why}.",
        f"A generator of kind {kind!r} takes back what it gave.",
        "Restore it into the run that recorded it, with the same stream under the same name.",
        kind=kind,
    )
