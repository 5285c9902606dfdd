"""A folder with a picture that says how it was made: what the examples of ``twice asset`` work on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

PICTURE = Path(__file__).parents[1] / "assets" / "importers" / "data" / "a1111.png"


def build(folder: Path) -> Path:
    """Make it; what is published has no trace in it, and the draft says little."""
    for name in ("hot", "public", "build"):
        (folder / name).mkdir(parents=True)
    for name in ("cover.png", "master.png", "hot/cover.png"):
        shutil.copy(PICTURE, folder / name)
    draft = {
        "work_unit": "TU-2026-01-31-IL01",
        "producer": {"role": "illustrator"},
        "promise": {"mode": "deterministic", "grade": "payload"},
    }
    (folder / "cover.json").write_text(json.dumps(draft))
    (folder / "build" / "page.html").write_text("<p>The tide came in.</p>\n")
    return folder
