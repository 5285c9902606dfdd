"""What a run does with files, put together: where a place leads, what was read, what was written.

Recording, files are real. In every other execution what is written goes to an overlay, and nothing real is made,
changed or removed. ``contents`` and ``writes`` hold the two halves; this is what they share.

Not for: which functions of the standard library lead here (``opening``, ``asking``, ``changing``).

Invariant: a run's own files are known by place, in both modes by the same calls of the program.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import NoReturn

from twice.errors import EffectMismatch, FileNotRebuilt
from twice.foundation.digests import Algorithm
from twice.recorder.effects.actors import OUTSIDE, current
from twice.recorder.effects.files.askers import By
from twice.recorder.effects.files.changes import Changes
from twice.recorder.effects.files.contents import Contents
from twice.recorder.effects.files.kept import Kept
from twice.recorder.effects.files.overlay import WritableTree
from twice.recorder.effects.files.places import Places
from twice.recorder.effects.files.policies import Policy
from twice.recorder.effects.files.process_files import ProcessFiles
from twice.recorder.effects.files.writes import Writes
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.kernel.file_policies import PolicyRow
from twice.recorder.program import PathNames
from twice.recorder.user_code import is_ours

_PROVER = f"{os.sep}interception.py"


class Files:
    """Files of one session.

    Args:
        layer: the layer that governs.
        placing: names paths as the record keeps them.
        policy: what is recorded of contents.
        file_policies: files that are compared less closely.
        algorithm: of the digests.
        overlay: where writes go, or None when they are real.
        kept: contents that the record carries.
        resumed: whether this execution began at a snapshot, without the files written before it.
        is_compared_below: whether what the run leaves is compared by its keeper, whoever wrote it.
    """

    def __init__(
        self,
        layer: EffectLayer,
        placing: PathNames,
        *,
        policy: Policy = "digest",
        file_policies: Sequence[PolicyRow] = (),
        algorithm: Algorithm = Algorithm.BLAKE3,
        overlay: WritableTree | None = None,
        kept: Kept | None = None,
        resumed: bool = False,
        is_compared_below: bool = False,
    ) -> None:
        self.is_compared_below = is_compared_below
        self.layer, self.policy, self.overlay, self.resumed = layer, policy, overlay, resumed
        self.places = Places(placing, "" if overlay is None else overlay.upper)
        self.algorithm, self.kept, self.file_policies = algorithm, kept, file_policies
        self.contents = Contents(self)
        self.writes = Writes(self)
        self.changes = None if overlay is None else Changes(self, overlay)
        layer.parts.append(self)
        layer.descriptor_given.append(self.writes.handed_to_process)
        layer.process_ended.append(ProcessFiles(self).process_ended)

    name = "files"

    def state(self) -> dict[str, object]:
        """Return nothing: a snapshot contains no files."""
        return {}

    def restore(self, state: Mapping[str, object]) -> None:
        """Restore nothing: files that a run wrote stay written."""

    def read_written_files(self) -> dict[str, bytes]:
        """Return the present content of the files that this run wrote, by their names in the record."""
        return self.writes.read_contents_now()

    def has_written(self, path: str) -> bool:
        """Return whether the run wrote this file through Python."""
        return self.writes.has_written(path)

    def finish(self) -> None:
        """Name the files that the run leaves behind."""
        self.writes.end()

    def passes(self, asker: CodeType) -> bool:
        """Return whether this code's files are not the run's: twice's, a declared effect's, a child's."""
        if not self.layer.active or current() is OUTSIDE:
            return True
        name = asker.co_filename
        return is_ours(name) and not (self.layer.probing and name.endswith(_PROVER))

    def at(self, place: str) -> str:
        """Return the path that a place leads to in this execution."""
        return place if self.overlay is None else self.overlay.at(place)

    def governs(self, place: str) -> bool:
        """Return whether reading or changing this place is an effect of the run."""
        return self.layer.probing or self.places.is_input(place)

    def silent(self, by: By) -> bool:
        """Return whether nothing is recorded or compared: by policy, or for a library's set-up."""
        return by is By.SETUP or self.is_left_out()

    def is_left_out(self) -> bool:
        """Return whether files are no part of this recording, by policy."""
        return self.policy == "none" and not self.layer.probing

    def differs(self, recorded: str, asked: str) -> NoReturn:
        """Raise the error for a file that differs from the record.

        Raises:
            EffectMismatch: E-EFFECT-001.
        """
        error = EffectMismatch(
            f"The run has {asked}; the record holds {recorded}.",
            "Expected every file to hold what it held.",
            "Put it back as it was; to carry contents in the record: twice record --files contents",
            recorded=recorded,
            asked=asked,
        )
        (self.layer.actor() or self.layer.main).source.unfit(error)
        raise error

    def refuse(self, name: str) -> NoReturn:
        """Raise the error for a file that this execution lacks through no fault of the program.

        Raises:
            FileNotRebuilt: E-FILE-001.
        """
        error = FileNotRebuilt(
            f"{name} is read, and was written before the snapshot that this execution began at.",
            "Expected a file that this execution wrote itself: a snapshot holds no files.",
            "Verify the run from its start: twice verify RECORD",
            name=name,
            recorded=f"files.read({name!r}), as the run itself had written it",
            asked=f"files.read({name!r}), which a snapshot does not hold",
        )
        (self.layer.actor() or self.layer.main).source.unfit(error)
        raise error
