"""What made an asset: provider, model with its adapters, and seeds.

Invariant: a seed is text, so that no reader of JSON rounds one of 64 bits; what was asked for and
what was used are two fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from twice.assets.log.declaring import Known, Need, declare, many
from twice.assets.log.kinds import SEED, SHA256, WHOLE_MAX, Choice, Number, Text

POSITION = Number("a position of at least 0", 0, WHOLE_MAX, whole=True)


class Endpoint(StrEnum):
    """Where a provider runs."""

    LOCAL = "local"
    HOSTED = "hosted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """Who rendered: a service, a program or a workstation."""

    name: str | None = declare(Text("a provider's name"), Need.ALWAYS, "the provider")
    endpoint: Endpoint | None = declare(
        Choice(tuple(Endpoint)), Need.ALWAYS, "whether it runs here or is a service"
    )
    request_id: str | None = declare(Text(), Need.OPTIONAL, "the service's name of the request")


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """What changes a model: LoRA, VAE, ControlNet, upscaler, embedding."""

    kind: str | None = declare(
        Choice(("lora", "vae", "controlnet", "upscaler", "embedding", "other")), Need.ALWAYS,
        "its kind",
    )  # fmt: skip
    name: str | None = declare(Text("an adapter's name"), Need.ALWAYS, "its name")
    version: str | None = declare(Text(), Need.OPTIONAL, "its version")
    sha256: Known[str] = declare(SHA256, Need.PROMISED, "the sha256 of its file")
    weight: float | None = declare(Number("a weight", -1000, 1000), Need.OPTIONAL, "its weight")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The model, program or engine that made the asset."""

    name: Known[str] = declare(Text("a model's name"), Need.PROMISED, "the model")
    version: Known[str] = declare(Text("a version that is pinned"), Need.PROMISED, "its version")
    sha256: Known[str] = declare(SHA256, Need.PROMISED, "the sha256 of its file")
    adapters: Known[tuple[Adapter, ...]] = declare(
        many(Adapter), Need.PROMISED, "what changes it, in order"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedAt:
    """The seed of one step of a pipeline or one image of a batch."""

    step: str | None = declare(Text("a step's name"), Need.OPTIONAL, "the step")
    batch_index: int | None = declare(POSITION, Need.OPTIONAL, "the position in the batch")
    requested: Known[str] = declare(SEED, Need.OPTIONAL, "the seed asked for", excusable=True)
    effective: str | None = declare(SEED, Need.ALWAYS, "the seed that was used")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """Seeds: asked for, and used."""

    requested: Known[str] = declare(SEED, Need.PROMISED, "the seed asked for")
    effective: Known[str] = declare(SEED, Need.PROMISED, "the seed that was used")
    each: tuple[SeedAt, ...] | None = declare(
        many(SeedAt), Need.OPTIONAL, "the seeds of steps or of a batch"
    )
