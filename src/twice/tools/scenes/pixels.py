"""A rendered picture as numbers; files of pictures carry times and are never compared.

Invariant: a fingerprint covers size, order and every bit of the decoded pixels, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from twice.foundation.digests import digest_value
from twice.tools.scenes.state import ALGORITHM
from twice.tools.scenes.values import Array

FORMAT: Final = "pixels-1"


@dataclass(frozen=True)
class Pixels:
    """A picture.

    Args:
        values: float32, height by width by 4: rows from the bottom up, each from left to right, of
            red, green, blue and alpha in linear light.
    """

    values: Array

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return int(self.values.shape[1]), int(self.values.shape[0])

    @property
    def fingerprint(self) -> str:
        """The labelled digest of the picture."""
        width, height = self.size
        picture = {
            "format": FORMAT,
            "width": width,
            "height": height,
            "channels": "RGBA",
            "rows": "bottom-up",
            "values": self.values,
        }
        return str(digest_value(picture, ALGORITHM))
