"""Which widget of a node on screen holds which input, for the classes that are known.

A saved graph lists the values of widgets without their names. Newer versions name them in ``inputs``;
for older ones, and for what follows a seed (``control_after_generate``), the order is written here.

Invariant: values that do not fit the names in number are not given names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from twice.assets.importers.comfy.graph import Unsettled

CONTROL: Final = "control_after_generate"
_CONTROLS: Final = ("fixed", "randomize", "increment", "decrement")
_SEEDS: Final = ("seed", "noise_seed", "value")
_LATENT: Final = ("width", "height", "batch_size")
_CHOICES: Final = re.compile(r"(?<!\\)\{[^{}]*[^{}\\]\|[^{}]*\}")
"""Parts of a text of which the screen draws one when it is queued: a {red|blue} lamp."""
WIDGETS: Final[Mapping[str, tuple[str, ...]]] = {
    "KSampler": ("seed", CONTROL, "steps", "cfg", "sampler_name", "scheduler", "denoise"),
    "KSamplerAdvanced": (
        "add_noise", "noise_seed", CONTROL, "steps", "cfg", "sampler_name", "scheduler",
        "start_at_step", "end_at_step", "return_with_leftover_noise",
    ),
    "SamplerCustom": ("add_noise", "noise_seed", CONTROL, "cfg"),
    "RandomNoise": ("noise_seed", CONTROL),
    "KSamplerSelect": ("sampler_name",),
    "BasicScheduler": ("scheduler", "steps", "denoise"),
    "KarrasScheduler": ("steps", "sigma_max", "sigma_min", "rho"),
    "CFGGuider": ("cfg",),
    "FluxGuidance": ("guidance",),
    "CheckpointLoaderSimple": ("ckpt_name",),
    "UNETLoader": ("unet_name", "weight_dtype"),
    "VAELoader": ("vae_name",),
    "LoraLoader": ("lora_name", "strength_model", "strength_clip"),
    "LoraLoaderModelOnly": ("lora_name", "strength_model"),
    "CLIPTextEncode": ("text",),
    "CLIPTextEncodeFlux": ("clip_l", "t5xxl", "guidance"),
    "EmptyLatentImage": _LATENT,
    "EmptySD3LatentImage": _LATENT,
    "EmptyHunyuanLatentVideo": ("width", "height", "length", "batch_size"),
    "RepeatLatentBatch": ("amount",),
    "PrimitiveInt": ("value", CONTROL),
    "PrimitiveFloat": ("value",),
    "PrimitiveString": ("value",),
    "PrimitiveStringMultiline": ("value",),
    "PrimitiveNode": ("value", CONTROL),
    "Seed (rgthree)": ("seed",),
    "SaveImage": ("filename_prefix",),
}  # fmt: skip


def named(kind: str, node: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give a node's widget values by name; ``None`` where there are values that cannot be named."""
    values = node.get("widgets_values")
    if values is None:
        return {}
    if isinstance(values, Mapping):
        return _settled({str(key): value for key, value in values.items()})
    if not isinstance(values, list):
        return None
    for names in (WIDGETS.get(kind), _declared(node, values)):
        if names is None:
            continue
        if len(names) == len(values):
            return _settled(dict(zip(names, values, strict=True)))
        without = tuple(each for each in names if each != CONTROL)
        if len(without) == len(values):
            return _settled(dict(zip(without, values, strict=True)))
    return None if values else {}


def _declared(node: Mapping[str, Any], values: list[Any]) -> tuple[str, ...] | None:
    """Give the names that a node's inputs say, with the control that follows a seed."""
    inputs = node.get("inputs")
    names: list[str] = []
    for each in inputs if isinstance(inputs, list) else []:
        widget = each.get("widget") if isinstance(each, Mapping) else None
        name = widget.get("name") if isinstance(widget, Mapping) else None
        if not isinstance(name, str):
            continue
        names.append(name)
        at = len(names)
        if name in _SEEDS and at < len(values) and values[at] in _CONTROLS:
            names.append(CONTROL)
    return tuple(names) or None


def _settled(values: dict[str, Any]) -> dict[str, Any]:
    """Mark a seed that is drawn anew for every picture, and a text of which a part is."""
    control = values.pop(CONTROL, "fixed")
    if control in ("randomize", "increment", "decrement"):
        for key in _SEEDS:
            if key in values:
                values[key] = Unsettled(values[key], f"its control says {control}")
    for key, value in values.items():
        if isinstance(value, str) and _CHOICES.search(value):
            values[key] = Unsettled(value, "of a text in braces one part was drawn")
    return values
