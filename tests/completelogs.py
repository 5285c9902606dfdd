"""Complete determinism logs, as documents: one for an image, one for a sound, one without a promise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twice.assets.log.models import FORMAT

HEX = "0123456789abcdef" * 4
OTHER_HEX = "89abcdef" * 8
NA = {"not_applicable": "there is none in this rendering"}


def _shared(kind: str, log_id: str, asset: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "log_id": log_id,
        "work_unit": "TU-2026-01-31-IL01",
        "kind": kind,
        "created": "2026-01-31T09:30:00Z",
        "producer": {"role": "illustrator" if kind == "art" else "audio_producer"},
        "nonce": "00112233445566778899aabbccddeeff",
        "revision": 1,
        "asset": asset,
        "promise": {"mode": "deterministic", "grade": "payload"},
        "provider": {"name": "renderer", "endpoint": "local"},
        "model": {
            "name": "stable-diffusion-xl",
            "version": "1.0",
            "sha256": HEX,
            "adapters": [{"kind": "lora", "name": "ink", "sha256": HEX, "weight": 0.8}],
        },
        "seed": {"requested": "7", "effective": "7"},
        "environment": {
            "os": "Linux 6.1, glibc 2.36",
            "cpu": {"arch": "x86_64", "features": ["avx2"]},
            "gpu": NA,
            "threads": 1,
            "packages": {"torch": "2.13.0"},
            "fonts": [{"name": "DejaVu Sans", "sha256": HEX}],
            "locale": "C.UTF-8",
        },
        "recipe": {
            "argv": ["render", "a.scene", "--seed", "7", "-"],
            "inputs": [{"path": "render.py", "sha256": HEX}],
            "env": {"OMP_NUM_THREADS": "1"},
            "output": "out/a.bin",
            "timeout_s": 600,
        },
        "evidence": {
            "": {"level": "recorded", "record": "render.twice", "sha256": HEX},
            "/model": {"level": "imported", "file": "a.bin", "sha256": HEX, "chunk": "tEXt parameters"},
            f"/{kind}": {"level": "imported", "file": "a.bin", "sha256": HEX, "chunk": "tEXt parameters"},
            "/producer": {"level": "declared", "who": "the studio", "when": "2026-01-31T09:30:00Z"},
        },
    }  # fmt: skip


def art(log_id: str = "art-one") -> dict[str, Any]:
    """Build the log of a promised image."""
    measured = {"width_px": 64, "height_px": 32, "mode": "RGB"}
    asset = {
        "file": "picture.png",
        "media_type": "image/png",
        "size_bytes": 1000,
        "file_sha256": OTHER_HEX,
        "payload": {"method": "pixels-rgba8/1", "digest": f"sha256:{HEX}"},
        "measured": measured,
    }
    return _shared("art", log_id, asset) | {
        "art": {
            "prompt": "a lighthouse in fog",
            "negative_prompt": NA,
            "width_px": 64,
            "height_px": 32,
            "aspect_ratio": "2:1",
            "workflow": {"name": "txt2img", "sha256": HEX},
            "steps": 20,
            "guidance": 7.5,
            "sampler": "DPM++ 2M",
            "scheduler": "Karras",
            "denoise": NA,
            "dtype": "float16",
            "attention": "sdpa",
            "rng_device": "cpu",
            "batch_index": 0,
            "batch_size": 1,
            "post": [{"tool": "pillow", "version": "13.0.0", "args": {"resize": 2}}],
        }
    }


def audio(log_id: str = "audio-one") -> dict[str, Any]:
    """Build the log of a promised sound."""
    measured = {
        "duration_s": 2.5, "sample_rate_hz": 48000, "bit_depth": 24, "channels": 2,
        "loudness_lufs": -16.1, "true_peak_dbtp": -1.5,
    }  # fmt: skip
    asset = {
        "file": "cue.wav",
        "media_type": "audio/wav",
        "size_bytes": 2000,
        "file_sha256": OTHER_HEX,
        "payload": {"method": "pcm/1", "digest": f"sha256:{HEX}"},
        "measured": measured,
    }
    return _shared("audio", log_id, asset) | {
        "audio": {
            "source": {"kind": "instrument", "name": "FluidR3_GM.sf2", "version": "3.1", "sha256": HEX},
            "production": "synthetic",
            "daw": {"name": "REAPER", "version": "7.03", "project_sha256": HEX},
            "tempo_bpm": 96,
            "key": "D minor",
            "time_signature": "6/8",
            "chain": [
                {"name": "ReaEQ", "format": "VST3", "version": "7.03", "preset": NA, "settings": {"gain": -1}},
                {"name": "Crusher", "bypass": True},
            ],
            "session_sample_rate_hz": 48000,
            "session_bit_depth": 24,
            "dither": NA,
            "loudness": {"target_lufs": -16, "true_peak_max_dbtp": -1},
            "presets": {"room": "hall"},
            "stems": [{"file": "strings.wav", "sha256": HEX}],
            "export": {"encoder": "libsndfile", "version": "1.2.2"},
        }
    }  # fmt: skip


def marked(log_id: str = "voice-one") -> dict[str, Any]:
    """Build the log of a hosted service's sound, without a promise."""
    document = audio(log_id)
    for name in ("model", "seed", "audio", "environment", "recipe"):
        del document[name]
    document["provider"] = {"name": "a voice service", "endpoint": "hosted", "request_id": "r-1"}
    document["promise"] = {
        "mode": "non-deterministic",
        "why": "The service takes no seed.",
        "why_code": "hosted-provider",
        "constraints": ["one voice for all lines"],
    }
    document["audio"] = {"source": {"kind": "voice", "name": "Mara"}}
    document["evidence"] = {
        "": {"level": "declared", "who": "the studio", "when": "2026-01-31T09:30:00Z"},
        "/asset": {
            "level": "imported", "file": "line.wav", "sha256": HEX, "chunk": "measured from the file",
        },
    }  # fmt: skip
    return document


def leaves(document: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Every pointer of a document below its root, with the value there."""
    pairs = document.items() if isinstance(document, dict) else enumerate(document)
    for name, value in pairs:
        where = f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}"
        yield where, value
        if isinstance(value, dict | list):
            yield from leaves(value, where)


def holder(document: Any, pointer: str) -> tuple[Any, Any]:
    """Return the container of the value at a pointer, and the value's key in it."""
    steps = [each.replace("~1", "/").replace("~0", "~") for each in pointer.split("/")[1:]]
    for step in steps[:-1]:
        document = document[int(step) if isinstance(document, list) else step]
    return document, int(steps[-1]) if isinstance(document, list) else steps[-1]
