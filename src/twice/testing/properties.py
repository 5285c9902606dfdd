"""Seven properties of a deterministic system, each a function, and the suite that a tier requires.

    TestSwarm = properties.suite(
        "examples/swarm.py:main",
        config=strategies.config(n=st.integers(1, 20), ticks=st.integers(1, 8)),
        tier="M",
        branching=True,
    )

What a property that holds does not say: that configurations which were not generated behave, and that
state which no component shows is the same.

Invariant: a property either holds for every example that was tried, or raises with the smallest one
for which it does not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Literal

from twice.errors import PropertyBroken, UsageError
from twice.foundation.properties import PROPERTIES, required_properties
from twice.testing import checks
from twice.testing.failure_report import describe_counterexample
from twice.testing.faults import Fault
from twice.testing.proof import Proof
from twice.testing.proof import prove as prove  # noqa: PLC0414  (users call it here)
from twice.testing.property_search import Program, PropertySearch, Schedule
from twice.testing.stateful import make_machine

Tier = Literal["XS", "S", "M", "L", "XL"]
ORDERS: Final = ("task order", "listing order", "hash seed")
NAMES: Final = tuple(name.replace("-", "_") for name in PROPERTIES)
_TIERS: Final = ("XS", "S", "M", "L", "XL")


class FaultNotApplicable(UserWarning):
    """A kind of fault has no place in a system; the reason is in the message."""


def required(
    tier: Tier, *, branching: bool = False, concurrency: Literal["A", "B", "C"] | None = None
) -> tuple[str, ...]:
    """Return the properties that a tier requires, in order.

    Args:
        tier: XS requires none; you may use any property at any tier.
        branching: whether branches are in scope.
        concurrency: the claimed strategy: A lockstep, B a recorded schedule, C independent
            of the schedule; None for a system without concurrency.

    Raises:
        UsageError: E-USE-001, for another tier or strategy.
    """
    if tier not in _TIERS or concurrency not in {"A", "B", "C", None}:
        raise UsageError(
            f"There is no tier {tier!r} with concurrency {concurrency!r}.",
            f"Expected a tier of {', '.join(_TIERS)}, and A, B, C or None.",
            'For example: properties.required("M", branching=True, concurrency="C")',
        )
    names = required_properties(tier, branching=branching, scheduled=concurrency in {"A", "C"})
    return tuple(name.replace("-", "_") for name in names)


def replay_equivalence(program: Program, **options: Any) -> None:
    """Two executions of one seed and configuration, the second fed from the record, agree.

    The second is another process and has another hash seed.

    Args:
        program: ``"file.py:function"``, ``"module:function"``, or a function of a run.
        **options: of every property:
            ``config``, a strategy (``strategies.config``), or one configuration;
            ``seeds``, a strategy, or one seed (``strategies.seeds()``);
            ``vary``, factors in which the second execution differs (``("hash seed",)``, see
            ``twice vary --list``), none for the recorded surroundings;
            ``examples`` (25);
            ``examples_in``, a folder for counterexamples, or None;
            ``predicate``, the class that judges, and ``policies``, other fields of ``Setup``.

    Raises:
        PropertyBroken: E-TESTING-001, an ``AssertionError`` with the shrunk example.
        ExamplesDamaged: E-TESTING-002. NothingJudged: E-TESTING-004. ExtraMissing: E-EXTRA-001.
    """
    _require("replay_equivalence", program, **options)


def seed_matters(program: Program, **options: Any) -> None:
    """Two seeds part: in one example at least, another seed changes what the class judges.

    The run is executed again with the recorded inputs and reads of the world, so that nothing but the
    seed can move it. A seed that is merely printed, or kept in a field, moves nothing. Arguments and
    errors as of ``replay_equivalence``.
    """
    _require("seed_matters", program, **options)


def seed_isolation(program: Program, **options: Any) -> None:
    """Require that another component, stream or draw shifts nobody else's draws.

    Arguments and errors are those of ``replay_equivalence``.
    """
    _require("seed_isolation", program, **options)


def snapshot_round_trip(program: Program, **options: Any) -> None:
    """Require that a canonical state, restored into a new system, is that state.

    Arguments and errors are those of ``replay_equivalence``.
    """
    _require("snapshot_round_trip", program, **options)


def restore_idempotence(program: Program, **options: Any) -> None:
    """Restoring twice is restoring once, and running on from there is the original run.

    Arguments and errors as of ``replay_equivalence``.
    """
    _require("restore_idempotence", program, **options)


def fork_and_converge(program: Program, *, inputs: Any = None, **options: Any) -> None:
    """Require that equal inputs let a branch converge, and that others leave its parent untouched.

    Args:
        program: as of ``replay_equivalence``, and so are the errors.
        inputs: ``strategies.inputs(...)``: values that a branch puts in place of the recorded one;
            when None, a neighbour of the recorded value.
        **options: as there.
    """
    _require("fork_and_converge", program, inputs=inputs, **options)


def schedule_independence(
    program: Program,
    *,
    schedule: Schedule | None = None,
    vary: Sequence[str] = ORDERS,
    **options: Any,
) -> None:
    """Require the same outcome (components, output, decisions) in another order of concurrent work.

    Args:
        program: as of ``replay_equivalence``, and so are the errors.
        schedule: how the system declares its schedule points: a configuration key under which it
            takes the order of its tasks (a list of 0 to n - 1), and a function from the
            configuration to n. When None, twice turns the order of asyncio's tasks, of listings and
            of sets.
        vary: the factors that it turns then.
        **options: as there.
    """
    _require("schedule_independence", program, schedule=schedule, vary=vary, **options)


def stateful(program: Program, **options: Any) -> type:
    """Return a test class: step, restore and branch sessions in any order, and compare the record.

    Required at tier XL. Arguments are those of ``replay_equivalence``.

    Returns:
        A ``unittest.TestCase`` made from a Hypothesis ``RuleBasedStateMachine``.

    Raises:
        ExtraMissing: E-EXTRA-001.
    """
    made: type = make_machine(program, **options).TestCase
    return made


def suite(
    program: Program,
    *,
    tier: Tier,
    branching: bool = False,
    concurrency: Literal["A", "B", "C"] | None = None,
    inputs: Any = None,
    schedule: Schedule | None = None,
    vary: Sequence[str] | None = None,
    faults: bool | Sequence[Fault] = False,
    only: Sequence[str] = (),
    seedless: str = "",
    **options: Any,
) -> type:
    """Return a class that pytest collects: one test for each property that a tier requires.

    Args:
        program: as of ``replay_equivalence``.
        tier: see ``required``.
        branching: whether branches are in scope.
        concurrency: the claimed strategy.
        inputs: as of ``fork_and_converge``.
        schedule: as of ``schedule_independence``.
        vary: as of ``replay_equivalence``; schedule independence has factors of its own.
        faults: also show that planted faults are caught: all kinds, or these.
        only: names of properties instead of the required ones.
        seedless: why two seeds may give the same; ``seed_matters`` is then left out.
        **options: as of ``replay_equivalence``.

    Raises:
        UsageError: E-USE-001, for a suite without a test.
    """
    names = tuple(only) or required(tier, branching=branching, concurrency=concurrency)
    if seedless:
        names = tuple(name for name in names if name != "seed_matters")
    unknown = [name for name in names if name not in NAMES]
    if unknown or not names:
        raise UsageError(
            f"There is no property {unknown[0]!r}." if unknown else f"Tier {tier} requires none.",
            f"Properties: {', '.join(NAMES)}.",
            'Name those to test: properties.suite(..., only=["replay_equivalence"])',
        )
    own: dict[str, dict[str, Any]] = {
        "replay_equivalence": {} if vary is None else {"vary": vary},
        "fork_and_converge": {"inputs": inputs},
        "schedule_independence": {"schedule": schedule, "vary": ORDERS},
    }
    tests = [
        _make_test(
            name,
            getattr(checks, name).__doc__,
            partial(_require, name, program, **{**options, **own.get(name, {})}),
        )
        for name in names
    ]
    if tier == "XL" and not only:
        doc = "Stepping, restoring, branching and going back in any order stays true to the record."
        run = lambda: stateful(program, **options)().runTest()  # noqa: E731
        tests.append(_make_test("stateful", doc, run))
    if faults:
        doc = "Each kind of fault, planted in this system, turns a property red."
        planted = None if faults is True else tuple(faults)
        run = lambda: _require_proof(prove(program, faults=planted, **options))  # noqa: E731
        tests.append(_make_test("planted_faults_are_caught", doc, run))
    members = {test.__name__: staticmethod(test) for test in tests}
    return type("Suite", (), {"__doc__": f"Determinism of {program}, tier {tier}.", **members})


def _make_test(name: str, doc: str, run: Callable[[], object]) -> Callable[[], None]:
    def test() -> None:
        run()

    test.__name__, test.__doc__ = f"test_{name}", doc
    return test


def _require(name: str, program: Program, **options: Any) -> None:
    """Raise the counterexample of a property, if there is one."""
    search = PropertySearch(name, program, **options).run()
    if search.found is not None:
        raise describe_counterexample(search, search.found)


def _require_proof(proof: Proof) -> None:
    """Raise where a planted fault was missed; warn of those without a place."""
    if proof.missed:
        raise PropertyBroken(
            f"The suite does not see what was planted in {proof.subject}.\n{proof.to_text()}",
            "Expected every planted fault to turn a property red.",
            "Let state() show what the fault changes, or name a field that it shows.",
        )
    if proof.inapplicable:
        warnings.warn(proof.to_text(), FaultNotApplicable, stacklevel=2)
