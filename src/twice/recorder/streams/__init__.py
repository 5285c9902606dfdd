"""Named random streams: taken once by name, read at each compare-point, put back in place.

``registry`` holds them, one file per library makes them, ``memory`` reads their positions,
``drawing`` counts what was drawn. Nothing here draws a number or decides when a run is compared.

Invariant: no stream's numbers depend on which other streams there are.
"""

from twice.recorder.streams.drawing import draws
from twice.recorder.streams.registry import Streams

__all__ = ["Streams", "draws"]
