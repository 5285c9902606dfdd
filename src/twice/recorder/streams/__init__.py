"""Named random streams: taken once by name, read at each compare-point, put back in place.

``registry`` holds them, one file per library makes them, ``draw_counts`` counts the words drawn. Nothing here draws a
number or decides when a run is compared.

Invariant: no stream's numbers depend on which other streams there are.
"""

from twice.recorder.streams.draw_counts import draws
from twice.recorder.streams.registry import Streams

__all__ = ["Streams", "draws"]
