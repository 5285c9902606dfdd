"""A rank of a Ray program, as its own process records it: calls as ticks, messages, references, seeds.

Which calls are recorded, and how a user writes them, is part of ``ray``. Not covered is what that file lists.

Invariant: the name of a rank depends on names and counts alone.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import ray
from ray.actor import ActorHandle
from ray.exceptions import RayError

from twice.errors import UsageError
from twice.foundation.digests import digest_bytes
from twice.foundation.seeds import Seed, derive
from twice.recorder.cadence import Cadence
from twice.recorder.messages import Kind, Message, ValueReader, shorten, write_message
from twice.recorder.recorder import recording

DRIVER: Final = "driver"
_NAME_MAX: Final = 120
_CLOSING_S: Final = 60.0
_GIVEN_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,79}")
# Ray's own sockets, threads and files, in the same process.
_OF_RAY: Final = ("files.native", "network.descriptor", "threads.unowned")
_at_work: list[RayRank] = []


@dataclass(frozen=True, slots=True)
class RayCall:
    """What travels beside the arguments of a call: who sent it, and where ranks are recorded.

    Attributes:
        folder: of the records.
        seed: the master seed's value.
        sender: the rank that calls.
        number: how many messages that rank sent before.
        rank: who is called.
        method: of the actor, or the task's function.
    """

    folder: str
    seed: int
    sender: str
    number: int
    rank: str
    method: str


class ActorReference:
    """An actor of Ray's, and the rank that it is."""

    def __init__(self, ray_handle: Any, rank: str) -> None:
        self.ray_handle, self.rank = ray_handle, rank


class RayRank:
    """One rank, as its own process records it."""

    def __init__(self, folder: str, seed: int, name: str) -> None:
        self.folder, self.seed, self.name = folder, seed, name
        self.actors: list[ActorReference] = []
        self._created: Counter[str] = Counter()
        self._sent = 0
        self._thread = threading.get_ident()

    @contextmanager
    def at_work(self) -> Iterator[RayRank]:
        """Record this process until the block ends; then the actors that the rank created close their records."""
        # An actor that Ray restarted, and a task that it tried again, has the name that it had.
        paths = (
            Path(self.folder, f"{self.name}{again}.twice")
            for again in ("", *(f"~{count}" for count in range(1, 1000)))
        )
        free = next(path for path in paths if not path.exists())
        own = derive(Seed(self.seed), f"rank/{self.name}")
        options: Any = {"granularity": "episode", "cadence": Cadence("none"), "allow": _OF_RAY}
        with recording(free, seed=own, **options) as self.run:
            self._ticks = self.run.ticks()
            if self.name == DRIVER:
                next(self._ticks)
            _at_work.append(self)
            restore = self._watch_references()
            try:
                yield self
            finally:
                restore()
                for actor in self.actors:
                    with suppress(RayError):  # it died: its record says how far it came
                        ray.get(actor.ray_handle.close.remote(), timeout=_CLOSING_S)
                _at_work.remove(self)
                del self._ticks

    def name_child(self, label: str, given: str | None = None) -> str:
        """Return the name of a rank that this one creates."""
        if given is not None:
            if _GIVEN_NAME.fullmatch(given) is None or given.startswith(DRIVER):
                raise UsageError(
                    f"An actor called {given!r:.100} cannot be recorded.",
                    f"Expected 1 to 80 letters, digits, - and _, and no name that begins with {DRIVER}.",
                    "Give it a name such as 'learner'.",
                )
            return given
        label = re.sub(r"\W", "_", label)[:60]
        parent = self.name
        if len(parent) + len(label) > _NAME_MAX:
            parent = digest_bytes(parent.encode()).hex[:16]
        count = self._created[label]
        self._created[label] += 1
        return f"{parent}.{label}-{count}"

    def send(
        self,
        rank: str,
        method: str,
        arguments: tuple[Sequence[Any], Mapping[str, Any]],
        submit: Callable[[RayCall], Any],
    ) -> Any:
        """Call another rank, and return the references that Ray gives for it."""
        call = RayCall(self.folder, self.seed, self.name, self._sent, rank, method)
        self._sent += 1
        given = submit(call)
        gives = tuple(
            identity
            for each in (given if isinstance(given, list) else [given])
            if (identity := identify(each)) and not identity.startswith("@")
        )
        self.write("sent", arguments, [rank, call.number, method], call, peer=rank, gives=gives)
        return given

    def answer(
        self,
        call: RayCall,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        get_state: Callable[[], Mapping[str, object]] = dict,
    ) -> Any:
        """Do a call that was received, as a tick; the attributes of ``get_state`` are compared after it."""
        next(self._ticks)
        self.write("received", (args, kwargs), [call.sender, call.number, call.method], call)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            self._finish(call, [type(error).__qualname__, str(error)], get_state())
            raise
        self._finish(call, result, get_state())
        return result

    def _finish(self, call: RayCall, result: object, attributes: Mapping[str, object]) -> None:
        if attributes:
            reader = ValueReader(identify)
            parts = {
                name: (reader.read(f"{self.name}.{name}", value), shorten(value))
                for name, value in sorted(attributes.items())
            }
            self._warn(reader)
            message = Message("state", parts=parts)
            write_message(self.run, message, {name: digest for name, (digest, _) in parts.items()})
        self.write("result", ([result], {}), [], call)
        self.run.flush()  # before the answer leaves: what others have seen outlives a kill

    def write(
        self,
        kind: Kind,
        values: tuple[Sequence[Any], Mapping[str, Any]],
        also: list[Any],
        call: RayCall | None = None,
        *,
        peer: str = "",
        takes: Sequence[str] = (),
        gives: Sequence[str] = (),
    ) -> None:
        """Write a message with these values, positional and by name; ``also`` is compared besides."""
        reader = ValueReader(identify)
        number, method = (call.number, call.method) if call else (0, "")
        args, kwargs = values
        label = f"{method or kind} at {self.name}"
        named = [(f"{label}, value {at}", each) for at, each in enumerate(args)]
        named += [(f"{label}, {name}", kwargs[name]) for name in sorted(kwargs)]
        digests = [reader.read(name, each) for name, each in named]
        self._warn(reader)
        texts = [shorten(each) for each in args]
        texts += [f"{name}={shorten(kwargs[name])}" for name in sorted(kwargs)]
        peer = peer or (call.sender if call else "")
        message = Message(
            kind,
            peer,
            number,
            method,
            ", ".join(texts)[:600],
            (*takes, *reader.takes),
            tuple(gives),
            refused=tuple(reader.refused),
        )
        write_message(self.run, message, [*also, sorted(kwargs), *digests])

    def _warn(self, reader: ValueReader) -> None:
        for each in reader.refused:
            self.run.caveat(f"not compared, it has no canonical form: {each}")

    def _watch_references(self) -> Callable[[], None]:
        """Let ``ray.get``, ``ray.wait`` and ``ray.put`` of this thread be recorded; return what undoes it."""
        real = {name: getattr(ray, name) for name in ("get", "wait", "put")}

        def is_own() -> bool:
            return threading.get_ident() == self._thread

        def get(references: Any, **options: Any) -> Any:
            if not is_own():
                return real["get"](references, **options)
            asked = references if isinstance(references, list) else [references]
            takes = [each for each in map(identify, asked) if each]
            try:
                found = real["get"](references, **options)
            except Exception as error:
                cause = getattr(error, "cause", None) or error
                # Ray's own words name processes and addresses.
                said = "" if isinstance(cause, RayError) else str(cause)
                self._take("got", [[type(cause).__qualname__, said]], takes)
                raise
            self._take("got", found if isinstance(references, list) else [found], takes)
            return found

        def wait(references: list[Any], **options: Any) -> Any:
            ready, rest = real["wait"](references, **options)
            if is_own():
                self._take("waited", [[references.index(each) for each in ready]], ())
            return ready, rest

        def put(value: Any, **options: Any) -> Any:
            reference = real["put"](value, **options)
            if is_own():
                self.write("put", ([value], {}), [], gives=[str(identify(reference))])
            return reference

        for name, function in (("get", get), ("wait", wait), ("put", put)):
            setattr(ray, name, function)

        def restore() -> None:
            for name, function in real.items():
                setattr(ray, name, function)

        return restore

    def _take(self, kind: Kind, values: list[Any], takes: Sequence[str]) -> None:
        if self.name == DRIVER:
            next(self._ticks)
        self.write(kind, (values, {}), [], takes=takes)


def find_rank() -> RayRank | None:
    """Return the rank that this process records, on the thread that it was begun on."""
    rank = _at_work[0] if _at_work else None
    return rank if rank is not None and rank._thread == threading.get_ident() else None


def identify(value: object) -> str | None:
    """Return the identity of a reference, or the rank of a handle."""
    if isinstance(value, ray.ObjectRef):
        return str(value.hex())
    if isinstance(value, ActorReference):
        return f"@{value.rank}"
    if isinstance(value, ActorHandle):
        return "@(an actor without a record)"
    return None
