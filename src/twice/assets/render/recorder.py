"""Recording a render: the command runs once in a clean folder, and its output and draft go into the store.

What it is not: a seal. The draft says what is known; ``twice asset seal`` holds it against the file.

Invariant: nothing is put into the store before the command has ended well and nothing is missing, and an asset that is
replaced is whole at every moment.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from twice.assets.errors import RenderFailed, RenderIncomplete
from twice.assets.log.io import Problem
from twice.assets.media.measure import digest_file, measure_file
from twice.assets.render.command import SEED, RenderCommand, is_recordable, looks_python
from twice.assets.render.declarations import Declarations
from twice.assets.render.draft import RenderDraft
from twice.assets.render.provenance import InstalledProgram, ask_version
from twice.assets.render.runner import Rendering, RenderJob, render
from twice.assets.render.trust import remember_recipe
from twice.assets.store.store import Store
from twice.errors import OutputExists, UsageError
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import pluralize
from twice.writing import make_folder, write

RECORDS: Final = "records"
"""The folder of a store that run records of renders are kept in."""
DRAFT_SUFFIX: Final = ".draft.json"

_OPTIONS: Final = {
    "/promise": "--promise GRADE or --non-deterministic WHY",
    "/promise/profile": "--profile NAME",
    "/promise/constraints": "--constraint TEXT",
    "/promise/why_code": "--why-code CODE",
    "/seed": "--seed N or --no-seed WHY",
    "/evidence//who": "--declared-by WHO",
    "/art": "--program, or --set art.FIELD=VALUE",
    "/audio": "--program, or --set audio.FIELD=VALUE",
    "/kind": "--kind art or --kind audio",
    "/producer": "--set producer.role=ROLE",
}


@dataclass(frozen=True, slots=True)
class RecordedRender:
    """One output of a render, in the store: the asset, its draft, and the run's record.

    ``own`` tells whether the recipe could be remembered as this account's, ``unnamed`` which files a Python program
    read that no input names, ``watched`` whether a Python program ran under another interpreter, unrecorded.
    """

    asset: Path
    draft: Path
    record: Path
    own: bool
    unnamed: tuple[Path, ...] = ()
    watched: bool = False

    def to_json(self) -> dict[str, object]:
        """Give it as ``twice asset record --json`` prints it."""
        return {
            "asset": str(self.asset),
            "draft": str(self.draft),
            "record": str(self.record),
            "own": self.own,
            "unnamed": [str(each) for each in self.unnamed],
            "watched": self.watched,
        }


def record_render(
    store: Store, command: RenderCommand, said: Declarations, *, force: bool = False
) -> list[RecordedRender]:
    """Render once, and put outputs, drafts and the record into the store.

    Args:
        store: the hot store.
        command: rewritten for a clean folder; without outputs, every new file is one.
        said: what people say.
        force: whether to replace assets and drafts that are there.

    Raises:
        RenderIncomplete: E-ASSET-RENDER-003: a promise needs values that nobody says.
        RenderFailed: E-ASSET-RENDER-001: the command did not render.
        OutputExists: E-OUTPUT-001: there is an asset or a draft of that name.
        OutputUnwritable: E-OUTPUT-002: an asset cannot be written into the store.
        UsageError: E-USE-001: a seed that reaches nobody.
        StoreRefused: E-ASSET-STORE-001: the store lies inside a public tree.
        PayloadRefused: E-PAYLOAD-001: what was rendered is damaged.
    """
    store.refuse_public()
    if said.seed and not (command.seeded or said.seeded or is_recordable(command.argv)):
        raise UsageError(
            f"The seed {said.seed} reaches nobody: {SEED} stands in no argument and no variable.",
            f"Expected {SEED} where {command.argv[0]} takes its seed.",
            f"For example: twice asset record --seed {said.seed} … -- {command.argv[0]} --seed {SEED}",
        )
    _refuse_existing(store, command.outputs, force=force)
    digests = {name: digest_file(path) for name, path in command.inputs.items()}
    draft = RenderDraft(command, _find_program(command), digests, said)
    if command.outputs:
        _require_complete(store, draft, command.outputs)
    job = RenderJob(
        argv=command.argv, inputs=command.inputs, env=said.env, seed=int(said.seed or 0),
        timeout_s=said.timeout_s,
    )  # fmt: skip
    with render(job, command.outputs) as run:
        outputs = command.outputs or run.written
        if not outputs:
            raise RenderFailed(
                f"{command.argv[0]} ended well and wrote no file.",
                "Expected at least one file, in the folder that it runs in.",
                "Name what it writes: -o OUTPUT",
            )
        if not command.outputs:
            _refuse_existing(store, outputs, force=force)
            _require_complete(store, draft, outputs)
        return list(_store(store, draft, outputs, run))


def _refuse_existing(store: Store, outputs: Sequence[str], *, force: bool) -> None:
    for name in outputs:
        for path in (store.root / name, store.root / (name + DRAFT_SUFFIX)):
            if path.exists() and not force:
                raise OutputExists(
                    f"{path} is there already.",
                    "Expected an asset that is new.",
                    "Choose another name, or replace it: add --force",
                    path=str(path),
                )


def _find_program(command: RenderCommand) -> InstalledProgram:
    name, folder = command.argv[0], None
    if is_recordable(command.argv):
        return InstalledProgram(Path(sys.executable), sys.version.split(maxsplit=1)[0])
    if name.startswith("./"):
        source = command.inputs[name.removeprefix("./")]
        folder, name = source.parent, f"./{source.name}"
    found = ask_version(name, folder)
    if found is None:
        raise RenderFailed(
            f"{command.argv[0]} is not installed here.",
            "Expected a program on the fixed path, or a file inside the store.",
            "Install it, or name it by its path.",
            program=command.argv[0],
        )
    return found


def _require_complete(store: Store, draft: RenderDraft, outputs: Sequence[str]) -> None:
    """Refuse to go on without a value that is missing, and name all of them."""
    missing: dict[str, Problem] = {}
    for name in outputs:
        for each in draft.list_missing(store, name):
            missing.setdefault(each.pointer, each)
    if not missing:
        return
    listed = "; ".join(
        f"{each.pointer} ({each.words})" + (f" is {each.found}" if each.found else "")
        for each in missing.values()
    )
    options = (_OPTIONS.get(each, f"--set {each[1:].replace('/', '.')}=VALUE") for each in missing)
    raise RenderIncomplete(
        f"{pluralize(len(missing), 'value is', 'values are')} missing or wrong, and neither the command nor the project file gives them: {listed}.",
        'Expected them in the project file under [all] or [assets."NAME"], or as options.',
        f"Give them: {', '.join(dict.fromkeys(options))}",
        pointers=[*missing],
    )


def _store(
    store: Store, draft: RenderDraft, outputs: Sequence[str], run: Rendering
) -> Iterator[RecordedRender]:
    """Put record, assets and drafts into the store."""
    measured = {name: measure_file(run.folder / name) for name in outputs}
    record = _store_record(store, draft, outputs, run)
    evidence = {"record": store.named(record), "sha256": digest_file(record)}
    is_watched = run.record is None and looks_python(draft.command.argv)
    for name, about in measured.items():
        asset, path = store.root / name, store.root / (name + DRAFT_SUFFIX)
        document = draft.draft_log(name, about, evidence)
        make_folder(asset.parent)
        with (run.folder / name).open(
            "rb"
        ) as file:  # ``write`` leaves the old file or the new one.
            write(asset, iter(partial(file.read, 1 << 20), b""))
        write(path, (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())
        used = document.get("seed", {}).get("effective", "")
        own = remember_recipe(document["recipe"], used if isinstance(used, str) else "")
        yield RecordedRender(asset, path, record, own, run.read, is_watched)


def _store_record(store: Store, draft: RenderDraft, outputs: Sequence[str], run: Rendering) -> Path:
    """Keep what is known of the run: the run record of a Python program, else what was watched.

    Its name has its own digest in it, so that the record of an earlier render stays.
    """
    make_folder(store.root / RECORDS)
    if run.record is not None:
        data, suffix = run.record.read_bytes(), ".twice"
    else:
        program = draft.program
        document = {
            "format": "twice.asset-render/1",
            "argv": list(draft.command.argv),
            "program": {"path": str(program.path), "version": program.version},
            "outputs": {name: digest_file(run.folder / name) for name in outputs},
            "took_s": round(run.took_s, 3),
            "said": run.printed,
        }
        data = (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()
        suffix = ".render.json"
    digest = digest_bytes(data, Algorithm.SHA256).hex[:12]
    target = store.root / RECORDS / f"{Path(outputs[0]).name}.{digest}{suffix}"
    write(target, data)
    return target
