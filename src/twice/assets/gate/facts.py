"""What checks judge: everything that is seen of one asset, of its log, and of what its store keeps about both.

Invariant: nothing here looks at the disk.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from twice.assets.gate.report import GateRow, RowStatus, clip
from twice.assets.gate.run_values import RunValues
from twice.assets.importers.result import Imported
from twice.assets.log.io import Examined
from twice.assets.log.models import Asset, DeterminismLog

PRODUCER: Final = "producer"


@dataclass(frozen=True, slots=True)
class SeenFile:
    """What was seen of the file of an asset.

    Args:
        path: from the folder that was judged; not that of the log when the file was renamed.
        file_sha256: of its bytes.
        size_bytes: how long it is; None where nobody looked.
        media_type: by its first bytes; "" where nobody looked.
        methods: by which payloads of that type are digested.
        log_id: that the file itself carries; "" where it carries none.
        measured: the whole of it measured now, where that was asked for or the bytes changed.
        trouble: why it could not be measured.
    """

    path: str
    file_sha256: str
    size_bytes: int | None = None
    media_type: str = ""
    methods: tuple[str, ...] = ()
    log_id: str = ""
    measured: Asset | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class AssetFacts:
    """What was seen of one asset with its log.

    Args:
        name: path of the asset from the folder that was judged.
        log_path: path of the sidecar; "" where there is none.
        root: the folder that was judged, as it was named.
        latest: an instant that no date in a log can be after.
        trouble: why the sidecar could not be read.
        examined: the log, and what is wrong with its document.
        log_digest: of its canonical text; "" where neither checkpoint nor index names the log.
        seen: the file; None where it is not there.
        inputs: of the recipe's inputs by path: their sha256 now, or None where they are not there.
        copies: the inputs that have the asset's own pixels or samples, where files are measured.
        imports: of the files beside the log that evidence names, and of the asset itself, what each says.
        same: other logs about the same payload, or with the same id, each with which of the two.
        listed: its digest in the work unit's checkpoint, "" where it is not named; None without a checkpoint.
        elsewhere: other work units whose checkpoint names it.
        revisions: the digests of its revisions as the store sealed them, by number; None outside of a store, or where
            another log has its id.
        records: of the run records that evidence names and that are in the store: their sha256, and what they say.
        other_files: of each of them, what the files of the store say against it.
    """

    name: str
    log_path: str
    root: str = ""
    latest: str = "9999"
    trouble: str = ""
    examined: Examined = field(default_factory=lambda: Examined(DeterminismLog(), ()))
    log_digest: str = ""
    seen: SeenFile | None = None
    inputs: Mapping[str, str | None] = field(default_factory=dict)
    copies: Sequence[str] = ()
    imports: Mapping[str, Imported] = field(default_factory=dict)
    same: tuple[str, ...] = ()
    listed: str | None = None
    elsewhere: Sequence[str] = ()
    revisions: Mapping[int, str] | None = None
    records: Mapping[str, tuple[str, RunValues]] = field(default_factory=dict)
    other_files: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def log(self) -> DeterminismLog:
        """The log as far as it could be read."""
        return self.examined.log

    @property
    def own_name(self) -> str:
        """The name of the asset's file."""
        return self.log.get("/asset/file") or ""

    @property
    def owner(self) -> str:
        """The role that made the asset."""
        return self.log.get("/producer/role") or PRODUCER

    @property
    def sealing(self) -> str:
        """The command that seals the asset with a draft, as it is typed where the gate was."""
        return f"twice asset seal {shlex.quote(str(Path(self.root, self.name)))} --log"

    @property
    def sidecar(self) -> str:
        """The log's file, as it is typed where the gate was."""
        return shlex.quote(str(Path(self.root, self.log_path)))

    def judge(
        self, check: str, right: str, wrong: str, fix: str, status: RowStatus = RowStatus.RED
    ) -> GateRow:
        """Give a row that is green with what is right, unless something is wrong."""
        if not wrong:
            return GateRow(self.name, check, RowStatus.GREEN, clip(right))
        return GateRow(self.name, check, status, clip(wrong), clip(fix), self.owner)

    def green(self, check: str, right: str) -> GateRow:
        """Give a row that holds."""
        return self.judge(check, right, "", "")

    def red(self, check: str, wrong: str, fix: str) -> GateRow:
        """Give a row that does not."""
        return self.judge(check, "", wrong, fix)

    def yellow(self, check: str, wrong: str, fix: str) -> GateRow:
        """Give a row that holds under a condition."""
        return self.judge(check, "", wrong, fix, RowStatus.YELLOW)

    def is_faulty(self, pointer: str) -> bool:
        """Whether something at or below a pointer is missing or wrong, and has its own row."""
        return any(f"{each.pointer}/".startswith(f"{pointer}/") for each in self.examined.problems)
