"""What verification found, as a value: JSON for scripts and certificates, text for people.

Invariant: the text says what was tried and what was seen, and claims nothing beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from twice.foundation.printable import pluralize, printable
from twice.tools.determinism import Level
from twice.tools.verification.exposure import Exposure

FORMAT: Final = "twice.tools-verification/1"


class Verdict(StrEnum):
    """What is said of one tool."""

    NO_DIFFERENCE = "no-difference"
    EXPOSED = "exposed"
    COULD_NOT_TELL = "could-not-tell"
    PROMISES_NOTHING = "promises-nothing"


@dataclass(frozen=True)
class Tried:
    """One case that was tried.

    Attributes:
        case: as plain data.
        digest: of it.
        origin: ``declared``, ``file`` or ``generated``.
        failure: why it told nothing; empty when it did.
        result: fingerprint of the result; empty where it is equal within a tolerance only.
        state: fingerprint of the state after it.
    """

    case: Mapping[str, Any]
    digest: str
    origin: str
    failure: str = ""
    result: str = ""
    state: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "case": dict(self.case),
            "digest": self.digest,
            "origin": self.origin,
            "failure": self.failure,
            "result": self.result,
            "state": self.state,
        }


@dataclass(frozen=True)
class Suspicion:
    """A place in a tool's source that a static rule finds; a hint, not something that was seen."""

    rule: str
    place: str
    message: str

    def to_json(self) -> dict[str, str]:
        """As plain data."""
        return {"rule": self.rule, "place": self.place, "message": self.message}


@dataclass
class ToolVerification:
    """What was found of one tool.

    Attributes:
        name: its name.
        fingerprint: of its descriptor.
        determinism: the class that it declares.
        verdict: what is said of it.
        level: how far it was tried.
        runs: trials of it.
        seconds: of wall clock that they took.
        cases: that it was tried with.
        perturbed: factors that were perturbed.
        laws: laws that it was held to.
        exposures: what broke its declaration.
        suspicions: what static rules find in its source.
        read: whether its source was read.
        not_tried: factors and laws that were not tried, and why.
        hosts: other hosts whose certificates these runs repeated, as digests.
    """

    name: str
    fingerprint: str
    determinism: str
    verdict: Verdict
    level: Level
    runs: int = 0
    seconds: float = 0.0
    cases: Sequence[Tried] = ()
    perturbed: Sequence[str] = ()
    laws: Sequence[str] = ()
    exposures: list[Exposure] = field(default_factory=list)
    suspicions: Sequence[Suspicion] = ()
    read: bool = False
    not_tried: Mapping[str, str] = field(default_factory=dict)
    hosts: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "fingerprint": self.fingerprint,
            "class": self.determinism,
            "verdict": self.verdict.value,
            "level": self.level.value,
            "runs": self.runs,
            "seconds": round(self.seconds, 3),
            "cases": [each.to_json() for each in self.cases],
            "perturbed": list(self.perturbed),
            "laws": list(self.laws),
            "exposures": [each.to_json() for each in self.exposures],
            "static": {
                "read": self.read,
                "suspicions": [each.to_json() for each in self.suspicions],
            },
            "not_tried": dict(self.not_tried),
            "hosts": list(self.hosts),
        }

    def lines(self) -> Iterator[str]:
        """For people."""
        yield f"{self.name}  {self._said()}  [{self.level.value}, {self.seconds:.1f} s]"
        for exposure in self.exposures:
            yield f"  exposed by {printable(str(exposure))}"
        for failed in dict.fromkeys(each.failure for each in self.cases if each.failure):
            yield f"  {printable(failed)}"
        for each in self.suspicions:
            yield f"  suspicious: {printable(f'{each.place}: {each.message} ({each.rule})')}"

    def _said(self) -> str:
        if self.verdict is Verdict.NO_DIFFERENCE:
            return f"no difference seen in {pluralize(self.runs, 'run')} under {pluralize(len(self.perturbed), 'perturbation')}"
        if self.verdict is Verdict.EXPOSED:
            return f"breaks its declaration ({self.determinism})"
        if self.verdict is Verdict.PROMISES_NOTHING:
            return "declares nothing that could be tried"
        return "could not tell"


@dataclass(frozen=True)
class Verification:
    """What was found of a registry.

    Attributes:
        registry: as it was asked for.
        fingerprint: of the registry.
        backend: kind of backend.
        profile: its versions.
        environment: fingerprint of the environment, as JSON.
        sources: digests of the user's own files that were loaded with the registry.
        tools: each with its verdict.
        said: about certificates that count as nothing.
        starts: processes that were started.
        starting_s: seconds that this took, for all tools together.
    """

    registry: str
    fingerprint: str
    backend: str
    profile: Mapping[str, str]
    environment: Mapping[str, Any]
    sources: Mapping[str, str]
    tools: Sequence[ToolVerification]
    said: Sequence[str] = ()
    starts: int = 0
    starting_s: float = 0.0

    @property
    def exit_code(self) -> int:
        """0 no declaration was broken, 1 one was, 2 of one it could not be told."""
        verdicts = [each.verdict for each in self.tools]
        if Verdict.EXPOSED in verdicts:
            return 1
        return 2 if Verdict.COULD_NOT_TELL in verdicts else 0

    def to_json(self, tools: Sequence[ToolVerification] | None = None) -> dict[str, Any]:
        """As plain data, for all tools or for some."""
        return {
            "format": FORMAT,
            "registry": self.registry,
            "registry_fingerprint": self.fingerprint,
            "backend": self.backend,
            "profile": dict(self.profile),
            "environment": dict(self.environment),
            "sources": dict(self.sources),
            "processes": {"started": self.starts, "seconds": round(self.starting_s, 3)},
            "tools": [each.to_json() for each in (self.tools if tools is None else tools)],
        }

    def _counted(self) -> str:
        """How many tools have which verdict; those that it could not be told of by name."""
        counts = [(sum(t.verdict is each for t in self.tools), each) for each in Verdict]
        said = ", ".join(f"{count} {verdict.value}" for count, verdict in counts if count)
        untold = [each.name for each in self.tools if each.verdict is Verdict.COULD_NOT_TELL]
        names = f" ({', '.join(untold[:5])}{', …' if len(untold) > 5 else ''})" if untold else ""
        return f"{self.registry}: {said}{names}"

    def lines(self) -> Iterator[str]:
        """For people."""
        yield self._counted()
        for tool in self.tools:
            yield from tool.lines()
        not_tried: dict[str, str] = {}
        for tool in self.tools:
            not_tried.update(tool.not_tried)
        for name, why in sorted(not_tried.items()):
            yield f"not tried: {name}: {printable(why)}"
        perturbed = dict.fromkeys(name for tool in self.tools for name in tool.perturbed)
        if perturbed:
            yield f"perturbed: {', '.join(perturbed)}"
        yield f"{pluralize(self.starts, 'process was', 'processes were')} started in {self.starting_s:.1f} s."
        yield "No difference seen is evidence from these runs, and no proof about others."
