"""A divergence in the report form, from its document `twice.divergence/1`.

Invariant: see `assessment`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

from twice.foundation.channels import Channel
from twice.foundation.printable import pluralize
from twice.report.assessment import Assessment, Confidence, Remark

_ROWS_MAX: Final = 6
_SURE: Final = 0.9
"""From here on a line is named without a "may"."""
_PARTED: Final = {"localised", "candidates", "unlocalised", "non-reproducing"}
_AGREED: Final = {
    "same": "Both runs gave the same result at every point that was compared.",
    "within-tolerance": "Both runs gave the same result, within the tolerance that was declared for it.",
    "extra-read": "One run read more of its surroundings than the other. No result that was compared differs.",
}
_Found = Mapping[str, Any]


def assess_divergence(document: Mapping[str, Any]) -> Assessment:
    """Return a divergence in the report form.

    Args:
        document: as `twice diagnose --json` prints it.
    """
    return Assessment(
        subject=_subject(document),
        basis=[*_basis(document)],
        summary=_summary(document),
        evidence=[*_evidence(document)],
        confidence=[
            _place_confidence(document),
            _channel_confidence(document),
            _reproduction(document),
        ],
        risk=[*_risk_if_wrong(document), *_risk_if_left(document)],
        gaps=[*_gaps(document)],
        caveats=[
            *document["caveats"],
            f"It is about {_subject(document)}. Other runs can differ by other causes.",
        ],
        next=[
            *(Remark(each) for each in document["remedies"]),
            *(Remark(f"To {each['action']}:", each["command"]) for each in document["next"]),
        ],
        sentence=" ".join(_sentences(document)),
    )


def _subject(document: _Found) -> str:
    a, b = document["a"], document["b"]
    return f"{a} and its replay" if a == b else f"{a} and {b}"


def _name_place(operation: _Found) -> str:
    return f"{PurePath(operation['file']).name}:{operation['line']}"


def _name_tick(point: _Found) -> str:
    return f"tick {point['tick']}" if point["tick"] >= 0 else "before tick 0"


def _restless(document: _Found) -> list[str]:
    """Name the runs that were not as recorded each time."""
    rows = document["reproduced"].items()
    return [label for label, each in rows if each["as_recorded"] < each["executed"]]


def _summary(document: _Found) -> str:
    point, operation = document["compare_point"], document["operation"]
    said = f"{document['result']}, {_name_tick(point)}" if point else str(document["result"])
    if operation is None:
        return said
    said += f", {_name_place(operation)} ({operation['confidence']:.0%} sure)"
    return f"{said}: {_name_values(operation, 'name')}" if operation["name"] else said


def _name_values(row: _Found, name: str) -> str:
    return f"{row[name]}: {row['a'] or 'unset'} / {row['b'] or 'unset'}"


def _basis(document: _Found) -> Iterator[str]:
    classes: dict[str, list[str]] = {}
    for name, each in document["classes"].items():
        classes.setdefault(f"{each['class']} ({each['scope']})", []).append(name)
    yield f"Class: {_first([f'{each} of ' + ', '.join(names) for each, names in classes.items()])}."
    changed = [
        {**each, "a": each["recorded"], "b": each["now"]} for each in document["environment"]
    ]
    rows = {
        "Inputs": [_name_values(each, "what") for each in document["input_differences"]],
        "Surroundings": [_name_values(each, "factor") for each in document["surroundings"]],
        "Environment": [_name_values(each, "what") for each in changed],
    }
    for name, differences in rows.items():
        yield f"{name}: {_first(differences) or 'no difference was found'}."


def _first(rows: Sequence[str]) -> str:
    """Name the first rows, and count the others."""
    more = len(rows) - _ROWS_MAX
    return "; ".join(rows[:_ROWS_MAX]) + (f"; and {more:,} more" if more > 0 else "")


def _evidence(document: _Found) -> Iterator[Remark]:
    if point := document["compare_point"]:
        last = document["last_agreement"]
        agreed = f" Last agreement: {last['index']} ({_name_tick(last)})." if last else ""
        yield Remark(
            f"First differing compare-point: {point['index']} ({_name_tick(point)}).{agreed}"
        )
    lines = [document["operation"]] if document["operation"] else document.get("candidates", ())
    for each in lines:
        place = f"{each['file']}:{each['line']} in {each['function']}"
        yield Remark(f"{place} ({each['confidence']:.0%} sure):", each["code"])
        if each["name"]:
            yield Remark("Its two values:", _name_values(each, "name"))
    for each in document["fields"][:_ROWS_MAX]:
        count = f", {each['differing']} of {each['of']}" if each["of"] > 1 else ""
        ulps = "" if each["ulps"] is None else f", {pluralize(each['ulps'], 'ulp')}"
        apart = "" if each["magnitude"] is None else f", {each['magnitude']} apart"
        yield Remark(f"A field ({each['kind']}{count}{apart}{ulps}):", _name_values(each, "path"))
    if (more := len(document["fields"]) - _ROWS_MAX) > 0:
        yield Remark(f"{pluralize(more, 'more field')}: in the JSON document.")
    for each in document.get("outcome", ()):
        yield Remark("They leave different results:", _name_values(each, "what"))
    for each in document.get("reads", ()):
        yield Remark("One run alone makes this read:", each["what"])
    for each in document["attribution"]:
        facts = Channel(each["channel"]).facts
        share = f"{each['confidence']:.0%}, sheet {facts.artifact}-{facts.sheet}"
        yield Remark(f"Channel {each['channel']} ({share}): {'; '.join(each['evidence'])}.")
    for each in document["experiments"]:
        yield Remark(f"Experiment, {each['cause']}: {each['outcome']}. {each['sentence']}")
    yield from map(Remark, document["evidence"])


def _place_confidence(document: _Found) -> Confidence:
    reasons = "; ".join(each.rstrip(".") for each in document["evidence"])
    value, reason = None, f"{document['result']}: no line differs."
    if operation := document["operation"]:
        value = operation["confidence"]
        surer = f" To be surer: {operation['surer']}." if operation["surer"] else ""
        reason = f"{reasons or 'The verdict gives no reason'}.{surer}"
    elif candidates := document.get("candidates"):
        value = max(each["confidence"] for each in candidates)
        many = pluralize(len(candidates), "possible line")
        reason = f"No line is sure. It is that of the likeliest of {many}."
    elif document["result"] in _PARTED:
        why = "; ".join([*filter(None, [reasons]), *document["caveats"]])
        reason = f"No line was named: {why}." if why else "No line was named."
    return Confidence("place", value, reason)


def _channel_confidence(document: _Found) -> Confidence:
    if not document["attribution"]:
        return Confidence("channel", None, "No channel was named.")
    first = document["attribution"][0]
    tried = {True: "confirmed", False: "refuted", None: "not tried"}[first["confirmed"]]
    reason = f"{first['channel']}: {'; '.join(first['evidence'])}; {tried} by experiment."
    return Confidence("channel", first["confidence"], reason)


def _reproduction(document: _Found) -> Confidence:
    rows = document["reproduced"]
    executed = sum(each["executed"] for each in rows.values())
    if not executed:
        return Confidence("reproduction", None, "No run was executed again.")
    reason = "; ".join(
        f"Run {label}: {each['as_recorded']} of {pluralize(each['executed'], 'execution')} as recorded"
        for label, each in rows.items()
    )
    if _restless(document):
        reason += ". Low: line and values are those of some executions, not of every one"
    agreed = sum(each["as_recorded"] for each in rows.values())
    return Confidence("reproduction", round(agreed / executed, 2), f"{reason}.")


def _risk_if_wrong(document: _Found) -> Iterator[str]:
    if operation := document["operation"]:
        place, sure = _name_place(operation), f"{operation['confidence']:.0%}"
        yield (
            f"If the line is wrong (it is {sure} sure), the difference came from an earlier one: a correction at {place} "
            "leaves it."
        )
    for at, each in enumerate(document["attribution"][:2]):
        share = f"{each['channel']} ({each['confidence']:.0%})"
        said = (
            f"If it is not that channel, {share} is next."
            if at
            else f"The likeliest channel is {share}."
        )
        yield f"{said} To rule it out: {each['rule_out']}"


def _risk_if_left(document: _Found) -> Iterator[str]:
    if document["result"] not in _PARTED:
        yield f"{document['result']}: no fault is shown, so no cost of one is known."
        return
    point, parts = document["compare_point"], document["components"]
    if point and parts:
        later = (
            "they come together again later"
            if document["reconverges"]
            else "they were not seen to meet again"
        )
        yield f"If it is left, the runs differ in {', '.join(parts)} from {_name_tick(point)} on, and {later}."
    if document["input_differences"]:
        yield "The inputs differ, so the difference breaks no promise."
        parts = ()
    for name in parts:
        if promise := document["classes"].get(name):
            yield f"The promise for {name} is {promise['class']} ({promise['scope']}), and these runs differ in it."
    if restless := _restless(document):
        runs = " and run ".join(restless)
        yield f"Run {runs} is not as recorded each time: correct that before you trust a comparison with it."
    elif document["reproduced"]:
        yield "Each run gave its own record again, so the replay itself was sound here."


def _gaps(document: _Found) -> Iterator[str]:
    for path in document["blind_spots"]:
        yield f"Outside of every tracked state, and different: {path}."
    parted = document["result"] in _PARTED
    if parted and not document["operation"]:
        yield "No line is known for sure."
    if parted and document["compare_point"] and not document["fields"]:
        yield "No field of the state was compared."
    if parted and not document["attribution"]:
        yield "No channel is known."
    if not document["reproduced"]:
        yield "No run was executed again, so it is not known whether each run reproduces itself."
    if document["attribution"] and not document["experiments"]:
        yield "No cause was tried by experiment: twice diagnose --confirm tries them."
    for each in document["experiments"]:
        if each["outcome"] == "open":
            yield f"An experiment could not tell: {each['cause']}."


def _sentences(document: _Found) -> Iterator[str]:
    """Say it without words of twice."""
    result, point = document["result"], document["compare_point"]
    if samples := document.get("samples"):
        differ = "differ" if result in _PARTED else "agree"
        yield f"The two samples of {samples['summary']} {differ}."
        return
    if result == "not-same-input":
        what = ", ".join(each["what"] for each in document["input_differences"])
        yield f"The runs were started with different inputs ({what}), so their difference shows no fault."
    elif result == "non-reproducing":
        runs = " and run ".join(_restless(document))
        yield f"Run {runs} gave another result when executed again with the same inputs."
    elif result in _PARTED:
        inputs = "different inputs" if document["input_differences"] else "the same inputs"
        where = f" from {_name_tick(point)} on" if point else ""
        yield f"Two runs with {inputs} gave different results{where}."
    else:
        yield _AGREED[result]
    if result not in _PARTED:
        return
    if operation := document["operation"]:
        name = PurePath(operation["file"]).name
        begins = "begins" if operation["confidence"] >= _SURE else "may begin"
        yield f"The difference {begins} in line {operation['line']} of {name} ({operation['confidence']:.0%} sure)."
    else:
        yield "The line where it begins is not known for sure."
    if document["attribution"]:
        first = document["attribution"][0]
        yield f"The likeliest cause ({first['confidence']:.0%}): {'; '.join(first['evidence'])}."
