"""Put the files of a session together: real while recording, over an overlay in every other execution.

Who records writes to the real place. Who replays, branches, traces, draws a sample or experiments does not: its writes go
to a folder that the process which started this one named, and removes when this one has ended.

Invariant: an execution that writes no record, or replays one, changes no file outside of its folder.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence

from twice.foundation.digests import Algorithm
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.files.kept import Kept
from twice.recorder.effects.files.overlay import Overlay
from twice.recorder.effects.files.policies import Policy
from twice.recorder.effects.files.world_tree import WorldTree
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.kernel.confinement import current
from twice.recorder.kernel.file_policies import PolicyRow
from twice.recorder.program import PathNames


def files_of_session(
    layer: EffectLayer,
    placing: PathNames,
    *,
    policy: Policy,
    file_policies: Sequence[PolicyRow],
    algorithm: Algorithm,
    contents: Callable[[], Iterable[bytes]],
    scratch: str,
    resumed: bool,
    was_supervised: bool,
) -> Files:
    """Build the files of one session.

    A recording writes to real files: of a world, where it is an experiment in one. Without a world, an experiment
    writes to the folder.

    Args:
        layer: the layer that governs.
        placing: names paths as the record keeps them.
        policy: what is recorded of contents.
        file_policies: files that are compared less closely.
        algorithm: of the digests.
        contents: opens what the record carries.
        scratch: folder for the overlay, or "" where nobody named one.
        resumed: whether this execution begins at a snapshot.
        was_supervised: whether the record that is replayed knows what any code did to files.
    """
    if layer.live and layer.writes and not current().is_experiment:
        return Files(
            layer, placing, policy=policy, file_policies=file_policies, algorithm=algorithm
        )
    folder = f"{scratch or _own_scratch()}/{os.getpid()}"
    overlay = WorldTree(folder) if current().is_world else Overlay(folder)
    kept = Kept(contents, overlay.kept)
    return Files(
        layer,
        placing,
        policy=policy,
        file_policies=file_policies,
        algorithm=algorithm,
        overlay=overlay,
        kept=kept,
        resumed=resumed,
        is_compared_below=current().is_world and was_supervised and not layer.writes,
    )


def _own_scratch() -> str:
    folder = os.path.realpath(tempfile.mkdtemp(prefix="twice-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
