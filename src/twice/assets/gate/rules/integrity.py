"""Rules on whether log and file belong together.

Invariant: of a log that cannot be read, or that has no file, one row says so and no other rule speaks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.gate.facts import Facts, faulty
from twice.assets.gate.row import Row
from twice.assets.media.payload import RETIRED_METHODS

CHECKS: Final = {
    "log-readable": "The sidecar is a determinism log of a format that is known.",
    "asset-present": "The file that the log is about is there.",
    "log-present": "The asset has a log.",
    "hash": "The file has the bytes that were sealed, or at least the payload.",
    "one-log": "No other log is about the same payload, or has the same id.",
    "sealed": "The log is the text that was sealed, by the store's index.",
    "revisions": "The revision that it supersedes is the one that was sealed before it.",
    "checkpoint": "The work unit's checkpoint names this revision of the log.",
}


def judge(facts: Facts) -> Iterator[Row]:
    """Judge one asset with its log."""
    asset = facts.log.asset
    if facts.seen is not None:
        yield from _hash(facts)
    elif asset is not None and asset.file is not None:
        yield facts.red(
            "asset-present",
            f"{facts.log_path} is about {asset.file}, which is not there",
            "put the file beside its log, or take the log out",
        )
    same = [f"{each} (same payload)" for each in facts.others]
    same += [f"{each} (same id)" for each in facts.same_id]
    if same:
        fix = "keep one, and revise it: twice asset seal ASSET --log DRAFT --revise"
        yield facts.red("one-log", f"also: {', '.join(same)}", fix)
    yield from _text(facts)
    yield from _checkpoint(facts)


def _text(facts: Facts) -> Iterator[Row]:
    """Judge whether anybody wrote over the log, or over what came before it, by hand."""
    if facts.indexed is not None and not facts.same_id and facts.indexed != facts.log_digest:
        fix = "seal what it says now: twice asset seal ASSET --log LOG --revise; or restore it"
        yield facts.yellow("sealed", "the log was edited since it was sealed", fix)
    if facts.broken:
        fix = "restore the log as it was sealed, or seal the asset under a new id: --id ID"
        yield facts.red("revisions", facts.broken, fix)


def _hash(facts: Facts) -> Iterator[Row]:
    asset, seen = facts.log.asset, facts.seen
    assert seen is not None, "asked of a file that is there"
    if asset is None or faulty(facts, "/asset/file_sha256") or faulty(facts, "/asset/payload"):
        return
    renamed = "" if seen.path == facts.name else f"; it is now {seen.path}"
    method = asset.payload.method if asset.payload else None
    if method in RETIRED_METHODS:
        fix = "seal it again: twice asset seal ASSET --log LOG --revise"
        same = "the same bytes" if seen.file_sha256 == asset.file_sha256 else "other bytes"
        row = facts.yellow if seen.file_sha256 == asset.file_sha256 else facts.red
        yield row("hash", f"{same}; {method} is no longer computed{renamed}", fix)
        return
    if seen.file_sha256 == asset.file_sha256:
        if renamed:
            fix = f"name it {facts.name.rpartition('/')[2]} again, or revise the log"
            yield facts.yellow("hash", f"the same bytes under another name{renamed}", fix)
        else:
            yield facts.green("hash", f"sha256 {seen.file_sha256[:12]}…")
        return
    if seen.trouble or seen.measured is None:
        why = seen.trouble or "it was not measured"
        fix = "render it again, or restore the file that was sealed"
        yield facts.red("hash", f"the bytes are others, and the payload cannot be told: {why}", fix)
        return
    if asset.payload == seen.measured.payload:
        fix = "seal it again: twice asset seal ASSET --log LOG --revise"
        yield facts.yellow("hash", f"other bytes, the same payload: tagged anew{renamed}", fix)
        return
    fix = (
        "restore the file that was sealed, or log the one that is there: twice asset seal --revise"
    )
    yield facts.red(
        "hash",
        f"sealed sha256 {(asset.file_sha256 or '')[:12]}…, found {seen.file_sha256[:12]}…; the payload "
        "is another one as well",
        fix,
    )


def _checkpoint(facts: Facts) -> Iterator[Row]:
    if facts.listed is None:
        return
    unit = facts.log.work_unit
    fix = f"twice asset package --work-unit {unit}"
    if not facts.listed:
        yield facts.red("checkpoint", f"the checkpoint of {unit} does not name the log", fix)
    elif facts.listed != facts.log_digest:
        yield facts.red("checkpoint", f"the checkpoint of {unit} names another revision", fix)
    else:
        yield facts.green("checkpoint", f"named by the checkpoint of {unit}")
