"""What goes around the code: the script, the workflow, hooks, command files for coding agents.

Invariant: whatever is laid down here only calls twice.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Final

from twice.specifying.scaffolding.facts import Facts
from twice.specifying.scaffolding.literals import assigned, shown
from twice.specifying.scaffolding.piece import Piece
from twice.specifying.scaffolding.places import Places
from twice.specifying.scaffolding.recording import recording
from twice.specifying.scaffolding.regions import Layer, Mode
from twice.specifying.scaffolding.trials import BRANCHING, READ_ONLY

_USES: Final = {
    "verify": "verify a.twice",
    "replay": "replay a.twice --at 0",
    "branch": "branch a.twice --at 0 -o b.twice",
    "rerun": "rerun a.twice -o c.twice",
}


def _script(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    claimed = {str(row["operation"]) for row in facts.rows("06", "operations")}
    by_command = {
        "verify": {"verify"}, "replay": READ_ONLY, "branch": BRANCHING, "rerun": {"rerun"},
    }  # fmt: skip
    offered = tuple(name for name, of in by_command.items() if claimed & of)
    return {
        "component": shown(facts.text("00", "component")),
        "uses": "\n".join(f"python scripts/determinism.py {_USES[each]}" for each in offered),
        "record": assigned("RECORD", recording(facts)),
        "vector": assigned("VECTOR", facts.text("01", "vector")),
        "offered": assigned("OFFERED", offered, "Final[tuple[str, ...]]"),
    }


def _ci(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    return {
        "sources": shlex.join(facts.listed("00", "sources")),
        "vector": shlex.quote(facts.text("01", "vector")),
    }


def _hook(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    checked = shlex.join(facts.listed("00", "sources"))
    return {"entry": json.dumps(f"python -m twice check {checked}", ensure_ascii=False)}


def _nothing(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    facts.text("01", "vector")
    return {}


def _command(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    return {
        "component": shown(facts.text("00", "component")),
        "quoted": shlex.quote(facts.text("00", "component")),
        "sources": shlex.join(facts.listed("00", "sources")),
        "arguments": "$ARGUMENTS",
    }


PIECES: Final = (
    Piece(Layer.REPLAY, "scripts/determinism.py", "replay.py", _script),
    Piece(
        Layer.CI, ".github/workflows/determinism.yml", "workflow.yml", _ci, mode=Mode.SHARED, name="ci"
    ),
    Piece(
        Layer.CI, ".pre-commit-config.yaml", "pre_commit.yaml", _hook,
        mode=Mode.SHARED, name="check", under="repos:", start="repos:\n",
    ),
    Piece(Layer.CI, ".gitattributes", "gitattributes", _nothing, mode=Mode.SHARED, name="records"),
    *(
        Piece(Layer.COMMANDS, f"{{commands}}/{file}.md", f"command_{template}.md", _command)
        for file, template in (
            ("twice-check", "check"), ("twice-review", "review"), ("twice-scaffold", "scaffold"),
            ("twice-verify", "verify"), ("twice-diagnose", "diagnose"),
        )
    ),
)  # fmt: skip
"""Scripts, hooks and commands."""
