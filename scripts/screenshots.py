"""Draw what three commands print on a terminal, light and dark: `python scripts/screenshots.py`.

The pictures are SVG in `docs/images`, and name no font and no address of another host. The commands are executed as they
stand below, in a folder of their own, so that a picture shows what this version prints.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, DIMMED_MONOKAI
from rich.text import Text

IMAGES = Path(__file__).parents[1] / "docs" / "images"
THEMES = {"light": DEFAULT_TERMINAL_THEME, "dark": DIMMED_MONOKAI}
COLUMNS = 84
COMMANDS = {
    "demo": "twice demo --keep harbour",
    "verify": "twice verify harbour/a.twice",
    "diagnose": "twice diagnose harbour/a.twice harbour/b.twice",
}


def main() -> None:
    """Run the commands and draw them."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, line in COMMANDS.items():
            done = subprocess.run(
                [sys.executable, "-m", *line.split()],
                cwd=folder, capture_output=True, text=True, check=False,
            )  # fmt: skip
            said = done.stdout.replace(f"{Path(folder).resolve()}/", "").rstrip()
            for theme, colours in THEMES.items():
                console = Console(record=True, width=COLUMNS, file=io.StringIO())
                console.print(Text.from_ansi(f"$ {line}\n{said}"))
                drawn = console.export_svg(title="", theme=colours, unique_id=f"twice-{name}")
                drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
                path = IMAGES / f"{name}-{theme}.svg"
                path.write_text(drawn.replace("Fira Code", "monospace"), encoding="utf-8")


if __name__ == "__main__":
    main()
