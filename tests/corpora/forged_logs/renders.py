"""Stores with a render of their own: programs that read what no log names, and unusual ones that are honest."""

from __future__ import annotations

import http.server
import os
import sys
import threading
from pathlib import Path
from typing import Any

from PIL import Image

from stores import (
    BITMAP,
    PICTURE,
    SEEDED,
    SOUND,
    draw,
    edited,
    log_of,
    make_store,
    read_log,
    record,
    require,
    run_twice,
    seal,
)


def interpreter_by_path(folder: Path) -> Path:
    hot, tools = make_store(folder), folder / "tools"
    tools.mkdir()
    (tools / "python3").symlink_to(os.path.realpath(sys.executable))
    record(hot, "rain.bmp", program=str(tools / "python3"), text=BITMAP)
    return hot


def _copy_itself(folder: Path, source: str, *more: str, **options: Any) -> Path:
    """Render a picture by reading it: it is there before."""
    hot = make_store(folder)
    Image.linear_gradient("L").resize((16, 8)).save(hot / "rain.png")
    Image.open(hot / "rain.png").save(hot / "source.dat", "BMP" if "bitmap" in more else "PNG")
    lines = f"pixels = Image.open({source}).tobytes()"
    text = PICTURE.format(imports="import os", pixels=lines)
    more = tuple(each.format(hot=hot) for each in more)
    options = {
        name: tuple(each.format(hot=hot) for each in value) for name, value in options.items()
    }
    options["options"] = ("--force", *options.get("options", ()))
    record(hot, "rain.png", *more, text=text, **options)
    return hot


def dots_in_an_argument(folder: Path) -> Path:
    return _copy_itself(folder, 'sys.argv[3].partition(":")[2]', "from:{hot}/../hot/rain.png")


def variable_with_the_asset(folder: Path) -> Path:
    variable = ("--env", "SOURCE=from:{hot}/records/../rain.png")
    return _copy_itself(folder, 'os.environ["SOURCE"].partition(":")[2]', options=variable)


def input_is_the_asset(folder: Path) -> Path:
    return _copy_itself(folder, "sys.argv[3]", "{hot}/source.dat")


def input_holds_the_payload(folder: Path) -> Path:
    return _copy_itself(folder, "sys.argv[3]", "{hot}/source.dat", "bitmap")


def file_not_named(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "palette.txt").write_text("slate " * 30)
    lines = f'pixels = open("{folder / "palette.txt"}", "rb").read(128)'
    hot = draw(folder, "", lines)
    (folder / "palette.txt").write_text("amber " * 30)
    return hot


def _draw_with_palette(folder: Path) -> Path:
    hot = make_store(folder)
    (hot / "palette.txt").write_text("slate " * 30)
    lines = 'pixels = open("palette.txt", "rb").read(128)'
    text = PICTURE.format(imports="", pixels=lines)
    record(hot, "rain.png", text=text, options=("--input", hot / "palette.txt"))
    return hot


def input_left_out(folder: Path) -> Path:
    with edited(hot := _draw_with_palette(folder)) as log:
        log["recipe"]["inputs"] = [
            each for each in log["recipe"]["inputs"] if each["path"] == "draw.py"
        ]
    return hot


def failed_verdict_hidden(folder: Path) -> Path:
    hot = make_store(folder)
    record(hot, "tone.wav", script="tone.pl", text=SOUND.format(seed=""))
    run_twice("rerender", hot / "tone.wav", "--n", 1, "--write")
    seal(hot, "tone.wav", "--revise", "--id", read_log(log_of(hot, "tone.wav"))["log_id"])
    return hot


def service_said_to_be_local(folder: Path) -> Path:
    class Service(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(os.urandom(128))

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        lines = "pixels = urllib.request.urlopen(sys.argv[3]).read(128)"
        address = f"http://127.0.0.1:{server.server_port}/"
        hot = draw(folder, "import urllib.request", lines, address)
        server.shutdown()
    return hot


def chance_of_a_watched_program(folder: Path) -> Path:
    record(hot := make_store(folder), "tone.wav", script="tone.pl", text=SOUND.format(seed=""))
    return hot


def honest_stopwatch(folder: Path) -> Path:
    lines = f"began = time.perf_counter()\n{SEEDED}\nprint(time.perf_counter() - began)"
    hot = draw(folder, "import random\nimport time", lines)
    require("rerender", hot / "rain.png", "--n", 1, "--write")
    return hot


def honest_interpreter_by_path(folder: Path) -> Path:
    return draw(folder, "import random", SEEDED, program=sys.executable)


def _draw_with_argument(folder: Path, palette: str) -> Path:
    hot = make_store(folder)
    for place in (folder, hot):
        (place / "palette.txt").write_text("slate " * 30)
    text = PICTURE.format(imports="", pixels='pixels = open(sys.argv[3], "rb").read(128)')
    record(hot, "rain.png", folder / palette, text=text)
    return hot


def honest_input_outside(folder: Path) -> Path:
    return _draw_with_argument(folder, "palette.txt")


def honest_input_outside_by_dots(folder: Path) -> Path:
    return _draw_with_argument(folder, "hot/../palette.txt")


def honest_input_inside_by_dots(folder: Path) -> Path:
    return _draw_with_argument(folder, "hot/../hot/palette.txt")


def honest_rendered_twice(folder: Path) -> Path:
    hot = make_store(folder)
    record(hot, "rain.png", sealed=False)
    record(hot, "rain.png", seed=9, options=("--force",))
    return hot


def honest_foreign_name(folder: Path) -> Path:
    record(hot := make_store(folder), "Überflug – 雨.png")
    return hot


def honest_two_outputs(folder: Path) -> Path:
    hot = make_store(folder)
    lines = f'{SEEDED}\nImage.new("L", (4, 4), pixels[0]).save("icon.png")'
    text = PICTURE.format(imports="import random", pixels=lines)
    record(hot, "rain.png", text=text, options=("-o", hot / "icon.png"))
    seal(hot, "icon.png")
    return hot
