"""Blender's data as a state: everything that is stored, by Blender's own description of it.

Invariant: equal scenes give equal states, whatever order their data was made in.
"""

from __future__ import annotations

from twice.tools.scenes.blender.reading.snapshot import snapshot

__all__ = ["snapshot"]
