"""Recording a render: the command runs once in a clean folder, and its output and draft go into the store.

What it is not: a seal. The draft says what is known; ``twice asset seal`` holds it against the file.

Invariant: nothing is put into the store before the command has ended well and nothing is missing; then all of it is, or
nothing, and an asset that is replaced is whole at every moment.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from twice.assets.errors import RenderFailed, RenderIncomplete
from twice.assets.log.io import Problem
from twice.assets.media.measure import digest_file, measure_file
from twice.assets.render.command import RenderJob, is_recordable, looks_python
from twice.assets.render.draft import Declarations, RenderDraft
from twice.assets.render.recipe import remember_recipe
from twice.assets.render.runner import Rendering, render
from twice.assets.store.checkpoint import to_text
from twice.assets.store.seal import blank_secrets
from twice.assets.store.store import Store
from twice.errors import OutputExists, OutputUnwritable
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import pluralize
from twice.recorder.redaction.redaction import Redaction
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
        """Return it as ``twice asset record --json`` prints it."""
        files = {name: str(getattr(self, name)) for name in ("asset", "draft", "record")}
        unnamed = [str(each) for each in self.unnamed]
        return {**files, "own": self.own, "unnamed": unnamed, "watched": self.watched}


def record_render(
    store: Store, job: RenderJob, said: Declarations, *, force: bool = False
) -> list[RecordedRender]:
    """Render once, and put outputs, drafts and the record into the store.

    Args:
        store: the hot store.
        job: the command, rewritten for a clean folder; without outputs, every new file is one.
        said: what people say.
        force: whether to replace assets and drafts that are there.

    Raises:
        RenderIncomplete: E-ASSET-RENDER-003, a promise needs values that nobody says.
        RenderFailed: E-ASSET-RENDER-001, the command did not render.
        OutputExists, OutputUnwritable: E-OUTPUT-001, E-OUTPUT-002, an asset or a draft is there, or cannot be written.
        StoreRefused: E-ASSET-STORE-001, the store lies inside a public tree.
        PayloadRefused: E-PAYLOAD-001, what was rendered is damaged.
    """
    store.refuse_public()
    _refuse_existing(store, job.outputs, force=force)
    digests = {name: digest_file(path) for name, path in job.inputs.items()}
    program = Path(sys.executable) if is_recordable(job.argv) else job.find_program()
    if program is None:
        raise RenderFailed(
            f"{job.argv[0]} is not installed here.",
            "Expected a program on the fixed path, or a file inside the store.",
            "Install it, or name it by its path.",
            program=job.argv[0],
        )
    draft = RenderDraft(job, said, program, digests)
    _require_complete(store, draft, job.outputs)
    with render(job) as run:
        outputs = job.outputs or run.written
        if not outputs:
            raise RenderFailed(
                f"{job.argv[0]} ended well and wrote no file.",
                "Expected at least one file, in the folder that it runs in.",
                "Name what it writes: -o OUTPUT",
            )
        if not job.outputs:
            _refuse_existing(store, outputs, force=force)
            _require_complete(store, draft, outputs)
        return list(_store(store, draft, outputs, run))


def _refuse_existing(store: Store, outputs: Sequence[str], *, force: bool) -> None:
    for path in (store.root / each for name in outputs for each in (name, name + DRAFT_SUFFIX)):
        if path.exists() and not force:
            raise OutputExists(
                f"{path} is there already.",
                "Expected an asset that is new.",
                "Choose another name, or replace it: add --force",
                path=str(path),
            )


def _require_complete(store: Store, draft: RenderDraft, outputs: Sequence[str]) -> None:
    """Refuse to go on without a value that is missing, and name all of them."""
    missing: dict[str, Problem] = {}
    for each in (one for name in outputs for one in draft.list_missing(store, name)):
        missing.setdefault(each.pointer, each)
    if not missing:
        return
    listed = "; ".join(
        f"{at} ({each.words})" + (f" is {each.found}" if each.found else "")
        for at, each in missing.items()
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
    """Put assets, drafts and what is known of the run into the store: its run record, else what was watched."""
    measured = {name: measure_file(run.folder / name) for name in outputs}
    secrets = {**os.environ, **draft.job.env}
    if run.record is not None:
        data, suffix = run.record.read_bytes(), ".twice"
    else:
        document = {
            "format": "twice.asset-render/1",
            "argv": Redaction(variables=secrets).arguments(list(draft.job.argv), "recipe"),
            "program": {"path": str(draft.program), "version": draft.version},
            "outputs": {name: about.file_sha256 for name, about in measured.items()},
            "took_s": round(run.took_s, 3),
            "said": Redaction(variables=secrets).value(run.printed, "record"),
        }
        data, suffix = to_text(document), ".render.json"
    sha256 = digest_bytes(data, Algorithm.SHA256).hex
    # Its digest is in its name, so that the record of an earlier render stays.
    record = f"{RECORDS}/{Path(outputs[0]).name}.{sha256[:12]}{suffix}"
    is_watched = run.record is None and looks_python(draft.job.argv)
    files: list[tuple[Path, bytes | Path]] = [(store.root / record, data)]
    done = []
    for name, about in measured.items():
        asset, path = store.root / name, store.root / (name + DRAFT_SUFFIX)
        log = draft.draft_log(name, about, {"record": record, "sha256": sha256})
        log, _ = blank_secrets(log, secrets)
        text = (json.dumps(log, indent=2, ensure_ascii=False) + "\n").encode()
        files += [(asset, run.folder / name), (path, text)]
        done.append((log, asset, path))
    _place(files)
    for log, asset, path in done:
        own = remember_recipe(log)
        yield RecordedRender(asset, path, store.root / record, own, run.read, is_watched)


def _place(files: Sequence[tuple[Path, bytes | Path]]) -> None:
    """Put bytes, or copies of files, at paths: all or none, since each lies whole beside its place first."""
    asides: list[tuple[Path, Path]] = []
    try:
        for path, data in files:
            if path.is_dir():
                raise OutputUnwritable(
                    f"{path} is a folder.",
                    "Expected a place for a file.",
                    "Move the folder, or choose another name; nothing was changed.",
                )
            make_folder(path.parent)
            target = Path(os.path.realpath(path))
            aside = target.with_name(f".{os.urandom(8).hex()}.{target.name}")
            asides.append((aside, target))
            if isinstance(data, bytes):
                write(aside, data)
                continue
            with data.open("rb") as file:
                write(aside, iter(partial(file.read, 1 << 20), b""))
            if target.exists():
                aside.chmod(target.stat().st_mode & 0o7777)
        for aside, target in asides:
            aside.replace(target)
    finally:
        for aside, _ in asides:
            with suppress(OSError):
                aside.unlink()
