"""Recording a render: the command runs once in a clean folder, and its output and draft go into the store.

What it is not: a seal. The draft says what is known; ``twice asset seal`` holds it against the file.

Invariant: nothing is put into the store before the command has ended well and nothing is missing.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from twice.assets.errors import RenderFailed, RenderIncomplete
from twice.assets.log.io import Problem
from twice.assets.log.models import Asset
from twice.assets.making.command import SEED, Command
from twice.assets.making.drafting import Saying, drafted, lacking
from twice.assets.measuring.file import file_sha256, measure_file
from twice.assets.rendering.executing import is_python, rendered
from twice.assets.rendering.job import Job, Rendered
from twice.assets.rendering.owning import own
from twice.assets.rendering.programs import Known, ask
from twice.assets.store.store import Store
from twice.errors import OutputExists, OutputUnwritable, UsageError
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import pluralize
from twice.writing import make_folder, write

RECORDS: Final = "records"
"""The folder of a store that run records of renders are kept in."""

DRAFT_SUFFIX: Final = ".draft.json"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One output of a render, in the store: the asset, its draft, and the run's record.

    ``own`` tells whether the recipe could be remembered as this account's, ``unnamed`` which files a Python
    program read that no input names.
    """

    asset: Path
    draft: Path
    record: Path
    own: bool
    unnamed: tuple[Path, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Give it as ``twice asset record --json`` prints it."""
        return {
            "asset": str(self.asset),
            "draft": str(self.draft),
            "record": str(self.record),
            "own": self.own,
            "unnamed": [str(each) for each in self.unnamed],
        }


def record_render(
    store: Store, command: Command, saying: Saying, *, force: bool = False
) -> list[Recorded]:
    """Render once, and put outputs, drafts and the record into the store.

    Args:
        store: the hot store.
        command: rewritten for a clean folder; without outputs, every new file is one.
        saying: what people say.
        force: whether to replace assets and drafts that are there.

    Raises:
        RenderIncomplete: E-ASSET-RENDER-003: a promise needs values that nobody says.
        RenderFailed: E-ASSET-RENDER-001: the command did not render.
        OutputExists: E-OUTPUT-001: there is an asset or a draft of that name.
        UsageError: E-USE-001: a seed that reaches nobody.
        StoreRefused: E-ASSET-STORE-001: the store lies inside a public tree.
        PayloadRefused: E-PAYLOAD-001: what was rendered is damaged.
    """
    store.refuse_public()
    _require_seed_used(command, saying)
    _refuse_existing(store, command.outputs, force=force)
    known = _known(command)
    digests = {name: file_sha256(path) for name, path in command.inputs.items()}
    if command.outputs:
        _require_complete(store, command, known, digests, command.outputs, saying)
    job = Job(
        argv=command.argv, inputs=command.inputs, env=saying.env, seed=int(saying.seed or 0),
        timeout_s=saying.timeout_s,
    )  # fmt: skip
    with rendered(job, command.outputs) as run:
        outputs = command.outputs or run.written
        if not outputs:
            raise RenderFailed(
                f"{command.argv[0]} ended well and wrote no file.",
                "Expected at least one file, in the folder that it runs in.",
                "Name what it writes: -o OUTPUT",
            )
        if not command.outputs:
            _refuse_existing(store, outputs, force=force)
            _require_complete(store, command, known, digests, outputs, saying)
        measured = {name: measure_file(run.folder / name) for name in outputs}
        record = _kept(store, command, outputs, run, known)
        return list(_put(store, command, known, digests, measured, saying, run, record))


def _require_seed_used(command: Command, saying: Saying) -> None:
    used = command.seeded or saying.seeded or is_python(command.argv)
    if saying.seed and not used:
        raise UsageError(
            f"The seed {saying.seed} reaches nobody: {SEED} stands in no argument and no variable.",
            f"Expected {SEED} where {command.argv[0]} takes its seed.",
            f"For example: twice asset record --seed {saying.seed} … -- {command.argv[0]} --seed {SEED}",
        )


def _refuse_existing(store: Store, outputs: tuple[str, ...], *, force: bool) -> None:
    for name in outputs:
        for path in (store.root / name, _draft_of(store.root / name)):
            if path.exists() and not force:
                raise OutputExists(
                    f"{path} is there already.",
                    "Expected an asset that is new.",
                    "Choose another name, or replace it: add --force",
                    path=str(path),
                )


def _draft_of(asset: Path) -> Path:
    return asset.with_name(asset.name + DRAFT_SUFFIX)


def _known(command: Command) -> Known:
    if is_python(command.argv):
        return Known(Path(sys.executable), sys.version.split(maxsplit=1)[0])
    folder = None
    name = command.argv[0]
    if name.startswith("./"):
        source = command.inputs[name.removeprefix("./")]
        folder, name = source.parent, f"./{source.name}"
    known = ask(name, folder)
    if known is None:
        raise RenderFailed(
            f"{command.argv[0]} is not installed here.",
            "Expected a program on the fixed path, or a file inside the store.",
            "Install it, or name it by its path.",
            program=command.argv[0],
        )
    return known


def _require_complete(
    store: Store, command: Command, known: Known, digests: dict[str, str],
    outputs: tuple[str, ...], saying: Saying,
) -> None:  # fmt: skip
    """Refuse to go on without a value that is missing, and name all of them."""
    found: dict[str, Problem] = {}
    for name in outputs:
        draft = drafted(command, known, digests, name, saying)
        for each in lacking(store, draft, who=bool(saying.who or saying.project.who)):
            found.setdefault(each.pointer, each)
    missing = [*found.values()]
    if missing:
        listed = "; ".join(_lacking(each) for each in missing)
        raise RenderIncomplete(
            f"{pluralize(len(missing), 'value is', 'values are')} missing or wrong, and neither the command nor the project file gives them: {listed}.",
            'Expected them in the project file under [all] or [assets."NAME"], or as options.',
            f"Give them: {_flags(missing)}",
            pointers=[each.pointer for each in missing],
        )


def _lacking(problem: Problem) -> str:
    found = f" is {problem.found}" if problem.found else ""
    return f"{problem.pointer} ({problem.words}){found}"


_FLAGS: Final = {
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


def _flags(missing: list[Problem]) -> str:
    """Name the option for each missing value."""
    wanted = (
        _FLAGS.get(each.pointer, f"--set {each.pointer[1:].replace('/', '.')}=VALUE")
        for each in missing
    )
    return ", ".join(dict.fromkeys(wanted))


def _kept(
    store: Store, command: Command, outputs: tuple[str, ...], run: Rendered, known: Known
) -> Path:
    """Keep what is known of the run: the run record of a Python program, else what was watched.

    Its name has its own digest in it, so that the record of an earlier render stays.
    """
    folder = store.root / RECORDS
    make_folder(folder)
    if run.record is not None:
        data, suffix = run.record.read_bytes(), ".twice"
    else:
        document = {
            "format": "twice.asset-render/1",
            "argv": list(command.argv),
            "program": {"path": str(known.path), "version": known.version},
            "outputs": {name: file_sha256(run.folder / name) for name in outputs},
            "took_s": round(run.took_s, 3),
            "said": run.said,
        }
        data = (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()
        suffix = ".render.json"
    digest = digest_bytes(data, Algorithm.SHA256).hex[:12]
    target = folder / f"{Path(outputs[0]).name}.{digest}{suffix}"
    write(target, data)
    return target


def _put(
    store: Store, command: Command, known: Known, digests: dict[str, str],
    measured: Mapping[str, Asset], saying: Saying, run: Rendered, record: Path,
) -> Iterator[Recorded]:  # fmt: skip
    """Put assets and drafts into the store."""
    named = {"record": store.named(record), "sha256": file_sha256(record)}
    for name, about in measured.items():
        asset = store.root / name
        draft = drafted(
            command, known, digests, name, saying, measured=about, record=named
        )  # fmt: skip
        make_folder(asset.parent)
        _placed(run.folder / name, asset)
        path = _draft_of(asset)
        write(path, (json.dumps(draft, indent=2, ensure_ascii=False) + "\n").encode())
        used = draft.get("seed", {}).get("effective", "")
        is_own = own(draft["recipe"], used if isinstance(used, str) else "")
        yield Recorded(asset, path, record, is_own, run.read)


def _placed(rendered_at: Path, asset: Path) -> None:
    """Copy what was rendered to its place in the store."""
    try:
        shutil.copyfile(rendered_at, asset)
    except OSError as error:
        raise OutputUnwritable(
            f"{asset} cannot be written: {error.strerror or error}.",
            "Expected a place in the store for the asset.",
            "Name another one: -o OUTPUT",
        ) from error
