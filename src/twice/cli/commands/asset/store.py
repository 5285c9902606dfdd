"""The hot store: which one a command works in, and what puts logs into it.

Invariant: only ``init`` makes a store.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from twice.assets.errors import StoreRefused
from twice.assets.store.store import FILE, Store, find_store, lay_store, open_store
from twice.cli.options import AsJson, argument, build_command, option, refuse_without, split_pairs
from twice.cli.output import print_lines, tell
from twice.errors import UsageError
from twice.foundation.printable import pluralize, printable


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """The hot store that is named, else the one that a path lies in."""

    store: Annotated[Path | None, option(
        "--store FOLDER", "the hot store; by default the folder with assets.toml, here or above")]  # fmt: skip
    public: Annotated[tuple[Path, ...], option("--public FOLDER", "a further tree that players get")]  # fmt: skip

    def open(self, path: Path) -> Store:
        """Open the store that is meant.

        Raises:
            StoreRefused: E-ASSET-STORE-001: there is none, or its file cannot be read.
        """
        if self.store is not None:
            return open_store(self.store, self.public)
        found = find_store(path, self.public)
        if found is None:
            raise StoreRefused(
                f"{path} lies in no hot store: there is no {FILE} beside it, nor above.",
                "Expected a folder that is one.",
                "Make one: twice asset init FOLDER --public PUBLIC",
            )
        return found


_WITNESSED = ("recorded", "imported")
Settings = Annotated[tuple[str, ...], option(
    "--set PATH=VALUE", "one more value of the log, such as art.steps=20; JSON where it is, else text")]  # fmt: skip
Who = Annotated[str, option(
    "--declared-by WHO", "who says what no other evidence speaks of", default="")]  # fmt: skip


def add_settings(document: Mapping[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Put the values of ``--set`` over a part of a log.

    Raises:
        UsageError: E-USE-001: one is no setting.
    """
    from twice.assets.store.seal import merge_documents

    for path, text in split_pairs(settings, "--set", "art.steps=20").items():
        value = read_value(text)
        for step in reversed(path.split(".")):
            value = {step: value}
        document = merge_documents(document, value)
    return dict(document)


def read_value(text: str) -> Any:
    """Read what was typed: JSON where it is, else text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def read_clock() -> str:
    """Give this instant as logs write it, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@build_command
def init_store(
    folder: Annotated[Path, argument(default=Path())],
    public: Annotated[tuple[Path, ...], option("--public FOLDER", "a tree that players get")],
    force: Annotated[bool, option("--force", "write assets.toml anew")],
) -> int:
    """Make a folder a hot store, apart from what is published.

      twice asset init hot --public public

    It writes assets.toml into the folder. public names the trees that players get, relative to the store: a log is
    never sealed inside one of them. What stands under [defaults] is put into every log that does not say it.

    Exit code 0 it is one now, 2 it is one already, or lies in a public tree.
    """
    trees = tuple(os.path.relpath(each.resolve(), folder.resolve()) for each in public)
    store = lay_store(folder, trees, force=force)
    lines = [f"hot store: {folder / FILE}", *(f"public: {each}" for each in store.public)]
    print_lines(map(printable, [*lines, "next: twice asset seal ASSET --log DRAFT"]))
    return 0


@build_command
def seal_asset(
    asset: Annotated[Path, argument()],
    draft: Annotated[Path | None, option("--log DRAFT", "what is known, as JSON")],
    settings: Settings,
    log_id: Annotated[str | None, option("--id ID", "the log's id; made of name and payload by default")],
    who: Who,
    revise: Annotated[bool, option("--revise", "supersede the log of that id; of the old one the index keeps the digest")],
    embed: Annotated[Literal["id", "log"] | None, option("--embed", "what is written into the asset itself")],
    force: Annotated[bool, option("--force", "write over a log of that id; of the old one the index keeps the digest")],
    store: StoreOptions,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Measure an asset, and put its determinism log beside it.

      twice asset seal hot/cover.png --log cover.json
      twice asset seal hot/cover.png --log cover.json --set promise.grade=payload
      twice asset seal hot/cover.png --log cover.json --declared-by "the studio"
      twice asset seal hot/cover.png --log cover.json --revise

    DRAFT is JSON: as much of a log as is known; twice asset show --draft art prints one to fill in, and
    what nobody filled in counts as missing. Hashes, payload, size
    and figures are measured from the file and put in. The log goes beside the asset as ID.detlog.json, and into the
    store's index. Secrets in it (keys, tokens, passwords) are blanked. --embed id writes log id and payload digest into
    the asset itself (PNG, WAV, FLAC), --embed log the whole log: the payload stays, the file's bytes change.

    Exit code 0 it is sealed, 2 it is refused. Whether the log is complete is for twice asset gate.
    """
    from twice.assets.log.drafts import without_wanted
    from twice.assets.log.io import parse, read_bytes
    from twice.assets.store.seal import Sealing, seal

    refuse_without({"--revise": revise}, {"--log": draft})
    opened, now = store.open(asset), read_clock()
    known = {} if draft is None else without_wanted(parse(read_bytes(draft), str(draft)))
    if not isinstance(known, dict):
        raise UsageError(
            f"{draft} holds no JSON object.",
            "Expected a draft of a determinism log.",
            "Print one to fill in: twice asset show --draft art",
        )
    said = {"level": "declared", "who": who, "when": now}
    document = _declare(add_settings(known, settings), settings, said)
    if log_id is not None:
        document["log_id"] = log_id
    nonce = os.urandom(16).hex()
    how = Sealing(now, nonce, revise, embed, force, os.environ)
    sealed = seal(opened, asset, document, how)
    lines = [
        f"sealed: {sealed.path}, revision {sealed.log.revision}",
        *(f"blanked as a secret: {pointer}" for pointer in sealed.blanked),
        *(f"still missing: {each.pointer} ({each.words})" for each in sealed.missing),
        f"next: twice asset gate {asset}",
    ]
    return tell(sealed.to_json(), map(printable, lines), as_json=as_json)


def _declare(
    document: dict[str, Any], settings: Sequence[str], said: Mapping[str, str]
) -> dict[str, Any]:
    """Say who says what no other evidence speaks of, and who set what is no longer as a run or a file says."""
    from twice.assets.store.seal import merge_documents

    evidence = document.get("evidence", {})
    if not isinstance(evidence, dict):
        return document
    for path in split_pairs(settings, "--set", "art.steps=20"):
        above = at = "/" + path.replace(".", "/")
        while above and above not in evidence:
            above = above.rpartition("/")[0]
        level = evidence[above].get("level") if isinstance(evidence.get(above), dict) else None
        if level not in _WITNESSED or path.startswith("evidence"):
            continue
        if not said["who"]:
            raise UsageError(
                f"{path} is set by hand in a log whose values are {level}.",
                "Expected who says so: the value is no longer what a run or a file says.",
                'Add --declared-by "NAME", or take the setting out.',
            )
        evidence = {**evidence, at: dict(said)}
    whole = evidence.get("", {})
    if said["who"] and isinstance(whole, dict) and whole.get("level") not in _WITNESSED:
        evidence = merge_documents({"": said}, evidence)
    return document | {"evidence": evidence} if evidence else document


@build_command
def package_logs(
    work_unit: Annotated[str, option("--work-unit NAME", "whose logs are packaged")],
    to: Annotated[Path | None, option("--to FOLDER", "copies, in a new folder")],
    force: Annotated[bool, option("--force", "write into a folder that is not empty")],
    store: StoreOptions,
    as_json: AsJson,
) -> int:
    """Write a work unit's checkpoint, and copies of its logs to travel.

      twice asset package --work-unit TU-2026-01-31-IL01
      twice asset package --work-unit TU-2026-01-31-IL01 --to handover

    The checkpoint goes into the store, under checkpoints, and names every log with the digest of its text: from then on
    the gate turns an asset red whose log it does not name. --to writes sidecars, an index and the checkpoint into a new
    folder, with secrets blanked. Both are hot: they go to makers and gatekeepers, never to players. Assets, inputs and run records
    do not travel with them: whoever gets the folder puts each asset beside its log, and can then gate it. Rendering again
    needs the inputs at the paths of the recipe as well.

    Exit code 0 the gate passes what was packaged, 1 it blocks it, 2 it passes it on a condition, or wrong use. It is
    packaged all the same: a checkpoint says how things stand.
    """
    from twice.assets.store.package import package

    done = package(store.open(Path()), work_unit, os.environ, to=to, force=force)
    lines = [f"packaged: {pluralize(len(done.logs), 'log')}, {done.checkpoint}"]
    lines += [f"blanked in {name}: {', '.join(at)}" for name, at in done.blanked.items()]
    if to is not None:
        step = f"next: put each asset beside its log in {to}, then: twice asset gate {to}"
        lines.append(step)
    lines = [*map(printable, lines), done.report.to_text()]
    return tell(done.to_json(), lines, as_json=as_json, code=done.report.exit_code)
