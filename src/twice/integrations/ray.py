"""Ray programs: the driver, each actor and each task is a rank with a record of its own.

``remote`` takes the place of ``ray.remote``, and ``record_ranks`` the place of the block in which the program runs::

    @remote(num_cpus=1)
    class Counter: ...

    with record_ranks("runs/a", seed=7):
        counter = Counter.remote()
        ray.get(counter.add.remote(1))

A rank is known by its creator's name, its class or function, and a count: ``driver.Counter-0``; an actor that was given
a name is known by that. Neither process nor node nor order of arrival plays a part. A call of an actor is a tick, as is
each ``ray.get`` and ``ray.wait`` of the driver. Compared are calls as they are sent and received, results as they are
made and got, and attributes of actors. Each rank has a seed of its own, derived from the master seed and its name.

Not covered: actors that do several calls at once or are asynchronous, generators, ``await`` of a reference, ``get``
that was imported by name, calls from threads, and what Ray itself does. ``twice.runs.ranks`` compares two folders.

Invariant: what a call computes and returns is what it would without a record; outside of ``record_ranks`` nothing is
recorded.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import ray

from twice.errors import OutputExists, UsageError
from twice.foundation.seeds import Seed
from twice.integrations.ray_rank import DRIVER, ActorReference, RayCall, RayRank, find_rank
from twice.recorder.run import Run


@contextmanager
def record_ranks(folder: str | Path, *, seed: int | Seed) -> Iterator[Run]:
    """Record the driver of a Ray program in a with-block, and all that is called through ``remote`` in it.

    Actors stay alive until the block ends; then their records are closed. Wait for what you submit before it ends.

    Args:
        folder: new or empty, on a file system that all nodes share; gets one record a rank, ``RANK.twice``.
        seed: master seed, 0 <= seed < 2**256.

    Yields:
        The driver's run.

    Raises:
        OutputExists: E-OUTPUT-001, when the folder holds something.
        SessionMisuse: E-REPLAY-002, in a process that is recorded already.
    """
    path = Path(folder).absolute()
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise OutputExists(
            f"{folder} is there already.",
            "Expected a folder that is new or empty, for the records of the ranks.",
            "Choose another folder, or remove that one first.",
            path=str(folder),
        )
    path.mkdir(parents=True, exist_ok=True)
    value = seed.value if isinstance(seed, Seed) else Seed(seed).value
    with RayRank(str(path), value, DRIVER).at_work() as rank:
        yield rank.run


def current_run() -> Run:
    """Return the run of the rank that this process records, for generators and compare-points of its own.

    Raises:
        UsageError: E-USE-001, where none is recorded.
    """
    rank = find_rank()
    if rank is None:
        raise UsageError(
            "No rank is recorded in this process.",
            "Expected a call through twice.integrations.ray.remote, inside of record_ranks.",
            "with record_ranks('runs/a', seed=7): ...",
        )
    return rank.run


class RayActor:
    """The actor that Ray has: it holds an object of the user's class, and records its calls."""

    def __init__(self, call: RayCall | None, kind: type, *args: Any, **kwargs: Any) -> None:
        self._stack = ExitStack()
        self._rank: RayRank | None = None
        self._object: Any = None
        if call is not None:
            rank = RayRank(call.folder, call.seed, call.rank)
            self._rank = self._stack.enter_context(rank.at_work())

        def construct(*args: Any, **kwargs: Any) -> None:
            self._object = kind(*args, **kwargs)

        try:
            self._answer(call, construct, args, kwargs)
        except BaseException:
            self.close()
            raise

    def call(self, call: RayCall | None, method: str, *args: Any, **kwargs: Any) -> Any:
        """Do a call, as a tick of the rank unless its record is closed."""
        return self._answer(call, getattr(self._object, method), args, kwargs)

    def _answer(
        self, call: RayCall | None, function: Callable[..., Any], args: Any, kwargs: Any
    ) -> Any:
        if call is None or self._rank is None:
            return function(*args, **kwargs)
        return self._rank.answer(call, function, args, kwargs, self._read_state)

    def _read_state(self) -> Mapping[str, object]:
        # The __dict__ alone: of a class with slots, or one in C, no state is compared.
        return getattr(self._object, "__dict__", {})

    def close(self) -> None:
        """Close the record."""
        self._rank = None
        self._stack.close()


def run_task(call: RayCall | None, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Do a task as a rank of its own."""
    if call is None:
        return function(*args, **kwargs)
    with RayRank(call.folder, call.seed, call.rank).at_work() as rank:
        return rank.answer(call, function, args, kwargs)


class RayHandle(ActorReference):
    """A handle of an actor; each attribute is a method to call with ``remote``."""

    def __getattr__(self, name: str) -> RayMethod:
        if name.startswith("__"):  # what pickles and copies asks for these
            raise AttributeError(name)
        return RayMethod(self, name, {})

    def __repr__(self) -> str:
        return f"RayHandle({self.rank})"


@dataclass(frozen=True)
class RayMethod:
    """A method of an actor elsewhere."""

    handle: RayHandle
    name: str
    given: Mapping[str, Any]

    def options(self, **options: Any) -> RayMethod:
        """Return the same with options of Ray's, such as ``num_returns``."""
        return RayMethod(self.handle, self.name, {**self.given, **options})

    def remote(self, *args: Any, **kwargs: Any) -> Any:
        """Call it; return Ray's reference to the result."""
        of_ray = self.handle.ray_handle.call.options(**self.given)
        if (rank := find_rank()) is None:
            return of_ray.remote(None, self.name, *args, **kwargs)
        return rank.send(
            self.handle.rank,
            self.name,
            (args, kwargs),
            lambda call: of_ray.remote(call, self.name, *args, **kwargs),
        )


@dataclass(frozen=True)
class RayClass:
    """A class whose objects are actors."""

    kind: type
    given: Mapping[str, Any]

    def options(self, **options: Any) -> RayClass:
        """Return the same with options of Ray's, such as ``name`` and ``num_cpus``."""
        changed: RayClass = remote(self.kind, **{**self.given, **options})
        return changed

    def remote(self, *args: Any, **kwargs: Any) -> RayHandle:
        """Create an actor."""
        of_ray = ray.remote(RayActor).options(**self.given)
        name = self.given.get("name")
        if (rank := find_rank()) is None:
            return RayHandle(of_ray.remote(None, self.kind, *args, **kwargs), name or "")
        child = rank.name_child(self.kind.__name__, name)
        submit = partial(_create, of_ray, self.kind, child, args, kwargs)
        handle: RayHandle = rank.send(child, "__init__", (args, kwargs), submit)
        rank.actors.append(handle)
        return handle


@dataclass(frozen=True)
class RayTask:
    """A function whose calls are tasks."""

    function: Callable[..., Any]
    given: Mapping[str, Any]

    def options(self, **options: Any) -> RayTask:
        """Return the same with options of Ray's, such as ``num_cpus`` and ``max_retries``."""
        changed: RayTask = remote(self.function, **{**self.given, **options})
        return changed

    def remote(self, *args: Any, **kwargs: Any) -> Any:
        """Submit it; return Ray's reference to the result."""
        label = self.function.__name__
        of_ray = ray.remote(run_task).options(**{"name": label, **self.given})
        if (rank := find_rank()) is None:
            return of_ray.remote(None, self.function, *args, **kwargs)
        return rank.send(
            rank.name_child(label),
            label,
            (args, kwargs),
            lambda call: of_ray.remote(call, self.function, *args, **kwargs),
        )


def remote(target: Any = None, /, **options: Any) -> Any:
    """Make a class an actor's, or a function a task's, as ``ray.remote`` does: called or as a decorator.

    Args:
        target: a plain class or function.
        **options: of Ray's: ``num_cpus``, ``max_retries`` and so on.

    Returns:
        An object with ``remote`` and ``options``.

    Raises:
        UsageError: E-USE-001, for what cannot be recorded: asynchronous methods, generators, several calls at once.
    """
    if target is None:
        return partial(remote, **options)
    is_class = inspect.isclass(target)
    called = [each for _, each in inspect.getmembers(target, callable)] if is_class else [target]
    awkward = [
        each.__name__
        for each in called
        if inspect.iscoroutinefunction(each)
        or inspect.isgeneratorfunction(each)
        or inspect.isasyncgenfunction(each)
    ]
    if options.get("max_concurrency", 1) != 1 or "concurrency_groups" in options:
        awkward.append("max_concurrency")
    if awkward or not (is_class or inspect.isfunction(target)):
        raise UsageError(
            f"{target!r:.100} cannot be recorded as a rank: {', '.join(awkward) or 'it is no plain class or function'}.",
            "Expected a class or a function without ray.remote, whose calls end one before the next: no asynchronous "
            "methods, no generators, no concurrent calls.",
            "Use ray.remote for it; its calls are then part of no record.",
        )
    return RayClass(target, options) if is_class else RayTask(target, options)


def _create(of_ray: Any, kind: type, rank: str, args: Any, kwargs: Any, call: RayCall) -> RayHandle:
    return RayHandle(of_ray.remote(call, kind, *args, **kwargs), rank)
