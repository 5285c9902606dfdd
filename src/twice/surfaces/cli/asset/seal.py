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

import argparse
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from twice.assets.model.drafting import without_wanted
from twice.assets.model.text import parse, read_bytes
from twice.assets.store.sealing import Sealed, Sealing, joined, seal
from twice.errors import UsageError
from twice.foundation.printable import printable
from twice.surfaces.cli.asset.storing import add_store, store_of
from twice.surfaces.cli.showing import add_json, print_json


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("asset", type=Path, metavar="ASSET")
    parser.add_argument("--log", type=Path, metavar="DRAFT", help="what is known, as JSON")
    parser.add_argument(
        "--set", action="append", default=[], metavar="PATH=VALUE",
        help="one more value, such as art.steps=20; JSON where it is, else text; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--id", metavar="ID", help="the log's id; made of name and payload by default"
    )
    parser.add_argument(
        "--declared-by", metavar="WHO", help="who says what no other evidence speaks of"
    )
    parser.add_argument(
        "--revise", action="store_true", help="supersede the log of that id; the old one is kept"
    )
    parser.add_argument("--embed", choices=["id", "log"], default="nothing")
    parser.add_argument(
        "--force", action="store_true", help="write over a log of that id; the old one is kept"
    )
    add_store(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Seal it."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    how = Sealing(
        created=now,
        nonce=os.urandom(16).hex(),
        revise=options.revise,
        embed=options.embed,
        force=options.force,
        variables=os.environ,
    )
    store = store_of(options, options.asset)
    sealed = seal(store, options.asset, _draft(options, now), how)
    if options.json:
        print_json(_document(sealed))
        return 0
    print(printable(f"sealed: {sealed.path}, revision {sealed.log.revision}"))
    for pointer in sealed.blanked:
        print(printable(f"blanked as a secret: {pointer}"))
    for each in sealed.missing:
        print(printable(f"still missing: {each.pointer} ({each.words})"))
    print(printable(f"next: twice asset gate {options.asset}"))
    return 0


def _document(sealed: Sealed) -> dict[str, object]:
    return {
        "format": "twice.asset-seal/1",
        "log": str(sealed.path),
        "log_id": sealed.log.log_id,
        "revision": sealed.log.revision,
        "missing": [each.pointer for each in sealed.missing],
        "blanked": list(sealed.blanked),
    }


def _draft(options: argparse.Namespace, now: str) -> dict[str, Any]:
    """Put file and options together."""
    draft: Any = {}
    if options.log is not None:
        draft = without_wanted(parse(read_bytes(options.log), str(options.log)))
    if not isinstance(draft, dict):
        raise UsageError(
            f"{options.log} holds no JSON object.",
            "Expected a draft of a determinism log.",
            "Print one to fill in: twice asset show --draft art",
        )
    for each in options.set:
        draft = joined(draft, setting(each))
    if options.id is not None:
        draft = {**draft, "log_id": options.id}
    if options.declared_by is not None:
        said = {"level": "declared", "who": options.declared_by, "when": now}
        draft = joined({"evidence": {"": said}}, draft)
    return dict(draft)


def setting(text: str) -> dict[str, Any]:
    """Read ``PATH=VALUE`` as a part of a log; JSON where it is, else text.

    Raises:
        UsageError: E-USE-001: it is no setting.
    """
    path, equals, said = text.partition("=")
    steps = path.split(".")
    if not equals or not all(steps):
        raise UsageError(
            f"--set {text!r} is no setting.",
            "Expected PATH=VALUE, with dots between the names of the path.",
            "For example: --set art.steps=20",
        )
    try:
        value = json.loads(said)
    except ValueError:
        value = said
    for step in reversed(steps):
        value = {step: value}
    return dict(value)
