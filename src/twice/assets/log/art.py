"""How an image was rendered.

Invariant: sizes here are what was asked for; what the file has is measured, in the asset's block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from twice.assets.log.declaring import Known, Need, declare, many, table
from twice.assets.log.kinds import SHA256, Number, Setting, Text
from twice.assets.log.making import POSITION

SIZE = Number("a size in pixels of at least 1", 1, 10**9, whole=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """The generation pipeline: by name, by digest, or as the exact text that was embedded.

    The text is kept as text: a graph holds whole numbers that canonical JSON cannot write.
    """

    name: str | None = declare(Text("a workflow's name"), Need.ALWAYS, "its name")
    sha256: Known[str] = declare(SHA256, Need.PROMISED, "the sha256 of its text or file")
    text: str | None = declare(Text(longest=16_000_000), Need.OPTIONAL, "its exact text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One tool of the chain that an image goes through after generation."""

    tool: str | None = declare(Text("a tool's name"), Need.ALWAYS, "the tool")
    version: Known[str] = declare(Text("a version that is pinned"), Need.PROMISED, "its version")
    args: Mapping[str, str | float | bool] | None = declare(
        table(Setting()), Need.OPTIONAL, "its arguments"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtRender:
    """Everything that decides what an image looks like, beside model and seed."""

    prompt: Known[str] = declare(Text("a prompt"), Need.PROMISED, "the prompt")
    prompt_version: str | None = declare(Text(), Need.OPTIONAL, "the prompt's version")
    negative_prompt: Known[str] = declare(Text("a prompt"), Need.PROMISED, "the negative prompt")
    width_px: Known[int] = declare(SIZE, Need.PROMISED, "the width asked for")
    height_px: Known[int] = declare(SIZE, Need.PROMISED, "the height asked for")
    aspect_ratio: Known[str] = declare(
        Text("two whole numbers such as 16:9", "^[1-9][0-9]{0,8}:[1-9][0-9]{0,8}(?![\\s\\S])"),
        Need.PROMISED, "the aspect ratio",
    )  # fmt: skip
    workflow: Known[Workflow] = declare(Workflow, Need.PROMISED, "the generation pipeline")
    steps: Known[int] = declare(
        Number("a number of steps of at least 1", 1, 10**9, whole=True), Need.PROMISED, "the steps"
    )
    guidance: Known[float] = declare(
        Number("a guidance scale of at least 0", 0, 10**6), Need.PROMISED, "the guidance scale"
    )
    style_strength: Known[float] = declare(
        Number("a strength of at least 0", 0, 10**6), Need.OPTIONAL, "the style strength",
        excusable=True,
    )  # fmt: skip
    sampler: Known[str] = declare(Text("a sampler's name"), Need.PROMISED, "the sampler")
    scheduler: Known[str] = declare(Text("a scheduler's name"), Need.PROMISED, "the scheduler")
    denoise: Known[float] = declare(
        Number("a denoising strength from 0 to 1", 0, 1), Need.PROMISED, "the denoising strength"
    )
    dtype: Known[str] = declare(Text("a type such as float16"), Need.PROMISED, "the number type")
    attention: Known[str] = declare(
        Text("an attention backend"), Need.PROMISED, "the attention backend"
    )
    rng_device: Known[str] = declare(
        Text("a device such as cpu"), Need.PROMISED, "where random numbers were drawn"
    )
    batch_index: Known[int] = declare(POSITION, Need.PROMISED, "the position in the batch")
    batch_size: Known[int] = declare(
        Number("a batch size of at least 1", 1, 10**9, whole=True), Need.PROMISED, "the batch size"
    )
    post: Known[tuple[Step, ...]] = declare(
        many(Step), Need.PROMISED, "the post-process chain, in order"
    )
    settings: Mapping[str, str | float | bool] | None = declare(
        table(Setting()), Need.OPTIONAL, "further settings by name"
    )
