"""Holds a run to its policies of numbers: asked when it begins, at its compare-points, and when a thread ends.

Modes of the floating-point unit and switches of libraries are read at every compare-point, and so are the variables of
a policy of the GPU: its libraries read them when they first use a device. What takes longer, threads and kernels of
every loaded library, is read when the run begins and ends, when a module has been imported since or torch has another
number of threads, and at every ``_CADENCE``-th point. A knob that moved stops the run at the next point, and the error
names it.

Where the run asks for it, torch's operations that may vary are listed by ``integrations/torch_operations``.

Not seen: a knob that moves and is put back between two points; the mode of a thread that C code started; switches in
processes that the program starts.

Invariant: a run that ends well had its policies in force wherever they were read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from threading import get_ident
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from twice.errors import NumericPolicyBroken
from twice.foundation.printable import pluralize
from twice.recorder.effects.actors import outside
from twice.recorder.imports import ImportWatch

if TYPE_CHECKING:
    from twice.recorder.environment.knobs import Axis, Knob, KnobReading
    from twice.recorder.environment.switches import Switches

_CADENCE: Final = 64
_NAMED_MAX: Final = 3
_AUDITS: Final[Mapping[str, str]] = {"torch": "twice.integrations.torch_operations"}
"""Module of a library -> module that lists its operations. Names, because nothing below imports an integration."""
_ENDS: Final = ("start", "end")


class NumericGuard:
    """The policies of one session; without one it holds nothing.

    Args:
        profile: of floating-point arithmetic; empty for none.
        gpu_policy: of computation on a GPU; empty for none.
        audits: whether operations that may vary are listed.
    """

    def __init__(self, profile: str, gpu_policy: str = "", *, audits: bool = False) -> None:
        named: tuple[tuple[Axis, str], ...] = (("float", profile), ("gpu", gpu_policy))
        self._policies = {axis: policy for axis, policy in named if policy}
        self._environ = dict(os.environ)
        self._modes: list[tuple[Knob, str]] = []
        self._variables: list[tuple[Knob, str]] = []
        self._switches: Switches | None = None
        self._count = 0
        self._seen: tuple[int, int] | None = None
        self._broken: NumericPolicyBroken | None = None
        self._last: list[KnobReading] = []
        self._thread = get_ident()
        self._audit: Any = None
        self._watch = ImportWatch(dict.fromkeys(_AUDITS if audits else (), self._begin_audit))
        self._audits = audits

    def begin(self, *, is_recording: bool) -> None:
        """Set the switches of loaded modules; refuse to begin where a knob does not hold: E-POLICY-002.

        A replay that was given other variables is an experiment of a diagnosis, and is not held.
        """
        if self._audits:
            outside(self._watch.install)
        if not self._policies:
            return
        from twice.recorder.environment.knobs import has_variables_of, list_wanted

        if not is_recording:
            self._policies = {
                axis: policy
                for axis, policy in self._policies.items()
                if has_variables_of(policy, self._environ, axis)
            }
        if profile := self._policies.get("float"):
            self._modes = list_wanted(profile)
        if policy := self._policies.get("gpu"):
            from twice.recorder.environment.switches import Switches

            self._variables = list_wanted(policy, "gpu", variable=True)
            self._switches = Switches(policy)
            outside(self._switches.watch)
        outside(self._judge, "when the run begins")
        self._stop()

    def at_point(self, tick: int, name: str) -> None:
        """Stop a run whose policies do not hold any more: E-POLICY-002."""
        if not self._policies:
            return
        self._count += 1
        where = f"at tick {tick}" if tick >= 0 else f"at the run's {name}"
        due = name in _ENDS or self._count % _CADENCE == 0 or outside(_look_quickly) != self._seen
        outside(self._judge if due else self._look, where)
        self._stop()

    def at_thread_end(self) -> None:
        """Look at the modes of a thread that ends; the next point stops the run where one does not hold."""
        if self._policies:
            outside(self._look, "in a thread that ended")

    def end(self) -> None:
        """Put the switches of libraries back, and stop to list operations."""
        self._watch.remove()
        if self._audit is not None:
            self._audit.end()
        if self._switches is not None:
            outside(self._switches.restore)
            self._switches = None

    def list_late(self) -> list[str]:
        """Return sentences on variables that the program set too late for their library."""
        changed = {
            name: value for name, value in os.environ.items() if self._environ.get(name) != value
        }
        if not changed:
            return []
        from twice.recorder.environment.knobs import judge_knobs

        return [
            f"the program set {row.name}={changed[row.name]}, without effect: {row.why}; "
            f"give it to the run: --env {row.name}={changed[row.name]}"
            for row in (*judge_knobs(changed), *judge_knobs(changed, axis="gpu"))
            if row.name in changed and row.holds is False
        ]

    def describe(self) -> Mapping[str, object]:
        """Return what a record keeps: policies, every knob as it was read last, and the operations that may vary."""
        rows = [row.to_json() for row in self._last]
        keys = {"float": "profile", "gpu": "gpu_policy"}
        named = {keys[axis]: policy for axis, policy in self._policies.items()}
        operations = {"operations": self._list_operations()} if self._audits else {}
        return {**named, **({"knobs": rows} if named else {}), **operations}

    def list_varying(self) -> list[str]:
        """Return sentences on the operations that nothing kept from varying, and on what was not listed."""
        if self._audits and self._audit is None and "torch" in sys.modules:
            return [
                "operations of torch are not listed: another thread than the main one imported it"
            ]
        varying = [one for one in self._list_operations() if not one["deterministic"]]
        if not varying:
            return []
        named = [
            f"{one['operation']} on {one['device']}, {pluralize(one['count'], 'call')} at {one['where']}"
            for one in varying[:_NAMED_MAX]
        ]
        more = [f"{len(varying) - _NAMED_MAX} more"] if len(varying) > _NAMED_MAX else []
        return [f"not deterministic, by PyTorch's own list: {'; '.join([*named, *more])}"]

    def _list_operations(self) -> list[dict[str, Any]]:
        return [] if self._audit is None else list(self._audit.describe())

    def _begin_audit(self, module: ModuleType) -> None:
        # A mode of torch's dispatcher belongs to a thread.
        if get_ident() == self._thread:
            self._audit = import_module(_AUDITS[module.__name__]).begin()

    def _look(self, where: str) -> None:
        from twice.recorder.environment.knob_readers import read
        from twice.recorder.environment.knobs import explain_value

        held = self._switches.held if self._switches is not None else ()
        # One setting of torch shows in several: which of them the program set, only the program tells.
        moved = [
            (knob, f"{value} ({place})", wanted)
            for knob, wanted in (*self._modes, *held)
            for place, value in read(knob.read).items()
            if value != wanted
        ]
        if moved:
            knob, value, wanted = moved[0]
            also = [f"{other.name} is {found}" for other, found, _ in moved[1:]]
            self._break(knob.axis, knob.name, value, wanted, where, also)
        for knob, wanted in self._variables:
            said = knob.part_of(os.environ.get(knob.name, ""))
            if not knob.permits(said, wanted):
                wrong = explain_value(knob, said) if said else ""
                shown = f"{said} ({wrong})" if wrong else said or "unset"
                self._break(knob.axis, knob.name, shown, wanted, where)

    def _judge(self, where: str) -> None:
        from twice.recorder.environment.gpu_device import describe_device, find_unknown_card
        from twice.recorder.environment.knobs import judge_knobs

        self._look(where)
        self._seen = _look_quickly()
        self._last = []
        for axis, policy in self._policies.items():
            rows = judge_knobs(self._environ, policy, axis)
            self._last += rows
            for row in rows:
                if row.holds is False:
                    shown = f"{row.read_back or row.wanted} ({row.why})"
                    self._break(axis, row.name, shown, row.wanted, where)
        if "gpu" in self._policies and (card := find_unknown_card(describe_device())):
            self._break(
                "gpu", card, "without a name or a capability", "a card that is known", where
            )

    def _break(
        self,
        axis: Axis,
        name: str,
        found: str,
        wanted: str | None,
        where: str,
        also: Sequence[str] = (),
    ) -> None:
        noun, option, command = _WORDS[axis]
        policy = self._policies[axis]
        self._broken = self._broken or NumericPolicyBroken(
            f"{name} is {found} {where}, and the {noun} {policy} wants {wanted or 'none'}."
            + (f" With it, {', '.join(also)}." if also else ""),
            f"Expected every knob as the {noun} promises it, from the run's begin to its end.",
            f"Leave {name} alone in the program, or record without {option}; see: {command}",
            knob=name,
            where=where,
            profile=policy,
        )

    def _stop(self) -> None:
        if self._broken is not None:
            raise self._broken


def _look_quickly() -> tuple[int, int]:
    """Return the number of loaded modules and of torch's threads, whose change asks for a whole look."""
    count = getattr(sys.modules.get("torch"), "get_num_threads", None)
    return len(sys.modules), 0 if count is None else count()


_WORDS: Final[Mapping[Axis, tuple[str, str, str]]] = {
    "float": ("profile", "--float-profile", "twice env --float"),
    "gpu": ("policy", "--gpu-policy", "twice env --gpu"),
}
