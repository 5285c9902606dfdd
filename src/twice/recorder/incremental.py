"""Digests of components that say what changed.

The component's digest is a two-level tree: one digest per top-level key, and one over the sorted
keys with their digests. Keys that ``changed()`` does not name keep the digest they had.

What it cannot know: whether ``changed()`` tells the truth. A verification in which the object
forgets a key fails or passes like the recording did; ``twice verify --restores`` walks everything.

Invariant: the digest equals that of a full walk whenever ``changed()`` named every changed key.
"""

from __future__ import annotations

from twice.errors import ComponentRefused
from twice.foundation.digests import Algorithm
from twice.foundation.merkle import Node, rehash, tree
from twice.recorder.components import Component

_WIDTH = 16


class IncrementalDigest:
    """Reads one component, walking only what it names as changed."""

    def __init__(self, component: Component, algorithm: Algorithm) -> None:
        assert component.changed is not None, "only components that say what changed come here"
        self._component = component
        self._changed = component.changed
        self._algorithm = algorithm
        self._node: Node | None = None

    def __call__(self) -> bytes:
        """Return 16 bytes for the component's present state."""
        state = self._component.read()
        if not isinstance(state, dict):
            raise ComponentRefused(
                f"The state of the incremental component {self._component.name!r} is a "
                f"{type(state).__name__}.",
                "Expected a dict, whose top-level keys are what changed() names.",
                "Return a dict from state(), or track it without incremental=True.",
            )
        changed = self._changed()
        if self._node is None or changed is None:
            self._node = tree(state, self._algorithm)
        else:
            self._node = rehash(self._node, state, list(changed), self._algorithm)
        return self._node.digest[:_WIDTH]
