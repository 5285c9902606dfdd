"""The operation inside of a step that first gave other results for equal inputs.

Start with ``inside.py``.

Invariant: an operation is named only where both sides gave it inputs of one digest.
"""
