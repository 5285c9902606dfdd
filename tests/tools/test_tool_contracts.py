"""A contract is negotiated once from an offer; what lies outside is named, all of it at once."""

from __future__ import annotations

from typing import Any

import pydantic
import pytest
from table_tools import Tables, registry

from twice.tools import CallRefused, Registry, Session, negotiate
from twice.tools.contract import Contract, Permissions
from twice.tools.determinism import Level

FULL: dict[str, Any] = {
    "registry": registry.fingerprint,
    "macros": registry.macro_fingerprint,
    "backend": "tables",
    "profile": {"version": "1"},
    "host": {"name": "a host", "version": "3"},
    "session_seed": "42",
    "require": "seeded",
    "level": "rerun",
    "limits": {"seconds": 5, "payload_bytes": 1000, "concurrency": 1, "calls": 10,
               "until": "2026-02-01T00:00:00Z"},
    "permissions": {"network": True, "ui": False, "nondeterministic": False},
    "time": "2026-01-31T12:00:00+01:00",
    "float_policy": "shortest-binary64/1",
}  # fmt: skip


def agreed(**offer: Any) -> Contract:
    return negotiate(offer, registry, Tables())


def test_an_empty_offer_permits_nothing() -> None:
    found = agreed()

    assert found.permissions == Permissions()
    assert not found.permissions.nondeterministic
    assert (found.seed, found.require, found.registry) == (None, None, registry.fingerprint)


def test_a_full_offer_is_kept_to_the_letter() -> None:
    first = agreed(**FULL)
    document = first.to_json()
    written = {"session_seed": 42, "time": "2026-01-31T11:00:00Z"}

    assert {key: document[key] for key in FULL} == {**FULL, **written}
    assert agreed(**document) == first
    assert agreed(**document).digest == first.digest


def test_equal_offers_give_equal_contracts_and_others_others() -> None:
    assert agreed(session_seed=1).id == agreed(session_seed=1).id
    assert agreed(session_seed=1).digest != agreed(session_seed=2).digest
    assert agreed(id="mine").id == "mine"


def test_a_contract_cannot_be_changed() -> None:
    found = agreed()

    with pytest.raises(pydantic.ValidationError):
        found.seed = None  # type: ignore[misc]
    with pytest.raises(TypeError):
        found.profile["version"] = "2"  # type: ignore[index]


@pytest.mark.parametrize(
    ("offer", "what"),
    [
        ({"registry": "sha256:" + "0" * 64}, "registry"),
        ({"macros": "sha256:" + "0" * 64}, "macros"),
        ({"backend": "blender"}, "backend"),
        ({"format": "twice.contract/9"}, "format"),
        ({"float_policy": "round/3"}, "float_policy"),
        ({"profile": {"version": "2"}}, "profile.version"),
        ({"profile": {"addon:cycles": "4"}}, "profile.addon:cycles"),
        ({"profile": {"version": 1}}, "profile.version"),
        ({"session_seed": -1}, "session_seed"),
        ({"session_seed": "many"}, "session_seed"),
        ({"require": "mostly"}, "require"),
        ({"level": "proven"}, "level"),
        ({"time": "noon"}, "time"),
        ({"time": "2026-01-31T12:00:00"}, "time"),
        ({"limits": {"seconds": 0}}, "limits.seconds"),
        ({"limits": {"seconds": "5"}}, "limits.seconds"),
        ({"limits": {"payload_bytes": 1.5}}, "limits.payload_bytes"),
        ({"limits": {"calls": True}}, "limits.calls"),
        ({"limits": {"concurrency": 2}}, "limits.concurrency"),
        ({"limits": {"until": "2026-01-01T00:00:00Z"}}, "limits.until"),
        ({"limits": {"memory": 5}}, "limits.memory"),
        ({"limits": []}, "limits"),
        ({"permissions": {"network": "yes"}}, "permissions.network"),
        ({"permissions": {"everything": True}}, "permissions.everything"),
        ({"permissions": {"downgrade": True}}, "permissions.downgrade"),
        ({"allow_downgrade": True}, "allow_downgrade"),
        ({"id": ""}, "id"),
        ({"id": 5}, "id"),
        ({"x": float("nan")}, "offer"),
    ],
)
def test_what_lies_outside_is_refused_by_name(offer: dict[str, Any], what: str) -> None:
    with pytest.raises(CallRefused) as refused:
        agreed(**offer)

    outside = refused.value.fields["outside"]
    assert refused.value.code == "contract_violation"
    assert what in [each["what"] for each in outside]  # type: ignore[attr-defined]


def test_everything_outside_is_named_at_once() -> None:
    with pytest.raises(CallRefused) as refused:
        agreed(backend="blender", session_seed=-1, permissions={"downgrade": True})

    assert len(refused.value.fields["outside"]) == 3  # type: ignore[arg-type]


def test_a_contract_of_other_tools_is_stale() -> None:
    others = Registry([each for each in registry if each.name == "table.list"])
    contract = negotiate({}, others, Tables())

    with pytest.raises(CallRefused) as refused:
        Session(registry, Tables(), contract)

    assert refused.value.code == "contract_violation"


def test_a_required_level_is_held_against_verification() -> None:
    contract = negotiate({"level": "perturbed"}, registry, Tables())
    tool = registry.get("table.list")
    assert tool is not None

    def called(**levels: Level) -> Any:
        tried = {tool.fingerprint: each for each in levels.values()}
        return Session(registry, Tables(), contract, levels=tried).call("table.list")

    assert called()["error"]["code"] == "nondeterministic_refused"
    assert called(level=Level.RERUN)["error"]["details"]["required_level"] == "perturbed"
    assert called(level=Level.PERTURBED)["ok"]
    assert called(level=Level.CROSS_HOST)["ok"]
