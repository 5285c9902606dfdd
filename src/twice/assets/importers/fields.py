"""Where in a determinism log the importers write: JSON pointers, and the shape of what is no scalar.

Invariant: no importer spells a pointer itself.
"""

from __future__ import annotations

from typing import Final

from twice.assets.importers.imported import Value
from twice.assets.importers.scalars import FULL_SHA256

PROVIDER: Final = "/provider/name"
ENDPOINT: Final = "/provider/endpoint"
MODEL_NAME: Final = "/model/name"
MODEL_SHA256: Final = "/model/sha256"
ADAPTERS: Final = "/model/adapters"
SEED_EFFECTIVE: Final = "/seed/effective"
SEEDS: Final = "/seed/each"
PROMPT: Final = "/art/prompt"
NEGATIVE_PROMPT: Final = "/art/negative_prompt"
WIDTH: Final = "/art/width_px"
HEIGHT: Final = "/art/height_px"
ASPECT_RATIO: Final = "/art/aspect_ratio"
WORKFLOW: Final = "/art/workflow"
STEPS: Final = "/art/steps"
GUIDANCE: Final = "/art/guidance"
SAMPLER: Final = "/art/sampler"
SCHEDULER: Final = "/art/scheduler"
DENOISE: Final = "/art/denoise"
RNG_DEVICE: Final = "/art/rng_device"
BATCH_INDEX: Final = "/art/batch_index"
BATCH_SIZE: Final = "/art/batch_size"
CONDITIONING_GUIDANCE: Final = "/art/settings/conditioning_guidance"
CLIP_SKIP: Final = "/art/settings/clip_skip"
DAW_NAME: Final = "/audio/daw/name"
DAW_VERSION: Final = "/audio/daw/version"
DAW_PROJECT: Final = "/audio/daw/project_sha256"
TEMPO: Final = "/audio/tempo_bpm"
KEY: Final = "/audio/key"
METER: Final = "/audio/time_signature"
CHAIN: Final = "/audio/chain"
SAMPLE_RATE: Final = "/audio/session_sample_rate_hz"


def package(name: str) -> str:
    """Give the pointer of a program's version."""
    return f"/environment/packages/{name.replace('~', '~0').replace('/', '~1')}"


def adapter(
    kind: str, name: str, *, sha256: str | None = None, weight: float | None = None
) -> dict[str, Value]:
    """Give an adapter of a model; a hash only where it is a whole sha256, and nothing unknown."""
    found: dict[str, Value] = {"kind": kind, "name": name}
    if sha256 is not None and FULL_SHA256.fullmatch(sha256):
        found["sha256"] = sha256
    if weight is not None:
        found["weight"] = weight
    return found


def effect(
    name: str,
    *,
    track: str | None = None,
    form: str | None = None,
    version: str | None = None,
    preset: str | None = None,
    state_sha256: str | None = None,
    bypass: bool | None = None,
) -> dict[str, Value]:
    """Give an effect of a chain; what is not known is left out."""
    found: dict[str, Value | None] = {
        "name": name,
        "format": form,
        "version": version,
        "preset": preset,
        "state_sha256": state_sha256,
        "bypass": bypass,
        "track": track,
    }
    return {key: value for key, value in found.items() if value is not None}
