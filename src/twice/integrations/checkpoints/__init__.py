"""Checkpoints that hold the whole state of a training, so that a resumed one equals one that was never stopped.

``parts.py`` says what a part of a state is, ``checkpoint.py`` has the one call, ``file.py`` the format. One module for
each library says what the state of its objects is; it is imported when an object of that library is passed.

Invariant: a checkpoint is written whole or not at all, and reading one never executes code that it names.
"""

from __future__ import annotations

from twice.integrations.checkpoints.checkpoint import Checkpoint
from twice.integrations.checkpoints.parts import Part, find_parts

__all__ = ["Checkpoint", "Part", "find_parts"]
