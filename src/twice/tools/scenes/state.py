"""scene-state-1: everything that a scene holds, as values, with a tree of digests over it.

A state is sections, a section is blocks in the order of (type, name, id), a block is a dict of
values. Bytes come from the canonical form and sha256; docs/format/scene-state-1.md is the whole
rule, and tests/vectors/scene-state.json holds known answers.

Two fingerprints: ``full`` covers everything, and the profile of the program that holds the scene;
``core`` covers a short list of properties that mean the same in every version, and no profile.

Invariant: neither depends on the order in which blocks were made, found or handed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from twice.foundation.digests import Algorithm, Digest, digest_value
from twice.foundation.with_blocks import gc_paused
from twice.tools.scenes.corelist import CORE
from twice.tools.scenes.values import Value

FORMAT: Final = "scene-state-1"
ALGORITHM: Final = Algorithm.SHA256
SETTINGS: Final = "settings"
"""The property under which a block keeps what only its own program knows; hashed on its own."""


@dataclass(frozen=True, slots=True)
class Block:
    """One thing in a scene.

    Args:
        type: what it is, in the words of its section: ``MESH``, ``POINT``.
        name: its own name.
        id: where it comes from when it is not the scene's own, such as the path of a library; else
            empty. Never a number that counts.
        value: its properties.
    """

    type: str
    name: str
    id: str
    value: Mapping[str, Value]

    @property
    def key(self) -> tuple[str, str, str]:
        """What blocks are sorted and told apart by."""
        return (self.type, self.name, self.id)


@dataclass(frozen=True, slots=True)
class Tree:
    """Digests of a state, of its sections, and of the blocks of each in order."""

    root: Digest
    sections: Mapping[str, Digest]
    blocks: Mapping[str, tuple[Digest, ...]]


@dataclass(frozen=True)
class SceneState:
    """What a scene holds at one moment; made by ``scene_state``."""

    profile: Mapping[str, str]
    sections: Mapping[str, tuple[Block, ...]]

    @cached_property
    def tree(self) -> Tree:
        """The tree over everything."""
        marks: dict[int, str] = {}
        with gc_paused():
            blocks = {
                name: tuple(_digest(block, marks) for block in section)
                for name, section in self.sections.items()
            }
            return _tree(self.sections, blocks, {"kind": "full", "profile": dict(self.profile)})

    @cached_property
    def core_tree(self) -> Tree:
        """The tree over the properties that every version and every kind of scene has."""
        sections = {name: self.sections.get(name, ()) for name in CORE}
        blocks = {
            name: tuple(digest_value(core(name, block), ALGORITHM) for block in section)
            for name, section in sections.items()
        }
        return _tree(sections, blocks, {"kind": "core"})

    @property
    def fingerprint(self) -> str:
        """The labelled digest of everything, bound to the profile."""
        return str(self.tree.root)

    @property
    def core_fingerprint(self) -> str:
        """The labelled digest of the core properties, comparable between versions."""
        return str(self.core_tree.root)

    def block(self, section: str, name: str) -> Block | None:
        """Return the scene's own block of this name, if there is one."""
        for block in self.sections.get(section, ()):
            if block.name == name and not block.id:
                return block
        return None


def scene_state(profile: Mapping[str, str], sections: Mapping[str, Iterable[Block]]) -> SceneState:
    """Build a state from blocks in any order.

    Args:
        profile: the factors of full results apart from the scene, by a stable key.
        sections: blocks by the name of their section; ``evaluated`` only on request.
    """
    ordered = {name: tuple(sorted(sections[name], key=_key)) for name in sorted(sections)}
    for name, section in ordered.items():
        keys = [block.key for block in section]
        assert len(set(keys)) == len(keys), f"two blocks of {name} have one type, name and id"
    return SceneState(dict(sorted(profile.items())), ordered)


def core(section: str, block: Block) -> dict[str, Value]:
    """Return the core properties of a block, as far as it has them."""
    return {name: block.value[name] for name in CORE[section] if name in block.value}


def _digest(block: Block, marks: dict[int, str]) -> Digest:
    """Digest a block; ``marks`` has the settings of earlier blocks, by identity."""
    value = dict(block.value)
    if SETTINGS in value:
        settings = value[SETTINGS]
        mark = marks.get(id(settings))
        if mark is None:
            mark = marks[id(settings)] = str(digest_value(settings, ALGORITHM))
        value[SETTINGS] = mark
    return digest_value(value, ALGORITHM)


def _key(block: Block) -> tuple[str, str, str]:
    return block.key


def _tree(
    sections: Mapping[str, tuple[Block, ...]],
    blocks: Mapping[str, tuple[Digest, ...]],
    head: Mapping[str, Any],
) -> Tree:
    joined = {
        name: digest_value(
            [
                [*block.key, str(digest)]
                for block, digest in zip(section, blocks[name], strict=True)
            ],
            ALGORITHM,
        )
        for name, section in sections.items()
    }
    labels = {name: str(digest) for name, digest in joined.items()}
    root = digest_value({"format": FORMAT, **head, "sections": labels}, ALGORITHM)
    return Tree(root, joined, blocks)
