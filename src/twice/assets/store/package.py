"""A work unit's logs made ready to travel: the checkpoint that names them, and a folder with copies.

Nothing in it is for players: it goes where makers and gatekeepers are.

Invariant: what a package holds, its checkpoint names, under the digest of the very text in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from twice.assets.errors import StoreRefused
from twice.assets.gate.collector import collect_facts
from twice.assets.gate.gate import judge_facts
from twice.assets.gate.report import AssetGateReport
from twice.assets.log.io import canonical, examine, log_digest, read_log, sidecar_name, to_document
from twice.assets.store.checkpoint import checkpoint_path, format_checkpoint, to_text
from twice.assets.store.index import collect_entries
from twice.assets.store.seal import blank_secrets
from twice.assets.store.store import Store
from twice.errors import OutputExists
from twice.writing import make_folder, write


@dataclass(frozen=True, slots=True)
class Package:
    """What was packaged: the checkpoint's file, the copies' folder, log ids, pointers of what was blanked by log id."""

    checkpoint: Path
    folder: Path | None
    logs: tuple[str, ...]
    blanked: Mapping[str, list[str]]
    report: AssetGateReport

    def to_json(self) -> dict[str, object]:
        """Return it as ``twice asset package --json`` prints it."""
        return {
            "format": "twice.asset-package/1",
            "checkpoint": str(self.checkpoint),
            "folder": None if self.folder is None else str(self.folder),
            "logs": list(self.logs),
            "blanked": self.blanked,
            "gate": self.report.to_json(),
        }


def package(
    store: Store, work_unit: str, variables: Mapping[str, str], *, to: Path | None = None,
    force: bool = False,
) -> Package:  # fmt: skip
    """Write the checkpoint of a work unit, and ``to`` a folder its logs without secrets, their index and checkpoint.

    ``variables`` are the environment whose secrets are known.

    Raises:
        StoreRefused: E-ASSET-STORE-001, the store or the folder is public, or no log is of that unit.
        OutputExists: E-OUTPUT-001, the folder holds something, and ``force`` does not say to write into it.
        OutputUnwritable: E-OUTPUT-002, store or folder does not take it; the checkpoint stays as it was.
    """
    store.refuse_public()
    if to is not None:
        replace(store, root=to.resolve()).refuse_public()
        if to.is_dir() and any(to.iterdir()) and not force:
            raise OutputExists(
                f"{to} is there already, and holds something.",
                "Expected a folder that is new or empty.",
                "Name another one, or write into it: --force",
            )
    every = [
        (entry, read_log(store.root / entry.log, draft=True)) for entry in collect_entries(store)
    ]
    logs = [each for each in every if each[1].work_unit == work_unit]
    if not logs:
        raise StoreRefused(
            f"No log in {store.root} is of the work unit {work_unit!r}.",
            "Expected a work unit whose assets are sealed.",
            "See which there are: twice asset gate FOLDER",
        )
    digests = {entry.log_id: entry.log_digest for entry, _ in logs}
    facts = []
    for each in collect_facts(store.root):
        if each.log.work_unit == work_unit:  # Judged as with the checkpoint, which is written last.
            named = digests.get(each.log.log_id or "", "")
            facts.append(replace(each, listed=named, log_digest=each.log_digest or named))
    report = judge_facts(facts)
    results = {each.log.log_id: report.of(each.name).value for each in facts if each.log.log_id}
    path = checkpoint_path(store, work_unit)
    make_folder(path.parent)
    blanked: dict[str, list[str]] = {}
    if to is not None:
        make_folder(to)
        copied = []
        for entry, log in logs:
            document, pointers = blank_secrets(to_document(log), variables)
            clean, name = examine(document).log, sidecar_name(entry.log_id)
            write(to / name, canonical(clean))
            copied.append((replace(entry, log=name, log_digest=log_digest(clean)), clean))
            if pointers:
                blanked[entry.log_id] = pointers
        entries = [asdict(entry) for entry in sorted(entry for entry, _ in copied)]
        write(to / "index.json", to_text({"format": "twice.asset-index/1", "logs": entries}))
        write(to / path.name, format_checkpoint(work_unit, copied, results))
    write(path, format_checkpoint(work_unit, logs, results))
    return Package(path, to, tuple(sorted(each.log_id for each, _ in logs)), blanked, report)
