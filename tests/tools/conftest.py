"""The registry of tables, an example, for tests that need a small state and tools that change it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "examples"))
