"""Lines of execution: whose read of the world it is, whose thread it is made on, and whose code asks.

Every read belongs to an actor: the main program, a thread, an asyncio task, a job in a pool. An
actor's key is its lineage, its parent's key and a counter of that parent (``main/thread:0/task:2``),
never an operating-system id or an address, so the same actor has the same key in every execution.
The actor travels in a context variable: a task inherits a context of its own, a thread and a job
are given one where they start.

``random.SystemRandom`` asks for entropy on behalf of its caller, ``glob`` for a listing. Whether a read
is the program's own is judged by the first code on the stack that is no such wrapper. A wrapper is known by the
whole path of its file: a user's own ``random.py`` is none.

Not for: the order in which actors run; that is the schedule's. Threads that C code starts have no
actor: their reads go to the world and are counted as ungoverned.

Invariant: the reads of one actor come in one order, whatever the others do.
"""

from __future__ import annotations

import contextvars
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final, Literal

from twice.foundation.encoding import encode
from twice.foundation.source_files import is_user_file
from twice.recorder.effects.events import RUN_READS_MAX, Run, Waiting, little_endian
from twice.recorder.effects.ops import WITH_ARGUMENTS, find_lineage

if TYPE_CHECKING:
    from twice.recorder.effects.layer import EffectLayer
    from twice.recorder.effects.sources import Answers

_FILES_OF_THEIR_OWN: Final = ("<frozen ", "<stdin>", "<ipython")
_LINEAGES_MAX: Final = 64
LIBRARY_THREAD: Final = "inner"
"""The kind of a thread that a library started: how many there are may depend on timing, and pools keep theirs."""
CURRENT: contextvars.ContextVar[Actor | Outside | None] = contextvars.ContextVar(
    "actor", default=None
)
current = CURRENT.get
"""The actor of the code that runs; one call, because every read of the clock makes it."""


class Outside:
    """Stands for code whose reads are nobody's: inside a declared effect, in a forked child.

    It is false, so that ``current() or ...`` and the fast paths pass it by like None.
    """

    def __bool__(self) -> Literal[False]:
        return False

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a function whose reads go to the world and are not counted."""
        token = CURRENT.set(self)
        try:
            return function(*args, **kwargs)
        finally:
            CURRENT.reset(token)


OUTSIDE = Outside()
outside = OUTSIDE.run


class Actor(Waiting):
    """One line of execution and its own reads that are not written down yet."""

    __slots__ = (
        "arguments", "asked", "chain", "children", "futures", "is_counted", "key", "layer", "lenient",
        "reads", "source", "started", "thread",
    )  # fmt: skip

    def __init__(self, key: str, layer: EffectLayer, source: Answers) -> None:
        super().__init__()
        self.key, self.layer, self.source = key, layer, source
        self.lenient = Waiting()  # reads that the standard library made on its thread
        self.reads = 0  # its own, handed over so far
        self.futures = 0  # those that it was the first to hash
        self.children: dict[str, int] = {}  # how many actors of each kind it has started
        # How many were started of each lineage without numbers (``main/task/task``), here and below.
        self.started: dict[str, int] = {}
        # Operations asked since the question digest was last folded, and their arguments; the digest before those.
        self.asked = bytearray()
        self.arguments: list[object] = []
        self.chain = b""
        self.thread = get_ident()  # on which it last began to wait
        self.is_counted = False  # among those that live

    def __del__(self) -> None:
        """Count it no more: what it was started for holds it until it has ended."""
        if self.is_counted:
            self.layer.living.discard(id(self))

    def child(self, kind: str) -> Actor:
        """Make the next actor of a kind that this one starts."""
        key = self.next_key(kind)
        made = Actor(key, self.layer, self.source.of(key))
        made.started = self.started
        if kind != LIBRARY_THREAD:
            made.is_counted = True
            self.layer.living.add(id(made))
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
        """Keep a read of its own until it is written down."""
        if number == self.number:  # so it began to wait already, and no run is added
            values = self.values
            values.append(value)
            if len(values) >= RUN_READS_MAX:
                self.layer.hand_over(self)
        else:
            self._add(self, number, value)

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
        if waiting.add(number, value):
            self.layer.hand_over(self)

    def fold(self, numbers: array[int], runs: Sequence[Run]) -> None:
        """Count reads that are written down, and keep their questions."""
        self.reads += len(numbers)
        self.asked += little_endian(numbers)
        for number, values in runs:
            if number in WITH_ARGUMENTS:
                self.arguments += [value[0] for value in values]  # type: ignore[index]

    def fold_digest(self, short: Callable[[bytes], bytes]) -> bytes:
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
        token = CURRENT.set(self)
        try:
            with self.layer.owners.assign_thread(self):
                return function(*args, **kwargs)
        finally:
            CURRENT.reset(token)
            self.layer.hand_over(self)


def enter(actor: Actor | Outside) -> contextvars.Token[Actor | Outside | None]:
    """Make an actor the owner of everything that this context runs from here on."""
    return CURRENT.set(actor)


def leave(token: contextvars.Token[Actor | Outside | None]) -> None:
    """Undo ``enter``."""
    CURRENT.reset(token)


class TimedWaits:
    """The timed waits of one run's threads."""

    def __init__(self) -> None:
        self.ended = 0  # by themselves, and not by somebody
        self.going_on = 0
        self.fit = True  # each ended as it did in the recorded run, so far

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count a wait for as long as the block runs."""
        self.going_on += 1
        try:
            yield
        finally:
            self.going_on -= 1


class ThreadOwners:
    """Whose thread each thread of one run is: the actor that it was started for; nobody's if none entered it.

    A job owns its worker's thread while it runs; a task owns none. What the standard library reads for itself is
    kept in one order for each owner.
    """

    def __init__(self, thread: int, main: Actor) -> None:
        # Whether the run has processes that a replay runs again.
        self.has_processes: Callable[[], bool] = lambda: False
        self.waits = TimedWaits()
        self.has_moved_work = False  # a thread did what another like it did in the recorded run
        self._owners = {thread: main}

    def find_owner(self, otherwise: Actor) -> Actor:
        """Return the owner of this thread; another actor, where nobody is known."""
        return self._owners.get(get_ident(), otherwise)

    @contextmanager
    def assign_thread(self, owner: Actor) -> Iterator[None]:
        """Let an actor own this thread for as long as the block runs."""
        here = get_ident()
        before = self._owners.get(here)
        self._owners[here] = owner
        try:
            yield
        finally:
            if before is None:
                del self._owners[here]
            else:
                self._owners[here] = before

    def is_alone(self) -> bool:
        """Return whether no other thread, and no process of the run that runs here, goes on beside this thread."""
        here = get_ident()
        return not self.has_processes() and all(thread == here for thread in [*self._owners])


def asker_of(frame: FrameType, wrappers: Collection[str]) -> CodeType:
    """Return the first code, from a frame outwards, whose file is not one of the wrappers.

    Code without a file (of ``eval``, of a dataclass) asks on behalf of its caller as well.
    """
    found: FrameType | None = frame
    while found is not None:
        name = found.f_code.co_filename
        is_generated = name.startswith("<") and not name.startswith(_FILES_OF_THEIR_OWN)
        if name not in wrappers and not is_generated:
            return found.f_code
        found = found.f_back
    return frame.f_code


def while_imported(frame: FrameType | None) -> bool:
    """Return whether code runs because a package is imported, and not as the user's own code."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return True
        if is_user_file(name):
            return False
        frame = frame.f_back
    return False


def files_of(*functions: Callable[..., Any]) -> frozenset[str]:
    """Return the files of Python functions, as their code names them; frozen modules have own names."""
    return frozenset(function.__code__.co_filename for function in functions)


def files_behind(*classes: type) -> frozenset[str]:
    """Return the files of the methods of classes and of their bases."""
    members = [
        value for one in classes for base in one.__mro__ for value in list(vars(base).values())
    ]
    codes = [getattr(getattr(each, "__func__", each), "__code__", None) for each in members]
    return frozenset(code.co_filename for code in codes if isinstance(code, CodeType))
