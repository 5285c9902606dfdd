"""The document that opens a record: what is executed, from which code, in which surroundings, under which rules.

It is written before the first line of the program runs; what is only known at the end (every source file loaded,
every stream taken) stands in the ending.

Invariant: two runs with equal identities differ only by what they read from the world.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import rfc8785

from twice.errors import ConfigError, RecordVersion
from twice.foundation import encoding
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.environment import Fingerprint
from twice.foundation.seeds import RULE
from twice.recorder.effects.ops import BEHAVIOUR as EFFECTS_BEHAVIOUR
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.program import Program
from twice.recorder.setup import Setup
from twice.recorder.user_code import digest_sources

FORMAT = "twice.run/1"
BEHAVIOURS: Mapping[str, int] = {
    "canonical_form": encoding.VERSION,
    "effects_order": EFFECTS_BEHAVIOUR,
    "seed_derivation": RULE,
    "session": 1,
}
"""Rules under which a record replays. A change of ours that could alter that gets a new number."""
_GIT_TIMEOUT_S = 10.0


def build_identity(
    setup: Setup,
    surroundings: Surroundings,
    fingerprint: Fingerprint,
    *,
    parent: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Build the identity document of a new run; E-CONFIG-001 when the configuration is not plain data."""
    try:
        config_hash = str(digest_bytes(rfc8785.dumps(dict(setup.config)), Algorithm.SHA256))
    except (rfc8785.CanonicalizationError, TypeError) as error:
        raise ConfigError(
            f"The configuration is not plain data: {error}",
            "Expected text, numbers, booleans, lists and tables; integers up to 2**53.",
            "Pass the rest as text.",
        ) from error
    return {
        "format": FORMAT,
        "behaviours": dict(BEHAVIOURS),
        "setup": setup.to_json(),
        "config_hash": config_hash,
        "code": _describe_code(setup.program),
        "surroundings": surroundings.to_json(),
        "environment": fingerprint.to_json(),
        "parent": None if parent is None else dict(parent),
    }


def check_identity(identity: Mapping[str, Any], path: object) -> None:
    """Refuse a record whose rules this version does not know: E-RECORD-001."""
    remedy = "Install the version that wrote it, or a newer one: pip install -U twice"
    if identity.get("format") != FORMAT:
        raise RecordVersion(
            f"{path} is a run of format {identity.get('format')!r}; this version reads {FORMAT!r}.",
            "It was written by another version of twice.",
            remedy,
        )
    stated = identity.get("behaviours")
    rules: Mapping[str, object] = stated if isinstance(stated, Mapping) else {}
    for name in sorted({*BEHAVIOURS, *rules}):
        number, known = rules.get(name), BEHAVIOURS.get(name)
        if not isinstance(number, int) or known is None or not 1 <= number <= known:
            raise RecordVersion(
                f"{path} was made under rule {number} of {name}; this version knows "
                f"{'none' if known is None else f'1 to {known}'}.",
                "A record replays under the rules it was made under, and under no others.",
                remedy,
            )


def _describe_code(program: Program) -> dict[str, object]:
    """Return the commit, the digest of uncommitted changes, and the digest of the program's own file."""
    root = program.folder()
    files: dict[str, str] = {}
    if program.is_file:
        path = program.path()
        files = digest_sources([path], root)
        root = path.parent
    commit = _run_git(root, "rev-parse", "HEAD")
    if commit is None:
        return {"commit": None, "dirty": None, "files": files}
    difference = _run_git(root, "diff", "HEAD", "--binary", "--no-ext-diff") or b""
    dirty = str(digest_bytes(difference, Algorithm.SHA256)) if difference.strip() else None
    return {"commit": commit.decode().strip(), "dirty": dirty, "files": files}


def _run_git(folder: Path, *arguments: str) -> bytes | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],  # noqa: S607  (git is where the user has it)
            capture_output=True,
            timeout=_GIT_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
