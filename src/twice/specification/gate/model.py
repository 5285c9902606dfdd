"""A check of the gate: its subject, and its result.

A check is one function over facts that yields findings: a plain text is a fault, ``Observed`` is what was seen to
hold, ``Undecided`` what could not be told. It judges the sheets first and asks for evidence then; where evidence
is missing, ``require`` ends it, so that faults of the sheets are told even where nothing could be run.

Invariant: a check is pure, and what could not be evaluated is blocked, never a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Final, TypeVar

from twice.diagnosis.vary.report import FactorResult
from twice.foundation.environment import Fingerprint
from twice.replayer.verification import Verification
from twice.specification.gate.evidence.context import (
    MissingEvidence,
    SourceFacts,
    SourcePlace,
    Unavailable,
)
from twice.specification.gate.evidence.files import AuditReference, Costs, EncodingAnswers
from twice.specification.gate.evidence.runs import GateTrial, KnownRun, RestoredSnapshots
from twice.specification.gate.evidence.suite import SuiteRun
from twice.specification.gate.evidence.trials import OperationTrial, PlantedDifference
from twice.specification.lock import Lock
from twice.specification.scaffold.lock import DriftStatus
from twice.specification.schema import COMMON
from twice.specification.tiers import Situation, Tier, Trait, find_required, may_be_memo
from twice.specification.workspace import Workspace

T = TypeVar("T")
WHOLE: Final = "99"
"""The sheet that is made from the others once the gate has passed, and not written by hand."""
COMMON_KEYS: Final = frozenset(item.key for item in COMMON)
_NOT_GATHERED: Final = Unavailable("it was not gathered")


class CheckOutcome(StrEnum):
    """The five ends of a check."""

    PASS = "pass"  # noqa: S105  (no password)
    FAIL = "fail"
    NA = "na"
    WAIVED = "waived"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One line of the report: what was seen, why it is no pass ("" for one), and each fault, kept for waived ones too."""

    id: int
    title: str
    outcome: CheckOutcome
    evidence: tuple[str, ...]
    reason: str
    faults: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return an entry of ``checks``."""
        return {**asdict(self), "evidence": list(self.evidence), "faults": list(self.faults)}


class Observed(str):
    """What was seen to hold, in words."""

    __slots__ = ()


class Undecided(str):
    """What could not be told, and why."""

    __slots__ = ()


class FirmFault(str):
    """A fault against which no waiver helps."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class GateFacts:
    """Everything that the checks judge: no file handle, no process, nothing that changes.

    The sheets, the lock, the day by which waivers are judged; then one kind of evidence each, or why it is not there.
    """

    workspace: Workspace
    lock: Lock
    today: date
    code: SourceFacts | Unavailable = _NOT_GATHERED
    taken: str | Unavailable = _NOT_GATHERED
    trial: GateTrial | Unavailable = _NOT_GATHERED
    sealed: Verification | Unavailable = _NOT_GATHERED
    reseeded: bool | Unavailable | None = _NOT_GATHERED
    varied: tuple[FactorResult, ...] | Unavailable = _NOT_GATHERED
    vector: KnownRun | Unavailable = _NOT_GATHERED
    restored: RestoredSnapshots | Unavailable = _NOT_GATHERED
    planted: PlantedDifference | Unavailable = _NOT_GATHERED
    operations: tuple[OperationTrial, ...] | Unavailable = _NOT_GATHERED
    policies: Fingerprint | Unavailable = _NOT_GATHERED
    encoded: EncodingAnswers | Unavailable = _NOT_GATHERED
    suite: SuiteRun | Unavailable = _NOT_GATHERED
    costs: Costs | Unavailable = _NOT_GATHERED
    installed: Mapping[str, str] | Unavailable = _NOT_GATHERED
    handoff: AuditReference | Unavailable = _NOT_GATHERED
    laid: tuple[DriftStatus, ...] | Unavailable = _NOT_GATHERED
    situation: Situation = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "situation", self.workspace.situation())

    @property
    def tier(self) -> Tier:
        """The declared tier."""
        return self.situation.tier

    def tell(self, number: str, key: str, text: str) -> str:
        """Put ``file:line`` of a key in front of a finding."""
        return f"{self.workspace.place(number, key)}: {text}"

    def denies(self, trait: Trait) -> bool:
        """Whether sheet 00 says that the system has not something."""
        return self.situation.traits.get(trait) is False

    def explain_absence(self, trait: Trait) -> str:
        """Return why a system has not something, as sheet 00 says it; "" without a reason, or where the code has it."""
        rows = self.workspace.rows("00", "traits")
        why = next((str(row.get("why", "")) for row in rows if row.get("name") == trait), "")
        is_believed = why and self.denies(trait) and not any(self.find_present(trait))
        return f"by sheet 00 the system has no {trait}: {why}" if is_believed else ""

    def find_unexplained(self, trait: Trait) -> Iterator[str]:
        """Yield that a system is said not to have something, and that nobody said why."""
        is_present = any(self.find_present(trait))
        if self.denies(trait) and not is_present and not self.explain_absence(trait):
            said = f"by sheet 00 the system has no {trait}, without a reason"
            yield Undecided(self.tell("00", "traits", said))

    def find_present(self, trait: Trait) -> Iterator[str]:
        """Yield that the code, where it was read, certainly does what sheet 00 denies."""
        code = optional(self.code)
        # A function that rounds need not reach the state; there the trial decides.
        is_shown = code is not None and trait in code.present and trait != Trait.FLOATING_POINT
        if code is not None and is_shown and self.denies(trait):
            said = f"by sheet 00 the system has no {trait}, and the code has: {code.present[trait]}"
            yield self.tell("00", "traits", said)

    def find_gaps(
        self, number: str, *, but: Collection[str] = (), conditional: bool = False
    ) -> list[str]:
        """Return what a sheet has to say of its own and does not, ``but`` for keys that another check asks for.

        Common keys belong to check 1. A ``conditional`` sheet may be absent where the tier does not ask for it.
        """
        sheet = self.workspace.get(number)
        if conditional and self.is_unasked(number):
            return [Observed(f"sheet {number} is not asked for at tier {self.tier}")]
        if sheet is None:
            return [Undecided(f"sheet {number} is not there; see check 1")]
        if sheet.is_memo and may_be_memo(number, self.tier):
            return [Observed(f"{sheet.path} is one page, which does at tier {self.tier}")]
        gaps = [
            f"{sheet.path}:{gap.line}: {gap.key} is {gap.why}: {gap.says}"
            for gap in sheet.gaps(self.situation)
            if gap.key not in COMMON_KEYS and gap.key not in but
        ]
        return gaps or [Observed(f"sheet {number} says what tier {self.tier} asks for")]

    def is_unasked(self, number: str) -> bool:
        """Whether a sheet is not there, and the tier does not ask for it either."""
        return self.workspace.get(number) is None and number not in find_required(self.situation)

    def find_outside(self, number: str, key: str) -> Iterator[str]:
        """Yield executed files that a sheet does not have read: what is left out could hold anything."""
        folders = self.workspace.strings(number, key)
        for each in require(self.trial).files:
            if not is_within(each, folders):
                yield self.tell(number, key, f"the run executed {each}, which is not in {key}")


CheckFunction = Callable[[GateFacts], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its sheets, the first of which may have a waiver, and its evidence by names in ``GateFacts``.

    The evidence in ``needs`` must exist, that in ``wants`` may. ``absent`` returns the reason why the check does not
    apply to this system, "" if it applies; it is None for a check that applies to every system.
    """

    id: int
    title: str
    sheets: tuple[str, ...]
    judge: CheckFunction
    needs: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    absent: Callable[[GateFacts], str] | None = None
    is_waivable: bool = True


def check(number: int, title: str, *sheets: str, **how: Any) -> Callable[[CheckFunction], Check]:
    """Make a check of a function that yields findings; ``how`` are further fields of it."""
    return lambda judge: Check(number, title, sheets, judge, **how)


def make_absence(
    trait: Trait, is_shown: Callable[[GateFacts, GateTrial], object], told: str
) -> Callable[[GateFacts], str]:
    """Make what says that a check is not about a system: by 00 it has not a trait, and its trial does not show it."""

    def explain(facts: GateFacts) -> str:
        reason, trial = facts.explain_absence(trait), optional(facts.trial)
        if not reason or trial is None or is_shown(facts, trial):
            return ""
        return f"{reason}; and {told}"

    return explain


def require(value: T | Unavailable) -> T:
    """Return evidence that is there, or raise ``MissingEvidence`` with the reason why it is not."""
    if isinstance(value, Unavailable):
        raise MissingEvidence(value.reason)
    return value


def optional(value: T | Unavailable) -> T | None:
    """Return evidence where it is there."""
    return None if isinstance(value, Unavailable) else value


def is_complete(gaps: Collection[str]) -> bool:
    """Whether a sheet says all that it has to."""
    return all(isinstance(each, Observed) for each in gaps)


def shorten(many: Collection[str], most: int = 4) -> str:
    """Join some texts; of many, the first and how many more."""
    listed = list(many)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return "; ".join(listed[:most]) + more


def is_within(path: str, folders: Collection[str]) -> bool:
    """Whether a path is, or lies in, one of some files and folders of the project."""
    tops = [each.removeprefix("./").rstrip("/") for each in folders]
    return any(top in {"", "."} or path == top or path.startswith(f"{top}/") for top in tops)


def list_within(places: Iterable[SourcePlace], folders: Collection[str]) -> list[SourcePlace]:
    """Return the places in code that lie in some files and folders."""
    return [each for each in places if is_within(each.path, folders)]
