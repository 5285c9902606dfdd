"""The folder beside a branch's record in which its process writes, until the branch has come to its end.

A branch runs in a copy of the files. What lasts of it is written here, to the real disk: its record, and
the files that it left, which go beside the record.

Invariant: nothing stands at the branch's path before its process has ended well, and nothing of the folder
is left behind.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from twice.errors import OutputExists, OutputUnwritable
from twice.recording.record.sink import unwritable
from twice.recording.recorder import aside_folder


class BranchFolder:
    """A folder for one branch.

    Args:
        out: path of the branch's record.
        force: whether older files beside it may be replaced.

    Raises:
        OutputExists: E-OUTPUT-001, when older files stand beside it.
        OutputUnwritable: E-OUTPUT-002, when the folder takes no files.

    Attributes:
        path: the folder.
        record: where the process writes the branch's record.
        files: the folder into which its files are copied.
    """

    def __init__(self, out: Path, *, force: bool) -> None:
        self._out = out.absolute()
        self._beside = self._out.with_name(f"{out.name}.files")
        if os.path.lexists(self._beside) and not force:  # exists() raises where a name is too long
            raise OutputExists(
                f"{self._beside} is there already: files of an older branch.",
                "Expected a path that is free, for the files that this branch writes.",
                "Choose another record with -o, or replace both with --force (in Python: force=True).",
                path=str(self._beside),
            )
        self.path = aside_folder(self._out)
        self.record, self.files = self.path / "branch.twice", self.path / "files"
        self.files.mkdir()

    def publish(self) -> None:
        """Put the record at its path, and the files beside it, if there are any.

        Raises:
            OutputUnwritable: E-OUTPUT-002, when the path does not take it.
        """
        try:
            # Files first: a record that stands there without its files would claim that there were none.
            if any(self.files.iterdir()):
                if self._beside.exists():
                    shutil.rmtree(self._beside)
                self.files.replace(self._beside)
            self.record.replace(self._out)
        except OSError as error:
            raise unwritable(self._out, error) from error
        finally:
            self.discard()

    def discard(self) -> None:
        """Remove the folder and what is in it."""
        shutil.rmtree(self.path, ignore_errors=True)


def require_folder(out: Path) -> None:
    """Refuse a path whose folder is not there.

    Raises:
        OutputUnwritable: E-OUTPUT-002.
    """
    if not out.absolute().parent.is_dir():
        raise OutputUnwritable(
            f"There is no folder {out.absolute().parent}.",
            "Expected a folder that takes files.",
            "Make it, or choose another with -o.",
        )
