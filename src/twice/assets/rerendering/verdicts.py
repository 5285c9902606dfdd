"""A verdict written into its log, as a new revision.

Invariant: the asset and everything else that the log says stay as they are.
"""

from __future__ import annotations

import platform
from typing import Any

from twice.assets.log.io import log_digest, read_log, to_document
from twice.assets.rerendering.rerendering import Rerendered
from twice.assets.store.seal import write_log
from twice.recorder.environment.fingerprint import measure


def write_verdict(result: Rerendered, when: str) -> int:
    """Put a result into its log, under evidence of its own.

    Args:
        result: of a promised asset.
        when: the instant.

    Returns:
        The number of the new revision.

    Raises:
        StoreRefused: E-ASSET-STORE-001: the store lies inside a public tree.
    """
    log = read_log(result.log)
    verdict: dict[str, Any] = {
        "when": when,
        "machine": _machine(),
        "outcome": str(result.outcome),
        "reason": result.reason,
    }
    if result.grade:
        verdict |= {"grade": result.grade, "runs": result.runs, "artefacts": list(result.artefacts)}
    if result.figures:
        verdict["metrics"] = result.figures
    document = to_document(log)
    revision = (log.revision or 1) + 1
    write_log(
        result.log,
        document
        | {
            "verdicts": [*document.get("verdicts", []), verdict],
            "revision": revision,
            "supersedes": log_digest(log),
        },
    )
    return revision


def _machine() -> str:
    """Describe where it was rendered, without a host's name."""
    here = measure(probes=False)
    return f"{platform.system()} {here.cpu.arch}, {here.cpu.model or 'a processor'}, {here.os.libc}"
