"""The version of twice, which a source tree that nobody installed has too."""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.1.0"
