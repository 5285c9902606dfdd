"""The one call: a checkpoint of all parts of a training, and the position that it has reached.

The generators of the process (``random``, numpy's global one, those of torch) are parts of every checkpoint.

Not covered: what no target holds, such as a counter in a variable of the loop, and trainings of several processes that
write to one path.

Invariant: a path holds the checkpoint of the last ``save`` that returned, or the one before it; never a half of one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from twice.errors import (
    CheckpointDevice,
    CheckpointUnfit,
    CheckpointVersion,
    LoaderUnfit,
    StateNotANumber,
)
from twice.integrations.checkpoints.file import (
    CheckpointHeader,
    PartEntry,
    PartState,
    encode_checkpoint,
    read_states,
)
from twice.integrations.checkpoints.generator_parts import PROCESS, find_process_parts
from twice.integrations.checkpoints.parts import (
    Part,
    TargetPart,
    find_library_version,
    find_parts,
)
from twice.integrations.checkpoints.trees import find_nan
from twice.writing import write


@runtime_checkable
class EpochPart(Protocol):
    """A part that hands out the batches of a loader and knows how many it has handed out."""

    target: Any

    def iterate(self) -> Iterator[Any]:
        """Yield the rest of an epoch after a resume in the middle of it, else a whole one."""


class Checkpoint:
    """The state of a training in a file, from which it continues as if it had never stopped.

    Make all objects of the training first, then this, and call ``resume`` before the first step.

    Args:
        path: where the checkpoint is, or will be.
        allow_nan: whether a state with a NaN in it is written. Without it ``save`` refuses.
        **targets: the objects of the training by name, such as ``model=``, ``optimizer=``, ``loader=``; see
            ``find_parts``. They are read and written in place.

    Raises:
        CheckpointUnfit: E-CHECKPOINT-003: nothing is known of an object of this type, or its name is ``generators``.
    """

    def __init__(self, path: str | Path, /, *, allow_nan: bool = False, **targets: object) -> None:
        self.path = Path(path)
        self.parts: dict[str, Part] = {}
        self._allow_nan = allow_nan
        for name, target in targets.items():
            if name == PROCESS:
                raise CheckpointUnfit(
                    f"An object was passed as {PROCESS}=.",
                    "Expected another name: the generators of the process have this one.",
                    "Rename it.",
                )
            self.parts |= find_parts(name, target)

    def resume(self) -> int:
        """Put all parts back as they were saved.

        Everything is checked before the first part is written, but whether a state fits its object is found part by
        part: after ``CheckpointUnfit`` do not continue with these objects.

        Returns:
            The position that ``save`` was given; 0 where no file is at the path.

        Raises:
            CheckpointDamaged: E-CHECKPOINT-001: the file is not a checkpoint, or was cut or changed.
            CheckpointVersion: E-CHECKPOINT-002: another format, or other versions of Python or a part's library.
            CheckpointUnfit: E-CHECKPOINT-003: a part is missing, there is one too many, or a state does not fit.
            CheckpointDevice: E-CHECKPOINT-004: a part lay on another device.
            LoaderUnfit: E-CHECKPOINT-006: a loader has another number of workers, batch size or length.
        """
        # What a save left there when the process was killed in the middle of it.
        for path in self.path.parent.glob(f".{self.path.name}.{'[0-9a-f]' * 16}.new"):
            path.unlink(missing_ok=True)
        if not self.path.exists():
            return 0
        header, states = read_states(self.path)
        # Generators come last: to build or to load an object may draw.
        parts = self.parts | find_process_parts(frozenset(states))
        self._check_names(header, parts)
        self._check_versions(header, parts)
        for entry in header.entries:
            self._check_entry(entry, parts[entry.name])
        for name, part in parts.items():
            part.write(states[name])
        return header.position

    def save(self, position: int) -> None:
        """Write all parts, whole or not at all: a kill at any moment leaves this checkpoint or the one before.

        Args:
            position: how far the training is, for example its finished steps; 0 or more.

        Raises:
            StateNotANumber: E-CHECKPOINT-005: a NaN is in the named part, and ``allow_nan`` was not given. The file
                stays as it was.
            CheckpointUnfit: E-CHECKPOINT-003: a part holds a value that a checkpoint cannot hold, or the position is
                no number of steps.
            OutputUnwritable: E-OUTPUT-002: the folder or the disk does not take the file.
        """
        if type(position) is not int or position < 0:
            raise CheckpointUnfit(
                f"save() was given the position {position!r}.",
                "Expected a whole number of finished steps, 0 or more.",
                "Pass the number from which the loop continues.",
            )
        parts = self.parts | find_process_parts()
        states = []
        for name, part in parts.items():
            state = part.read()
            if not self._allow_nan and (place := find_nan(state, name)):
                raise StateNotANumber(
                    f"{place} holds a NaN at position {position}.",
                    "Expected numbers: a training does not recover from a NaN in its state.",
                    "Resume from the last checkpoint with another setting, or pass allow_nan=True to keep it.",
                    part=place,
                )
            states.append(PartState(name, _find_kind(part), _find_device(part), state))
        write(self.path, encode_checkpoint(position, _list_versions(parts.values()), states))
        for one in states:
            part = parts[one.name]
            if isinstance(part, TargetPart) and part.is_renewed:
                part.write(one.state)

    def batches(self, loader: Any) -> Iterator[Any]:
        """Yield the batches of an epoch; after a resume in the middle of one, those that are left of it.

        After a resume from a ``save`` behind the last batch, this is the next epoch. With the finished steps as the
        position, the loop is ``for epoch in range(position // len(loader), epochs)``.

        Args:
            loader: one of the targets.

        Raises:
            LoaderUnfit: E-CHECKPOINT-006: it is not one of the targets, or the batches before the position are
                other ones than before.
        """
        for part in self.parts.values():
            if isinstance(part, EpochPart) and part.target is loader:
                return part.iterate()
        raise LoaderUnfit(
            f"batches() was given a {type(loader).__qualname__} that is not a target of the checkpoint.",
            "Expected a loader that the checkpoint was made with.",
            "Pass it: Checkpoint(path, loader=loader, ...).",
        )

    def _check_names(self, header: CheckpointHeader, parts: dict[str, Part]) -> None:
        kept = {entry.name for entry in header.entries}
        missing, more = sorted(parts.keys() - kept), sorted(kept - parts.keys())
        if missing or more:
            raise CheckpointUnfit(
                f"{self.path} "
                + " and ".join(
                    [f"has no state of {', '.join(missing)}"] * bool(missing)
                    + [f"has a state of {', '.join(more)}, which the program does not pass"]
                    * bool(more)
                )
                + ".",
                f"Expected the same parts: {', '.join(sorted(parts))}.",
                "Pass the same objects under the same names as when it was written, or name another checkpoint file.",
                missing=missing,
                more=more,
            )

    def _check_versions(self, header: CheckpointHeader, parts: dict[str, Part]) -> None:
        for library, now in _list_versions(parts.values()).items():
            then = header.versions.get(library, "none")
            if then != now:
                raise CheckpointVersion(
                    f"{self.path} was written under {library} {then}, and this is {library} {now}.",
                    "Expected the same version: another one computes other bits, or reads the state differently.",
                    f"Install {library} {then}, or begin anew with another path.",
                    library=library,
                    then=then,
                    now=now,
                )

    def _check_entry(self, entry: PartEntry, part: Part) -> None:
        if entry.kind != _find_kind(part):
            raise CheckpointUnfit(
                f"{self.path} holds {entry.name} as a {entry.kind}, and the program passes a {_find_kind(part)}.",
                "Expected an object of the same class.",
                "Pass one, or name another checkpoint file.",
                part=entry.name,
            )
        if entry.device != _find_device(part):
            raise CheckpointDevice(
                f"{self.path} holds {entry.name} from {entry.device}, and the program has it on {_find_device(part)}.",
                "Expected the same kind of device: another one computes other bits.",
                f"Resume on {entry.device}, or begin anew with another path.",
                part=entry.name,
                then=entry.device,
                now=_find_device(part),
            )


def _find_kind(part: Part) -> str:
    return part.kind if isinstance(part, TargetPart) else type(part).__qualname__


def _find_device(part: Part) -> str:
    return part.device if isinstance(part, TargetPart) else ""


def _list_versions(parts: Any) -> Mapping[str, str]:
    """Return the versions of Python, without its last number, and of the libraries of parts."""
    libraries = {name for part in parts if isinstance(part, TargetPart) for name in part.libraries}
    versions = {"python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    return versions | {
        name: version for name in sorted(libraries) if (version := find_library_version(name))
    }
