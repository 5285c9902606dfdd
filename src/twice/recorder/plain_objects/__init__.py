"""Objects of ordinary classes as state: read attribute by attribute, and put back in place.

An object whose class says nothing about its state is what its attributes hold, and so is every object that they
reach. Lives here: from live values to values with a canonical form (``reader``), and back into the objects that are
there (``writer``). Does not: which objects are components (``components``).

What cannot be seen: state outside of the attributes, and what a closure holds besides numbers and texts.
``twice verify --restores`` shows what matters of it.

Invariant: putting back what was read changes nothing, and reading runs no code of the classes but a nested
``state()`` or ``state_dict()``.
"""

from __future__ import annotations

from twice.recorder.plain_objects.kinds import has_attributes
from twice.recorder.plain_objects.reader import find_attributes, read_attributes, read_content
from twice.recorder.plain_objects.writer import put_attributes, put_content

__all__ = [
    "find_attributes",
    "has_attributes",
    "put_attributes",
    "put_content",
    "read_attributes",
    "read_content",
]
