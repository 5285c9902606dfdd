"""What an agent reads of a command's JSON: a headline, the facts that decide, what is left out, what to call next.

The facts of each verb come in the order in which they matter, and lists and texts are cut until all of it fits.

Invariant: an answer has at most ``BYTES_MAX`` bytes, and equal documents give equal answers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from twice.errors import TwiceError
from twice.foundation.printable import pluralize
from twice.report.assessment import Assessment
from twice.report.divergence_assessment import assess_divergence
from twice.report.review_assessment import assess_review

BYTES_MAX: Final = 3000
"""Of an answer: at most 1,500 tokens. A token has 2 to 3.5 bytes, least in states full of numbers."""
_STEPS: Final = ((20, 600), (12, 300), (8, 200), (5, 160), (3, 120), (2, 80), (1, 60), (1, 30))
"""Rows of each list and characters of each text, tried in turn."""
_TOLD_MAX: Final = 160
_ITSELF: Final = "nothing"
"""The factor of a program that differs though nothing is varied."""
_FIRST_FILES: Final = 5

_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "record": (
        "record", "how", "exception", "exit_code", "ticks", "points", "complete", "unread", "printed",
    ),
    "verify": (
        "result", "compare_points", "first_failure", "divergence", "environment", "restores", "suggestions"
    ),
    "diagnose": (
        "result", "compare_point", "last_agreement", "components", "operation", "candidates", "fields",
        "attribution", "input_differences", "surroundings", "remedies", "reproduced", "experiments",
        "reconverges", "evidence", "environment",
    ),
    "vary": ("result", "measured", "depends_on", "same", "not_tried"),
    "branch": ("record", "parent", "fork", "inputs", "prefix", "ticks"),
    "show_state": (
        "record", "program", "seed", "config", "class", "ticks", "ending", "tick", "inputs", "effects",
        "printed", "state_is_before_tick", "state", "states", "omitted",
    ),
    "check": ("summary", "findings"),
    "review": ("channels", "findings", "patterns", "steps", "seeds", "effects"),
    "spec": (
        "component", "tier", "missing", "owed", "open", "unknown", "against", "waiting", "wrote", "filled", "locked",
        "changed", "consolidated", "checks", "sheets", "next",
    ),
    "gate": ("result", "component", "tier", "failing", "stale", "moved"),
    "scaffold": ("component", "applied", "changed", "counts", "first", "left", "paste", "left_out"),
    "records": ("records", "omitted"),
}  # fmt: skip
_NOISE: Final = {
    "column", "end_column", "end_line", "envelope", "fingerprint", "format", "predicate", "run_id", "symbol",
    "witness", "zone", "artifact", "safe",
}  # fmt: skip


def answer(verb: str, document: Mapping[str, Any], more: str) -> dict[str, Any]:
    """Make the answer to a call that went well."""
    told = _SHAPES.get(verb, dict)(document)
    assessed = _assess(verb, document)
    headline = _cut_text(_HEADLINES[verb](told), _TOLD_MAX)
    caveats = dict.fromkeys([*told.get("caveats", ()), *(assessed.caveats if assessed else ())])
    chosen = {key: told[key] for key in _KEYS[verb] if not _is_empty(told.get(key))}
    for rows, letters in _STEPS:
        omitted: dict[str, int] = {}
        made = {
            "ok": True,
            "result": _find_result(verb, told),
            "headline": headline,
            "answer": _cut(chosen, rows, letters, "", omitted),
            "confidence": assessed and assessed.confidence[0].value,
            "risk": _cut(assessed.risk if assessed else (), rows, letters, "risk", omitted),
            "gaps": _cut(
                assessed.gaps if assessed else told.get("unread", ()),
                rows,
                letters,
                "gaps",
                omitted,
            ),
            "caveats": _cut(list(caveats), rows, letters, "caveats", omitted),
            "sentence": _cut_text(assessed.sentence if assessed else "", 2 * _TOLD_MAX),
            "next": _propose(verb, told),
            "omitted": omitted,
            "more": more,
        }
        if len(json.dumps(made).encode()) <= BYTES_MAX:
            return made
    made["answer"], made["omitted"] = {}, {"answer": 1}
    return made


def refuse(error: TwiceError | Mapping[str, Any]) -> dict[str, Any]:
    """Make the answer to a call that was refused or failed."""
    if isinstance(error, TwiceError):
        facts = {name: getattr(error, name) for name in ("id", "happened", "expected", "remedy")}
        error = {**facts, "fields": error.fields}
    said = {key: _cut(value, 5, 800, "", {}) for key, value in error.items()}
    return {"ok": False, "error": json.loads(json.dumps(said, default=str))}


def _cut(value: Any, rows: int, letters: int, path: str, omitted: dict[str, int]) -> Any:
    """Copy a value without what is empty or noise, and with its lists and texts cut."""
    if isinstance(value, Mapping):
        kept = [
            (key, each) for key, each in value.items() if key not in _NOISE and not _is_empty(each)
        ]
        if len(kept) > 2 * rows + 4:
            omitted[path or "."] = len(kept) - 2 * rows - 4
            kept = kept[: 2 * rows + 4]
        return {
            key: _cut(each, rows, letters, f"{path}.{key}".lstrip("."), omitted)
            for key, each in kept
        }
    if isinstance(value, list | tuple):
        if len(value) > rows:
            omitted[path] = omitted.get(path, 0) + len(value) - rows
        return [_cut(each, rows, letters, path, omitted) for each in value[:rows]]
    return _cut_text(value, letters) if isinstance(value, str) else value


def _cut_text(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [], {}, ())


def _find_result(verb: str, told: Mapping[str, Any]) -> str:
    if verb == "review":
        return str(told["verdict"]["result"])
    if verb == "check":
        return "found" if told["findings"] else "nothing found"
    return str(told.get("result") or told.get("how") or "done")


def _assess(verb: str, document: Mapping[str, Any]) -> Assessment | None:
    """Put a review or a divergence into the report form, as `--report` does."""
    if verb == "review":
        return assess_review(document)
    divergence = {"diagnose": document, "verify": document.get("divergence")}.get(verb)
    return assess_divergence(divergence) if divergence else None


def _shape_vary(document: Mapping[str, Any]) -> dict[str, Any]:
    """Sort the factors by what came of them; of a difference, its verdict alone."""
    factors = document["factors"]
    return {
        **document,
        "depends_on": [
            {
                "factor": each["factor"],
                "value": each["value"],
                "said": each["reason"],
                **_pick(each.get("divergence") or {}, ("operation", "fields", "remedies")),
            }
            for each in factors
            if each["result"] in {"differs", "failed"}
        ],
        "same": [each["factor"] for each in factors if each["result"] == "same"],
        "not_tried": {
            each["factor"]: each["reason"]
            for each in factors
            if each["result"] not in {"same", "differs", "failed"}
        },
    }


def _shape_gate(document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **document,
        "failing": [
            _pick(each, ("id", "title", "outcome", "reason", "faults"))
            for each in document["checks"]
            if each["outcome"] not in {"pass", "na"}
        ],
    }


def _shape_verify(document: Mapping[str, Any]) -> dict[str, Any]:
    told = dict(document)
    told["divergence"] = _pick(
        told.get("divergence") or {}, ("result", "operation", "fields", "attribution", "remedies")
    )
    told["environment"] = told["environment"].get("differences")
    return told


def _shape_show_state(document: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the state itself; of points and snapshots the digests say nothing to a reader."""
    told = dict(document)
    if "tick" in told:
        snapshot = told.pop("snapshot", None) or {}
        told["state"] = snapshot.get("values")
        told["state_is_before_tick"] = snapshot.get("tick")
    if told.get("states"):
        told["tick"] = told["states"][0]["tick"]
    return told


def _shape_spec(document: Mapping[str, Any]) -> dict[str, Any]:
    told = dict(document)
    if "sheets" in told:
        told["sheets"] = [
            _pick(each, ("sheet", "title", "status", "state", "open")) for each in told["sheets"]
        ]
    return told


def _shape_review(document: Mapping[str, Any]) -> dict[str, Any]:
    told = dict(document)
    told["channels"] = {
        each["channel"]: each["state"] for each in told["channels"] if each["touched"]
    }
    kept = ("severity", "rule", "channel", "path", "line", "message", "remedy", "confidence")
    told["findings"] = [_pick(each, kept) for each in told["findings"]]
    told["patterns"] = [_pick(each, ("title", "signs")) for each in told["patterns"]]
    told["seeds"] = _pick(told["seeds"], ("orphans", "draws", "streams"))
    told["effects"] = _pick(told["effects"], ("gaps", "reads"))
    return told


def _shape_scaffold(document: Mapping[str, Any]) -> dict[str, Any]:
    """Count the files by action and folder; name the first that change, and those that wait for the user."""
    files = document["files"]
    left = [each for each in files if each["action"] in {"edited", "conflict"}]
    written = [each for each in files if each["action"] in _WRITTEN]
    counts = {
        action: Counter(
            each["path"].rpartition("/")[0] or "." for each in files if each["action"] == action
        )
        for action in dict.fromkeys(each["action"] for each in files)
    }
    return {
        **document,
        "counts": counts,
        "first": [each["path"] for each in written[:_FIRST_FILES]],
        "left": [_pick(each, ("path", "action", "why")) for each in left],
        "paste": [_pick(each, ("path", "paste")) for each in files if each["paste"]],
    }


_WRITTEN: Final = {"create", "update", "replace", "remove"}
_SHAPES: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "vary": _shape_vary,
    "gate": _shape_gate,
    "verify": _shape_verify,
    "show_state": _shape_show_state,
    "spec": _shape_spec,
    "review": _shape_review,
    "scaffold": _shape_scaffold,
}


def _pick(value: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: value[key] for key in keys if not _is_empty(value.get(key))}


def _place_of(operation: Mapping[str, Any]) -> str:
    return f"{operation['file'].rpartition('/')[2]}:{operation['line']}"


def _head_verify(told: Mapping[str, Any]) -> str:
    points = told["compare_points"]
    return f"{told['result']}: {points['passed']} of {points['evaluated']} compare-points agree"


def _head_vary(told: Mapping[str, Any]) -> str:
    rows = told["depends_on"]
    places = [f" ({_place_of(each['operation'])})" if "operation" in each else "" for each in rows]
    itself = [place for each, place in zip(rows, places, strict=True) if each["factor"] == _ITSELF]
    said = [f"differs from itself{place}, with nothing varied" for place in itself]
    on = [
        each["factor"] + place
        for each, place in zip(rows, places, strict=True)
        if each["factor"] != _ITSELF
    ]
    said += [f"depends on {', '.join(on)}"] if on else []
    return f"{told['result']}: {'; '.join(said) or 'stays the same'}"


def _head_scaffold(told: Mapping[str, Any]) -> str:
    counts = (f"{sum(by.values())} {action}" for action, by in told["counts"].items())
    said = ", ".join(counts) or "no file"
    done = "written" if told["changed"] else "nothing written" if told["applied"] else "planned"
    return f"{told['component']}: {done}; {said}"


def _head_spec(told: Mapping[str, Any]) -> str:
    """Count what an action of the specification found; every action has lists of its own."""
    lists = ("missing", "owed", "unknown", "against", "waiting", "wrote", "filled", "locked")
    counts = [f"{len(told[name])} {name}" for name in lists if told.get(name)]
    changed = [each for each in told.get("sheets", ()) if each.get("state", "same") != "same"]
    counts += [pluralize(len(changed), "changed sheet")] if changed else []
    return ", ".join(counts) or "nothing open"


_HEADLINES: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "record": lambda told: (
        f"{told['how']}: {pluralize(told['ticks'], 'tick')}, "
        + pluralize(told["points"], "compare-point")
    ),
    "verify": _head_verify,
    "diagnose": lambda told: assess_divergence(told).summary,
    "vary": _head_vary,
    "branch": lambda told: f"{told['record']}: {pluralize(told['ticks'], 'tick')}",
    "show_state": lambda told: (
        f"{told.get('record', '')}"
        + (f", tick {told['tick']}" if told.get("tick") is not None else "")
    ),
    "check": lambda told: (
        ", ".join(
            f"{count} {name}" for name, count in told["summary"]["severities"].items() if count
        )
        or "nothing found"
    ),
    "review": lambda told: told["verdict"]["text"],
    "spec": _head_spec,
    "gate": lambda told: (
        f"{told['result']}: "
        + (", ".join(f"check {each['id']}" for each in told["failing"]) or "every check passes")
    ),
    "scaffold": _head_scaffold,
    "records": lambda told: pluralize(len(told["records"]), "record"),
}


def _propose(verb: str, told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Propose the calls that follow."""
    record, result = told.get("record"), told.get("result")

    def call(tool: str, why: str, **arguments: object) -> dict[str, Any]:
        return {"tool": tool, "arguments": arguments, "why": why}

    if verb in {"record", "branch"}:
        calls = [call("verify", "does it replay?", record=record)]
        if verb == "branch":
            calls.append(
                call("diagnose", "what did the input change?", a=told["parent"]["record"], b=record)
            )
        return calls
    if verb == "verify" and result == "FAIL" and not told.get("divergence"):
        return [call("verify", "where and why does it fail?", record=record, diagnose=True)]
    if verb == "verify" and result == "PASS":
        return [call("vary", "a PASS is about this environment; which others change the result?")]
    if verb == "diagnose" and result == "not-same-input":
        return [call("diagnose", "compare anyway", a=told["a"], b=told["b"], anyway=True)]
    if verb == "vary" and told.get("measured"):
        why = "after the correction, if the lines with measured times decide nothing"
        return [call("vary", why, ignore_output=told["measured"])]
    if verb in {"diagnose", "vary", "verify"} and (place := _find_operation(told)):
        return [
            call("check", "what does the code say of that line?", paths=[place["file"]]),
            call("vary", "after the correction: does it still depend on anything?"),
        ]
    return []


def _find_operation(told: Mapping[str, Any]) -> Mapping[str, Any] | None:
    holders = [told, told.get("divergence") or {}, *told.get("depends_on", ())]
    return next((each["operation"] for each in holders if each.get("operation")), None)
