"""What verification found, as a value: JSON that sessions take levels from, and text for people.

A file of it counts for the tools, backend profile, user files, Python and libraries that it was made of. It is no
proof of its origin: whoever may write it may write anything into it.

Invariant: the text says what was tried and what was seen; a file that does not fit gives no level, and that is said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar

from twice.errors import UsageError
from twice.foundation.comparison import Tolerance, tolerance_from_json
from twice.foundation.dataclass_codec import from_plain, to_plain
from twice.foundation.printable import pluralize, printable
from twice.tools.canonical_json import canonical, fingerprint, plain
from twice.tools.cases import Case
from twice.tools.determinism import Level

FORMAT: Final = "twice.tools-verification/1"
ANOTHER_HOST: Final = "another host"
_BYTES_MAX: Final = 1 << 26
_T = TypeVar("_T")


class ToolVerdict(StrEnum):
    """What is said of one tool."""

    NO_DIFFERENCE = "no-difference"
    EXPOSED = "exposed"
    COULD_NOT_TELL = "could-not-tell"
    PROMISES_NOTHING = "promises-nothing"


@dataclass(frozen=True)
class ToolDescription:
    """One tool, as far as verification asks; ``source`` is its file, and first and last line."""

    name: str
    fingerprint: str
    determinism: str
    reads_only: bool
    idempotent: bool
    is_macro: bool
    tolerance: Mapping[str, Any] | None
    source: tuple[str, int, int] | None
    origin: str
    cases: tuple[Case, ...]
    why: str

    @property
    def equality(self) -> Tolerance | None:
        """The tolerance within which two results count as equal; None for exact equality."""
        return None if self.tolerance is None else tolerance_from_json(dict(self.tolerance))


@dataclass(frozen=True, kw_only=True)
class LoadedRegistry:
    """A registry as a process has loaded it, with digests of the user's own files by path."""

    registry_fingerprint: str
    backend: str
    profile: Mapping[str, str]
    sources: Mapping[str, str]
    environment: Mapping[str, Any]

    @property
    def host(self) -> str:
        """Digest of system and processor; machines of one make and system look alike."""
        return fingerprint(plain([self.environment.get("os"), self.environment.get("cpu")]))

    @property
    def versions(self) -> dict[str, str]:
        """Versions of Python and of the libraries that the environment names."""
        python, libraries = (self.environment.get(each) or {} for each in ("python", "libraries"))
        return {"python": str(python.get("version")), **{k: str(v) for k, v in libraries.items()}}


@dataclass(frozen=True, kw_only=True)
class RegistryDescription(LoadedRegistry):
    """What a registry offers: what verification begins with, or is held against."""

    tools: tuple[ToolDescription, ...]


@dataclass(frozen=True)
class Exposure:
    """One way in which a tool broke what it declares: the factor or law, and what was seen in a trial.

    Where enforcement refused it, also the need that it does not declare and ``file:line``.
    """

    by: str
    what: str
    need: str = ""
    place: str = ""

    def __str__(self) -> str:
        need = f", need {self.need}" if self.need else ""
        return f"{self.by}{need}{f' at {self.place}' if self.place else ''}: {self.what}"


@dataclass(frozen=True)
class Suspicion:
    """A place in a tool's source that a static rule found; it lowers the level and exposes nothing."""

    rule: str
    place: str
    message: str


@dataclass(frozen=True)
class StaticReading:
    """What static rules said of a tool's source, and whether they could read it."""

    read: bool
    suspicions: tuple[Suspicion, ...]


@dataclass(frozen=True)
class CaseResult:
    """One case, why it told nothing, and fingerprints of result and state.

    ``result`` is empty where results are equal within a tolerance only.
    """

    case: Mapping[str, Any]
    digest: str
    origin: str
    failure: str
    result: str
    state: str


@dataclass(frozen=True)
class ToolVerification:
    """What was found of one tool.

    ``hosts`` are digests of other hosts whose results these runs repeated; ``determinism`` is ``class`` in JSON.
    """

    name: str
    fingerprint: str
    determinism: str
    verdict: str
    level: str
    runs: int
    seconds: float
    cases: tuple[CaseResult, ...]
    perturbed: tuple[str, ...]
    laws: tuple[str, ...]
    exposures: tuple[Exposure, ...]
    static: StaticReading
    not_tried: Mapping[str, str]
    hosts: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """For people."""
        text = {
            ToolVerdict.NO_DIFFERENCE: f"no difference seen in {pluralize(self.runs, 'run')} under {pluralize(len(self.perturbed), 'perturbation')}",
            ToolVerdict.EXPOSED: f"breaks its declaration ({self.determinism})",
            ToolVerdict.PROMISES_NOTHING: "declares nothing that could be tried",
            ToolVerdict.COULD_NOT_TELL: "could not tell",
        }[ToolVerdict(self.verdict)]
        yield f"{self.name}  {text}  [{self.level}, {self.seconds:.1f} s]"
        for exposure in self.exposures:
            yield f"  exposed by {printable(str(exposure))}"
        for failure in dict.fromkeys(each.failure for each in self.cases if each.failure):
            yield f"  {printable(failure)}"
        for each in self.static.suspicions:
            yield f"  suspicious: {printable(f'{each.place}: {each.message} ({each.rule})')}"


@dataclass(frozen=True)
class ProcessCount:
    """How many processes were started, and how many seconds that took, for all tools together."""

    started: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class RegistryVerification(LoadedRegistry):
    """What was found of a registry, as it was asked for."""

    registry: str
    processes: ProcessCount
    tools: tuple[ToolVerification, ...]

    @property
    def exit_code(self) -> int:
        """0 no declaration was broken, 1 one was, 2 of one it could not be told."""
        found = {each.verdict for each in self.tools}
        return 1 if ToolVerdict.EXPOSED in found else 2 * (ToolVerdict.COULD_NOT_TELL in found)

    def to_json(self) -> dict[str, Any]:
        """Return plain data with ``"format": "twice.tools-verification/1"``."""
        document = {"format": FORMAT, **to_plain(self)}
        for tool in document["tools"]:
            tool["class"] = tool.pop("determinism")
        return document

    def lines(self) -> Iterator[str]:
        """For people: how many tools have which verdict, those that it could not be told of by name, then each."""
        counts = [(sum(t.verdict == each for t in self.tools), each) for each in ToolVerdict]
        text = ", ".join(f"{count} {verdict.value}" for count, verdict in counts if count)
        unknown = [each.name for each in self.tools if each.verdict == ToolVerdict.COULD_NOT_TELL]
        names = ", ".join(unknown[:5]) + (", …" if len(unknown) > 5 else "")
        yield f"{self.registry}: {text}{f' ({names})' if unknown else ''}"
        not_tried: dict[str, str] = {}
        for tool in self.tools:
            yield from tool.lines()
            not_tried.update(tool.not_tried)
        for name, why in sorted(not_tried.items()):
            yield f"not tried: {name}: {printable(why)}"
        perturbed = dict.fromkeys(name for tool in self.tools for name in tool.perturbed)
        if perturbed:
            yield f"perturbed: {', '.join(perturbed)}"
        count = pluralize(self.processes.started, "process was", "processes were")
        yield f"{count} started in {self.processes.seconds:.1f} s."
        yield "No difference seen is evidence from these runs, and no proof about others."


def parse(kind: type[_T], document: object) -> _T:
    """Read the plain form of a dataclass.

    Raises:
        ValueError: in words.
    """

    def refuse(place: str, _: object, expected: str) -> ValueError:
        return ValueError(f"{place or 'it'} is not {expected}")

    found: _T = from_plain(kind, document, "", refuse)
    return found


def read_document(path: Path, form: str) -> dict[str, Any]:
    """Read a JSON document of a format.

    Raises:
        OSError: it cannot be read. ValueError: it is no such document, in words.
    """
    with path.open("rb") as file:
        data = file.read(_BYTES_MAX + 1)
    if len(data) > _BYTES_MAX:
        raise ValueError(f"it is larger than {_BYTES_MAX} bytes")
    document = json.loads(data)
    if not isinstance(document, dict) or document.get("format") != form:
        raise ValueError(f"its format is not {form}")
    return document


def read_verification(path: Path) -> RegistryVerification:
    """Read a file that ``twice tools verify -o`` has written.

    Raises:
        UsageError: E-USE-001, when it is no such file.
    """
    try:
        document = plain(read_document(path, FORMAT))
        for tool in document["tools"]:
            tool["determinism"] = tool.pop("class")
            Level(tool["level"])
            ToolVerdict(tool["verdict"])
        return parse(RegistryVerification, document)
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        is_formless = isinstance(error, KeyError | TypeError | AttributeError)
        raise UsageError(
            f"{path} is no verification of tools: {'a member is missing' if is_formless else error}.",
            f"Expected the JSON of {FORMAT}, as twice tools verify -o FILE writes it.",
            "Verify the registry, and name the file that this writes.",
        ) from error


def find_obstacle(made: RegistryVerification, name: str, here: RegistryDescription) -> str:
    """Find why what was found of a tool does not count here; return an empty text when it does."""
    own = next(each for each in made.tools if each.name == name)
    now = next((each for each in here.tools if each.name == name), None)
    if now is None:
        return f"this registry has no tool {name}"
    if now.fingerprint != own.fingerprint:
        return f"{name} has another fingerprint here: it was changed since"
    if (made.backend, dict(made.profile)) != (here.backend, dict(here.profile)):
        one, other = (
            f"{each.backend or 'no backend'} {canonical(dict(each.profile)).decode()}"
            for each in (made, here)
        )
        return f"it was made on {one}, and this is {other}"
    if changed := _find_change(made.sources, here.sources):
        return f"{changed} was changed since"
    if other := _find_change(made.versions, here.versions):
        was, is_now = (each.versions.get(other, "missing") for each in (made, here))
        return f"{other} was {was} then, and is {is_now} here"
    return ""


def compare_hosts(
    name: str, cases: Sequence[CaseResult], made: RegistryVerification, here: RegistryDescription
) -> str | None:
    """Compare results of a tool with those of another host.

    Returns:
        What differs, empty when nothing does; None where the other has nothing that counts for these cases.
    """
    own = next((each for each in made.tools if each.name == name), None)
    if own is None or own.verdict != ToolVerdict.NO_DIFFERENCE or find_obstacle(made, name, here):
        return None
    there = {each.digest: (each.result, each.state) for each in own.cases if each.result}
    pairs = [
        (there[each.digest], (each.result, each.state)) for each in cases if each.digest in there
    ]
    if not pairs:
        return None
    return "" if all(a == b for a, b in pairs) else "another result or state for an equal case"


def choose_levels(
    files: Mapping[str, RegistryVerification], here: RegistryDescription
) -> tuple[dict[str, Level], list[str]]:
    """Choose how far the tools of a session count as tried, by fingerprint; what counts as nothing, in words.

    A tool that one file exposes has no level, whatever others say.

    Args:
        files: verifications by the name of their file.
        here: the registry of the session.
    """
    order, found, notes = list(Level), dict[str, Level](), list[str]()
    rows = [(name, made, tool) for name, made in files.items() for tool in made.tools]
    for name, made, tool in rows:
        if tool.verdict == ToolVerdict.PROMISES_NOTHING:
            continue
        if why := find_obstacle(made, tool.name, here):
            notes.append(f"{name} counts as nothing for {tool.name}: {why}")
            continue
        level = found.get(tool.fingerprint, Level.DECLARED)
        found[tool.fingerprint] = max(level, Level(tool.level), key=order.index)
    for name, _, tool in rows:
        if tool.verdict == ToolVerdict.EXPOSED and found.pop(tool.fingerprint, None) is not None:
            notes.append(f"{tool.name} was exposed ({name}): it has no level")
    return found, notes


def _find_change(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    """Return the first key under which two maps differ; empty if none does."""
    return next((key for key in sorted({*one, *other}) if one.get(key) != other.get(key)), "")
