"""Determinism classes: what a run promises, as a value that prints as one sentence.

A class is an executable predicate, not a word. It names the compared data (state, decisions, or summaries over
many runs), the reach of the promise, and the subsystems with another promise. Every interface and file uses the
same words. Other modules run the comparison.

Invariant: ``Predicate.from_json(p.to_json()) == p``, and the text of ``p.to_json()`` is stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self, TypeVar, assert_never

from twice.errors import ClassRefused
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize

if TYPE_CHECKING:  # many commands need the words alone, and not the comparison behind them
    from twice.foundation.comparison import Tolerance

Word = TypeVar("Word", bound=StrEnum)


class DeterminismClass(StrEnum):
    """Which two runs count as the same."""

    BIT_EXACT = "bit-exact"
    LOGICAL = "logical"
    STATISTICAL = "statistical"


class Axis(StrEnum):
    """Whose machine a promise speaks of; the two are always reported apart."""

    DETERMINISM = "determinism"
    REPRODUCIBILITY = "reproducibility"


class Scope(StrEnum):
    """How far a promise reaches."""

    PROCESS = "process"
    HOST = "host"
    CROSS_HOST = "cross-host"

    @property
    def axis(self) -> Axis:
        """Determinism on this machine, reproducibility on someone else's."""
        return Axis.REPRODUCIBILITY if self is Scope.CROSS_HOST else Axis.DETERMINISM


class SampleTest(StrEnum):
    """How the statistical class compares two samples; see ``two_sample_tests``."""

    MEAN = "mean"
    KS = "ks"
    MANN_WHITNEY = "mann-whitney"
    IQM = "iqm"
    MULTISET = "multiset"


@dataclass(frozen=True, slots=True)
class Summary:
    """What the statistical class compares.

    Args:
        name: the summary, one number per run, as ``run.summary`` names it.
        test: two-sample test.
        epsilon: the margin, >= 0: in the summary's unit (``mean``, ``iqm``), below 1 (``ks``), or below 1/2
            (``mann-whitney``).
        n: how many seeds each side has, at least 2.
        power: chance of passing two equal systems, between 0 and 1.
        alpha: chance of passing two that differ by epsilon, between 0 and 1.

    Raises:
        ClassRefused: E-CLASS-001, for a number out of range.
    """

    name: str
    test: SampleTest = SampleTest.MEAN
    epsilon: float = 0.0
    n: int = 30
    power: float = 0.8
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not self.name:
            raise refuse_class("summary ''", "A summary has a name.")
        if not 0 <= self.epsilon < float("inf"):
            raise refuse_class(f"epsilon={self.epsilon!r}", "A margin is finite and 0 or more.")
        if self.n < 2:
            raise refuse_class(f"n={self.n!r}", "A sample has at least 2 seeds.")
        if not (0 < self.power < 1 and 0 < self.alpha < 1):
            raise refuse_class(
                f"power={self.power!r}, alpha={self.alpha!r}", "Both lie between 0 and 1."
            )

    def describe(self) -> str:
        """Describe it in words that fit after "iff over many seeds"."""
        levels = f"alpha {self.alpha!r}, power {self.power!r}"
        match self.test:
            case SampleTest.MEAN:
                said = f"the means of {self.name!r} differ by less than {self.epsilon!r}"
                return f"{said} (two one-sided tests, {levels})"
            case SampleTest.KS:
                said = f"the distributions of {self.name!r} are less than {self.epsilon!r} apart"
                return f"{said} (KS, {levels})"
            case SampleTest.MANN_WHITNEY:
                said = f"the chance that one {self.name!r} exceeds another is less than {self.epsilon!r} from 1/2"
                return f"{said} (Mann-Whitney, {levels})"
            case SampleTest.IQM:
                said = (
                    f"the interquartile means of {self.name!r} differ by less than {self.epsilon!r}"
                )
                return f"{said} (bootstrap, {levels})"
            case SampleTest.MULTISET:
                return f"the values of {self.name!r} are the same in any order"
            case _:
                assert_never(self.test)

    def to_json(self) -> dict[str, object]:
        """Return plain values."""
        return {**asdict(self), "test": self.test.value}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Build it from the JSON of ``to_json``."""
        # RFC 8785 writes 1.0 as 1.
        floats = {key: float(data[key]) for key in ("epsilon", "power", "alpha")}
        return cls(**{**data, **floats, "test": SampleTest(data["test"])})


def _exact() -> Tolerance:
    from twice.foundation.comparison import Exact

    return Exact()


def _words(tolerance: Tolerance) -> str:
    return tolerance.describe().removeprefix("they ")


@dataclass(frozen=True)
class Predicate:
    """A class with its scope, and the subsystems that have a class of their own.

    Args:
        determinism_class: the class of each subsystem without its own.
        scope: how far the promise reaches.
        subsystems: component name, or the beginning of its path, to class; the longest wins.
        decisions: the meaning of "the same" for decisions under the logical class.
        sample: the summary that the statistical class compares.
    """

    determinism_class: DeterminismClass = DeterminismClass.BIT_EXACT
    scope: Scope = Scope.HOST
    subsystems: Mapping[str, DeterminismClass] = field(default_factory=dict)
    decisions: Tolerance = field(default_factory=_exact)
    sample: Summary | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "subsystems", dict(sorted(self.subsystems.items())))

    def __hash__(self) -> int:
        own = (self.determinism_class, self.scope, self.decisions, self.sample)
        return hash((own, tuple(self.subsystems.items())))

    def tolerance_of(self, name: str) -> Tolerance | None:
        """Return the tolerance of an explicitly compared value; None if its bytes are judged."""
        is_logical = self.class_of(name) is DeterminismClass.LOGICAL
        return self.decisions if is_logical and self.decisions.measure != "exact" else None

    @property
    def axis(self) -> Axis:
        """Return the axis on which the promise is reported."""
        return self.scope.axis

    @property
    def sampled_parts(self) -> tuple[str, ...]:
        """Return what a sample of runs judges: "" for the run, or its statistical subsystems by name."""
        if self.determinism_class is DeterminismClass.STATISTICAL:
            return ("",)
        return tuple(
            name for name, own in self.subsystems.items() if own is DeterminismClass.STATISTICAL
        )

    @property
    def sampled_summary(self) -> str:
        """Return the name of the summary that a sample judges, so that no single run does; "" for none."""
        return self.sample.name if self.sample is not None and self.sampled_parts else ""

    def class_of(self, subsystem: str) -> DeterminismClass:
        """Return the class of a component: its own, its nearest ancestor's, or the run's."""
        name = subsystem
        while name:
            own = self.subsystems.get(name)
            if own is not None:
                return own
            name = name.rpartition("/")[0]
        return self.determinism_class

    def sentence(self, within: Mapping[str, Tolerance] | None = None) -> str:
        """Describe the whole predicate in one sentence.

        Args:
            within: tolerances that the run declared for components and compared values of its own.
        """
        parts = [self._clause(self.determinism_class)]
        parts += [
            f"for {name!r}, {self._clause(own)}"
            for name, own in self.subsystems.items()
            if own is not self.determinism_class
        ]
        parts += [f"for {name!r}, its values {_words(own)}" for name, own in (within or {}).items()]
        return f"{self._opening()}, {'; '.join(parts)}"

    def for_subsystem(self, subsystem: str) -> Predicate:
        """Return the predicate of one subsystem, with no other in it."""
        own = self.class_of(subsystem)
        return Predicate(own, self.scope, decisions=self.decisions, sample=self.sample)

    def summary(self, within: Tolerance | None = None) -> dict[str, str]:
        """Return class, scope and the sentence, as verdicts print them.

        Args:
            within: the tolerance that judges in place of bytes, where there is one.
        """
        said = (
            self.sentence() if within is None else f"{self._opening()}, its values {_words(within)}"
        )
        return {
            "class": self.determinism_class.value,
            "scope": self.scope.value,
            "predicate": said,
        }

    def _opening(self) -> str:
        return f"two runs are equivalent iff {_WHERE[self.scope]}"

    def _clause(self, kind: DeterminismClass) -> str:
        match kind:
            case DeterminismClass.BIT_EXACT:
                return "the canonical bytes of their state are equal at every compare-point"
            case DeterminismClass.LOGICAL:
                if self.decisions.measure == "exact":
                    return "their decisions (inputs, compared values and output) are equal"
                return (
                    "their inputs and their output are equal, and their compared values "
                    f"{_words(self.decisions)}"
                )
            case DeterminismClass.STATISTICAL:
                if self.sample is None:
                    return "their summaries over many seeds agree (no summary is declared)"
                return f"over {pluralize(self.sample.n, 'seed')} each {self.sample.describe()}"
            case _:
                assert_never(kind)

    def to_json(self) -> dict[str, object]:
        """Return plain values, in a fixed order."""
        return {
            "class": self.determinism_class.value,
            "scope": self.scope.value,
            "subsystems": {name: own.value for name, own in self.subsystems.items()},
            "decisions": self.decisions.to_json(),
            "sample": None if self.sample is None else self.sample.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Build it from the JSON of ``to_json``.

        Raises:
            ClassRefused: E-CLASS-001, when it is not a predicate.
        """
        from twice.foundation.comparison import tolerance_from_json

        try:
            return cls(
                determinism_class=parse_class(data["class"]),
                scope=parse_scope(data["scope"]),
                subsystems={name: parse_class(own) for name, own in data["subsystems"].items()},
                decisions=tolerance_from_json(data["decisions"]),
                sample=None if data["sample"] is None else Summary.from_json(data["sample"]),
            )
        except ClassRefused:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise refuse_class(f"{data!r}", "A predicate as to_json writes it.") from error

    @classmethod
    def parse(cls, words: Iterable[str], scope: str = Scope.HOST.value) -> Self:
        """Read command-line words: ``logical``, ``policy=statistical``.

        Raises:
            ClassRefused: E-CLASS-001, for an unknown word, or two classes for one thing.
        """
        return cls().amend(words, scope)

    def amend(self, words: Iterable[str], scope: str | None = None) -> Self:
        """Change the predicate by command-line words: ``logical``, ``policy=statistical``.

        A class for the whole run takes the place of all classes; one for a subsystem stands beside them.

        Args:
            words: classes, or NAME=CLASS.
            scope: another scope; None keeps it.

        Raises:
            ClassRefused: E-CLASS-001, for an unknown word, or two classes for one thing.
        """
        classes: dict[str, DeterminismClass] = {}
        for word in words:
            name, _, kind = word.rpartition("=")
            if name in classes or (not name and "=" in word):
                raise refuse_class(
                    f"class {word!r}", "One class for the run and one per subsystem."
                )
            classes[name] = parse_class(kind)
        kept = {} if "" in classes else self.subsystems
        whole = classes.pop("", self.determinism_class)
        reach = self.scope if scope is None else parse_scope(scope)
        return replace(self, determinism_class=whole, scope=reach, subsystems={**kept, **classes})


_WHERE = {
    Scope.PROCESS: "within one process",
    Scope.HOST: "on one host",
    Scope.CROSS_HOST: "on any host",
}


def parse_class(word: str) -> DeterminismClass:
    """Read ``bit-exact``, ``logical`` or ``statistical``.

    Raises:
        ClassRefused: E-CLASS-001, for any other word.
    """
    return _parse_word(DeterminismClass, word, "class", "bit-exact, logical or statistical")


def parse_scope(word: str) -> Scope:
    """Read ``process``, ``host`` or ``cross-host``.

    Raises:
        ClassRefused: E-CLASS-001, for any other word.
    """
    return _parse_word(Scope, word, "scope", "process, host or cross-host")


def parse_test(word: str) -> SampleTest:
    """Read ``means`` (or ``mean``), ``iqm``, ``mann-whitney``, ``ks`` or ``multiset``.

    Raises:
        ClassRefused: E-CLASS-001, for any other word.
    """
    known = "mean" if word == "means" else word
    return _parse_word(SampleTest, known, "test", "means, iqm, mann-whitney, ks or multiset")


def _parse_word(kind: type[Word], word: str, what: str, words: str) -> Word:
    try:
        return kind(word)
    except ValueError:
        raise refuse_class(f"{what} {word!r}", f"A {what} is {words}.") from None


def refuse_class(given: str, expected: str) -> ClassRefused:
    """Return the error for a class, scope or summary that does not make sense."""
    return ClassRefused(
        f"The {given} does not make sense.",
        expected,
        "Give one, for example --class bit-exact --scope host.",
        given=given,
    )
