"""The names of ``media.sniff``, for the walkers that still stand in this folder.

Invariant: nothing is defined here.
"""

from twice.assets.media.sniff import HEAD, Format, sniff

__all__ = ["HEAD", "Format", "sniff"]
