"""A tool session is a run: recorded, verified, branched, diagnosed; its worker may die."""

from __future__ import annotations

import collections
import functools
import random
from pathlib import Path
from typing import Any

import pytest

import twice
from twice.errors import OutputExists, SessionMisuse, UsageError
from twice.recorder.runrecord import RunRecord
from twice.replayer.branch_session import branch
from twice.replayer.verify import verify
from twice.tools.envelope import CODES
from twice.tools.errors import OfferRefused, RegistryRefused
from twice.tools.worker import host
from twice.tools.worker.host import HostedSession

COUNTING = f"{Path(__file__).with_name('counting_tools.py')}:registry"
OFFER = {"session_seed": 7}


def hosted(out: Path, **options: Any) -> HostedSession:
    return HostedSession(COUNTING, out, **{"offer": OFFER, **options})


def results(session: HostedSession, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return the outcome of each call: its result, or the code of its error."""
    found = [session.call(tool, arguments) for tool, arguments in calls]
    return [each["result"] if each["ok"] else each["error"]["code"] for each in found]


@pytest.mark.integration
def test_a_session_is_a_run_that_passes(tmp_path: Path) -> None:
    out = tmp_path / "session.twice"
    with hosted(out) as session:
        given = results(
            session, ("add", {"n": 2}), ("add", {"n": "2"}), ("nope", {}), ("twice_add", {"n": 3})
        )

    assert given == [2, "invalid_arguments", "not_found", 8]
    assert verify(out).result == "PASS"
    with RunRecord.open(out) as record:
        points = [record.reader.points.point(at).name for at in range(len(record.reader.points))]
    assert points[:3] == ["contract", "start", "envelope"]
    assert [name for name in points if name.startswith("part:")] == ["part:once", "part:again"]


@pytest.mark.heavy
def test_a_branch_replaces_a_call(tmp_path: Path) -> None:
    out = tmp_path / "session.twice"
    with hosted(out) as session:
        results(session, ("add", {"n": 1}), ("add", {"n": 2}), ("add", {"n": 3}))

    other = {"tool": "add", "arguments": {"n": 20}}
    branch(out, at=1, inputs={"call": other}, out=tmp_path / "other.twice").close()

    assert verify(tmp_path / "other.twice").result == "PASS"
    found = twice.diagnose(out, tmp_path / "other.twice")
    assert found.result == "localised"
    assert found.to_json()["operation"]["file"].endswith("worker/program.py")


@pytest.mark.heavy
@pytest.mark.fresh  # forks have the addresses of their server, so the lie would be the same
def test_a_tool_that_lies_is_found_by_line(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.twice" for name in "ab"]
    for path in paths:
        with hosted(path) as session:
            results(session, ("add", {"n": 1}), ("lie", {}))
    found = verify(paths[0])
    assert found.failure is not None
    assert (found.result, found.failure.tick) == ("FAIL", 1)
    divergence = twice.diagnose(*paths).to_json()
    assert divergence["operation"]["file"] == COUNTING.removesuffix(":registry")
    assert divergence["operation"]["function"] == "lie"


@pytest.mark.integration
def test_progress_is_told_and_a_call_that_is_given_up_is_undone(tmp_path: Path) -> None:
    out = tmp_path / "session.twice"
    told: list[float] = []

    def progress(fraction: float, text: str) -> bool:
        told.append(fraction)
        return text == "step 2"

    with hosted(out) as session:
        given_up = session.call("steps", {"count": 4}, progress=progress)
        assert results(session, ("add", {"n": 0}), ("steps", {"count": 2})) == [0, 2]

    assert (given_up["ok"], told) == (False, [0.0, 0.25, 0.5])
    assert verify(out).result == "PASS"


def test_what_cannot_begin_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "a.twice"
    with pytest.raises(UsageError, match="no interpreter"):
        hosted(out, python=str(tmp_path / "python"))
    assert list(tmp_path.iterdir()) == []

    out.write_bytes(b"mine")
    with pytest.raises(OutputExists):
        hosted(out)
    assert out.read_bytes() == b"mine"


@pytest.mark.integration  # the worker negotiates
@pytest.mark.parametrize("offer", [{"registry": "sha256:" + "0" * 64}, {"unheard_of": 1}])
def test_an_offer_that_lies_outside_leaves_nothing(offer: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(OfferRefused, match=next(iter(offer))):
        hosted(tmp_path / "a.twice", offer=offer)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.integration
def test_bad_calls_are_answered_and_the_session_goes_on_until_it_is_closed(tmp_path: Path) -> None:
    def fail(fraction: float, text: str) -> bool:
        raise ConnectionError(f"nobody hears {text} at {fraction}")

    bad: list[tuple[Any, Any]] = [
        ("add", {"n": object()}),
        ("add", [1]),
        ("add", {"n": 1.5}),
        (7, {}),
    ]
    with hosted(tmp_path / "a.twice") as session:
        with pytest.raises(ConnectionError, match="step 0"):
            session.call("steps", {"count": 3}, progress=fail)
        assert results(session, *bad) == ["invalid_arguments"] * 3 + ["not_found"]
        assert session.call("add", {"n": 1}, time=[])["error"]["code"] == "contract_violation"  # type: ignore[arg-type]
        assert session.call("add", {"n": 1}, require={})["error"]["code"] == "invalid_arguments"  # type: ignore[arg-type]
        assert results(session, ("clock", {}), ("add", {"n": 1})) == ["nondeterministic_refused", 1]

    with pytest.raises(SessionMisuse):
        session.call("add", {"n": 1})
    assert session.close() == tmp_path / "a.twice"


@pytest.mark.integration
@pytest.mark.parametrize(
    "line", ["import os; os._exit(4)", "raise SystemExit(0)", "while True: pass"]
)
def test_a_registry_that_ends_its_process_or_never_loads_leaves_nothing(
    tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if line.startswith("while"):
        monkeypatch.setattr(host, "_START_S", 1.0)
    module = tmp_path / "ending.py"
    module.write_text(f"{line}\n")

    with pytest.raises(RegistryRefused, match=r"ending\.py"):
        HostedSession(f"{module}:registry", tmp_path / "a.twice")

    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["ending.py"]


DEEP: Any = functools.reduce(lambda inner, _: [inner], range(3000), 0)
NASTY: list[Any] = [
    None, True, -1, 2**53, 10**400, 1.5, -0.0, float("nan"), float("inf"), "", "A.001", "..", "\x00", "\ud800",
    "x" * 5000, "\u202e", [], [[]], [1, "3"], {}, {"": {}}, {"seed": 1}, DEEP,
]  # fmt: skip


@pytest.mark.heavy
def test_a_thousand_calls_that_no_schema_allows_get_an_envelope_each(tmp_path: Path) -> None:
    draw = random.Random(20)
    out = tmp_path / "session.twice"
    codes: collections.Counter[str] = collections.Counter()
    with HostedSession("memory", out, offer={"session_seed": 7}) as session:
        for _ in range(1000):
            tool = draw.choice(session.tools)
            names = [*tool["input"].get("properties", {}), "seed", "self", "__class__"]
            arguments = {name: draw.choice(NASTY) for name in names if draw.random() < 0.7}
            name = draw.choice([tool["name"]] * 20 + ["", f"{tool['name']} "])
            found = session.call(name, draw.choice([arguments] * 20 + NASTY))
            codes["ok" if found["ok"] else found["error"]["code"]] += 1
        assert session.replaced == 0

    assert set(codes) <= {"ok", *CODES} - {"internal_error", "execution_failed", "timeout"}
    assert codes["invalid_arguments"] > 500
    assert verify(out).result == "PASS"
