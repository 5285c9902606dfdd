"""The files of one session: real while recording, over an overlay in every other execution.

Who records writes to the real place. Who replays, branches, traces, draws a sample or experiments does not: its writes
go to a folder that the process which started this one named, and removes when this one has ended. ``contents`` and
``writes`` hold the two halves, and this is what they share.

A file that a process wrote which a replay does not start is kept when the process ends, and put in place in its stead.
The program learns that a process has ended, and may read what it wrote from then on, in any language. So that is the
moment at which a replay finds the same files. Not covered: what such a process wrote while the program had not yet
learned that it ended.

Invariant: an execution that writes no record, or replays one, changes no file outside of its folder.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FrameType
from typing import Any, NoReturn

from twice.errors import EffectMismatch, FileNotRebuilt
from twice.foundation.digests import Algorithm
from twice.foundation.source_files import is_ours
from twice.recorder.effects import ops
from twice.recorder.effects.actors import OUTSIDE, asker_of, current
from twice.recorder.effects.files.carried_contents import CarriedContents
from twice.recorder.effects.files.contents import Contents
from twice.recorder.effects.files.overlay import Overlay, WorldTree
from twice.recorder.effects.files.places import WRAPPERS, Caller, Places, is_imported
from twice.recorder.effects.files.writes import Writes
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.kernel import confinement
from twice.recorder.kernel.content_store import ContentStore
from twice.recorder.kernel.file_policies import Policy, PolicyRow
from twice.recorder.kernel.file_state import ProcessFile, closing_descriptor
from twice.recorder.kernel.paths import is_link, leads_to_folder
from twice.recorder.program import PathNames

_PROVER = f"{os.sep}interception.py"
_symlink, _utime, _chmod = os.symlink, os.utime, os.chmod
_open, _fstat, _pread, _write = os.open, os.fstat, os.pread, os.write
_PIECE_BYTES = 1 << 20
_NOT_CARRIED = "its content is not in the record"


class Files:
    """Files of one session.

    A recording writes to real files: of a world, where it is an experiment in one. Everything else, and an experiment
    without a world, writes to an overlay in the folder ``scratch``, or in one of its own. ``contents`` opens what the
    record carries. ``was_supervised`` says whether the record that is replayed knows what any code did to files.

    Attributes:
        overlay: where writes go, or None when they are real.
        carried: contents that the record carries.
        resumed: whether this execution began at a snapshot, without the files written before it.
        is_compared_below: whether what the run leaves is compared by its keeper, whoever wrote it.
    """

    name = "files"

    def __init__(
        self,
        layer: EffectLayer,
        placing: PathNames,
        *,
        policy: Policy = "digest",
        file_policies: Sequence[PolicyRow] = (),
        algorithm: Algorithm = Algorithm.BLAKE3,
        contents: Callable[[], Iterable[bytes]] = tuple,
        scratch: str = "",
        resumed: bool = False,
        was_supervised: bool = False,
    ) -> None:
        around = confinement.current()
        self.overlay: Overlay | None = None
        if not (layer.live and layer.writes) or around.is_experiment:
            if not scratch:
                scratch = os.path.realpath(tempfile.mkdtemp(prefix="twice-"))
                atexit.register(shutil.rmtree, scratch, ignore_errors=True)
            folder = f"{scratch}/{os.getpid()}"
            self.overlay = WorldTree(folder) if around.is_world else Overlay(folder)
        self.layer, self.policy, self.algorithm = layer, policy, algorithm
        self.file_policies = file_policies
        self.places = Places(placing, self.overlay)
        self.carried = CarriedContents(tuple, "")
        if self.overlay is not None:
            self.carried = CarriedContents(contents, self.overlay.kept)
        self.resumed = resumed and self.overlay is not None
        self.is_compared_below = around.is_world and was_supervised and not layer.writes
        self.contents, self.writes = Contents(self), Writes(self)
        layer.parts.append(self)
        layer.descriptor_given.append(self.writes.share_descriptor)
        layer.process_ended.append(self._end_process)

    # -- as a part of the layer -----------------------------------------------------------------

    def state(self) -> dict[str, object]:
        """Return nothing: a snapshot contains no files."""
        return {}

    def restore(self, state: Mapping[str, object]) -> None:
        """Restore nothing: files that a run wrote stay written."""

    def has_written(self, path: str) -> bool:
        """Return whether the run wrote this file through Python."""
        return self.writes.has_written(path)

    def finish(self) -> None:
        """Name the files that the run leaves behind, with those of processes that it did not wait for."""
        for end_process in [*self.layer.running.values()]:
            end_process()
        self.writes.end()

    # -- who asks, and where --------------------------------------------------------------------

    def caller(self, frame: FrameType) -> Caller | None:
        """Return on whose behalf code asks; None for code outside the run: twice's, a declared effect's."""
        layer = self.layer
        if not layer.active or current() is OUTSIDE:
            return None
        asker = asker_of(frame, WRAPPERS)
        name = asker.co_filename
        if is_ours(name) and not (layer.probing and name.endswith(_PROVER)):
            return None
        if layer.is_strict(asker):
            return Caller.PROGRAM
        if not is_imported(frame, layer):
            return Caller.LIBRARY
        return None if self.overlay is None else Caller.SETUP

    def at(self, place: str) -> str:
        """Return the path that a place leads to in this execution."""
        return place if self.overlay is None else self.overlay.at(place)

    def target(self, place: str) -> str:
        """Return the path of the file that a place leads to, through links that this execution made."""
        if self.overlay is None or not self.overlay.upper:
            return place  # the system follows them
        at = self.overlay.at(place)
        return self.overlay.at(self.overlay.follow(place)) if is_link(at) else at

    def governs(self, place: str) -> bool:
        """Return whether reading or changing this place is an effect of the run."""
        return self.layer.probing or self.places.is_input(place)

    def is_silent(self, caller: Caller) -> bool:
        """Return whether nothing is recorded or compared: by policy, or for a library's set-up."""
        return caller is Caller.SETUP or self.is_left_out()

    def is_left_out(self) -> bool:
        """Return whether files are no part of this recording, by policy."""
        return self.policy == "none" and not self.layer.probing

    def is_watched(self) -> bool:
        """Return whether a keeper digests at the end what the run leaves."""
        return self.is_compared_below or confinement.current().is_watching

    # -- errors ---------------------------------------------------------------------------------

    def report_difference(
        self, recorded: str, asked: str, *, is_rewritten: bool = False
    ) -> NoReturn:
        """Raise the error for a file that differs from the record; it may be one that the run wrote as long as it was."""
        self._raise(
            EffectMismatch(
                f"The run has {asked}; the record holds {recorded}.",
                "Expected every file to hold what it held.",
                "Put it back as it was; to carry contents in the record: twice record --files contents",
                recorded=recorded,
                asked=asked,
                is_rewritten=is_rewritten,
            )
        )

    def refuse(self, name: str) -> NoReturn:
        """Raise the error for a file that this execution lacks through no fault of the program."""
        self._raise(
            FileNotRebuilt(
                f"{name} is read, and was written before the snapshot that this execution began at.",
                "Expected a file that this execution wrote itself: a snapshot holds no files.",
                "Verify the run from its start: twice verify RECORD",
                name=name,
                recorded=f"files.read({name!r}), as the run itself had written it",
                asked=f"files.read({name!r}), which a snapshot does not hold",
            )
        )

    def _raise(self, error: EffectMismatch) -> NoReturn:
        (self.layer.actor() or self.layer.main).source.unfit(error)
        raise error

    # -- files of processes that a replay does not start ----------------------------------------

    def _end_process(self, key: str, pid: int | None, given: Mapping[str, int]) -> None:
        """Note the files that a process left, or put them in place of one that is served and has no pid.

        ``given`` are files that it wrote by descriptors of the program's, with their sizes when it started.
        """
        if self.policy == "none":
            return
        left = () if pid is None else self._take_files(pid, given)
        layer = self.layer
        if layer.live:
            if left:
                layer.fact(ops.PROCESS_FILES, key, lambda: left, needed=False)
            return
        known, _ = layer.source.recorded(ops.PROCESS_FILES, key)
        if known:
            recorded: Any = layer.fact(ops.PROCESS_FILES, key, lambda: left, needed=False)
            for fields in recorded:
                self._put_file(ProcessFile.from_plain(fields), given)

    def _take_files(self, pid: int, given: Mapping[str, int]) -> tuple[Any, ...]:
        """Return the files that a real process left, in recorded form, and write their contents down."""
        left, folder = confinement.current().take_process(pid, given)
        plain = []
        for each in left:
            if not self.governs(each.path):
                continue
            problem, state = each.problem, each.state
            if state.kind == "file" and not problem:
                path = ContentStore(folder).path(state.digest)
                if not self.contents.carry_file(path, state.digest, state.size):
                    problem = _NOT_CARRIED
            plain.append((self.places.to_recorded(each.path), state.to_plain(), problem))
        return tuple(plain)

    def _put_file(self, left: ProcessFile, given: Mapping[str, int]) -> None:
        """Put a file that the process left in its place: with the content that it had, or not at all."""
        overlay = self.overlay
        assert overlay is not None, "what is served is not put into the real tree"
        place, state = self.places.to_local(left.path), left.state
        if left.problem:
            return
        if state.kind == "folder":
            if not leads_to_folder(overlay.at(place)):
                overlay.make_folder(place)
        elif state.kind == "file":
            if (content := self.carried.path(state.digest)) is not None:
                at = overlay.at(place)
                if (start := given.get(at)) is not None:
                    _append(at, content, start)
                    return
                overlay.remove(place)
                at = overlay.fill(place, content)
                _chmod(at, state.mode | 0o600)
                _utime(at, ns=(state.mtime_ns, state.mtime_ns))
        else:
            overlay.remove(place)
            if state.kind == "link":
                _symlink(state.target, overlay.make_file(place))


def _append(path: str, content: str, start: int) -> None:
    """Add what follows in a content to the file that has its beginning, unless the program wrote more meanwhile.

    The beginning is the program's own work, which a replay makes again and compares.
    """
    with (
        closing_descriptor(_open(path, os.O_WRONLY | os.O_APPEND)) as target,
        closing_descriptor(_open(content, os.O_RDONLY)) as source,
    ):
        if _fstat(target).st_size != start:
            return
        while piece := _pread(source, _PIECE_BYTES, start):
            start += _write(target, piece)
