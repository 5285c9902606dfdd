"""What is done next with sheets that are not complete, as commands.

Invariant: a command is named only where it would do something.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from twice.cli.commands.spec.proposing import propose_fill
from twice.errors import TwiceError
from twice.specification.consolidate import CONSOLIDATION
from twice.specification.cost.result import EVIDENCE as COSTS
from twice.specification.create import find_blocker
from twice.specification.fill import list_unknown
from twice.specification.gate.runner import EVIDENCE
from twice.specification.scaffold.lock import NAME as SCAFFOLDED
from twice.specification.workspace import FOLDER, Workspace

_VECTOR = f"{FOLDER}/{EVIDENCE}/vector.twice"
_MEASURED = frozenset({("13", "rules"), ("13", "measured")})
_RECORDED = frozenset({("01", "vector"), ("01", "vector_digest")})


def completing(workspace: Workspace) -> Iterator[str]:
    """Give what is done next until every sheet is there and says what it has to, and code is laid down from them."""
    absent = [each for each in workspace.missing() if each != CONSOLIDATION]
    if any(find_blocker(workspace, each) is None for each in absent):
        yield "twice spec add"
    opened = {(number, key) for number, key, _ in list_unknown(workspace)}
    if not absent and not opened - _MEASURED and not (workspace.folder / SCAFFOLDED).exists():
        yield shlex.join(["twice", "scaffold", workspace.component()])
    if not opened:
        return
    fills = may_fill(workspace)
    if fills:
        yield "twice spec fill"
    if opened & _RECORDED and not fills:
        yield from _recording(workspace)
    measured = (workspace.project / COSTS).is_file()
    unmeasured = set() if measured else opened & _MEASURED
    if unmeasured and not opened & _RECORDED:
        yield "twice cost --write"
    if opened - unmeasured - _RECORDED:
        yield "write what is open: twice spec status --open"


def may_fill(workspace: Workspace) -> bool:
    """Whether twice spec fill would put something in.

    Traits are left out: a line that says what is next is not worth a checker's pass over every source.
    """
    try:
        return bool(propose_fill(workspace, traits=False).put_in)
    except TwiceError:  # A record that cannot be read fills nothing; fill says why.
        return False


def _recording(workspace: Workspace) -> Iterator[str]:
    program, seed = workspace.text("00", "program"), workspace.value("00", "seed")
    if not program or seed is None:
        yield "say program and seed in 00, from which a record is made"
        return
    settings = [word for each in workspace.strings("00", "config") for word in ("--set", each)]
    said = [(key, workspace.text("01", key)) for key in ("class", "scope")]
    promised = [word for key, value in said if value for word in (f"--{key}", value)]
    words = ["twice", "record", program, "--seed", str(seed), *settings, *promised, "-o", _VECTOR]
    yield shlex.join(words)
    yield f"twice spec fill --record {_VECTOR}"
