"""Draw what three commands print on a terminal, two pages of the site, and the page of a run, light and dark.

python scripts/screenshots.py          terminals: SVG in `docs/images`, which names no font and no address of another host
python scripts/screenshots.py --site   pages: PNG there, drawn by a Chromium on the PATH from a site that is built anew
python scripts/screenshots.py --view   the page of `twice view`: PNG there; needs playwright and a Chromium on the PATH

The commands are executed as they stand below, in a folder of their own, so that a picture shows what this version prints.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import chdir
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
PAGES = {"home": "index.html", "tutorial": "start/index.html"}
SCHEMES = {"dark": 0, "light": 1}
"""Numbers of the two colour schemes that Chromium can prefer."""


def draw_site() -> None:
    """Build the site and draw two of its pages as a window of 1280 by 900 pixels shows them."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("No Chromium was found on the PATH, and only a browser draws the site's pages.")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "mkdocs", "build", "-q", "-d", f"{folder}/site"]
        subprocess.run(command, cwd=IMAGES.parents[1], check=True)
        for name, page in PAGES.items():
            for theme, scheme in SCHEMES.items():
                options = (
                    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    "--allow-file-access-from-files", "--window-size=1280,900",
                    "--virtual-time-budget=3000", f"--user-data-dir={folder}/{theme}",
                    f"--blink-settings=preferredColorScheme={scheme}",
                    f"--screenshot={IMAGES}/site-{name}-{theme}.png",
                )  # fmt: skip
                where = f"file://{folder}/site/{page}"
                subprocess.run([chromium, *options, where], check=True, capture_output=True)


def draw_view() -> None:
    """Draw the page of a run with a plot, and of two runs where they part."""
    sys.path[:0] = map(str, (IMAGES.parents[1] / "tests", IMAGES.parents[1] / "tests" / "view"))
    from browsers import launched, open_page, served
    from shown_programs import SWARM, record_programs

    # Records name paths as seen from here: no picture shows a folder of this machine.
    with tempfile.TemporaryDirectory() as folder, chdir(folder), launched() as browser:
        paths = record_programs(Path(), SWARM)
        for name, (height, shown) in {"run": (1450, paths[:1]), "difference": (900, paths)}.items():
            for theme in SCHEMES:
                size = {"width": 1280, "height": height}
                page = browser.new_page(viewport=size, color_scheme=theme)
                with served(shown) as url:
                    open_page(page, f"{url}#run=0&tick=30&plot=swarm.x{'&with=1' * len(shown[1:])}")
                    page.locator("twice-plot .u-over").wait_for()
                    if len(shown) > 1:
                        page.get_by_role("button", name="diagnose: executes both programs").click()
                        page.locator("twice-difference .lit").first.wait_for(timeout=120_000)
                    page.screenshot(path=IMAGES / f"view-{name}-{theme}.png")
                page.close()


def draw_terminals() -> None:
    """Run the commands and draw what they print."""
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
    {"--site": draw_site, "--view": draw_view}.get("".join(sys.argv[1:]), draw_terminals)()
