"""The draft of a log out of a command, its output and what people declare, with evidence for each.

Invariant: what people declare stands over what a run says, and is named as declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from twice.assets.log.io import Problem, examine, to_document
from twice.assets.log.kinds import Fault
from twice.assets.log.models import FORMAT, Asset
from twice.assets.making.command import Command
from twice.assets.making.filling import (
    art_block,
    audio_block,
    excused,
    program_blocks,
    recipe_block,
)  # fmt: skip
from twice.assets.making.project import Project, pointers
from twice.assets.rendering.programs import RENDERERS, Known
from twice.assets.store.seal import merge_documents
from twice.assets.store.store import Store

_PICTURES: Final = frozenset(
    {".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif", ".tif", ".tiff", ".bmp", ".svg"}
)
_SOUNDS: Final = frozenset(
    {".wav", ".flac", ".mp3", ".ogg", ".oga", ".opus", ".m4a", ".aac", ".aif", ".aiff", ".mid"}
)
_SEALED: Final = ("/log_id", "/created", "/nonce", "/revision", "/asset", "/format", "/evidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """What whoever records says on the command line.

    Args:
        project: what stands in the project file.
        declared: further parts of a log, over it.
        who: who says so.
        when: the instant.
        seed: decimal digits, or "".
        seeded: whether the seed stands in a variable.
        seedless: why there is no seed, or "".
        program: whether the command is said to be a program without a generative model.
        kind: art or audio, or None to go by the output's name.
        env: the variables that the command gets.
        timeout_s: its time limit in seconds.
    """

    project: Project = field(default_factory=Project)
    declared: Mapping[str, Any] = field(default_factory=dict)
    who: str = ""
    when: str = ""
    seed: str = ""
    seeded: bool = False
    seedless: str = ""
    program: bool = False
    kind: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 600.0


def kind_of(name: str) -> str:
    """Tell art from audio by a file's name; "" where that does not say."""
    suffix = Path(name).suffix.lower()
    return "art" if suffix in _PICTURES else "audio" if suffix in _SOUNDS else ""


def drafted(
    command: Command, known: Known, digests: Mapping[str, str], output: str, saying: Saying,
    *, measured: Asset | None = None, record: Mapping[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Give the draft of one output's log.

    Args:
        command: rewritten.
        known: the program as it is installed.
        digests: sha256 of each input by its path inside.
        output: its path from the root of the store.
        saying: what people say.
        measured: the asset as it was rendered; None before that, for what is missing.
        record: what evidence names the run by; None before it.
    """
    told = saying.project.of(Path(output).name)
    declared = merge_documents(told, saying.declared)
    kind = saying.kind or declared.get("kind") or kind_of(output)
    blocks = program_blocks(command, known, saying.env, digests)
    seed, seed_is_said = _seed(command, saying)
    draft: dict[str, Any] = {
        "format": FORMAT,
        **({"kind": kind} if kind else {}),
        **blocks,
        **({"seed": seed} if seed else {}),
        "recipe": recipe_block(command, digests, saying.env, output, saying.timeout_s),
    }
    claims: set[str] = {"/seed"} if seed_is_said else set()
    listed = Path(command.argv[0]).name in RENDERERS
    if kind and (saying.program or listed):
        block = art_block(command, measured) if kind == "art" else audio_block(
            command, known, blocks, digests
        )  # fmt: skip
        draft[kind] = block
        if not listed:
            claims |= {f"/{kind}/{name}" for name, each in block.items() if _is_excused(each)}
    draft = merge_documents(draft, declared)
    if measured is not None:
        about = to_document(measured)
        draft["asset"] = {name: about[name] for name in ("file_sha256", "payload")}
    who, when = saying.who or saying.project.who, saying.project.when or saying.when
    said = {"level": "declared", "who": who, "when": when}
    evidence = dict.fromkeys(sorted({*claims, *pointers(declared)}), said) if who else {}
    run = {"level": "recorded", "record": "the run", **(record or {})}
    return draft | {"evidence": {"": run, **evidence}}


def lacking(store: Store, draft: Mapping[str, Any], *, who: bool) -> list[Problem]:
    """List what the promise needs and nobody says, or says wrongly, but for what a seal fills in.

    Before anything is promised, what the fuller promise needs is listed.

    Args:
        store: the hot store, whose defaults count.
        draft: the draft.
        who: whether it is known who declares.
    """
    document = merge_documents(store.defaults, draft)
    problems = list(examine(document).problems)
    if "promise" not in document:
        fuller = examine({**document, "promise": {"mode": "deterministic"}}).problems
        known = {each.pointer for each in problems}
        problems += [
            each for each in fuller
            if each.pointer not in known and not each.pointer.startswith("/promise/")
        ]  # fmt: skip
    found = [each for each in problems if not each.pointer.startswith(_SEALED)]
    if not who:
        words = "who declares what no run can know"
        found.append(Problem("/evidence//who", Fault.MISSING, "", "a name", words))
    return found


def _seed(command: Command, saying: Saying) -> tuple[dict[str, Any] | None, bool]:
    """Give the seed block, and whether it is a claim of somebody's."""
    if saying.seed:
        return {"requested": saying.seed, "effective": saying.seed}, False
    if saying.seedless:
        return excused(saying.seedless), True
    renderer = RENDERERS.get(Path(command.argv[0]).name)
    if renderer is not None and renderer.seedless:
        return excused(renderer.seedless), False
    return None, False


def _is_excused(value: Any) -> bool:
    return isinstance(value, Mapping) and "not_applicable" in value
