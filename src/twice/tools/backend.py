"""What tools act on: a state that can be read as plain data, and put back.

A backend knows nothing of tools, classes, seeds or contracts. The runtime takes a checkpoint before
a call changes anything, returns to it when the call fails, and asks for the fingerprint after it.

Two ways back, and they are not the same: ``checkpoint`` and ``rollback`` work inside one process
and are cheap; ``restore`` takes the plain state of any process of the same profile, and is what a
replay or a restarted worker starts from. A backend without either says so by not having it: then
the runtime reports partial effects instead of promising that there are none.

Invariant: two backends of equal profile whose ``state()`` is equal have equal fingerprints and
answer every call of a deterministic tool alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Backend(Protocol):
    """One state, with a name for its kind.

    ``name`` is the kind, as a session contract pins it: ``memory``, ``blender``. Two
    instances of one kind have the same name.
    """

    @property
    def name(self) -> str:
        """The kind of backend: lower case, stable over versions."""

    def profile(self) -> Mapping[str, str]:
        """Versions that results depend on, each as text, by a stable key.

        ``version`` is the backend's own; further keys name builds, add-ons (``addon:NAME``),
        drivers (``driver:NAME``) and CPU kernels. It is pinned once, in the session contract.
        """

    def state(self) -> Mapping[str, Any]:
        """Return the canonical state as plain data in stable order; the fingerprint covers it.

        Plain means dicts with text keys, lists, text, bytes, booleans, integers, finite floats and
        None. It is a copy: changing it changes nothing here.
        """

    def fingerprint(self) -> str:
        """Return the labelled digest (``sha256:…``) of the state in the documented form."""

    def reset(self) -> None:
        """Goes back to the empty state that a new backend has."""

    def holds(self, name: str) -> bool:
        """Whether a name is taken, in any kind of thing that would get in its way."""


@runtime_checkable
class Revertible(Protocol):
    """A backend whose changes can be undone within this process."""

    def checkpoint(self) -> object:
        """Return a token for the current state; cheap, opaque, and valid until the next ``reset``.

        Checkpoints nest: the runtime makes one for a macro and one for each of its steps.
        """

    def rollback(self, checkpoint: object) -> None:
        """Goes back to a checkpoint of this backend, exactly; it may be used more than once."""


@runtime_checkable
class Restorable(Protocol):
    """A backend that can be put into a state that another process described."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Load a state that ``state()`` returned, here or elsewhere, with equal profile.

        Afterwards ``fingerprint()`` returns the same value as there. An unsuitable state is
        refused before anything changes.
        """
