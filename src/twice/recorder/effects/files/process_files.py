"""Files that a process wrote which a replay does not start: kept when it ends, put in place in its stead.

The program learns that a process has ended, and may read what it wrote from then on, in any language. So
that is the moment at which a replay finds the same files.

Not covered: what such a process wrote while the program had not yet learned that it ended.

Invariant: a file is put in place with the content that it had, or not at all.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from twice.recorder.effects import ops
from twice.recorder.kernel.confinement import current
from twice.recorder.kernel.content_store import ContentStore
from twice.recorder.kernel.file_state import ProcessFile

if TYPE_CHECKING:
    from twice.recorder.effects.files.filesystem import Files

_symlink, _utime, _chmod = os.symlink, os.utime, os.chmod
_NOT_CARRIED = "its content is not in the record"


class ProcessFiles:
    """What served processes leave, of one session.

    Args:
        files: the session's files.
    """

    def __init__(self, files: Files) -> None:
        self._files = files

    def process_ended(self, key: str, pid: int | None) -> None:
        """Note the files that a process left, or put them in place.

        Args:
            key: names the process in the record.
            pid: of the real one; None where it was served.
        """
        if self._files.policy == "none":
            return
        left = self._take(pid)
        layer = self._files.layer
        if layer.live:
            if left:
                layer.fact(ops.PROCESS_FILES, key, lambda: left, needed=False)
            return
        known, _ = layer.source.recorded(ops.PROCESS_FILES, key)
        if known:
            recorded: Any = layer.fact(ops.PROCESS_FILES, key, lambda: left, needed=False)
            for fields in recorded:
                self._put(ProcessFile.from_plain(fields))

    def _take(self, pid: int | None) -> tuple[Any, ...]:
        """Return the files that a real process left, in recorded form, and write their contents down."""
        if pid is None:
            return ()
        left, folder = current().take_process(pid)
        plain = []
        for each in left:
            if not self._files.governs(each.path):
                continue
            problem, state = each.problem, each.state
            if state.kind == "file" and not problem:
                path = ContentStore(folder).path(state.digest)
                if not self._files.contents.carry_file(path, state.digest, state.size):
                    problem = _NOT_CARRIED
            plain.append((self._files.places.named(each.path), state.to_plain(), problem))
        return tuple(plain)

    def _put(self, left: ProcessFile) -> None:
        """Put a file that the process left in its place."""
        overlay, kept = self._files.overlay, self._files.kept
        assert overlay is not None, "what is served is not put into the real tree"
        place, state = self._files.places.found(left.path), left.state
        if left.problem:
            return
        if state.kind == "folder":
            if not os.path.isdir(overlay.at(place)):  # noqa: PTH112
                overlay.make_folder(place)
        elif state.kind == "file":
            content = None if kept is None else kept.path(state.digest)
            if content is not None:
                overlay.remove(place)
                at = overlay.fill(place, content)
                _chmod(at, state.mode | 0o600)
                _utime(at, ns=(state.mtime_ns, state.mtime_ns))
        else:
            overlay.remove(place)
            if state.kind == "link":
                _symlink(state.target, overlay.make_file(place))
