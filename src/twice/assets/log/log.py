"""The determinism log: one document for one asset.

Invariant: a log is about one payload, and has one render block, of its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from twice.assets.log.art import ArtRender
from twice.assets.log.audio import AudioRender
from twice.assets.log.declaring import Known, Need, declare, many, table
from twice.assets.log.identity import Asset, Producer
from twice.assets.log.kinds import DIGEST, INSTANT, NAME, WHOLE_MAX, Choice, Number, Text
from twice.assets.log.making import Model, Provider, Seed
from twice.assets.log.promise import Mode, Promise
from twice.assets.log.surroundings import Environment, Recipe
from twice.assets.log.witness import Evidence, Verdict

FORMAT: Final = "twice.determinism-log/1"
SUFFIX: Final = ".detlog.json"
"""What the file name of a sidecar ends with, after the log's id."""


class AssetKind(StrEnum):
    """What sort of asset a log is about; each has its render block of the same name."""

    ART = "art"
    AUDIO = "audio"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeterminismLog:
    """One log. A field is None where nobody said anything yet; ``to_document`` leaves it out."""

    format: str | None = declare(Choice((FORMAT,)), Need.ALWAYS, "the version of the format")
    log_id: str | None = declare(NAME, Need.ALWAYS, "the log's name")
    work_unit: str | None = declare(
        Text("a work unit's name", "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?![\\s\\S])", 100), Need.ALWAYS,
        "the work unit that the asset was made in",
    )  # fmt: skip
    kind: AssetKind | None = declare(Choice(tuple(AssetKind)), Need.ALWAYS, "art or audio")
    created: str | None = declare(INSTANT, Need.ALWAYS, "when the log was written")
    producer: Producer | None = declare(Producer, Need.ALWAYS, "who made the asset")
    nonce: str | None = declare(
        Text("32 lower-case hex digits, drawn by chance", "^[0-9a-f]{32}(?![\\s\\S])", 32),
        Need.ALWAYS, "what keeps a public commitment from being guessed",
    )  # fmt: skip
    revision: int | None = declare(
        Number("a revision of at least 1", 1, WHOLE_MAX, whole=True), Need.ALWAYS, "the revision"
    )
    supersedes: str | None = declare(
        DIGEST, Need.OPTIONAL, "the digest of the revision before; needed from revision 2 on"
    )
    asset: Asset | None = declare(Asset, Need.ALWAYS, "the file that it is about")
    promise: Promise | None = declare(Promise, Need.ALWAYS, "what is promised")
    provider: Provider | None = declare(Provider, Need.ALWAYS, "who rendered")
    model: Known[Model] = declare(Model, Need.PROMISED, "the model or engine")
    seed: Known[Seed] = declare(Seed, Need.PROMISED, "the seeds")
    art: ArtRender | None = declare(ArtRender, Need.PROMISED, "the image", excusable=False)
    audio: AudioRender | None = declare(AudioRender, Need.PROMISED, "the sound", excusable=False)
    environment: Known[Environment] = declare(Environment, Need.PROMISED, "the surroundings")
    recipe: Known[Recipe] = declare(Recipe, Need.PROMISED, "the command that renders it again")
    evidence: Mapping[str, Evidence] | None = declare(
        table(Evidence), Need.ALWAYS, "where values come from, by JSON pointer"
    )
    verdicts: tuple[Verdict, ...] | None = declare(
        many(Verdict), Need.OPTIONAL, "what re-rendering came to"
    )

    @property
    def deterministic(self) -> bool:
        """Whether the asset is promised to be deterministic."""
        return self.promise is not None and self.promise.mode is Mode.DETERMINISTIC
