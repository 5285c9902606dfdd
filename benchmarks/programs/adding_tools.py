"""The tool of ``bare_mcp`` under contract, on a state of one number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twice.tools import Context, Registry, tool


class Count:
    """One number."""

    name = "count"

    def __init__(self) -> None:
        self.n = 0

    def profile(self) -> Mapping[str, str]:
        return {"version": "1"}

    def state(self) -> Mapping[str, Any]:
        return {"n": self.n}

    def fingerprint(self) -> str:
        return f"sha256:{self.n:064x}"

    def reset(self) -> None:
        self.n = 0

    def holds(self, name: str) -> bool:
        del name
        return False

    def checkpoint(self) -> int:
        return self.n

    def rollback(self, checkpoint: int) -> None:
        self.n = checkpoint


@tool("add", determinism="deterministic", version="1.0.0")
def add(context: Context, n: int) -> int:
    """Add to the number."""
    context.backend.n += n
    return int(context.backend.n)


registry = Registry([add], "adding", backend=Count)
