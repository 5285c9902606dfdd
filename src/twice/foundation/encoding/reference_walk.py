"""The reference encoder: by the book, without recursion, and able to say where it is.

The encoder comes here when its fast path gives up: a refused value, a cycle, deep nesting. The path
of a refusal is computed only now, so the per-tick path never pays for it.

Invariant: it ends in bytes or in one ``EncodingRefused`` that names the path, at any depth.
"""

from __future__ import annotations

import struct
from typing import Final

from twice.errors import EncodingCycle, EncodingTextRefused
from twice.foundation.encoding import format as fmt
from twice.foundation.encoding.built_in_types import Buffer, Decomposed, Refusal, format_key
from twice.foundation.encoding.registry import Registry

ROOT: Final = "state"


class Frame:
    """A container that is being written and how many of its children are, or are just being."""

    __slots__ = ("decomposed", "done", "owner")

    def __init__(self, owner: object, decomposed: Decomposed) -> None:
        self.owner = owner
        self.decomposed = decomposed
        self.done = 0


def walk(value: object, registry: Registry, root: str = ROOT, level: int = 0) -> list[Buffer]:
    """Return the canonical bytes of a value, in parts, or refuse it as ``encode`` says.

    A refusal calls the value ``root``; ``level`` is how many keys and sets it lies inside.
    """
    parts: list[Buffer] = []
    frames = [Frame(None, Decomposed((), (value,)))]
    above: set[int] = set()
    while frames:
        frame = frames[-1]
        if frame.done == len(frame.decomposed.children):
            above.discard(id(frame.owner))
            frames.pop()
            continue
        child = frame.decomposed.children[frame.done]
        frame.done += 1
        decomposed = decompose_at(child, registry, root, frames, above, level)
        parts += decomposed.parts
        if len(decomposed.children):
            above.add(id(child))
            frames.append(Frame(child, decomposed))
    return parts


def decompose_at(
    child: object,
    registry: Registry,
    root: str,
    frames: list[Frame],
    above: set[int],
    level: int,
) -> Decomposed:
    """Take the child that the frames have come to apart, or refuse it with its path."""

    def path() -> str:
        return root + "".join(frame.decomposed.label(frame.done - 1) for frame in frames)

    def encode_key(key: object) -> bytes:
        return b"".join(walk(key, registry, f"{path()}{{{format_key(key)}}}", level + 1))

    kind = type(child).__name__
    if id(child) in above:
        refusal = Refusal(
            f"a {kind} that contains itself",
            "Expected a tree: no value inside itself.",
            "Store a key or an index instead of the object.",
            EncodingCycle,
        )
    elif level > fmt.KEY_NESTING_MAX or (level and len(frames) > fmt.KEY_DEPTH_MAX):
        refusal = Refusal(
            "a key or set element that nests too deeply",
            f"Expected at most {fmt.KEY_NESTING_MAX} sets and keys inside one another, each "
            f"at most {fmt.KEY_DEPTH_MAX} values deep.",
            "Key by something flatter.",
        )
    else:
        try:
            return registry.find_decomposer(type(child))(child, encode_key)
        except Refusal as error:
            refusal = error
        except UnicodeEncodeError as error:
            refusal = Refusal(
                f"a text with the lone surrogate {error.object[error.start]!r} "
                f"at position {error.start}",
                "Expected text that has a UTF-8 form.",
                "Keep undecodable file names as pathlib paths or bytes, or repair the text.",
                EncodingTextRefused,
            )
        except RecursionError:
            refusal = Refusal(
                f"a {kind} whose keys or elements nest too deeply",
                "Expected keys that do not lead back to their own dict.",
                "Key by something flatter.",
            )
        except struct.error:
            refusal = Refusal(
                f"a {kind} longer than {fmt.COUNT_MAX} bytes",
                "Expected texts and names whose length fits 32 bits.",
                "Keep so much text as bytes.",
            )
    raise refusal.leaf(
        f"{path()} is {refusal.what}.", refusal.expected, refusal.remedy, path=path()
    )
