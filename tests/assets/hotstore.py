"""A hot store with two real assets, sealed with complete logs."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from PIL import Image

from completelogs import art, audio
from twice.assets.store.seal import Sealed, Sealing, seal
from twice.assets.store.store import Store, lay_store
from twice.foundation.digests import Algorithm, digest_bytes

HOW = Sealing(created="2026-01-31T09:30:00Z", nonce="00112233445566778899aabbccddeeff")


def sha256(data: bytes) -> str:
    return digest_bytes(data, Algorithm.SHA256).hex


def sound(path: Path, level: float = 0.172, rate: int = 48000, subtype: str = "PCM_24") -> None:
    """One second of a tone, near -16 LUFS."""
    times = np.arange(rate) / rate
    wave = level * np.sin(2 * np.pi * 440 * times)
    soundfile.write(path, np.stack([wave, wave], axis=1), rate, subtype=subtype)


def picture(path: Path, size: tuple[int, int] = (64, 32), colour: int = 7) -> None:
    Image.new("RGB", size, (colour, 20, 30)).save(path)


def list_files(folder: Path) -> dict[str, bytes]:
    """List the files below a folder with their bytes."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def laid(folder: Path) -> Store:
    """Lay an empty hot store beside a public tree."""
    (folder / "public").mkdir()
    return lay_store(folder / "hot", ("../public",))


def art_draft(store: Store) -> dict[str, Any]:
    """Write a complete draft for an image, and the script that its recipe reads."""
    (store.root / "render.py").write_bytes(b"print('rendered')\n")
    return _draft(store, art(), sha256(b"print('rendered')\n"))


def audio_draft(store: Store) -> dict[str, Any]:
    (store.root / "render.py").write_bytes(b"print('rendered')\n")
    return _draft(store, audio(), sha256(b"print('rendered')\n"))


def _draft(store: Store, document: dict[str, Any], digest: str) -> dict[str, Any]:
    draft = copy.deepcopy(document)
    del draft["asset"]
    run = {"format": "twice.asset-render/1", "argv": draft["recipe"]["argv"], "outputs": {}}
    data = json.dumps(run).encode()
    (store.root / "records").mkdir(exist_ok=True)
    (store.root / "records" / "run.render.json").write_bytes(data)
    draft["evidence"][""] |= {"record": "records/run.render.json", "sha256": sha256(data)}
    draft["recipe"]["inputs"][0]["sha256"] = digest
    return draft


def sealed_art(store: Store, name: str = "picture.png", **over: Any) -> Sealed:
    picture(store.root / name)
    return seal(store, store.root / name, art_draft(store) | over, HOW)


def sealed_audio(store: Store, name: str = "cue.wav", **over: Any) -> Sealed:
    sound(store.root / name)
    return seal(store, store.root / name, audio_draft(store) | over, HOW)
