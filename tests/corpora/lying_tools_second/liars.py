"""Second set of tools that lie, one lie each, and of honest ones; written before a look at what verification says of them."""

from __future__ import annotations

import datetime
import functools
import gc
import hashlib
import json
import locale
import multiprocessing
import os
import pathlib
import platform
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import weakref
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from twice.tools import Call, Case, Context, Registry, tool
from twice.tools.canonical_json import fingerprint


class Board:
    """Notes by name, each with a text and tags; the order of notes is no part of the state."""

    name = "board"

    def __init__(self) -> None:
        self.notes: dict[str, dict[str, Any]] = {}

    def profile(self) -> Mapping[str, str]:
        return {"version": "1"}

    def state(self) -> dict[str, Any]:
        return {"notes": {name: dict(self.notes[name]) for name in sorted(self.notes)}}

    def fingerprint(self) -> str:
        return fingerprint(self.state())

    def reset(self) -> None:
        self.notes.clear()

    def holds(self, name: str) -> bool:
        return name in self.notes

    def checkpoint(self) -> dict[str, Any]:
        return {name: dict(note) for name, note in self.notes.items()}

    def rollback(self, checkpoint: dict[str, Any]) -> None:
        self.notes = {name: dict(note) for name, note in checkpoint.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.notes = {name: dict(note) for name, note in state["notes"].items()}


@tool(
    "board.pin",
    determinism="deterministic",
    cases=[Case({"name": "n", "text": "t", "tags": ["x"]})],
)
def pin(context: Context, name: str, text: str, tags: list[str]) -> str:
    """Pin a note."""
    context.backend.notes[name] = {"text": text, "tags": tags}
    return name


START = (
    Call("board.pin", {"name": "milk", "text": "buy two", "tags": ["shop", "today"]}),
    Call("board.pin", {"name": "call", "text": "ring home", "tags": ["phone"]}),
    Call("board.pin", {"name": "bike", "text": "mend the chain", "tags": ["shop", "garage"]}),
)
BOARD = [Case({}, start=START)]
LIARS: list[Any] = []
HONEST: list[Any] = [pin]


def lie(name: str, determinism: str = "deterministic", cases: Any = None, **options: Any) -> Any:
    """Declare a lying tool."""

    def declare(function: Any) -> Any:
        made = tool(
            f"liar.{name}",
            determinism=determinism,
            cases=[Case({})] if cases is None else cases,
            **options,
        )(function)
        LIARS.append(made)
        return made

    return declare


def honest(name: str, determinism: str = "deterministic", cases: Any = None, **options: Any) -> Any:
    """Declare an honest tool."""

    def declare(function: Any) -> Any:
        made = tool(
            f"honest.{name}",
            determinism=determinism,
            cases=[Case({})] if cases is None else cases,
            **options,
        )(function)
        HONEST.append(made)
        return made

    return declare


# -- order of sets ------------------------------------------------------------------------------------


@lie("set_in_json", cases=BOARD)
def set_in_json(context: Context) -> str:
    """Write tags as JSON, and let json ask for a list."""
    tags = {tag for note in context.backend.notes.values() for tag in note["tags"]}
    return json.dumps({"tags": tags}, default=list)


@lie("set_through_dict", cases=[Case({"words": ["kiwi", "plum", "pear", "fig", "date", "lime"]})])
def set_through_dict(words: list[str]) -> list[str]:
    """Number words in the order of a set, and give them by number."""
    numbered = dict(enumerate(set(words)))
    return [numbered[at] for at in sorted(numbered)]


@lie("set_joined", cases=BOARD)
def set_joined(context: Context) -> None:
    """Write a text that joins a set into the state."""
    context.backend.notes["all"] = {"text": " ".join(frozenset(context.backend.notes)), "tags": []}


@lie("set_sum")
def set_sum() -> float:
    """Add floats up in the order of a set of their names."""
    parts = {f"part {n}": 10.0 ** (n - 8) + 0.1 for n in range(16)}
    return functools.reduce(lambda total, name: total + parts[name], set(parts), 0.0)


@lie("set_max", cases=[Case({"words": ["oak", "elm", "ash", "fir", "yew", "bay"]})])
def set_max(words: list[str]) -> str:
    """Return a longest word of a set, and all are as long as each other."""
    return max(set(words), key=len)


@lie("salted_bucket", cases=[Case({"word": "hazel"})])
def salted_bucket(word: str) -> int:
    """Put a word into one of 997 buckets by its salted hash."""
    return hash(word) % 997


# -- identity ------------------------------------------------------------------------------------------


class Marble:
    """A thing without an order."""

    def __init__(self, colour: str) -> None:
        self.colour = colour


@lie("sorted_by_id")
def sorted_by_id() -> list[str]:
    """Sort things by their addresses."""
    bag = [Marble(colour * 40) for colour in "rgbcmykw"]
    spill = [bytearray(n * 97) for n in range(200)]
    bag += [Marble(str(len(each))) for each in spill[::9]]
    return [each.colour for each in sorted(bag, key=id)]


@lie("marbles_in_a_set")
def marbles_in_a_set() -> list[str]:
    """Iterate over a set of things that are hashed by address."""
    return [each.colour for each in {Marble(str(n)) for n in range(40)}]


@lie("weak_order")
def weak_order() -> list[str]:
    """List a weak set."""
    bag = [Marble(str(n)) for n in range(30)]
    return [each.colour for each in weakref.WeakSet(bag)]


@lie("address_in_error", cases=[Case({"n": 3})])
def address_in_error(n: int) -> str:
    """Return the text of an exception, which names an object by its address."""
    try:
        raise LookupError(f"no {n} in {Marble('red')}")
    except LookupError as error:
        return str(error)


# -- clocks --------------------------------------------------------------------------------------------


@lie("uuid_one")
def uuid_one() -> str:
    """Return an id of time and network card."""
    return str(uuid.uuid1())


@lie("year")
def year() -> int:
    """Return the year."""
    return datetime.datetime.now(datetime.UTC).year


@lie("mtime")
def mtime() -> float:
    """Return when a file was written, which was now."""
    path = pathlib.Path("noted.txt")
    path.write_text("x")
    return path.stat().st_mtime


@lie("local_midnight")
def local_midnight() -> str:
    """Write a fixed moment in local time."""
    return datetime.datetime.fromtimestamp(1_700_000_000).isoformat()


@lie("spent")
def spent() -> float:
    """Return how long something took."""
    began = time.perf_counter()
    zlib.crc32(b"x" * 1000)
    return time.perf_counter() - began


# -- the machine and its process -----------------------------------------------------------------------


@lie("variable")
def variable() -> str:
    """Return a variable of the environment."""
    return os.environ.get("LC_ALL", "") + os.environ.get("HOME", "")


@lie("environment_size")
def environment_size() -> int:
    """Return how large the environment is."""
    return sum(map(len, dict(os.environ).values()))


@lie("glob_order")
def glob_order() -> list[str]:
    """Return files in the order of the folder."""
    for name in ("ash", "birch", "cedar", "elm", "fir"):
        pathlib.Path(f"{name}.txt").touch()
    return [each.name for each in pathlib.Path().glob("*.txt")]


@lie("scandir_first")
def scandir_first() -> str:
    """Return the first file of a package's folder."""
    with os.scandir(os.path.dirname(json.__file__)) as found:
        return next(each.name for each in found if each.name.endswith(".py"))


@lie("language")
def language() -> str:
    """Sort words as the language of the surroundings does."""
    locale.setlocale(locale.LC_ALL, "")
    return locale.setlocale(locale.LC_COLLATE) + str(
        sorted(["Zebra", "apple", "Öl"], key=locale.strxfrm)
    )


@lie("process_id")
def process_id() -> int:
    """Return the number of the process."""
    return os.getpid()


@lie("thread_number")
def thread_number() -> int:
    """Return the system's number of the thread."""
    return threading.get_native_id()


@lie("cores")
def cores() -> int:
    """Return how many processors multiprocessing would use."""
    return len(os.sched_getaffinity(0)) + multiprocessing.cpu_count() * 0


@lie("temporary_name")
def temporary_name() -> str:
    """Return the name of a temporary file."""
    with tempfile.NamedTemporaryFile() as file:
        return os.path.basename(file.name)


@lie("child")
def child() -> str:
    """Ask another program."""
    return subprocess.run(["date", "+%s%N"], capture_output=True, text=True, check=True).stdout


@lie("host_name")
def host_name() -> int:
    """Connect to somewhere."""
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", 9))


@lie("collected")
def collected() -> int:
    """Return how many objects the collector has seen."""
    return sum(gc.get_count()) + len(gc.get_objects())


@lie("blocks")
def blocks() -> int:
    """Return how many blocks of memory are in use."""
    return sys.getallocatedblocks()


@lie("uninitialised")
def uninitialised() -> str:
    """Digest an array that nobody filled."""
    return hashlib.sha256(np.empty(20_000).tobytes()).hexdigest()


@lie("where_it_stands")
def where_it_stands() -> str:
    """Return the folder that it stands in."""
    return str(pathlib.Path("out.txt").resolve())


@lie("umask")
def umask() -> int:
    """Return the mode of a folder that it makes."""
    pathlib.Path("made").mkdir()
    return pathlib.Path("made").stat().st_mode


@lie("proc")
def proc() -> int:
    """Read a number that the system counts up."""
    return int(pathlib.Path("/proc/self/stat").read_text().split()[21])


# -- chance --------------------------------------------------------------------------------------------


@lie("global_shuffle", "seeded", cases=BOARD)
def global_shuffle(context: Context) -> list[str]:
    """Shuffle by the global generator."""
    names = sorted(context.backend.notes)
    random.shuffle(names)
    return names


@lie("numpy_global", "seeded")
def numpy_global() -> list[float]:
    """Draw from numpy's global generator."""
    return [float(each) for each in np.random.rand(3)]


@lie("fresh_generator")
def fresh_generator() -> int:
    """Draw from a generator that the system seeds."""
    return int(np.random.default_rng().integers(1 << 40))


@lie("system_random")
def system_random() -> int:
    """Draw from the system."""
    return random.SystemRandom().getrandbits(40)


@lie("seed_ignored", "seeded", cases=[Case({"n": 5})])
def seed_ignored(n: int, context: Context) -> list[float]:
    """Take a seed and draw from a constant one."""
    return [float(each) for each in np.random.default_rng(7).random(n)]


@lie("seed_in_a_part", "seeded", cases=[Case({"n": 3})])
def seed_in_a_part(n: int, context: Context) -> list[int]:
    """Use the seed for the first number, and chance for the rest."""
    first = int(context.rng("first").integers(1 << 30))
    return [first, *(int(each) for each in np.random.randint(0, 1 << 30, n))]


@lie("seed_parity", "seeded")
def seed_parity(seed: int) -> str:
    """Use nothing of the seed but whether there is one."""
    return "drawn" if seed >= 0 else "not drawn"


# -- the past ------------------------------------------------------------------------------------------


_seen: dict[str, int] = {}
_log: list[str] = []


@lie("seen_before", cases=[Case({"word": "elm"}), Case({"word": "oak"})])
def seen_before(word: str) -> int:
    """Number words in the order in which they were met."""
    return _seen.setdefault(word, len(_seen))


@functools.lru_cache
def _remember() -> list[int]:
    return []


@lie("hidden_list", cases=[Case({"n": 2}), Case({"n": 5})])
def hidden_list(n: int) -> int:
    """Add to a list that a cache keeps."""
    _remember().append(n)
    return sum(_remember())


@lie("warms_up")
def warms_up() -> str:
    """Answer in another way from the thirtieth call on."""
    _log.append("call")
    return "warm" if len(_log) > 30 else "cold"


class Counter:
    """Counts things that were made."""

    made = 0

    def __init__(self) -> None:
        Counter.made += 1
        self.number = Counter.made


@lie("class_counter")
def class_counter(context: Context) -> None:
    """Write the number of a thing into the state."""
    context.backend.notes["thing"] = {"text": str(Counter().number), "tags": []}


@lie("default_argument", cases=[Case({"word": "ivy"}), Case({"word": "fern"})])
def default_argument(word: str) -> list[str]:
    """Collect in a default argument."""
    return _collect(word)


def _collect(word: str, into: list[str] = []) -> list[str]:  # noqa: B006
    into.append(word)
    return [*into][-3:]


# -- the state -----------------------------------------------------------------------------------------


@lie("order_of_notes", cases=BOARD)
def order_of_notes(context: Context) -> list[str]:
    """List notes as they were pinned."""
    return [name for name in context.backend.notes]


@lie("newest_note", cases=BOARD)
def newest_note(context: Context) -> str:
    """Act on the note that was pinned last."""
    return next(reversed(context.backend.notes))


@lie("numbered_name", cases=BOARD)
def numbered_name(context: Context) -> str:
    """Make a name with the next number."""
    name = f"note-{len(context.backend.notes) + 1}"
    context.backend.notes[name] = {"text": "", "tags": []}
    return name


@lie("writing_reader", cases=BOARD, reads_only=True)
def writing_reader(context: Context) -> int:
    """Count notes, and mark one as counted."""
    context.backend.notes["milk"]["tags"] = ["counted"]
    return len(context.backend.notes)


@lie("growing", cases=BOARD, idempotent=True)
def growing(context: Context) -> None:
    """Add a letter to a note each time."""
    context.backend.notes["call"]["text"] += "!"


# -- honest --------------------------------------------------------------------------------------------


@honest("tags", cases=BOARD, reads_only=True)
def tags(context: Context) -> list[str]:
    """List tags, sorted."""
    return sorted({tag for note in context.backend.notes.values() for tag in note["tags"]})


@honest("count", cases=BOARD, reads_only=True)
def count(context: Context) -> dict[str, int]:
    """Count notes by tag, from a set, in whatever order: the result is a map."""
    names = {tag for note in context.backend.notes.values() for tag in note["tags"]}
    return {
        tag: sum(tag in note["tags"] for note in context.backend.notes.values()) for tag in names
    }


@honest("longest", cases=BOARD, reads_only=True)
def longest(context: Context) -> str:
    """Return the longest name, the first of equal ones."""
    return max(sorted(context.backend.notes), key=len)


@honest("rename", cases=[Case({"old": "milk", "new": "oats"}, start=START)])
def rename(context: Context, old: str, new: str) -> None:
    """Give a note another name."""
    context.backend.notes[new] = context.backend.notes.pop(old)


@honest("clear", cases=BOARD, idempotent=True)
def clear(context: Context) -> None:
    """Take all notes off."""
    context.backend.notes.clear()


@honest("memo", cases=[Case({"n": 12}), Case({"n": 20})])
def memo(n: int) -> int:
    """Compute with a cache that keeps what is true for ever."""
    return _fibonacci(n)


@functools.cache
def _fibonacci(n: int) -> int:
    return n if n < 2 else _fibonacci(n - 1) + _fibonacci(n - 2)


@honest("draw", "seeded", cases=BOARD)
def draw(context: Context) -> str:
    """Draw a note."""
    names = sorted(context.backend.notes)
    return f"{names[int(context.rng('note').integers(len(names)))]} {context.seed('number', 0, 1 << 30)}"


@honest("shuffle", "seeded", cases=[Case({"words": ["a", "b", "c", "d", "e", "f", "g", "h"]})])
def shuffle(words: list[str], context: Context) -> list[str]:
    """Shuffle by a generator of its own, made from the seed."""
    made = [*words]
    random.Random(context.seed("order")).shuffle(made)
    return made


@honest("digest", cases=[Case({"text": "a word"})])
def digest(text: str) -> str:
    """Digest a text."""
    return hashlib.sha256(text.encode()).hexdigest()


@honest("matrix", cases=[Case({"n": 40})])
def matrix(n: int) -> float:
    """Multiply matrices."""
    made = np.arange(n * n, dtype=float).reshape(n, n) / n
    return float((made @ made.T).sum())


@honest("stamp", cases=BOARD)
def stamp(context: Context) -> str:
    """Pin contract time under a name that its parameters make."""
    name = context.name("stamp", {"at": context.time.isoformat()})
    context.backend.notes[name] = {"text": context.time.isoformat(), "tags": []}
    return name


@honest("scratch")
def scratch() -> int:
    """Use a file of its own, and give its size."""
    path = pathlib.Path("scratch.bin")
    path.write_bytes(b"x" * 123)
    size = path.stat().st_size
    path.unlink()
    return size


registry = Registry([*LIARS, *HONEST], "second", backend=Board)
