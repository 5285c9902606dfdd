"""Switches of a GPU's libraries: set right after the program imported the module, put back when its run ends.

``gpu_knobs.toml`` says of which module each is, and how it is set.

Not here: whether a switch still is as it was set (``numeric_guard``). Processes that the program starts set their own;
they inherit the variables alone.

Invariant: no module is imported to be set, besides what a library imports itself for that.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final

from twice.recorder.environment import knob_readers
from twice.recorder.environment.knobs import AS_FOUND, Knob, list_wanted
from twice.recorder.imports import ImportWatch

_VALUE: Final = "VALUE"
_CALL: Final = re.compile(r"(?P<path>[^()]+)\((?P<arguments>[^()]*)\)")
_PLAIN: Final[Mapping[str, bool | None]] = {"true": True, "false": False, "None": None}


class Switches:
    """The switches of one policy while a program runs under it.

    Attributes:
        held: what each knob of an imported module was set to, or had, where the policy keeps what it finds.
    """

    def __init__(self, policy: str) -> None:
        self.held: list[tuple[Knob, str]] = []
        self._found: list[tuple[Knob, str]] = []
        self._wanted: dict[str, list[tuple[Knob, str]]] = {}
        for knob, wanted in list_wanted(policy, "gpu"):
            self._wanted.setdefault(knob.module, []).append((knob, wanted))
        self._watch = ImportWatch(dict.fromkeys(self._wanted, self._set_all))

    def watch(self) -> None:
        """Set the switches of every module that is imported already, and of the others when they are."""
        self._watch.install()

    def restore(self) -> None:
        """Put back what the program's process had before; what cannot be switched off stays."""
        self._watch.remove()
        while self._found:
            knob, value = self._found.pop()
            if can_restore(knob):
                set_switch(knob, value)

    def _set_all(self, module: ModuleType) -> None:
        for knob, wanted in self._wanted[module.__name__]:
            found = next(iter(knob_readers.read(knob.read).values()), None)
            if found is None:  # a version of the library that lacks it
                continue
            self.held.append((knob, found if wanted == AS_FOUND else wanted))
            if knob.set:
                self._found.append((knob, found))
                set_switch(knob, wanted)


def can_restore(knob: Knob) -> bool:
    """Return whether a switch takes a value, and is not merely switched on."""
    return not knob.set.endswith("()")


def set_switch(knob: Knob, value: str) -> None:
    """Set a switch of a loaded module."""
    if knob.set in _SETTERS:
        _SETTERS[knob.set](value)
        return
    place, _, path = knob.set.partition(":")
    plain: Any = _PLAIN.get(value, value)
    owner: Any = sys.modules[place]
    call = _CALL.fullmatch(path)
    *parts, last = (call["path"] if call else path).split(".")
    for part in parts:
        owner = getattr(owner, part)
    if call is None:
        setattr(owner, last, plain)
        return
    arguments = [part.strip() for part in call["arguments"].split(",") if part.strip()]
    getattr(owner, last)(*(plain if part == _VALUE else part for part in arguments))


def _set_torch_determinism(value: str) -> None:
    torch = sys.modules["torch"]
    torch.use_deterministic_algorithms(value != "false", warn_only=value.startswith("warn_only"))


_SETTERS: Final[Mapping[str, Callable[[str], None]]] = {
    "torch deterministic algorithms": _set_torch_determinism,
}
