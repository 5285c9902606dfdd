"""Moments of a training in its own process: what its state is each time that a step, an epoch or a rollout begins.

A training that was resumed begins in the middle. Its first moment is compared with the same moment of the run that was
never stopped, and counting from the end finds that: both make the same steps from there on.

The integrations know the moments of their libraries and the objects that hold the state. Nothing below imports them:
they are loaded by name once their library is there, as numpy is: this process has one thread when it enters its world.

Invariant: without a wanted moment nothing of the training is read but its steps.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from threading import get_ident
from types import FrameType, ModuleType
from typing import Any, Final

from twice.diagnosis.resume.file_log import FileLog
from twice.diagnosis.resume.loops import Loop, LoopWatch, find_loop
from twice.errors import TwiceError
from twice.foundation.digests import digest_bytes
from twice.foundation.encoding import decode, encode
from twice.recorder.effects.actors import outside
from twice.recorder.imports import ImportWatch

STEP: Final = "step"
"""The kind that is counted and never taken: a step that is done."""
VARIABLE: Final = "variable "
"""Begins the name of a part that is a variable of the user's code."""
NAN: Final = ", with NaN"
END: Final = "end"
"""The kind of the last moment, when the program has ended."""
WATCHED: Final = {
    "torch.nn.modules.module": "twice.integrations.training.torch_moments",
    "torch.optim.optimizer": "twice.integrations.training.torch_moments",
    "torch.utils.data.dataloader": "twice.integrations.training.torch_moments",
    "stable_baselines3.common.on_policy_algorithm": "twice.integrations.training.sb3_moments",
    "stable_baselines3.common.off_policy_algorithm": "twice.integrations.training.sb3_moments",
    "xgboost.core": "twice.integrations.training.boosting_moments",
    "lightgbm.basic": "twice.integrations.training.boosting_moments",
}
"""Module of a library -> module that tells of its moments: ``watch(moments, module)``."""
_LIVE: Final = "twice.integrations.training.live"
_TAKEN: Final = "moments.jsonl"
_SHOWN_MAX: Final = 60
_DEPTH_MAX: Final = 3


class Moments:
    """Counts the moments of one process, and writes down the state at those that are wanted.

    Args:
        folder: of the trial, for what is written.
        program_folder: the program's.
        wanted: numbers of moments by kind, from 0; None for the first of each kind.
        loop: whose rounds are moments from the beginning; None for those of its writes, each from its first on.
        puts: names of parts whose states are put back at the first moment of the kind that ``states`` is named after.
        states: folder with the states of one moment, one file for each part; empty for none.
        keeps: whether states are written below it instead, by moment.
    """

    def __init__(
        self,
        folder: Path,
        program_folder: Path,
        wanted: Mapping[str, Iterable[int]] | None,
        *,
        loop: Loop | None = None,
        puts: Iterable[str] = (),
        states: str = "",
        keeps: bool = False,
    ) -> None:
        self._folder = folder
        self._wanted = (
            None if wanted is None else {kind: {*those} for kind, those in wanted.items()}
        )
        self._puts, self._states, self._keeps = [*puts], Path(states) if states else None, keeps
        self._thread, self._process = get_ident(), os.getpid()
        self.counts: dict[str, int] = {}
        self.files: FileLog | None = None
        self.program_folder = program_folder
        self.loops = LoopWatch(program_folder, self._tell_round)
        self._given_loop = loop
        self._watch = ImportWatch(dict.fromkeys(WATCHED, self._begin))
        self._is_taking = False
        self._held: dict[int, object] = {}

    def begin(self) -> None:
        """Watch the libraries of the program."""
        self._watch.install()
        if self._given_loop is not None:
            self.loops.start(self._given_loop)

    def end(self) -> None:
        """Take the last moment, and watch no longer."""
        self.loops.stop()
        self._watch.remove()
        self._is_taking = True
        if self._held:
            find = import_module(_LIVE).find_parts_of
            outside(self._write_down, END, 0, find(self._held.values()), {})

    def counts_here(self) -> bool:
        """Return whether the caller is the training: its process, its thread, and no look at its state."""
        here = (os.getpid(), get_ident())
        return here == (self._process, self._thread) and not self._is_taking

    def begin_write(self, frame: FrameType) -> Loop | None:
        """Follow the loop of the user's in which the program begins to write, and return it."""
        found = find_loop(frame, self.program_folder)
        if found is not None and self._given_loop is None:
            self.loops.start(found, frame)
        return found

    def _tell_round(self, kind: str, frame: FrameType) -> None:
        if self.counts_here():
            self.reach(kind, frame=frame)

    def count_steps(self) -> int:
        """Return the steps that are done."""
        return self.counts.get(STEP, 0)

    def step(self, holder: object) -> None:
        """Count a step that is done; its ``holder`` has what it moved, and is looked at again at the end."""
        self._held.setdefault(id(holder), holder)
        self._look_at_files()
        self.counts[STEP] = self.counts.get(STEP, 0) + 1

    def reach(
        self,
        kind: str,
        given: Callable[[], Mapping[str, object]] = dict,
        frame: FrameType | None = None,
    ) -> None:
        """Tell of a moment.

        Args:
            kind: such as ``forward``.
            given: returns what a wanted moment is given besides the state, such as a batch: plain trees by name.
            frame: of the user's loop.
        """
        self._look_at_files()
        number = self.counts.get(kind, 0)
        self.counts[kind] = number + 1
        wanted = {0} if self._wanted is None else self._wanted.get(kind, ())
        if number in wanted:
            self._is_taking = True
            try:
                outside(self._take, kind, number, given(), frame or sys._getframe(1), frame)
            finally:
                self._is_taking = False

    def _look_at_files(self) -> None:
        if self.files is not None:
            self.files.look()

    def _begin(self, module: ModuleType) -> None:
        import_module(WATCHED[module.__name__]).watch(self, module)

    def _take(
        self,
        kind: str,
        number: int,
        given: Mapping[str, object],
        frame: FrameType,
        loop: FrameType | None,
    ) -> None:
        parts = import_module(_LIVE).find_parts_of_training(frame)
        parts |= _find_variables(loop) if loop is not None else {}
        if (
            self._puts
            and self._states is not None
            and self._states.name.startswith(name_moment(kind, ""))
        ):
            for name in self._puts:
                if name in parts:
                    parts[name].write(decode((self._states / _to_file(name)).read_bytes()))
        self._write_down(kind, number, parts, given)

    def _write_down(
        self,
        kind: str,
        number: int,
        parts: Mapping[str, Any],
        given: Mapping[str, object],
    ) -> None:
        fields: dict[str, dict[str, list[str]]] = {}
        for name, part in parts.items():
            try:
                tree = part.read()
                # What is within a generator is nobody's field.
                is_whole = type(part).__name__.endswith("GeneratorPart")
                leaves = [("", tree)] if is_whole else _list_leaves(tree)
                fields[name] = {path: _describe(leaf) for path, leaf in leaves}
                if self._keeps and self._states is not None and kind != END:
                    place = self._states / name_moment(kind, number)
                    place.mkdir(parents=True, exist_ok=True)
                    (place / _to_file(name)).write_bytes(encode(tree))
            except TwiceError as error:
                fields[name] = {"": ["", f"not read: {error.happened}"]}
        moment = {
            "kind": kind,
            "number": number,
            "counts": dict(self.counts),
            "fields": fields,
            "given": {
                name: {path: _describe(leaf) for path, leaf in _list_leaves(value)}
                for name, value in given.items()
            },
            "printed": _count_printed(),
        }
        with (self._folder / _TAKEN).open("a", encoding="utf-8") as file:
            file.write(json.dumps(moment) + "\n")


def name_moment(kind: str, number: object) -> str:
    """Return the name of a moment, as a folder may have it."""
    return f"{kind}-{number}".replace("/", "_")


def read_moments(folder: Path) -> list[dict[str, Any]]:
    """Return the moments that a process wrote down, in their order."""
    path = folder / _TAKEN
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _to_file(name: str) -> str:
    return str(digest_bytes(name.encode()))[-32:]


def _list_leaves(tree: object, path: str = "") -> Iterable[tuple[str, object]]:
    """Yield the leaves of a plain tree by path, such as ``state.0.exp_avg``."""
    if isinstance(tree, Mapping) and tree:
        for key, value in tree.items():
            yield from _list_leaves(value, f"{path}.{key}" if path else str(key))
    elif isinstance(tree, list | tuple) and tree and any(map(_has_parts, tree)):
        for number, value in enumerate(tree):
            yield from _list_leaves(value, f"{path}.{number}" if path else str(number))
    else:
        yield path, tree


def _has_parts(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple) or hasattr(value, "shape")


def _describe(leaf: object) -> list[str]:
    """Return a leaf's digest, and how it is shown."""
    data = encode(leaf)
    shape = getattr(leaf, "shape", None)
    shown = f"array {[*shape]}{_mark_nan(leaf)}" if shape is not None else repr(leaf)
    return [str(digest_bytes(data)), shown[:_SHOWN_MAX]]


class _Variable:
    """A plain variable of the loop's function or its module, as a part."""

    def __init__(self, scope: Any, name: str) -> None:
        self._scope, self._name = scope, name

    def read(self) -> object:
        return self._scope[self._name]

    def write(self, state: object) -> None:
        self._scope[self._name] = state


def _mark_nan(array: Any) -> str:
    return NAN if array.dtype.kind in "fc" and sys.modules["numpy"].isnan(array).any() else ""


def _find_variables(frame: FrameType) -> dict[str, Any]:
    """Return the plain variables of a traced function and its module; what is put into them stays there."""
    found: dict[str, Any] = {}
    for scope in (frame.f_locals, frame.f_globals):
        for name, value in [*scope.items()]:
            if not name.startswith("__") and _is_plain(value):
                found.setdefault(f"{VARIABLE}{name}", _Variable(scope, name))
    return found


def _is_plain(value: Any, depth: int = 0) -> bool:
    if isinstance(value, bool | int | float | str | bytes | type(None)):
        return True
    if isinstance(value, sys.modules["numpy"].ndarray):
        return bool(value.dtype.kind in "fiub")
    if depth == _DEPTH_MAX or type(value) not in {list, tuple, dict}:
        return False
    items = [*value, *value.values()] if type(value) is dict else value
    return all(_is_plain(item, depth + 1) for item in items)


def _count_printed() -> int:
    """Return how many bytes the program has printed to its standard output, which is a file."""
    try:
        sys.stdout.flush()
        return os.fstat(1).st_size
    except (AttributeError, OSError, ValueError):
        return 0
