"""The report form: a summary, the evidence, confidence, risk, information gaps, caveats, and one plain sentence.

Both `twice review` and `twice diagnose` give it, as text and as JSON, and so does the server for coding agents.
Everything in it comes from the JSON document of a review or of a divergence.

Invariant: pure; no number, place or cause is in an assessment that its document does not hold.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from twice.foundation.dataclass import dataclass
from twice.foundation.markdown import escape_markdown, quote_markdown
from twice.foundation.printable import printable

FORMAT: Final = "twice.assessment/1"
_WIDTH: Final = 80
_NONE: Final = "None reported."


@dataclass(frozen=True, slots=True)
class Remark:
    """One sentence, and the text of a program, a place or a command that belongs to it.

    Attributes:
        text: in words of twice.
        quote: shown as code; "" for none.
    """

    text: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure one part of an assessment is.

    Attributes:
        of: the part.
        value: 0 to 1, as the document has it; None where it gives no number.
        reason: the facts that the number rests on, or why there is none.
    """

    of: str
    value: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Assessment:
    """A review or a diagnosis in the report form.

    Attributes:
        subject: the files or the records that it is about.
        basis: the promise and the facts that it was made from.
        summary: the answer in one line.
        evidence: findings or observations, those that matter most first.
        confidence: of each part; the first is the one of the answer.
        risk: the consequences if the assessment is wrong, then those of a fault that stays.
        gaps: parts that were not seen, each with the way to see it where one is known.
        caveats: limits of the assessment.
        next: steps in their order, with commands.
        sentence: the answer for somebody who does not know twice.
    """

    subject: str
    basis: Sequence[str]
    summary: str
    evidence: Sequence[Remark]
    confidence: Sequence[Confidence]
    risk: Sequence[str]
    gaps: Sequence[str]
    caveats: Sequence[str]
    next: Sequence[Remark]
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """Return the document `twice.assessment/1`."""
        return {"format": FORMAT, **asdict(self)}

    def to_markdown(self) -> str:
        """Return Markdown in 80 columns; only quoted text may be wider."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"# Assessment: {_escape(self.subject)}"
        yield ""
        yield from _fold(f"**{_escape(self.summary)}**", "")
        yield ""
        yield from _list(map(Remark, self.basis))
        confidence = [
            f"**{each.of}: {'no number' if each.value is None else f'{each.value:.0%}'}.** {_escape(each.reason)}"
            for each in self.confidence
        ]
        sections: Mapping[str, Iterator[str]] = {
            "Evidence": _list(self.evidence),
            "Confidence": (line for each in confidence for line in _fold(each)),
            "Risk": _list(map(Remark, self.risk)),
            "Information gaps": _list(map(Remark, self.gaps)),
            "Caveats": _list(map(Remark, self.caveats)),
            "Next": _list(self.next),
            "In plain words": iter(_fold(_escape(self.sentence), "")),
        }
        for title, lines in sections.items():
            yield ""
            yield f"## {title}"
            yield ""
            yield from [*lines] or [_NONE]


def _list(remarks: Iterable[Remark]) -> Iterator[str]:
    """Write a list; a quote has a line of its own."""
    for each in remarks:
        yield from _fold(_escape(each.text))
        if each.quote:
            yield f"  {quote_markdown(printable(each.quote))}"


def _escape(text: str) -> str:
    return escape_markdown(printable(text))


def _fold(text: str, bullet: str = "- ") -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=bullet,
        subsequent_indent=" " * len(bullet),
        break_long_words=False,
        break_on_hyphens=False,
    )
