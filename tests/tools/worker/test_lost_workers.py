"""A worker that is lost is replaced, and a client is never told of a state that is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from counting_tools import PLACES

from twice.errors import SessionMisuse
from twice.replayer.verify import verify
from twice.tools.errors import ToolSessionLost
from twice.tools.worker import host
from twice.tools.worker.host import HostedSession

COUNTING = f"{Path(__file__).with_name('counting_tools.py')}:registry"


def kill_in(places: tuple[str, ...], out: Path) -> None:
    """Lose a worker in each place, and hold what is said of the state against the state."""
    n = 0
    with HostedSession(COUNTING, out) as session:
        for place in places:
            if place == "idle":
                assert session._worker is not None
                session._worker.kill()
                session._worker._thread.join()  # until then the process may still answer
            error = session.call("risk", {"dies": place})["error"]
            assert (error["code"], error["details"]["worker"]) == ("execution_failed", "died")
            assert error["details"]["state_is_as_before"] is True
            assert error["details"]["state_fingerprint"] == f"sha256:{n:064x}"
            assert "is what it was before this call" in error["message"]
            assert session.call("look")["result"] == n
            n += 1
            assert session.call("add", {"n": 1})["result"] == n
        assert session.replaced == len(places)
    assert verify(out).result == "PASS"


@pytest.mark.integration  # what dies is a process
@pytest.mark.heavy
def test_what_is_said_of_the_state_is_so_wherever_the_worker_died(tmp_path: Path) -> None:
    kill_in(("idle", "changed", "verify", "state"), tmp_path / "a.twice")


@pytest.mark.heavy
def test_two_hundred_workers_die_in_every_phase_and_nothing_false_is_said(tmp_path: Path) -> None:
    for at in range(19):
        turned = PLACES[at % len(PLACES) :] + PLACES[: at % len(PLACES)]
        kill_in(turned, tmp_path / f"{at}.twice")


@pytest.mark.integration
def test_what_a_client_was_told_survives_a_worker(tmp_path: Path) -> None:
    out = tmp_path / "session.twice"
    (tmp_path / "session.died-1.twice").write_bytes(b"mine")
    with HostedSession(COUNTING, out) as session:
        session.call("steps", {"count": 3}, progress=lambda fraction, _: fraction > 0.2)
        given = [session.call("add", {"n": 1}), session.call("die"), session.call("add", {"n": 2})]

    assert [each.get("result") for each in given] == [1, None, 3]
    assert verify(out).result == "PASS"
    assert (tmp_path / "session.died-1.twice").read_bytes() == b"mine"
    torn = verify(tmp_path / "session.died-2.twice")
    assert (torn.result, torn.failure) == ("PARTIAL", None)


@pytest.mark.integration
@pytest.mark.parametrize("tells", [False, True])
@pytest.mark.sample(1)
def test_a_tool_that_never_returns_is_stopped_whatever_it_tells(
    tells: bool, tmp_path: Path
) -> None:
    with HostedSession(COUNTING, tmp_path / "a.twice") as session:
        error = session.call("hang", {"tells": tells})["error"]
        assert session.call("add", {"n": 1})["result"] == 1

    assert (error["code"], error["details"]["worker"]) == ("timeout", "timeout")


@pytest.mark.integration
def test_the_child_of_a_tool_that_forks_answers_nothing(tmp_path: Path) -> None:
    offer = {"permissions": {"nondeterministic": True}}
    with HostedSession(COUNTING, tmp_path / "a.twice", offer=offer) as session:
        calls = [("fork", {}), ("add", {"n": 1}), ("look", {}), ("fork", {}), ("look", {})]
        found = [session.call(*call)["result"] for call in calls]

    assert found == [1, 2, 2, 3, 3]


@pytest.mark.integration
@pytest.mark.parametrize("registry", ["unrestorable", "stateless"])
def test_what_cannot_be_shown_is_not_known(registry: str, tmp_path: Path) -> None:
    name = COUNTING.replace(":registry", f":{registry}")
    with HostedSession(name, tmp_path / "a.twice") as session:
        error = session.call("die")["error"]

    assert error["details"]["state_is_as_before"] is None
    assert "What remains of this call is not known" in error["message"]
    assert "what it was" not in error["message"]


@pytest.mark.integration
@pytest.mark.parametrize(("tool", "how"), [("drift", "another state"), ("once", "not come back")])
@pytest.mark.sample(1)
def test_a_successor_that_cannot_get_there_ends_the_session(
    tool: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "_REPLAY_S", 2.0)
    path = tmp_path / "file"
    if tool == "drift":
        path.touch()
    with HostedSession(COUNTING, tmp_path / "a.twice") as session:
        found: Any = session.call(tool, {"path": str(path)})
        assert (found["ok"], found["result"]) == (True, None)
        with pytest.raises(ToolSessionLost, match=how):
            session.call("die")
        with pytest.raises(SessionMisuse):
            session.call("look")
