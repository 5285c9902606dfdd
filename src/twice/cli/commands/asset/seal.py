"""Measure an asset, and put its determinism log beside it.

  twice asset seal hot/cover.png --log cover.json
  twice asset seal hot/cover.png --log cover.json --set promise.grade=payload --declared-by "the studio"
  twice asset seal hot/cover.png --log cover.json --revise

DRAFT is JSON: as much of a log as is known; twice asset show --draft art prints one to fill in, and
what nobody filled in counts as missing. Hashes, payload, size
and figures are measured from the file and put in. The log goes beside the asset as ID.detlog.json, and into the
store's index. Secrets in it (keys, tokens, passwords) are blanked. --embed id writes log id and payload digest into
the asset itself (PNG, WAV, FLAC), --embed log the whole log: the payload stays, the file's bytes change.

Exit code 0 it is sealed, 2 it is refused. Whether the log is complete is for twice asset gate.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import click

from twice.assets.model.drafting import without_wanted
from twice.assets.model.text import parse, read_bytes
from twice.assets.store.sealing import Sealed, Sealing, joined, seal
from twice.cli.commands.asset.hot_store import StoreOptions, read_clock, store_options
from twice.cli.commands.asset.log_values import add_settings, settings_option, who_option
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option
from twice.cli.output import tell
from twice.errors import UsageError
from twice.foundation.printable import printable


@make_command(
    click.argument("asset", type=PATH),
    click.option("--log", "draft", type=PATH, metavar="DRAFT", help="what is known, as JSON"),
    settings_option,
    click.option(
        "--id", "log_id", metavar="ID", help="the log's id; made of name and payload by default"
    ),
    who_option,
    click.option(
        "--revise", is_flag=True, help="supersede the log of that id; the old one is kept"
    ),
    click.option(
        "--embed", type=click.Choice(["id", "log"]), help="what is written into the asset itself"
    ),
    click.option(
        "--force", is_flag=True, help="write over a log of that id; the old one is kept"
    ),
    store_options,
    json_option,
)  # fmt: skip
def command(
    asset: Path,
    draft: Path | None,
    settings: tuple[str, ...],
    log_id: str | None,
    who: str,
    revise: bool,
    embed: Literal["id", "log"] | None,
    force: bool,
    store: StoreOptions,
    as_json: bool,
) -> int:
    """Put file and options together, and seal it."""
    opened, now = store.open(asset), read_clock()
    document = add_settings({} if draft is None else _read_draft(draft), settings)
    if log_id is not None:
        document["log_id"] = log_id
    if who:
        said = {"level": "declared", "who": who, "when": now}
        document = joined({"evidence": {"": said}}, document)
    how = Sealing(
        created=now,
        nonce=os.urandom(16).hex(),
        revise=revise,
        embed=embed or "nothing",
        force=force,
        variables=os.environ,
    )
    sealed = seal(opened, asset, document, how)
    return tell(sealed.to_json(), map(printable, _lines(sealed, asset)), as_json=as_json)


def _read_draft(path: Path) -> dict[str, Any]:
    draft = without_wanted(parse(read_bytes(path), str(path)))
    if not isinstance(draft, dict):
        raise UsageError(
            f"{path} holds no JSON object.",
            "Expected a draft of a determinism log.",
            "Print one to fill in: twice asset show --draft art",
        )
    return draft


def _lines(sealed: Sealed, asset: Path) -> Iterator[str]:
    yield f"sealed: {sealed.path}, revision {sealed.log.revision}"
    yield from (f"blanked as a secret: {pointer}" for pointer in sealed.blanked)
    yield from (f"still missing: {each.pointer} ({each.words})" for each in sealed.missing)
    yield f"next: twice asset gate {asset}"
