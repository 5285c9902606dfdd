"""The reference encoder: by the book, without recursion, and able to say where it stands.

``writing.py`` comes here when the fast path gives up: a refused value, a cycle, deep nesting. The
path of a refusal is computed only now, so the per-tick path never pays for it.

Invariant: it ends in bytes or in one ``EncodingRefused`` that names the path, at any depth.
"""

from __future__ import annotations

import struct

from twice.errors import EncodingCycle, EncodingTextRefused
from twice.foundation.encoding import forms
from twice.foundation.encoding.opened import Buffer, Opened, key_text, no_label
from twice.foundation.encoding.refusals import Refusal
from twice.foundation.encoding.registry import Registry


class Frame:
    """A container that is being written and how many of its children are, or are just being."""

    __slots__ = ("done", "opened", "owner")

    def __init__(self, owner: object, opened: Opened) -> None:
        self.owner = owner
        self.opened = opened
        self.done = 0


def walk(value: object, registry: Registry, root: str, level: int = 0) -> list[Buffer]:
    """The canonical bytes of a value, in parts.

    Args:
        value: any value.
        registry: the types that are known.
        root: what the value is called in a refusal.
        level: how many keys and sets the value lies inside.

    Raises:
        EncodingRefused: E-ENCODE-001, a value has no canonical form.
        EncodingCycle: E-ENCODE-002, a value contains itself.
        EncodingTextRefused: E-ENCODE-003, a text holds lone surrogates.
    """
    parts: list[Buffer] = []
    frames = [Frame(None, Opened((), (value,), no_label))]
    above: set[int] = set()
    while frames:
        frame = frames[-1]
        if frame.done == len(frame.opened.children):
            above.discard(id(frame.owner))
            frames.pop()
            continue
        child = frame.opened.children[frame.done]
        frame.done += 1
        opened = open_at(child, registry, root, frames, above, level)
        parts += opened.parts
        if len(opened.children):
            above.add(id(child))
            frames.append(Frame(child, opened))
    return parts


def open_at(
    child: object,
    registry: Registry,
    root: str,
    frames: list[Frame],
    above: set[int],
    level: int,
) -> Opened:
    """One level of a value that stands where the frames say, or a refusal with that path."""

    def sub(key: object) -> bytes:
        place = f"{path_of(root, frames)}{{{key_text(key)}}}"
        return b"".join(walk(key, registry, place, level + 1))

    try:
        _check_place(child, above, level, len(frames))
        return registry.opener_of(type(child))(child, sub)
    except (Refusal, UnicodeEncodeError, struct.error, RecursionError) as error:
        refusal = _reason(error, type(child).__name__)
        happened = f"{path_of(root, frames)} is {refusal.what}."
        raise refusal.leaf(
            happened, refusal.expected, refusal.remedy, path=path_of(root, frames)
        ) from None


def _reason(
    error: Refusal | UnicodeEncodeError | struct.error | RecursionError, kind: str
) -> Refusal:
    if isinstance(error, Refusal):
        return error
    if isinstance(error, UnicodeEncodeError):
        return Refusal(
            f"a text with the lone surrogate {error.object[error.start]!r} "
            f"at position {error.start}",
            "Expected text that has a UTF-8 form.",
            "Keep undecodable file names as pathlib paths or bytes, or repair the text.",
            EncodingTextRefused,
        )
    if isinstance(error, RecursionError):
        return Refusal(
            f"a {kind} whose keys or elements nest too deeply",
            "Expected keys that do not lead back to their own dict.",
            "Key by something flatter.",
        )
    return Refusal(
        f"a {kind} longer than {forms.COUNT_MAX} bytes",
        "Expected texts and names whose length fits 32 bits.",
        "Keep so much text as bytes.",
    )


def _check_place(child: object, above: set[int], level: int, depth: int) -> None:
    if id(child) in above:
        raise Refusal(
            f"a {type(child).__name__} that contains itself",
            "Expected a tree: no value inside itself.",
            "Store a key or an index instead of the object.",
            EncodingCycle,
        )
    if level > forms.KEY_NESTING_MAX or (level and depth > forms.KEY_DEPTH_MAX):
        raise Refusal(
            "a key or set element that nests too deeply",
            f"Expected at most {forms.KEY_NESTING_MAX} sets and keys inside one another, each "
            f"at most {forms.KEY_DEPTH_MAX} values deep.",
            "Key by something flatter.",
        )


def path_of(root: str, frames: list[Frame]) -> str:
    """How the child that is being opened is reached from the root."""
    return root + "".join(frame.opened.label(frame.done - 1) for frame in frames)
