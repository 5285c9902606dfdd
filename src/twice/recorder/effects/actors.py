"""Lines of execution: whose read of the world it is.

Every read belongs to an actor: the main program, a thread, an asyncio task, a job in a pool. An
actor's key is its lineage, its parent's key and a counter of that parent (``main/thread:0/task:2``),
never an operating-system id or an address, so the same actor has the same key in every execution.
The actor travels in a context variable: a task inherits a context of its own, a thread and a job
are given one where they start.

Not for: the order in which actors run; that is the schedule's. Threads that C code starts have no
actor: their reads go to the world and are counted as ungoverned.

Invariant: the reads of one actor come in one order, whatever the others do.
"""

from __future__ import annotations

import contextvars
import re
from array import array
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, Literal

from twice.foundation.encoding import encode
from twice.recorder.effects.events import Waiting, little_endian
from twice.recorder.effects.ops import WITH_ARGUMENTS

if TYPE_CHECKING:
    from twice.recorder.effects.answers import Answers
    from twice.recorder.effects.layer import EffectLayer

_NUMBERS: Final = re.compile(r":\d+")
_LINEAGES_MAX: Final = 64
_CURRENT: contextvars.ContextVar[Actor | Outside | None] = contextvars.ContextVar(
    "actor", default=None
)
current = _CURRENT.get
"""The actor of the code that runs; one call, because every read of the clock makes it."""


def find_lineage(key: str) -> str:
    """Return an actor's key without numbers: actors that were started alike share it."""
    return _NUMBERS.sub("", key)


class Outside:
    """Stands for code whose reads are nobody's: inside a declared effect, in a forked child.

    It is false, so that ``current() or ...`` and the fast paths pass it by like None.
    """

    def __bool__(self) -> Literal[False]:
        return False

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a function whose reads go to the world and are not counted."""
        token = _CURRENT.set(self)
        try:
            return function(*args, **kwargs)
        finally:
            _CURRENT.reset(token)


OUTSIDE = Outside()
outside = OUTSIDE.run


class Actor:
    """One line of execution and the reads it made that are not written down yet.

    Attributes:
        key: its lineage.
        layer: the layer that governs it.
        source: where its strict reads are answered.
        waiting: strict reads that wait to be written.
        lenient: reads that the standard library made on its thread, that wait to be written.
        reads: strict reads handed over so far.
        children: how many actors of each kind it has started.
        futures: how many futures it was the first to hash.
        started: how many were started of each lineage without numbers (``main/task/task``), here and below.
        asked: operations asked since the question digest was last folded.
        arguments: their arguments.
        chain: digest of the questions before those.
        thread: identity of the thread on which it last began to wait.
    """

    __slots__ = (
        "arguments", "asked", "chain", "children", "futures", "key", "layer", "lenient", "reads",
        "source", "started", "thread", "waiting",
    )  # fmt: skip

    def __init__(self, key: str, layer: EffectLayer, source: Answers) -> None:
        self.key, self.layer, self.source = key, layer, source
        self.waiting, self.lenient = Waiting(), Waiting()
        self.reads = self.futures = 0
        self.children: dict[str, int] = {}
        self.started: dict[str, int] = {}
        self.asked = bytearray()
        self.arguments: list[object] = []
        self.chain = b""
        self.thread = get_ident()

    def child(self, kind: str) -> Actor:
        """Make the next actor of a kind that this one starts."""
        key = self.next_key(kind)
        made = Actor(key, self.layer, self.source.of(key))
        made.started = self.started
        return made

    def next_key(self, kind: str) -> str:
        """Return the key of the next thing of a kind that this actor starts, and count its lineage."""
        number = self.children.get(kind, 0)
        self.children[kind] = number + 1
        lineage = find_lineage(f"{self.key}/{kind}")
        if lineage in self.started or len(self.started) < _LINEAGES_MAX:
            self.started[lineage] = self.started.get(lineage, 0) + 1
        return f"{self.key}/{kind}:{number}"

    def note(self, number: int, value: object) -> None:
        """Keep a strict read until it is written down."""
        self._add(self.waiting, number, value)

    def note_lenient(self, number: int, value: object) -> None:
        """Keep a read by the standard library until it is written down.

        It is kept in one order with the others of this thread, whichever tasks it was made for: the library
        (an event loop) goes on from one to the next.
        """
        owner = self.layer.owners.find_owner(self)
        owner._add(owner.lenient, number, value)

    def _add(self, waiting: Waiting, number: int, value: object) -> None:
        if not waiting.runs:
            self.thread = get_ident()
            self.layer.begins_to_wait(self)
        waiting.add(number, value)
        if waiting.full:
            self.layer.hand_over(self)

    def fold(self, numbers: Sequence[int], values: Sequence[object]) -> None:
        """Count strict reads that are written down, and keep their questions."""
        self.reads += len(numbers)
        self.asked += little_endian(array("H", numbers))
        if not WITH_ARGUMENTS.isdisjoint(numbers):
            asked = zip(numbers, values, strict=True)
            self.arguments += [value[0] for number, value in asked if number in WITH_ARGUMENTS]  # type: ignore[index]

    def folded(self, short: Callable[[bytes], bytes]) -> bytes:
        """Digest of every question so far.

        Folded here and never while reading: when reads are handed over must not show.
        """
        if self.asked:
            arguments = encode(self.arguments) if self.arguments else b""
            self.chain = short(self.chain + self.asked + arguments)
            self.asked.clear()
            self.arguments.clear()
        return self.chain

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a function as this actor, in this thread, and hand its reads over at the end."""
        token = _CURRENT.set(self)
        try:
            with self.layer.owners.assign_thread(self):
                return function(*args, **kwargs)
        finally:
            _CURRENT.reset(token)
            self.layer.hand_over(self)


def enter(actor: Actor | Outside) -> contextvars.Token[Actor | Outside | None]:
    """Make an actor the owner of everything that this context runs from here on."""
    return _CURRENT.set(actor)


def leave(token: contextvars.Token[Actor | Outside | None]) -> None:
    """Undo ``enter``."""
    _CURRENT.reset(token)
