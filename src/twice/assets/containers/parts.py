"""The words of the walkers: what a part of a container is, and what a walker says when it cannot go on.

Invariant: a part that is no payload is either read by whoever looks for leaks or reported as unread.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from twice.assets.containers.source import Source
from twice.assets.media.sniff import Damaged

__all__ = ["Damaged", "Kind", "Part", "unread"]


class Kind(StrEnum):
    """What a part is there for."""

    PAYLOAD = "payload"  # pixels, samples, packets: what the file is for
    STRUCTURE = "structure"  # what decoding needs
    METADATA = "metadata"  # said about the payload
    TEXT = "text"  # shown to whoever reads: prose
    CODE = "code"  # text for machines: markup, scripts, data
    FILE = "file"  # a file inside this one
    TRAILING = "trailing"  # after the end of the container
    UNREAD = "unread"  # it could not be looked into


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a container.

    Args:
        name: the step to it in a nesting path, such as ``tEXt parameters`` or a member's name.
        kind: what it is there for.
        source: its bytes, without the container's own framing.
        offset: where it begins in the container that was walked; None when it was unpacked.
        key: the name of the field, of metadata that has one.
        why: of what is unread, the reason as a sentence.
    """

    name: str
    kind: Kind
    source: Source
    offset: int | None = None
    key: str = ""
    why: str = ""


def unread(name: str, why: str, offset: int | None = None) -> Part:
    """Make a part that reports only that twice could not read it."""
    return Part(name, Kind.UNREAD, Source.of_bytes(b""), offset, why=why)
