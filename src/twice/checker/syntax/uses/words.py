"""What the names in a program say of what things are for: a log, a label, a time limit.

Words are compared by their parts, so ``run_name`` and ``runName`` are the words run and name. Names
only ever make a finding quieter; no finding rests on one alone.

Invariant: lower-case words, no project's own.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Final

_PARTS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

TELEMETRY: Final = frozenset(
    [
        "log",
        "logs",
        "logger",
        "logging",
        "metric",
        "metrics",
        "stat",
        "stats",
        "telemetry",
        "progress",
        "tqdm",
        "pbar",
        "writer",
        "wandb",
        "summary",
        "fps",
        "sps",
        "speed",
        "latency",
        "throughput",
        "elapsed",
        "duration",
        "profile",
        "profiler",
        "profiling",
        "perf",
        "benchmark",
        "bench",
        "timing",
        "timings",
        "timer",
        "stopwatch",
        "console",
        "debug",
        "monitor",
        "heartbeat",
        "usage",
        "report",
        "uptime",
        "runtime",
        "walltime",
    ]
)
LABEL: Final = frozenset(
    [
        "name",
        "names",
        "path",
        "paths",
        "dir",
        "dirs",
        "directory",
        "folder",
        "file",
        "filename",
        "filepath",
        "prefix",
        "suffix",
        "label",
        "title",
        "tag",
        "tmp",
        "temp",
        "session",
        "experiment",
        "job",
        "stamp",
        "timestamp",
        "banner",
        "header",
        "footer",
        "copyright",
        "message",
        "msg",
        "text",
        "comment",
        "description",
        "url",
        "caption",
    ]
)
TIMING: Final = frozenset(
    [
        "timeout",
        "deadline",
        "delay",
        "wait",
        "interval",
        "sleep",
        "backoff",
        "pause",
        "ttl",
        "expire",
        "expires",
        "expiry",
        "expiration",
        "rate",
        "throttle",
        "pacing",
        "retry",
        "cooldown",
    ]
)
MEASURING: Final = frozenset(
    [
        "benchmark",
        "bench",
        "profile",
        "profiler",
        "profiling",
        "perf",
        "timeit",
        "measure",
        "timing",
        "timer",
        "time",
        "speed",
        "fps",
        "throughput",
        "latency",
        "elapsed",
    ]
)
SHOWING: Final = frozenset(
    [
        "render",
        "rendering",
        "renderer",
        "viewer",
        "display",
        "plot",
        "plotting",
        "show",
        "animate",
        "animation",
        "refresh",
        "redraw",
        "flush",
        "sleep",
        "checkpoint",
        "gui",
        "widget",
        "widgets",
        "dashboard",
        "video",
        "recorder",
        "save",
        "spinner",
        "visualization",
        "visualisation",
        "visualize",
        "visualizer",
        "playback",
        "callback",
    ]
)
"""What is done for people to look at, or on the side."""
TELLING: Final = frozenset(
    [
        "display",
        "echo",
        "fail",
        "plot",
        "print",
        "secho",
        "show",
        "text",
        "tooltip",
        "warn",
        "warning",
    ]
)
"""What shows something to somebody."""
STAMPS: Final = frozenset({"timestamp", "created", "date", "datetime"})
"""What a field of a record is called that says when it was made."""
LOGS: Final = frozenset({"log", "logs"})
LIMITS: Final = frozenset(
    [
        "deadline",
        "timeout",
        "expiry",
        "expires",
        "expiration",
        "delay",
        "wait",
        "backoff",
        "ttl",
        "sleep",
        "pause",
    ]
)
"""What a variable is called that holds a time limit."""
NAMING: Final = frozenset(
    [
        "name",
        "path",
        "dir",
        "directory",
        "folder",
        "filename",
        "dirname",
        "basename",
        "filepath",
        "prefix",
        "suffix",
        "label",
        "title",
        "tag",
        "banner",
        "header",
        "footer",
        "caption",
        "message",
        "msg",
    ]
)
"""What a variable is called that holds a name, and nothing that is computed with."""
BESIDE: Final = (MEASURING | TELEMETRY | SHOWING | {"performance", "benchmarks", "stats"}) - {
    "callback", "checkpoint", "recorder", "report", "save", "show", "summary", "time", "usage", "writer"
}  # fmt: skip
"""What a function, a class or a file is called that is there to measure, to log or to show."""
SPANS: Final = MEASURING | TELEMETRY | frozenset(
    ["durations", "frequency", "hours", "hz", "minutes", "ms", "runtimes", "sec", "second", "seconds", "secs", "span", "timers", "times", "took"]
)  # fmt: skip
"""What holds a duration."""
IDENTITIES: Final = frozenset(["guid", "guids", "uid", "uids", "uuid", "uuids"])
"""What holds an identity that no two things share."""
SEED: Final = frozenset(["seed", "seeds"])
GENERATOR: Final = frozenset(["rng", "rngs", "prng", "random", "randomizer", "generator", "rand"])
SEED_KEYWORDS: Final = frozenset({"random_seed", "random_state", "rng_seed", "seed"})
"""Keyword arguments that take a seed."""
OWN_NAMES: Final = frozenset({"guid", "id", "key", "name", "uid", "uuid"})
"""Attributes that say which object it is."""


@lru_cache(maxsize=65536)
def parts(name: str) -> frozenset[str]:
    """Give the words in an identifier, lower case."""
    return frozenset(each.lower() for each in _PARTS.findall(name))


def last_part(name: str) -> str:
    """Give the last word in an identifier, which says what kind of thing it is: an eta is ``message_eta``."""
    return next((each for each in reversed(_PARTS.findall(name)) if not each.isdigit()), "")


def about(name: str, words: frozenset[str]) -> bool:
    """Say whether an identifier has one of some words in it."""
    return not words.isdisjoint(parts(name))


def tells(name: str) -> bool:
    """Say whether a function of this name shows something to somebody, and writes no file."""
    return about(name, TELLING) and "write" not in parts(name)


def last_name(node: ast.AST) -> str:
    """Give the last name in an expression: ``c`` of ``a.b.c``, of ``c(...)``, of ``c[...]``."""
    while True:
        if isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Attribute):
            return node.attr
        else:
            return node.id if isinstance(node, ast.Name) else ""
