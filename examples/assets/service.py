"""Stands in for two hosted services on loopback, a voice and a picture, that nobody can pin.

Both draw from the system's entropy: the same request never comes to the same answer twice. That is what
makes their assets non-deterministic honestly, and not by decree.
"""

import http.server
import io
import os
import threading
import wave
from contextlib import contextmanager

import numpy as np
from PIL import Image

RATE = 22_050


def voice(text):
    """Hums a syllable for each word, each at a pitch that is drawn anew."""
    rng = np.random.default_rng(int.from_bytes(os.urandom(16)))
    parts = []
    for _ in text.split():
        times = np.arange(int(RATE * rng.uniform(0.12, 0.22))) / RATE
        swell = np.sin(np.pi * times / times[-1])
        parts.append(0.3 * swell * np.sin(2 * np.pi * rng.uniform(160, 240) * times))
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes((np.concatenate(parts) * 32767).astype("<i2").tobytes())
    return file.getvalue()


def picture(_prompt):
    """Paints a sky of clouds that nobody sees twice."""
    rng = np.random.default_rng(int.from_bytes(os.urandom(16)))
    coarse = rng.integers(40, 200, (5, 8, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(coarse).resize((320, 200), Image.Resampling.BICUBIC).save(file, "PNG")
    return file.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers POST /voice and POST /picture."""

    def do_POST(self):
        prompt = self.rfile.read(int(self.headers["Content-Length"])).decode()
        made = {"/voice": voice, "/picture": picture}[self.path](prompt)
        self.send_response(200)
        self.send_header("Content-Length", str(len(made)))
        self.end_headers()
        self.wfile.write(made)

    def log_message(self, *_):
        """Says nothing."""


@contextmanager
def running():
    """Serve on a free port of loopback, and yield the address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
