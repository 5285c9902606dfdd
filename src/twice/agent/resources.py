"""What an agent reads on demand: whole answers, records, ticks, sheets, rules, errors; and the prompts.

Invariant: reading executes nothing of the project.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

from twice.agent.errors import NothingThere
from twice.foundation.dataclass import dataclass

PAGE: Final = 12_000
"""Characters of one page."""
_KEPT_MAX: Final = 50
TEMPLATES: Final = {
    "twice://answer/{n}/{page}": "all that a call gave, in pages; an answer's `more` is its first",
    "twice://record/{path}": "a record: program, seed, environment, ending; / in the path as %2F",
    "twice://record/{path}/tick/{t}": "what went in at a tick, and the nearest state",
    "twice://rule/{name}": "a rule of the checker: what it finds, why, what to do",
    "twice://sheet/{path}": "a sheet of the project's specification, by its path",
}


class Answers:
    """The last whole answers, by number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, str] = OrderedDict()
        self._next = 1

    def keep(self, document: Mapping[str, Any]) -> str:
        """Keep a document; return the address of its first page."""
        with self._lock:
            number, self._next = self._next, self._next + 1
            self._kept[number] = json.dumps(document, indent=1)
            while len(self._kept) > _KEPT_MAX:
                self._kept.popitem(last=False)
        return f"twice://answer/{number}/1"

    def read(self, number: str, page: str) -> str:
        """Read one page.

        Raises:
            NothingThere: E-AGENT-006.
        """
        text = self._kept.get(int(number)) if number.isdecimal() else None
        count = 0 if text is None else -(-len(text) // PAGE)
        if text is None or not page.isdecimal() or not 1 <= int(page) <= count:
            raise NothingThere(
                f"There is no page {page} of answer {number}.",
                f"Expected one of the last {_KEPT_MAX} answers, and a page from 1 to {count}.",
                "Call the tool again; its answer says in `more` where all of it is.",
            )
        start = (int(page) - 1) * PAGE
        rest = "" if int(page) == count else f"\n… twice://answer/{number}/{int(page) + 1}"
        return text[start : start + PAGE] + rest


@dataclass(frozen=True, slots=True)
class Address:
    """A resource: its kind, and the parts of its address."""

    kind: str
    parts: tuple[str, ...]


def parse_address(uri: str) -> Address:
    """Read an address.

    Raises:
        NothingThere: E-AGENT-006.
    """
    scheme, _, rest = uri.partition("://")
    kind, *parts = map(unquote, rest.split("/"))
    shapes = {"answer": 2, "rule": 1, "sheet": 1}
    is_tick = parts[1:2] == ["tick"] and len(parts) == 3 and parts[2].isdecimal()
    is_record = kind == "record" and (len(parts) == 1 or is_tick)
    is_text = all(each and each.isprintable() for each in parts)
    if scheme != "twice" or not (is_record or shapes.get(kind) == len(parts)) or not is_text:
        raise NothingThere(
            f"There is no resource {uri!r}.",
            f"Expected one of: {', '.join(TEMPLATES)}.",
            "List the records by the tool `records`.",
        )
    return Address(kind, tuple(parts))


def address_of_record(path: str) -> str:
    """Write the address of a record."""
    return f"twice://record/{quote(path, safe='')}"


PROMPTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "verify-replay": (
        "prove that a record replays, and find the line if it does not",
        "record",
        (
            "Call `verify` with record={record}. Report the result and how many compare-points were judged. On FAIL call "
            "`verify` with diagnose=true and report the line, both values, the channel and the remedy, as the answer states "
            "them. Never guess a cause that no answer names. Say what was not covered (caveats, gaps)."
        ),
    ),
    "diagnose-divergence": (
        "find the first operation where two runs part",
        "a b",
        (
            "Call `diagnose` with a={a}, b={b}. On not-same-input, report the differing inputs, and call it with anyway=true. "
            "Report tick, field, line, both values, channel with its confidence, and the remedy. Below 65 % report candidates "
            "as candidates. Close with: Confidence, Risk, Information gaps, Caveats, and one plain sentence."
        ),
    ),
    "check-determinism": (
        "read code for what would make two runs differ",
        "path",
        (
            "Call `review` with paths=[{path}]. Report the verdict, findings by severity with place, why and remedy, and what "
            "the review could not know. Prove the likeliest ones: `vary` on a program that reaches them."
        ),
    ),
    "scaffold-replay-system": (
        "wire a component to its specification",
        "component",
        (
            "Call `spec` (status) and fill what is open with the user; then `scaffold` with component={component} and "
            "apply=false, show the plan, and apply it once the user agrees. Prove it by `gate`."
        ),
    ),
    "cannot-reproduce": (
        "a bug or a result that comes and goes",
        "program",
        (
            "1. `record` {program} twice with one seed. 2. `diagnose` the two records. 3. If they are the same, `vary` the "
            "program: the hash seed, the time zone, the locale and other surroundings are tried one by one. 4. Correct the line "
            "that is named, and nothing else. 5. Prove it: `vary` is PASS, and a new record verifies."
        ),
    ),
}
"""Description, names of the arguments, text; by name."""


def write_prompt(name: str, given: Mapping[str, str]) -> str:
    """Write a prompt.

    Raises:
        NothingThere: E-AGENT-006, for an unknown name or a missing argument.
    """
    if name not in PROMPTS or (missing := set(PROMPTS[name][1].split()) - given.keys()):
        what = f"prompt {name!r}" if name not in PROMPTS else f"value for {', '.join(missing)}"
        raise NothingThere(
            f"There is no {what}.",
            f"Expected one of: {', '.join(f'{each}({PROMPTS[each][1]})' for each in PROMPTS)}.",
            "List the prompts.",
        )
    return PROMPTS[name][2].format(**given)
