"""A review in the report form, from its document `twice.review/1`.

Invariant: see `assessment`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from twice.foundation.printable import pluralize
from twice.report.assessment import Assessment, Confidence, Remark

_PLACES_MAX: Final = 6
_GROUPS_MAX: Final = 25
_HEAVY: Final = {"critical", "high", "medium"}
_IN_PLAIN_WORDS: Final = {
    "replay from seed": "running the program again with the same seed",
    "resume": "continuing the program from a saved state",
    "another machine": "running the program on another machine",
    "comparison": "comparing two of the programs runs",
}
"""What a finding breaks, by its word in the document."""


def assess_review(document: Mapping[str, Any]) -> Assessment:
    """Return a review in the report form.

    Args:
        document: as `twice review --json` prints it.
    """
    files = pluralize(document["files"], "file")
    return Assessment(
        subject=f"{files}, {pluralize(document['lines'], 'line')}",
        basis=[*_basis(document)],
        summary=document["verdict"]["text"],
        evidence=[*_evidence(document)],
        confidence=[*_confidence(document)],
        risk=[*_risk(document)],
        gaps=[*_gaps(document)],
        caveats=[*_caveats(document)],
        next=[
            Remark(f"{each['title']}. {each['reason']}", each["command"] or "")
            for each in document["steps"]
        ],
        sentence=_sentence(document),
    )


def _heavy(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for each in document["findings"] if each["severity"] in _HEAVY]


def _place(finding: Mapping[str, Any]) -> str:
    return f"{finding['path']}:{finding['line']}"


def _first(places: Sequence[str]) -> str:
    """Name the first places, and count the others."""
    more = len(places) - _PLACES_MAX
    return ", ".join(places[:_PLACES_MAX]) + (f" and {more:,} more" if more > 0 else "")


def _promise(document: Mapping[str, Any]) -> str:
    said = document["class"]
    tier = f", tier {said['tier']}" if said["tier"] else ""
    return f"{said['class']} ({said['scope']}{tier})"


def _basis(document: Mapping[str, Any]) -> Iterator[str]:
    declared = "declared" if document["class"]["declared"] else "assumed"
    yield f"Class: {_promise(document)}, {declared}."
    sheets = document["specification"]
    if sheets is None:
        yield "Specification: none. The code alone was read."
    else:
        yield f"Specification: {pluralize(len(sheets['artifacts']), 'sheet')}."
    states: dict[str, list[str]] = {}
    for each in document["channels"]:
        states.setdefault(each["state"], []).append(each["channel"])
    rows = [f"{', '.join(names)} {state}" for state, names in states.items()]
    yield f"Channels: {'; '.join(rows)}."
    counts = Counter(each["severity"] for each in document["findings"])
    rows = [f"{count} {name}" for name, count in counts.items()]
    yield f"Findings: {', '.join(rows) or 'none'}."


def _evidence(document: Mapping[str, Any]) -> Iterator[Remark]:
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for each in _heavy(document):
        groups.setdefault((each["severity"], each["rule"]), []).append(each)
    for (severity, rule), found in [*groups.items()][:_GROUPS_MAX]:
        one = found[0]
        kind = f"{one['classification']}, {one['specification']}, sheet {one['artifact']}"
        yield Remark(
            f"{severity}, {rule} ({one['channel']}; {kind}; {one['confidence']:.0%} sure): {one['message']} {one['why']} Do: {one['remedy']}",
            _first([_place(each) for each in found]),
        )
    if len(groups) > _GROUPS_MAX:
        more = pluralize(len(groups) - _GROUPS_MAX, "more group")
        yield Remark(f"{more} of findings: in the JSON document.")
    for each in document["patterns"]:
        signs = [_place(sign) for sign in each["signs"]]
        yield Remark(f"Together: {each['title']}. {each['why']} {each['remedy']}", _first(signs))
    if orphans := document["seeds"]["orphans"]:
        places = pluralize(orphans, "place")
        yield Remark(f"Seed audit: {places} that nobody owns, or that no seed of the run reaches.")
    if gaps := document["effects"]["gaps"]:
        questions = pluralize(gaps, "raw question")
        yield Remark(f"Effects audit: {questions} to the world whose answer the code uses.")


def _confidence(document: Mapping[str, Any]) -> Iterator[Confidence]:
    verdict, files = document["verdict"], document["files"]
    sure = verdict["confidence"]
    surest = next((each for each in _heavy(document) if each["confidence"] == sure), None)
    match verdict["result"]:
        case "broken" if surest is not None:
            reason = f"That of the surest severe finding, {surest['rule']} at {_place(surest)}"
        case "nothing-found":
            reason = "Nothing was found by reading, and no run was made"
        case _:
            reason = "The findings are of medium severity, or draws that no seed reaches"
    yield Confidence("verdict", sure, f"{reason}.")
    declared = document["class"]["declared"]
    said = "declared" if declared else "assumed, and another class gives other severities"
    yield Confidence("severities", None, f"They follow from the class, which is {said}.")
    read = files - len(document["unread"])
    reason = f"{read:,} of {pluralize(files, 'file')} could be read."
    yield Confidence("coverage", round(read / files, 2) if files else None, reason)


def _risk(document: Mapping[str, Any]) -> Iterator[str]:
    heavy, missed = _heavy(document), len(document["unknowns"])
    if heavy:
        least = min(heavy, key=lambda each: each["confidence"])
        sure = f"{least['confidence']:.0%}"
        yield (
            "If a finding is wrong, its correction changes code without need. The least sure one is "
            f"{least['rule']} at {_place(least)} ({sure})."
        )
    where = f": see the {pluralize(missed, 'information gap')}" if missed else ""
    yield f"If the review missed a fault, the fault stays until a run shows it{where}."
    costs: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for each in heavy:
        costs.setdefault((each["breaks"], each["risk"]), []).append(each)
    for (breaks, risk), found in costs.items():
        yield f"If it is left, this breaks {breaks}: {risk} ({pluralize(len(found), 'finding')}, first {_place(found[0])})"
    if not heavy:
        yield "No finding of medium severity or above, so no cost of a fault is known."
    steps = [each for each in document["steps"] if each["findings"]]
    if steps:
        most = max(steps, key=lambda each: int(each["findings"]))
        yield f"The step that solves most: {most['title']} ({most['findings']} of {pluralize(len(heavy), 'finding')})."


def _gaps(document: Mapping[str, Any]) -> Iterator[str]:
    for each in document["unread"]:
        yield f"Not read: {each['path']}: {each['reason']}."
    for each in document["unknowns"]:
        places = f" First: {_first(each['places'])}." if each["places"] else ""
        yield f"{each['what']}{places} To know: {each['tells']}."


def _caveats(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"Severities are those of {_promise(document)}. The review chooses no class and corrects nothing."
    yield "It is about the files that were read, and it executed none of them."
    if document["set_aside"]:
        hidden = pluralize(document["set_aside"], "finding is", "findings are")
        yield f"{hidden} hidden by comments in the source or by the baseline."
    if lesser := len(document["findings"]) - len(_heavy(document)):
        yield f"{pluralize(lesser, 'finding')} of low severity or informational: only in the JSON document."


def _sentence(document: Mapping[str, Any]) -> str:
    read = document["files"] - len(document["unread"])
    given = pluralize(document["files"], "file")
    files = f"twice read {read:,} of {given}"
    if not read:
        return f"twice could read none of {given}, so nothing is known."
    severe = [each for each in document["findings"] if each["severity"] in {"critical", "high"}]
    match document["verdict"]["result"]:
        case "broken":
            breaks = {each["breaks"] for each in severe}
            broken = [words for each, words in _IN_PLAIN_WORDS.items() if each in breaks]
            what = " and ".join(broken)
            found = pluralize(len(severe), "place that breaks", "places that break")
            return (
                f"{what[:1].upper()}{what[1:]} cannot be relied on: {files} and found {found} this."
            )
        case "doubtful":
            found = pluralize(len(_heavy(document)), "doubtful place")
            orphans = pluralize(document["seeds"]["orphans"], "place")
            return (
                f"It is not certain that two runs with one seed give one result: {files} and found {found}, and "
                f"{orphans} where random numbers do not come from the seed of the run."
            )
    return f"{files} and found nothing that makes two runs differ. No run was made, so this is no proof."
